package discordtest

import (
	"fmt"
	"time"
)

// People do to messages what is rarer than writing. Its methods may be called concurrently.
type People struct{ n *Network }

// Places are the channels and threads, as people change them. Its methods may be called concurrently.
type Places struct{ n *Network }

// Interactions are what people do with commands, buttons and forms. Its methods may be called
// concurrently.
type Interactions struct{ n *Network }

// message returns a message that the test knows of; anything else is a mistake of the test.
func (s *state) message(channel, id string) *Message {
	m := s.channel(channel).find(id)
	if m == nil {
		panic(fmt.Sprintf("discordtest: there is no message %s in %s", id, channel))
	}
	return m
}

// Attach is Network.Say with files.
func (p People) Attach(user, channel, text string, files ...File) string {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	return p.n.write(channel, &Message{Author: user, Content: p.n.typed(channel, text), Files: p.n.keep(channel, files)}).ID
}

// Reply is Network.Say in answer to a message, whose author is pinged.
func (p People) Reply(user, channel, message, text string) string {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	return p.n.write(channel, &Message{Author: user, Content: p.n.typed(channel, text), ReplyTo: message}).ID
}

// Show lets somebody, most often another bot, write a message with components that are taken as they
// are: of kinds that nobody knows, too.
func (p People) Show(user, channel, text string, components ...any) string {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	return p.n.write(channel, &Message{Author: user, Content: p.n.typed(channel, text), Components: components}).ID
}

// Edit changes the words of a message.
func (p People) Edit(channel, message, text string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	m := p.n.message(channel, message)
	m.Content, m.edited = p.n.typed(channel, text), time.Now()
	m.Edits++
	p.n.wake()
	p.n.Gateway.event("MESSAGE_UPDATE", p.n.channel(channel).place(), p.n.eventJSON(m))
}

// Delete takes a message away.
func (p People) Delete(channel, message string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	p.n.remove(p.n.message(channel, message))
}

// Thread makes a thread of a message, unless there is one, and returns its id, which is the message's.
func (p Places) Thread(user, channel, message, name string) string {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	if t := p.n.channels[message]; t != nil && t.isThread() { // it outlives its message
		return t.id
	}
	return p.n.addThread(p.n.channel(channel), p.n.message(channel, message), user, name).id
}

// Exists reports whether there is a channel or a thread of that id.
func (p Places) Exists(id string) bool {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	return p.n.channels[id] != nil
}

// Post writes a post into a forum and returns the id of its thread, which is that of the first message.
func (p Places) Post(user, forum, title, text string) string {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	c := p.n.channel(forum)
	t := &channel{id: p.n.next(), guild: c.guild, name: title, kind: publicThread}
	t.thread = thread{parent: c.id, owner: user, minutes: 1440, since: time.Now()}
	p.n.channels[t.id] = t
	v := p.n.channelJSON(t)
	v["newly_created"] = true
	p.n.Gateway.event("THREAD_CREATE", t.place(), v)
	p.n.write(t.id, &Message{ID: t.id, Author: user, Content: p.n.typed(forum, text)})
	return t.id
}

// Archive puts a thread into the archive, or takes it out.
func (p Places) Archive(thread string, archived bool) {
	p.set(thread, func(c *channel) { c.archived, c.since = archived, time.Now() })
}

// Lock closes a thread to those who may not manage it, or opens it.
func (p Places) Lock(thread string, locked bool) {
	p.set(thread, func(c *channel) { c.locked = locked })
}

// Rename gives a thread or a channel another name.
func (p Places) Rename(id, name string) {
	p.set(id, func(c *channel) { c.name = name })
}

func (p Places) set(id string, do func(*channel)) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	c := p.n.channel(id)
	p.n.setThread(c, func() { do(c) })
}

// DeleteChannel takes a channel away, with its threads, or a thread.
func (p Places) DeleteChannel(id string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	for _, t := range sorted(p.n.channels) {
		if t.parent == id {
			p.n.drop(t)
		}
	}
	p.n.drop(p.n.channel(id))
}

// drop takes one channel away. Threads go without an event if their channel goes, but here each has
// one, as with threads that are deleted alone.
func (a acts) drop(c *channel) {
	name, v := "CHANNEL_DELETE", a.n.channelJSON(c)
	if c.isThread() {
		name, v = "THREAD_DELETE", object{"id": c.id, "guild_id": c.guild, "parent_id": c.parent, "type": c.kind}
	}
	a.n.Gateway.event(name, c.place(), v)
	delete(a.n.channels, c.id)
	a.n.wake()
}

// Shy lets a person take no direct messages from now on.
func (p People) Shy(user string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	p.n.users[user].shy = true
}

// Leave takes a person out of a guild.
func (p People) Leave(guild, user string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	p.n.guild(guild).gone[user] = true
}

// Unfurl shows what is behind the links of a message: it gets an embed, which is no edit of its author's.
func (p People) Unfurl(channel, message string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	m := p.n.message(channel, message)
	m.embeds = append(m.embeds, object{"type": "link", "title": "a page"})
	p.n.wake()
	p.n.Gateway.event("MESSAGE_UPDATE", p.n.channel(channel).place(), p.n.eventJSON(m))
}
