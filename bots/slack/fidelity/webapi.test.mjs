// Slack's client of the Web API calls every method that the app uses.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { WebClient } from '@slack/web-api';
import { button, people, slackApiUrl, text, token } from './people.mjs';

const web = new WebClient(token, { slackApiUrl, retryConfig: { retries: 0 } });
const ts = /^\d{10}\.\d{6}$/;
let alice, channel, team, me;

before(async () => {
  alice = await people.addUser('alice');
  channel = await people.addChannel('general');
});

// refused runs a call that Slack refuses and returns what it says.
async function refused(call, error) {
  try {
    await call;
  } catch (e) {
    assert.equal(e.code, 'slack_webapi_platform_error', e.message);
    assert.equal(e.data.error, error);
    return e.data;
  }
  assert.fail(`${error} was expected`);
}

test('auth.test', async () => {
  const v = await web.auth.test();
  team = v.team_id;
  me = v.user_id;
  for (const name of ['url', 'team', 'user', 'team_id', 'user_id', 'bot_id']) {
    assert.equal(typeof v[name], 'string', name);
  }
  assert.ok(v.response_metadata.scopes.includes('chat:write'));
  await refused(new WebClient('xoxb-wrong', { slackApiUrl }).auth.test(), 'invalid_auth');
});

test('posts, edits, reads and deletes', async () => {
  const root = await people.say(alice, channel, '', 'hello @heddle');
  const blocks = [
    { type: 'header', text: text('Header') },
    { type: 'section', text: { type: 'mrkdwn', text: '*bold*' } },
    { type: 'actions', elements: [button('Approve', 'approve', '7')] },
  ];
  const metadata = { event_type: 'heddle', event_payload: { key: 'k1' } };
  const posted = await web.chat.postMessage({ channel, thread_ts: root, text: 'fallback', blocks, metadata });
  assert.match(posted.ts, ts);
  assert.equal(posted.message.thread_ts, root);
  assert.equal(posted.message.bot_profile.name, 'heddle');
  assert.equal(posted.message.blocks[2].elements[0].action_id, 'approve');

  const updated = await web.chat.update({ channel, ts: posted.ts, text: 'second' });
  assert.equal(updated.text, 'second');
  assert.equal(updated.message.blocks, undefined);
  const replies = await web.conversations.replies({ channel, ts: root, include_all_metadata: true });
  assert.deepEqual(replies.messages.map((m) => m.text), [`hello <@${me}>`, 'second']);
  assert.deepEqual(replies.messages[1].metadata, metadata);
  assert.equal(replies.messages[0].reply_count, 1);

  await web.chat.delete({ channel, ts: posted.ts });
  await refused(web.chat.update({ channel, ts: posted.ts, text: 'x' }), 'message_not_found');
  const whispered = await web.chat.postEphemeral({ channel, user: alice, text: 'only you' });
  assert.match(whispered.message_ts, ts);
});

test('pages', async () => {
  for (let i = 0; i < 7; i++) {
    await people.say(alice, channel, '', `line ${i}`);
  }
  const lines = [];
  for await (const page of web.paginate('conversations.history', { channel, limit: 2 })) {
    assert.ok(page.messages.length <= 2);
    lines.push(...page.messages.map((m) => m.text));
  }
  assert.deepEqual(lines.slice(0, 7), [6, 5, 4, 3, 2, 1, 0].map((i) => `line ${i}`));
  const names = [];
  for await (const page of web.paginate('users.list', { limit: 1 })) {
    names.push(...page.members.map((m) => m.profile.display_name));
  }
  assert.deepEqual(names, ['heddle', 'alice']);
});

test('people and channels', async () => {
  const mallory = await people.addStranger('mallory');
  const { user } = await web.users.info({ user: mallory });
  assert.notEqual(user.team_id, team);
  assert.equal(user.profile.real_name, 'mallory');
  const info = await web.conversations.info({ channel });
  assert.equal(info.channel.name, 'general');
  assert.equal(info.channel.is_member, true);
  await refused(web.users.info({ user: 'U404' }), 'user_not_found');
});

test('what is wrong is told', async () => {
  const said = await refused(web.chat.postMessage({ channel, text: 'x', blocks: [{ type: 'header', text: text('x'.repeat(151)) }] }), 'invalid_blocks');
  assert.ok(said.response_metadata.messages.includes('[ERROR] must be less than 151 characters [json-pointer:/blocks/0/text/text]'));
  assert.ok(said.errors.length > 0);
  await refused(web.chat.postMessage({ channel: 'C404', text: 'x' }), 'channel_not_found');
});

test('rate limits', async () => {
  await people.fail('chat.postMessage', 429, 1);
  const patient = new WebClient(token, { slackApiUrl });
  const begun = Date.now();
  await patient.chat.postMessage({ channel, text: 'waited' });
  assert.ok(Date.now() - begun >= 1000);
  await people.fail('chat.postMessage', 429, 30);
  const hasty = new WebClient(token, { slackApiUrl, rejectRateLimitedCalls: true });
  await assert.rejects(hasty.chat.postMessage({ channel, text: 'x' }), (e) => e.code === 'slack_webapi_rate_limited_error' && e.retryAfter === 30);
});

test('streams of text', async () => {
  const root = await people.say(alice, channel, '', 'stream, please');
  const stream = web.chatStream({ channel, thread_ts: root, recipient_team_id: team, recipient_user_id: alice, buffer_size: 1 });
  const started = await stream.append({ markdown_text: '**one** ' });
  assert.match(started.ts, ts);
  await refused(web.chat.update({ channel, ts: started.ts, text: 'x' }), 'streaming_state_conflict');
  await stream.append({ markdown_text: 'two ' });
  const stopped = await stream.stop({ markdown_text: 'three', blocks: [{ type: 'actions', elements: [button('Again', 'again')] }] });
  assert.equal(stopped.ts, started.ts);
  const thread = await people.thread(channel, root);
  assert.equal(thread[1].Fallback, '**one** two three');
  assert.equal(thread[1].Buttons[0].Label, 'Again');
  await refused(web.chat.appendStream({ channel, ts: started.ts, markdown_text: 'x' }), 'message_not_in_streaming_state');
  await refused(web.chat.startStream({ channel, thread_ts: root }), 'missing_recipient_team_id');
});

test('streams of tasks, and Stop', async () => {
  const root = await people.say(alice, channel, '', 'work, please');
  const { ts: at } = await web.chat.startStream({ channel, thread_ts: root, recipient_team_id: team, recipient_user_id: alice, task_display_mode: 'plan',
    chunks: [{ type: 'plan_update', title: 'Work' }, { type: 'task_update', id: '1', title: 'Read', status: 'in_progress' }] });
  await web.chat.appendStream({ channel, ts: at, chunks: [
    { type: 'task_update', id: '1', title: 'Read', status: 'complete', output: 'done', sources: [{ type: 'url', url: 'https://example.com', text: 'here' }] },
    { type: 'markdown_text', text: 'Done.' }] });
  const [, shown] = await people.thread(channel, root);
  assert.deepEqual(shown.Stream.Tasks, [{ ID: '1', Title: 'Read', Status: 'complete', Details: '', Output: 'done' }]);
  await people.stop(alice, channel, root);
  await refused(web.chat.appendStream({ channel, ts: at, chunks: [{ type: 'markdown_text', text: 'x' }] }), 'stopped_by_user');
});

test('files', async () => {
  const root = await people.say(alice, channel, '', 'file, please');
  const done = await web.filesUploadV2({ channel_id: channel, thread_ts: root, initial_comment: 'see', filename: 'a.txt', title: 'Report', content: 'hello' });
  assert.equal(done.ok, true);
  const [, message] = await people.thread(channel, root);
  assert.equal(message.Text, 'see');
  const [file] = message.Files;
  assert.deepEqual([file.Name, file.Title, atob(file.Data)], ['a.txt', 'Report', 'hello']);
  const info = await web.files.info({ file: file.ID });
  assert.equal(info.file.size, 5);
  const data = await fetch(info.file.url_private, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(await data.text(), 'hello');
  const page = await fetch(info.file.url_private);
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-type'), /^text\/html/);
});

test('threads of the assistant', async () => {
  const [direct, thread] = await people.startAssistant(alice);
  const at = { channel_id: direct, thread_ts: thread };
  await web.assistant.threads.setStatus({ ...at, status: 'is thinking', loading_messages: ['Reading, slowly', 'Writing'] });
  await web.assistant.threads.setTitle({ ...at, title: 'Numbers' });
  await web.assistant.threads.setSuggestedPrompts({ ...at, prompts: [{ title: 'Add', message: 'Add 1 and 2' }] });
  const seen = await people.assistant(direct, thread);
  assert.deepEqual([seen.Status, seen.Title, seen.Prompts, seen.Loading], ['is thinking', 'Numbers', ['Add'], ['Reading, slowly', 'Writing']]);
});

test('reactions', async () => {
  const timestamp = await people.say(alice, channel, '', 'react');
  await web.reactions.add({ channel, timestamp, name: 'eyes' });
  await refused(web.reactions.add({ channel, timestamp, name: 'eyes' }), 'already_reacted');
});

test('the home', async () => {
  const view = { type: 'home', blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'Welcome' } }] };
  const published = await web.views.publish({ user_id: alice, view });
  assert.equal(published.view.type, 'home');
  await web.views.publish({ user_id: alice, view, hash: published.view.hash });
  await refused(web.views.publish({ user_id: alice, view, hash: published.view.hash }), 'hash_conflict');
  await refused(web.views.open({ trigger_id: '1.2.3', view: { type: 'modal', title: text('x'), blocks: [] } }), 'invalid_trigger_id');
});
