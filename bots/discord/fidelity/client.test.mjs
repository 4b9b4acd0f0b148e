// A bot of discord.js logs in, hears, resumes, answers, opens forms, uploads and edits.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import {
  ActionRowBuilder, ApplicationCommandOptionType, ApplicationCommandType, AttachmentBuilder, ButtonBuilder, ButtonStyle, Client, Events,
  GatewayIntentBits, MessageFlags, ModalBuilder, Partials, TextInputBuilder, TextInputStyle,
} from 'discord.js';
import { people, until } from '../../../internal/nodetest/people.mjs';

const { DISCORD_URL: api, BOT_TOKEN: token, GUILD: guild } = process.env;
const { Guilds, GuildMessages, MessageContent, DirectMessages } = GatewayIntentBits;
const client = new Client({
  intents: [Guilds, GuildMessages, MessageContent, DirectMessages],
  partials: [Partials.Channel],
  rest: { api, version: '10' },
});
const errors = [];
client.on(Events.Error, (e) => errors.push(e));
let alice, channel;

// next returns what comes with the next event.
const next = async (event) => (await once(client, event))[0];

const rows = (...buttons) => [new ActionRowBuilder().addComponents(buttons)];
const button = (label, id) => new ButtonBuilder().setLabel(label).setCustomId(id).setStyle(ButtonStyle.Primary);

before(async () => {
  alice = await people.addUser('alice');
  channel = await people.addChannel('general');
  const ready = once(client, Events.ClientReady);
  await client.login(token);
  await ready;
});

after(async () => {
  await client.destroy();
  assert.deepEqual(errors, []);
});

test('it knows where it is', async () => {
  assert.equal(client.user.username, 'heddle');
  assert.equal(client.guilds.cache.get(guild).name, 'weavers');
  assert.equal((await client.channels.fetch(channel)).name, 'general');
  assert.equal((await client.application.fetch()).id, process.env.APP);
  const me = await client.guilds.cache.get(guild).members.fetchMe();
  assert.ok(client.channels.cache.get(channel).permissionsFor(me).has('SendMessages'));
});

test('a mention is answered in a thread of its own', async () => {
  const heard = next(Events.MessageCreate);
  const id = await people.say(alice, channel, '@heddle go');
  const message = await heard;
  assert.equal(message.id, id);
  assert.ok(message.mentions.users.has(client.user.id));
  const thread = await message.startThread({ name: 'go', autoArchiveDuration: 1440 });
  assert.equal(thread.id, id);
  await assert.rejects(client.rest.post(`/channels/${channel}/messages/${id}/threads`, { body: { name: 'again' } }), { code: 160004 });
  await thread.sendTyping();
  const nonce = 'abc123';
  const first = await thread.send({ content: 'Working…', components: rows(button('Stop', 'stop')), nonce, enforceNonce: true, allowedMentions: { parse: [] } });
  const again = await thread.send({ content: 'Working…', components: rows(button('Stop', 'stop')), nonce, enforceNonce: true });
  assert.equal(again.id, first.id);
  await first.edit({ content: 'Done.', components: [] });
  const shown = (await people.messages(id)).filter((m) => m.content === 'Done.');
  assert.equal(shown.length, 1);
  assert.equal(shown[0].labels, null);
  const page = await thread.messages.fetch({ limit: 10 });
  assert.ok(page.has(first.id));
});

test('a press is acknowledged, and changes its card', async () => {
  const at = await client.channels.fetch(channel);
  const card = await at.send({ content: 'May I?', components: rows(button('Approve', 'approve\n7'), button('Deny with reason', 'deny?\n7')) });
  const pressed = next(Events.InteractionCreate);
  const done = people.press(alice, channel, card.id, 'Approve');
  const press = await pressed;
  assert.ok(press.isButton());
  assert.equal(press.customId, 'approve\n7');
  await press.deferUpdate();
  await done;
  await press.message.edit({ content: 'approved', components: [] });
  await press.followUp({ content: 'only you see this', flags: MessageFlags.Ephemeral });
  const told = (await people.messages(channel)).at(-1);
  assert.equal(told.for, alice);
});

test('a button opens a form', async () => {
  const at = await client.channels.fetch(channel);
  const card = await at.send({ content: 'May I?', components: rows(button('Deny with reason', 'deny?\n7')) });
  const pressed = next(Events.InteractionCreate);
  const opened = people.press(alice, channel, card.id, 'Deny with reason');
  const input = new TextInputBuilder().setCustomId('answer').setLabel('Why not?').setStyle(TextInputStyle.Paragraph).setRequired(false).setValue('because');
  await (await pressed).showModal(new ModalBuilder().setTitle('Deny').setCustomId('why').addComponents(new ActionRowBuilder().addComponents(input)));
  await opened;
  const form = await people.form(alice);
  assert.equal(form.title, 'Deny');
  assert.equal(form.fields[0].Value, 'because');
  const sent = next(Events.InteractionCreate);
  const submitted = people.submit(alice, 'answer', 'not on a Friday');
  const modal = await sent;
  assert.ok(modal.isModalSubmit());
  assert.equal(modal.fields.getTextInputValue('answer'), 'not on a Friday');
  await modal.deferUpdate();
  await submitted;
});

test('commands are registered, run and completed', async () => {
  await client.application.commands.set([
    { name: 'heddle', description: 'what I can do', options: [{
      name: 'model', description: 'chooses one', type: ApplicationCommandOptionType.Subcommand,
      options: [{ name: 'name', description: 'which', type: ApplicationCommandOptionType.String, autocomplete: true }],
    }] },
    { name: 'Ask about this', type: ApplicationCommandType.Message },
  ]);
  assert.equal((await client.application.commands.fetch()).size, 2);

  let came = next(Events.InteractionCreate);
  const ran = people.command(alice, channel, '/heddle model', 'name', 'fast');
  const command = await came;
  assert.equal(command.options.getSubcommand(), 'model');
  assert.equal(command.options.getString('name'), 'fast');
  await command.deferReply({ flags: MessageFlags.Ephemeral });
  await ran;
  await command.editReply('I answer with fast.');
  await until(async () => (await people.messages(channel)).some((m) => m.content === 'I answer with fast.' && m.for === alice));

  came = next(Events.InteractionCreate);
  const offered = people.complete(alice, channel, '/heddle model', 'name', 'fa');
  const typing = await came;
  assert.ok(typing.isAutocomplete());
  assert.equal(typing.options.getFocused(), 'fa');
  await typing.respond([{ name: 'fast', value: 'fast' }]);
  assert.deepEqual((await offered).map((c) => c.Name), ['fast']);

  const about = await people.say(alice, channel, 'the build is red');
  came = next(Events.InteractionCreate);
  const asked = people.menu(alice, channel, about, 'Ask about this');
  const menu = await came;
  assert.equal(menu.targetMessage.content, 'the build is red');
  await menu.reply({ content: 'in the thread', flags: MessageFlags.Ephemeral });
  await asked;
});

test('files come and go', async () => {
  const heard = next(Events.MessageCreate);
  await people.attach(alice, channel, 'look', 'a.txt', 'what is in it');
  const file = (await heard).attachments.first();
  assert.equal(file.name, 'a.txt');
  assert.equal(file.size, 13);
  assert.equal(await (await fetch(file.url)).text(), 'what is in it');
  const at = await client.channels.fetch(channel);
  const sent = await at.send({ content: 'here', files: [new AttachmentBuilder(Buffer.from('and back'), { name: 'b.txt' })] });
  assert.equal(await (await fetch(sent.attachments.first().url)).text(), 'and back');
});

test('edits, deletions and roles', async () => {
  const role = await people.addRole('releaser');
  await people.setRole(alice, role);
  const heard = next(Events.MessageCreate);
  const id = await people.say(alice, channel, 'one');
  assert.ok((await heard).member.roles.cache.has(role));
  const edited = once(client, Events.MessageUpdate);
  await people.edit(channel, id, 'two');
  assert.equal((await edited)[1].content, 'two');
  const deleted = next(Events.MessageDelete);
  await people.delete(channel, id);
  assert.equal((await deleted).id, id);
});

test('a direct conversation, and a post in a forum', async () => {
  const dm = next(Events.MessageCreate);
  await people.say(alice, await people.direct(alice), 'psst');
  assert.equal((await dm).guild, null);
  const user = await client.users.fetch(alice);
  await user.send('psst yourself');

  const forum = await people.addChannel('forum-help');
  const began = next(Events.ThreadCreate);
  const heard = next(Events.MessageCreate);
  const post = await people.post(alice, forum, 'It is red', '@heddle why?');
  assert.equal((await began).id, post);
  assert.equal((await heard).channel.parentId, forum);
});

test('what a broken connection has missed comes after it resumed', async () => {
  for (const cut of ['kill', 'reconnect']) {
    const resumed = once(client, Events.ShardResume);
    await people.lose();
    const heard = next(Events.MessageCreate);
    const id = await people.say(alice, channel, `said while ${cut}`);
    await people[cut]();
    await resumed;
    assert.equal((await heard).id, id);
  }
  assert.equal((await people.stats()).Identified, 1);
});

test('a rate limit is waited for', async () => {
  await people.limit('POST /channels/{channel}/messages');
  const begin = Date.now();
  await (await client.channels.fetch(channel)).send('after a while');
  assert.ok(Date.now() - begin >= 190);
});
