package discordtest

import (
	"regexp"
	"slices"
	"time"
)

// A Message is one in a channel. What it shares with Discord is not to be changed.
type Message struct {
	ID         string
	Author     string // id of the user
	Content    string // in Discord's form
	Components []any  // as they were sent, with "id" in each
	Files      []File
	Pinged     []string // ids of people and roles, and "everyone", whose phones it rings
	ReplyTo    string   // id of a message in the same channel
	For        string   // the only person who sees it; empty is everybody
	Edits      int
	Thinking   bool // it is the placeholder of a deferred answer

	more
}

// more is what tests have no use for.
type more struct {
	channel string
	kind    int
	flags   int
	nonce   any
	embeds  []any
	allowed *allowed
	call    *interaction // whose answer it is
	edited  time.Time
	thread  string // that was made of it
}

// Flags of messages.
const (
	flagSuppressEmbeds = 1 << 2
	flagHasThread      = 1 << 5
	flagEphemeral      = 1 << 6
	flagLoading        = 1 << 7
	flagSilent         = 1 << 12
	flagV2             = 1 << 15
)

func (m *Message) clone() Message {
	c := *m
	c.Components, c.Files, c.Pinged = slices.Clone(m.Components), slices.Clone(m.Files), slices.Clone(m.Pinged)
	return c
}

// Nonce returns what the sender called the message, or "".
func (m Message) Nonce() string {
	s, _ := m.nonce.(string)
	return s
}

// Labels returns the labels of the buttons in order.
func (m Message) Labels() []string {
	var labels []string
	for _, b := range buttons(m.Components) {
		labels = append(labels, str(b, "label"))
	}
	return labels
}

// Disabled reports whether there is such a button that cannot be pressed.
func (m Message) Disabled(label string) bool {
	return slices.ContainsFunc(buttons(m.Components), func(b object) bool { return str(b, "label") == label && b["disabled"] == true })
}

// buttons returns the buttons within components, at any depth.
func buttons(components []any) []object {
	var all []object
	for _, one := range components {
		c, _ := one.(object)
		if c["type"] == float64(2) {
			all = append(all, c)
		}
		inner, _ := c["components"].([]any)
		if accessory, ok := c["accessory"]; ok {
			inner = append(slices.Clone(inner), accessory)
		}
		all = append(all, buttons(inner)...)
	}
	return all
}

// An allowed is who may be pinged. The nil *allowed allows all.
type allowed struct {
	parse        []string
	users, roles []string
	replied      bool
}

var (
	userMention = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention = regexp.MustCompile(`<@&(\d+)>`)
	everyone    = regexp.MustCompile(`@(everyone|here)\b`)
)

// mentions returns the people and roles whom a text names, and whether it names everyone.
func mentions(content string) (users, roles []string, everybody bool) {
	for _, m := range userMention.FindAllStringSubmatch(content, -1) {
		users = append(users, m[1])
	}
	for _, m := range roleMention.FindAllStringSubmatch(content, -1) {
		roles = append(roles, m[1])
	}
	return unique(users), unique(roles), everyone.MatchString(content)
}

func unique(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

// mentioned returns what the API says about mentions: what allowed lets through.
func (f looks) mentioned(m *Message) (users, roles []string, everybody bool) {
	users, roles, everybody = mentions(m.Content)
	if c := f.n.channels[m.channel]; c != nil && m.ReplyTo != "" && m.allowed.pingsReplied() {
		if to := c.find(m.ReplyTo); to != nil && to.Author != m.Author {
			users = unique(append(users, to.Author))
		}
	}
	known := func(id string) bool { return f.n.users[id] == nil }
	users = slices.DeleteFunc(users, known)
	a := m.allowed
	if a == nil {
		return users, roles, everybody && f.n.may(m.Author, f.n.channels[m.channel])&MentionEveryone != 0
	}
	users = slices.DeleteFunc(users, func(id string) bool {
		replied := a.replied && m.ReplyTo != "" && f.n.channels[m.channel].find(m.ReplyTo) != nil && f.n.channels[m.channel].find(m.ReplyTo).Author == id
		return !replied && !slices.Contains(a.parse, "users") && !slices.Contains(a.users, id)
	})
	roles = slices.DeleteFunc(roles, func(id string) bool { return !slices.Contains(a.parse, "roles") && !slices.Contains(a.roles, id) })
	everybody = everybody && slices.Contains(a.parse, "everyone") && f.n.may(m.Author, f.n.channels[m.channel])&MentionEveryone != 0
	return users, roles, everybody
}

// pingsReplied reports whether the author of the message that is answered is pinged. People's clients
// and messages without allowed_mentions do.
func (a *allowed) pingsReplied() bool { return a == nil || a.replied }

// ping notes who is pinged by a new message. Edits ping nobody.
func (a acts) ping(m *Message) {
	if m.flags&flagSilent != 0 {
		return
	}
	users, roles, everybody := a.n.mentioned(m)
	m.Pinged = append(users, roles...)
	if everybody {
		m.Pinged = append(m.Pinged, "everyone")
	}
}

// write adds a message to a channel and tells the Gateway.
func (a acts) write(channel string, m *Message) *Message {
	c := a.n.channel(channel)
	m.channel = c.id
	if m.ID == "" {
		m.ID = a.n.next()
	}
	if m.ReplyTo != "" {
		m.kind = 19
	}
	if m.For == "" {
		a.n.ping(m)
		a.n.revive(c)
		c.last = m.ID
	}
	c.typing = time.Time{}
	c.messages = append(c.messages, m)
	a.n.wake()
	if m.For == "" {
		a.n.Gateway.event("MESSAGE_CREATE", c.place(), a.n.eventJSON(m))
	}
	return m
}

// revive takes an archived thread out of the archive: somebody writes into it.
func (a acts) revive(c *channel) {
	if c.isThread() && c.archived {
		c.archived, c.since = false, time.Now()
		a.n.Gateway.event("THREAD_UPDATE", c.place(), a.n.channelJSON(c))
	}
}

// messageJSON is a message as REST tells it.
func (f looks) messageJSON(m *Message) object {
	users, roles, everybody := f.n.mentioned(m)
	named := []object{}
	for _, id := range users {
		named = append(named, f.n.users[id].json())
	}
	v := object{"id": m.ID, "channel_id": m.channel, "type": m.kind, "author": f.n.users[m.Author].json(), "content": m.Content, "timestamp": born(m.ID),
		"edited_timestamp": nil, "tts": false, "mention_everyone": everybody, "mentions": named, "mention_roles": append([]string{}, roles...),
		"attachments": f.n.attachments(m), "embeds": append([]any{}, m.embeds...), "components": append([]any{}, m.Components...), "pinned": false, "flags": m.flags}
	if !m.edited.IsZero() {
		v["edited_timestamp"] = stamp(m.edited)
	}
	if m.nonce != nil {
		v["nonce"] = m.nonce
	}
	c := f.n.channels[m.channel]
	if m.ReplyTo != "" {
		ref := object{"type": 0, "channel_id": m.channel, "message_id": m.ReplyTo}
		if c.guild != "" {
			ref["guild_id"] = c.guild
		}
		v["message_reference"], v["referenced_message"] = ref, nil
		if to := c.find(m.ReplyTo); to != nil {
			short := *to
			short.ReplyTo = ""
			v["referenced_message"] = f.n.messageJSON(&short)
		}
	}
	if m.call != nil {
		v["webhook_id"], v["application_id"] = AppID, AppID
		v["interaction_metadata"] = object{"id": m.call.id, "type": m.call.kind, "user": f.n.users[m.call.user].json(), "authorizing_integration_owners": object{}}
	}
	if t := f.n.channels[m.thread]; t != nil && m.thread != "" {
		v["thread"] = f.n.channelJSON(t)
	}
	return v
}

// eventJSON is a message as the Gateway tells it.
func (f looks) eventJSON(m *Message) object {
	v := f.n.messageJSON(m)
	delete(v, "thread")
	v["channel_type"] = f.n.channels[m.channel].kind // it is not documented, but clients know direct messages by it
	if g := f.n.guilds[f.n.channels[m.channel].guild]; g != nil {
		v["guild_id"], v["member"] = g.id, g.memberJSON(m.Author)
		named := v["mentions"].([]object)
		for _, u := range named {
			u["member"] = g.memberJSON(u["id"].(string))
		}
	}
	return v
}

// veil returns a message as the bot sees it without the intent Message Content.
func (f looks) veil(v object) object {
	c := f.n.channels[v["channel_id"].(string)]
	if author, _ := v["author"].(object); c == nil || c.guild == "" || author == nil || author["id"] == BotUser {
		return v
	}
	if named, _ := v["mentions"].([]object); slices.ContainsFunc(named, func(u object) bool { return u["id"] == BotUser }) {
		return v
	}
	veiled := object{}
	for name, one := range v {
		veiled[name] = one
	}
	veiled["content"] = ""
	for _, name := range []string{"embeds", "attachments", "components"} {
		veiled[name] = []any{}
	}
	if ref, ok := v["referenced_message"].(object); ok {
		veiled["referenced_message"] = f.n.veil(ref)
	}
	return veiled
}
