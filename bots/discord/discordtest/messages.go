package discordtest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Discord's limits on messages.
const (
	maxContent = 2000
	maxFiles   = 10
	maxNonce   = 25
)

// newMessage is what a new message takes.
func newMessage() fields {
	return messageEdit().with(fields{
		"nonce": func(c *checker, at string, v any) {
			if _, ok := v.(float64); !ok {
				words(0, maxNonce)(c, at, v)
			}
		},
		"message_reference": form(fields{"type": whole(0, 0), "message_id!": id, "channel_id": id, "guild_id": id,
			"fail_if_not_exists": yesNo}),
	})
}

// messageEdit is what an edit of a message takes.
func messageEdit() fields {
	return fields{
		"content":       words(0, maxContent),
		"components":    components(),
		"embeds":        list(0, 10, embed()),
		"flags":         whole(0, 1<<16-1),
		"tts":           yesNo, // of an edit without consequence, as the next
		"enforce_nonce": yesNo,
		"attachments": list(0, maxFiles, form(fields{"id!": anyValue, "filename": words(1, 1024), "description": words(0, 1024),
			"url": anyValue, "proxy_url": anyValue, "size": anyValue, "content_type": anyValue,
			"title": words(0, 1024), "duration_secs": anyValue, "waveform": words(0, 400)})), // of voice messages
		"allowed_mentions": form(fields{"parse": list(0, 3, oneOf("users", "roles", "everyone")),
			"users": list(0, 100, id), "roles": list(0, 100, id), "replied_user": yesNo}),
	}
}

func embed() rule {
	return form(fields{"title": words(0, 256), "description": words(0, 4096), "url": words(0, 2048), "color": whole(0, 1<<24-1),
		"type": anyValue, "timestamp": words(1, 64),
		"fields": list(0, 25, form(fields{"name!": words(1, 256), "value!": words(1, 1024), "inline": yesNo})),
		"footer": form(fields{"text!": words(1, 2048), "icon_url": words(0, 2048)}), "author": form(fields{"name!": words(1, 256), "url": words(0, 2048)})})
}

// permitted returns what a body says about allowed mentions; nil is nothing.
func permitted(body object) (*allowed, *refused) {
	in, ok := body["allowed_mentions"].(object)
	if !ok {
		return nil, nil
	}
	a := &allowed{parse: texts(in, "parse"), users: texts(in, "users"), roles: texts(in, "roles"), replied: whether(in, "replied_user")}
	var c checker
	if slices.Contains(a.parse, "users") && a.users != nil {
		c.fail("/allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"users\"] and users: [ids...] are mutually exclusive.")
	}
	if slices.Contains(a.parse, "roles") && a.roles != nil {
		c.fail("/allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", "parse:[\"roles\"] and roles: [ids...] are mutually exclusive.")
	}
	return a, c.refused()
}

// compose returns the message that a body describes.
func compose(q *request, body object, old []File) (*Message, *refused) {
	a, no := permitted(body)
	if no != nil {
		return nil, no
	}
	inner := *q
	inner.body = body
	files, no := inner.uploads(old)
	if no != nil {
		return nil, no
	}
	m := &Message{Author: BotUser, Content: strings.TrimSpace(str(body, "content")), Files: files}
	m.allowed, m.flags, m.nonce = a, count(body, "flags")&(flagSuppressEmbeds|flagEphemeral|flagSilent|flagV2), body["nonce"]
	m.Components, _ = body["components"].([]any)
	m.embeds, _ = body["embeds"].([]any)
	if no := m.consistent(); no != nil {
		return nil, no
	}
	m.Components = numbered(m.Components, new(int))
	return m, nil
}

// empty reports whether there is nothing to show in a message.
func (m *Message) empty() bool {
	return m.Content == "" && len(m.embeds) == 0 && len(m.Files) == 0 && len(m.Components) == 0
}

func postMessage(n *Network, q *request) (any, *refused) {
	need := writing(n, q)
	if len(q.files) > 0 {
		need |= AttachFiles
	}
	c, no := permit(n, q, need)
	if no != nil {
		return nil, no
	}
	m, no := compose(q, q.body, nil)
	if no == nil {
		no = n.takes(c, m)
	}
	if no != nil {
		return nil, no
	}
	m.ReplyTo, no = reference(c, q.body)
	if no != nil {
		return nil, no
	}
	if before := n.sentBefore(c, q.body); before != nil {
		return n.messageJSON(before), nil
	}
	m.Files = n.keep(c.id, m.Files)
	return n.messageJSON(n.write(c.id, m)), nil
}

// takes refuses a message that a channel does not take.
func (a acts) takes(c *channel, m *Message) *refused {
	switch {
	case m.empty():
		return refuse(50006)
	case c.kind == guildForum:
		return refuse(50008)
	case c.archived && c.locked && a.n.may(BotUser, c)&ManageThreads == 0:
		return refuse(50083)
	case c.locked && a.n.may(BotUser, c)&ManageThreads == 0:
		return refuse(160005)
	case c.kind == directText && a.n.users[c.user].shy:
		return refuse(50007)
	}
	return nil
}

// reference returns the message that a new one answers, or "".
func reference(c *channel, body object) (string, *refused) {
	ref, ok := body["message_reference"].(object)
	if !ok {
		return "", nil
	}
	to := str(ref, "message_id")
	if c.find(to) != nil {
		return to, nil
	}
	if strict, ok := ref["fail_if_not_exists"].(bool); ok && !strict {
		return "", nil
	}
	var wrong checker
	wrong.fail("/message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	return "", wrong.refused()
}

// sentBefore returns the message that was sent under the same enforced nonce a while ago, or nil.
func (a acts) sentBefore(c *channel, body object) *Message {
	if !whether(body, "enforce_nonce") || body["nonce"] == nil {
		return nil
	}
	for _, m := range c.messages {
		age := time.Since(time.UnixMilli(int64(snowflake(m.ID)>>22) + epoch))
		if m.Author == BotUser && m.nonce == body["nonce"] && age < a.n.cfg.NonceFor {
			return m
		}
	}
	return nil
}

// messageOf returns the message that a call names.
func messageOf(n *Network, q *request, need Permissions) (*channel, *Message, *refused) {
	c, no := permit(n, q, need)
	if no != nil {
		return nil, nil, no
	}
	m := c.find(q.path("message"))
	if m == nil || m.For != "" {
		return nil, nil, refuse(10008)
	}
	return c, m, nil
}

func getMessage(n *Network, q *request) (any, *refused) {
	_, m, no := messageOf(n, q, ReadMessageHistory)
	if no != nil {
		return nil, no
	}
	return n.told(m), nil
}

// told is a message as REST tells it to this application.
func (f looks) told(m *Message) object {
	v := f.n.messageJSON(m)
	if f.n.cfg.NoContent {
		return f.n.veil(v)
	}
	return v
}

func editMessage(n *Network, q *request) (any, *refused) {
	c, m, no := messageOf(n, q, 0)
	switch {
	case no != nil:
		return nil, no
	case m.Author != BotUser:
		return nil, refuse(50005)
	case c.archived:
		return nil, refuse(50083)
	}
	return n.edit(q, m)
}

// edit changes a message of the bot's as a call says.
func (a acts) edit(q *request, m *Message) (any, *refused) {
	body := object{"content": m.Content, "components": m.Components, "embeds": m.embeds, "flags": float64(m.flags)}
	for name, v := range q.body {
		body[name] = v
	}
	now, no := compose(q, body, m.Files)
	switch {
	case no != nil:
		return nil, no
	case now.empty():
		return nil, refuse(50006)
	case m.flags&flagV2 != 0 && now.flags&flagV2 == 0:
		var wrong checker
		wrong.fail("/flags", "MESSAGE_FLAGS_CANNOT_REMOVE_COMPONENTS_V2", "The IS_COMPONENTS_V2 flag cannot be removed.")
		return nil, wrong.refused()
	}
	m.Content, m.Components, m.embeds, m.Files = now.Content, now.Components, now.embeds, a.n.keep(m.channel, now.Files)
	m.flags = m.flags&^(flagSuppressEmbeds|flagLoading) | now.flags&(flagSuppressEmbeds|flagV2)
	if _, ok := q.body["allowed_mentions"]; ok {
		m.allowed = now.allowed
	}
	m.Thinking = false
	m.Edits++
	m.edited = time.Now()
	a.n.wake()
	if m.For == "" {
		a.n.Gateway.event("MESSAGE_UPDATE", a.n.channel(m.channel).place(), a.n.eventJSON(m))
	}
	return a.n.messageJSON(m), nil
}

func deleteMessage(n *Network, q *request) (any, *refused) {
	_, m, no := messageOf(n, q, 0)
	if no == nil && m.Author != BotUser && n.may(BotUser, n.channels[m.channel])&ManageMessages == 0 {
		no = refuse(50013)
	}
	if no == nil {
		n.remove(m)
	}
	return nil, no
}

// remove takes a message away.
func (a acts) remove(m *Message) {
	c := a.n.channel(m.channel)
	c.messages = slices.DeleteFunc(c.messages, func(o *Message) bool { return o == m })
	a.n.wake()
	if m.For != "" {
		return
	}
	v := object{"id": m.ID, "channel_id": c.id}
	if c.guild != "" {
		v["guild_id"] = c.guild
	}
	a.n.Gateway.event("MESSAGE_DELETE", c.place(), v)
}

// getMessages answers with the newest first.
func getMessages(n *Network, q *request) (any, *refused) {
	c, no := permit(n, q, ReadMessageHistory)
	if no != nil {
		return nil, no
	}
	var wrong checker
	most, err := strconv.Atoi(cmp.Or(q.query.Get("limit"), "50"))
	if err != nil || most < 1 || most > 100 {
		wrong.fail("/limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.")
		return nil, wrong.refused()
	}
	var seen []*Message
	for _, m := range c.messages {
		if m.For == "" {
			seen = append(seen, m)
		}
	}
	page := []object{}
	for _, m := range slices.Backward(window(seen, q, most)) {
		page = append(page, n.told(m))
	}
	return page, nil
}

// window returns the messages that a call asks for, oldest first.
func window(seen []*Message, q *request, most int) []*Message {
	at := func(name string) int {
		i, _ := slices.BinarySearchFunc(seen, snowflake(q.query.Get(name)), func(m *Message, id uint64) int { return cmp.Compare(snowflake(m.ID), id) })
		return i
	}
	switch {
	case q.query.Has("around"):
		from := max(0, at("around")-most/2)
		return seen[from:min(len(seen), from+most)]
	case q.query.Has("after"):
		from := at("after")
		if from < len(seen) && seen[from].ID == q.query.Get("after") {
			from++
		}
		return seen[from:min(len(seen), from+most)]
	case q.query.Has("before"):
		seen = seen[:at("before")]
	}
	return seen[max(0, len(seen)-most):]
}
