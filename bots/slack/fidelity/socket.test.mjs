// Slack's client of Socket Mode connects, acknowledges and comes back.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { LogLevel, SocketModeClient } from '@slack/socket-mode';
import { appToken, once, people, slackApiUrl, until } from './people.mjs';

const client = new SocketModeClient({ appToken, clientPingTimeout: 500, clientOptions: { slackApiUrl }, logLevel: LogLevel.ERROR });
let alice, channel;

before(async () => {
  alice = await people.addUser('alice');
  channel = await people.addChannel('general');
  const authenticated = once(client, 'authenticated');
  const connected = once(client, 'connected');
  await client.start();
  assert.match((await authenticated).url, /^ws:/);
  await connected; // that is: hello has come
});

after(() => client.disconnect());

test('a mention comes twice, and is acknowledged', async () => {
  const mention = once(client, 'app_mention');
  const message = once(client, 'message');
  const ts = await people.say(alice, channel, '', '@heddle hello');
  for (const { ack, body, event } of [await mention, await message]) {
    assert.equal(event.ts, ts);
    assert.match(event.text, /^<@U\w+> hello$/);
    assert.equal(event.blocks[0].type, 'rich_text');
    assert.equal(body.type, 'event_callback');
    assert.equal(body.authorizations[0].is_bot, true);
    await ack();
  }
  await until(async () => (await people.stats()).Unacked === 0);
});

test('what is not acknowledged comes again', async () => {
  const first = once(client, 'message');
  await people.say(alice, channel, '', 'again');
  const { body, retry_num } = await first;
  assert.equal(retry_num, 0);
  const { body: same, retry_num: attempt, retry_reason, ack } = await once(client, 'message');
  assert.equal(same.event_id, body.event_id);
  assert.equal(attempt, 1);
  assert.equal(retry_reason, 'timeout');
  await ack();
});

test('edits, deletions and files', async () => {
  const next = async (act) => {
    const came = once(client, 'message');
    await act();
    const { ack, event } = await came;
    await ack();
    return event;
  };
  const { ts } = await next(() => people.say(alice, channel, '', 'first'));
  const edited = await next(() => people.edit(channel, ts, 'second'));
  assert.deepEqual([edited.subtype, edited.message.text, edited.previous_message.text], ['message_changed', 'second', 'first']);
  const deleted = await next(() => people.delete(channel, ts));
  assert.deepEqual([deleted.subtype, deleted.deleted_ts], ['message_deleted', ts]);
  client.once('file_shared', ({ ack }) => ack());
  const shared = await next(() => people.attach(alice, channel, '', 'see', 'a.txt', 'hello'));
  assert.equal(shared.subtype, 'file_share');
  assert.equal(shared.files[0].name, 'a.txt');
});

test('commands', async () => {
  client.once('slash_commands', ({ ack, body }) => ack({ text: `${body.command} ${body.text}` }));
  await people.command(alice, channel, 'help');
  const all = await people.channel(channel);
  assert.equal(all.at(-1).Text, '/heddle help');
  assert.equal(all.at(-1).For, alice);
});

for (const [name, act] of [
  ['told to leave', () => people.disconnect('refresh_requested')],
  ['cut off', () => people.kill()],
]) {
  test(`comes back when ${name}`, async () => {
    const { Opened } = await people.stats();
    const connected = once(client, 'connected');
    await act();
    await connected;
    assert.ok((await people.stats()).Opened > Opened);
    const message = once(client, 'message');
    const ts = await people.say(alice, channel, '', 'still there?');
    const { ack, event } = await message;
    assert.equal(event.ts, ts);
    await ack();
    await until(async () => (await people.stats()).Unacked === 0);
  });
}

test('pings and pongs', async () => {
  const { Pongs } = await people.stats();
  await until(async () => (await people.stats()).Pongs > Pongs);
});
