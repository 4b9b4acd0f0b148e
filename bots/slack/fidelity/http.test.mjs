// An app of Slack's framework takes events, buttons and commands over HTTP, with its check of signatures.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import bolt from '@slack/bolt';
import { button, people, signingSecret, slackApiUrl, token, until } from './people.mjs';

const receiver = new bolt.HTTPReceiver({ signingSecret, logLevel: bolt.LogLevel.ERROR });
const app = new bolt.App({ token, receiver, clientOptions: { slackApiUrl }, logLevel: bolt.LogLevel.ERROR });
let alice, channel, address, server;

before(async () => {
  alice = await people.addUser('alice');
  channel = await people.addChannel('general');
  server = await app.start(0);
  address = `http://127.0.0.1:${server.address().port}/slack/events`;
  await people.sendTo(address); // the framework answers Slack's challenge
});

after(() => {
  server.closeAllConnections(); // the workspace keeps them
  return app.stop();
});

test('mentions, buttons and commands', async () => {
  app.event('app_mention', async ({ event, say }) => {
    await say({ thread_ts: event.ts, text: 'May I?', blocks: [{ type: 'actions', elements: [button('Approve', 'approve', '7')] }] });
  });
  app.action('approve', async ({ ack, respond }) => {
    await ack();
    await respond({ replace_original: true, text: 'approved' });
  });
  app.command('/heddle', async ({ ack, command }) => ack(`you said ${command.text}`));
  const root = await people.say(alice, channel, '', '@heddle go');
  const card = await until(async () => (await people.thread(channel, root))[1]);
  await people.click(alice, channel, card.TS, 'Approve');
  await until(async () => (await people.thread(channel, root))[1].Text === 'approved');
  await people.command(alice, channel, 'status');
  await until(async () => (await people.channel(channel)).some((m) => m.Text === 'you said status'));
});

test('a signature that is not of the secret is refused', async () => {
  const answer = await fetch(address, { method: 'POST', body: '{}', headers: {
    'content-type': 'application/json', 'x-slack-signature': 'v0=00', 'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)) } });
  assert.equal(answer.status, 401);
});
