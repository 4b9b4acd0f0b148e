// An app of Slack's framework does what ours does: mentions, buttons, forms, commands, the home, threads
// of the assistant.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import bolt from '@slack/bolt';
import { appToken, button, form, people, slackApiUrl, text, token, until } from './people.mjs';

const app = new bolt.App({ token, appToken, socketMode: true, clientOptions: { slackApiUrl }, logLevel: bolt.LogLevel.ERROR });
let alice, bob, channel;

before(async () => {
  alice = await people.addUser('alice');
  bob = await people.addUser('bob');
  channel = await people.addChannel('general');
  await app.start();
  await until(async () => (await people.stats()).Open === 1);
});

after(() => app.stop());

const last = async () => (await people.channel(channel)).at(-1);

test('a mention is answered in its thread', async () => {
  app.event('app_mention', async ({ event, say }) => {
    await say({ thread_ts: event.ts, text: 'May I?', blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: 'May I?' } },
      { type: 'actions', elements: [button('Approve', 'approve', '7'), button('Deny', 'deny', '7')] }] });
  });
  const root = await people.say(alice, channel, '', '@heddle go');
  const card = await until(async () => (await people.thread(channel, root))[1]);
  assert.deepEqual(card.Buttons.map((b) => b.Label), ['Approve', 'Deny']);
});

test('a button changes its card', async () => {
  app.action('approve', async ({ ack, action, body, respond }) => {
    await ack();
    assert.equal(action.value, '7');
    await respond({ replace_original: true, text: `approved by ${body.user.username}` });
    await respond({ text: 'for you alone', replace_original: false });
  });
  const card = await last();
  await people.click(alice, channel, card.TS, 'Approve');
  const seen = await until(async () => (await people.channel(channel)).find((m) => m.Text === 'approved by alice'));
  assert.equal(seen.TS, card.TS);
  await until(async () => (await people.channel(channel)).find((m) => m.Text === 'for you alone' && m.For === alice));
});

test('a form asks for a reason', async () => {
  app.action('deny', async ({ ack, body, client }) => {
    await ack();
    const { view } = await client.views.open({ trigger_id: body.trigger_id, view: form('reason') });
    await client.views.update({ view_id: view.id, hash: view.hash, view: { ...form('reason'), title: text('Why not') } });
    await assert.rejects(client.views.open({ trigger_id: body.trigger_id, view: form('reason') }), /exchanged_trigger_id/);
  });
  app.view('reason', async ({ ack, view, client }) => {
    const { value } = view.state.values.why.answer;
    if (value.length < 3) {
      await ack({ response_action: 'errors', errors: { why: 'say more' } });
      return;
    }
    await ack();
    await client.chat.postMessage({ channel, text: `denied: ${value}` });
  });
  const ts = (await app.client.chat.postMessage({ channel, text: 'May I?', blocks: [{ type: 'actions', elements: [button('Deny', 'deny', '8')] }] })).ts;
  await people.click(bob, channel, ts, 'Deny');
  await until(async () => (await people.view(bob))?.Title === 'Why not');
  await assert.rejects(people.submit(bob, 'no'), /say more/);
  await people.submit(bob, 'too risky');
  await until(async () => (await last()).Text === 'denied: too risky');
  assert.equal(await people.view(bob), null);
});

test('a command', async () => {
  app.command('/heddle', async ({ ack, command, respond }) => {
    await ack(`you said ${command.text}`);
    await respond({ response_type: 'in_channel', text: 'for all' });
  });
  await people.command(alice, channel, 'status');
  const all = await until(async () => {
    const seen = await people.channel(channel);
    return seen.some((m) => m.Text === 'for all') && seen;
  });
  assert.equal(all.find((m) => m.Text === 'you said status').For, alice);
  assert.equal(all.find((m) => m.Text === 'for all').For, '');
});

test('the home', async () => {
  app.event('app_home_opened', async ({ event, client }) => {
    const blocks = [{ type: 'section', text: { type: 'mrkdwn', text: `Welcome, <@${event.user}>` } }, { type: 'actions', elements: [button('Refresh', 'refresh')] }];
    await client.views.publish({ user_id: event.user, view: { type: 'home', blocks } });
  });
  app.action('refresh', async ({ ack, body, client }) => {
    await ack();
    await client.views.update({ view_id: body.view.id, hash: body.view.hash, view: { type: 'home', blocks: [{ type: 'section', text: text('Fresh') }] } });
  });
  await people.openHome(alice);
  await until(async () => (await people.home(alice))?.Text === `Welcome, <@${alice}>`);
  await people.press(alice, 'Refresh');
  await until(async () => (await people.home(alice)).Text === 'Fresh');
});

test('a thread of the assistant', async () => {
  app.assistant(new bolt.Assistant({
    threadStarted: async ({ say, setSuggestedPrompts, saveThreadContext }) => {
      await say('How can I help?');
      await saveThreadContext();
      await setSuggestedPrompts({ title: 'Try', prompts: [{ title: 'Add', message: 'Add 1 and 2' }] });
    },
    userMessage: async ({ message, say, setStatus, setTitle }) => {
      await setTitle(message.text);
      await setStatus('is thinking');
      await say('3');
    },
  }));
  const [direct, thread] = await people.startAssistant(alice);
  await until(async () => (await people.assistant(direct, thread)).Prompts?.[0] === 'Add');
  await people.say(alice, direct, thread, 'Add 1 and 2');
  await until(async () => (await people.thread(direct, thread)).at(-1).Text === '3');
  assert.equal((await people.assistant(direct, thread)).Title, 'Add 1 and 2');
  assert.equal((await people.assistant(direct, thread)).Status, '');
});

test('Stop in a thread', async () => {
  const stopped = new Promise((resolve) => {
    app.event('agent_session_stopped', async ({ event }) => resolve(event));
  });
  const root = await people.say(alice, channel, '', 'stream');
  const { team_id } = await app.client.auth.test();
  const { ts } = await app.client.chat.startStream({ channel, thread_ts: root, recipient_team_id: team_id, recipient_user_id: alice, markdown_text: 'x' });
  await people.stop(alice, channel, root);
  const event = await stopped;
  assert.deepEqual([event.thread_ts, event.user, event.streaming_message_ts], [root, alice, [ts]]);
});
