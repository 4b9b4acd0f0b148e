package slacktest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// A posting is what the bot wants a message to be. What is nil was not sent.
type posting struct {
	text     *string
	markdown *string
	blocks   []any
	metadata json.RawMessage
}

// Slack's limits on the text of a message, in characters.
const (
	maxPost   = 40_000 // longer text is cut
	maxUpdate = 4_000
)

// place returns the channel that the bot may write in, named by an argument.
func (w *state) place(c call, arg string) (*channel, *refused) {
	ch := w.channels[c.args.Get(arg)]
	switch {
	case ch == nil:
		return nil, refuse("channel_not_found")
	case ch.archived:
		return nil, refuse("is_archived")
	case ch.absent:
		return nil, refuse("not_in_channel")
	}
	return ch, nil
}

func readPosting(c call) (p posting, no *refused) {
	if c.args.Has("text") {
		text := c.args.Get("text")
		p.text = &text
	}
	if c.args.Has("markdown_text") {
		markdown := c.args.Get("markdown_text")
		p.markdown = &markdown
	}
	if p.blocks, no = readBlocks(c, inMessage); no == nil {
		p.metadata, no = readMetadata(c)
	}
	switch {
	case no != nil:
		return p, no
	case p.markdown != nil && (p.text != nil || p.blocks != nil):
		return p, refuse("markdown_text_conflict")
	case p.markdown != nil && length(*p.markdown) > maxMarkdown:
		return p, refuse("msg_too_long")
	case len(p.blocks) == 0 && (p.text == nil || *p.text == "") && (p.markdown == nil || *p.markdown == ""):
		return p, refuse("no_text")
	}
	return p, nil
}

// readBlocks reads and checks the argument "blocks". Nil is none; empty is an empty list.
func readBlocks(c call, s surface) ([]any, *refused) {
	raw := c.args.Get("blocks")
	if raw == "" {
		return nil, nil
	}
	blocks, ok := decode(raw)
	if !ok {
		return nil, refuse("invalid_blocks_format")
	}
	var found checker
	checkBlocks(s)(&found, "/blocks", blocks)
	if found.problems != nil {
		return nil, refuse("invalid_blocks", found.problems...)
	}
	if size(blocks) > maxBlockText {
		return nil, refuse("msg_blocks_too_long")
	}
	return append([]any{}, blocks...), nil
}

// size counts the characters of all texts in blocks, but for those of buttons.
func size(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			n += size(one)
		}
	case map[string]any:
		if str(v, "type") == "actions" {
			return 0
		}
		for name, one := range v {
			if s, ok := one.(string); ok && name == "text" {
				n += length(s)
			} else {
				n += size(one)
			}
		}
	}
	return n
}

func readMetadata(c call) (json.RawMessage, *refused) {
	raw := c.args.Get("metadata")
	if raw == "" {
		return nil, nil
	}
	var meta map[string]any
	err := json.Unmarshal([]byte(raw), &meta)
	if err == nil && len(meta) == 0 {
		return json.RawMessage(raw), nil // takes away what there was
	}
	if payload, ok := meta["event_payload"].(map[string]any); err != nil || str(meta, "event_type") == "" || !ok || payload == nil {
		return nil, refuse("invalid_metadata_format")
	}
	return json.RawMessage(raw), nil
}

// post adds a message of the bot and tells the bot of it, as Slack does.
func post(w *Workspace, ch *channel, m *Message) {
	ch.messages = append(ch.messages, m)
	if a := w.assistants[ch.id+"/"+m.Thread]; a != nil {
		a.Status, a.Loading = "", nil
	}
	w.wake()
	w.Socket.Event(ch.events(m)...)
}

// thread returns the ts of the thread that a message of that ts is in or starts. It is empty if there
// is no such message.
func (c *channel) thread(ts string) string {
	root := c.find(ts)
	switch {
	case root == nil:
		return ""
	case root.Thread != "":
		return root.Thread
	}
	return root.TS
}

func postMessage(w *Workspace, c call) (map[string]any, *refused) {
	ch, no := w.place(c, "channel")
	if no != nil {
		return nil, no
	}
	p, no := readPosting(c)
	if no != nil {
		return nil, no
	}
	if p.text != nil && length(*p.text) > maxPost {
		short := string([]rune(*p.text)[:maxPost])
		p.text = &short
	}
	// Slack posts into the channel if the root is not there.
	m := &Message{TS: w.next(), User: BotUser, Thread: ch.thread(c.args.Get("thread_ts"))}
	m.set(p)
	post(w, ch, m)
	return map[string]any{"channel": ch.id, "ts": m.TS, "message": m.json()}, nil
}

// own returns the bot's message that a call names, or the refusal for a foreign one.
func (c *channel) own(ts, foreign string) (*Message, *refused) {
	m := c.find(ts)
	switch {
	case m == nil || m.gone:
		return nil, refuse("message_not_found")
	case m.User != BotUser:
		return nil, refuse(foreign)
	}
	return m, nil
}

func updateMessage(w *Workspace, c call) (map[string]any, *refused) {
	ch, no := w.place(c, "channel")
	if no != nil && no.code == "is_archived" {
		return nil, refuse("is_inactive")
	}
	if no != nil {
		return nil, no
	}
	m, no := ch.own(c.args.Get("ts"), "cant_update_message")
	if no != nil {
		return nil, no
	}
	now := time.Now()
	p, no := readPosting(c)
	switch {
	case no != nil:
		return nil, no
	case p.text != nil && length(*p.text) > maxUpdate:
		return nil, refuse("msg_too_long")
	case m.Stream.open(now):
		return nil, refuse("streaming_state_conflict")
	case w.cfg.EditWithin > 0 && now.Sub(stamp(m.TS)) > w.cfg.EditWithin:
		return nil, refuse("edit_window_closed")
	case hasRichText(m.blocks) && len(p.blocks) > 0 && !hasRichText(p.blocks):
		return nil, refuse("block_mismatch")
	}
	before := m.json()
	m.set(p)
	m.edited = w.next()
	m.Edits++
	w.wake()
	w.Socket.Event(changedEvent(ch, m, before, m.edited))
	after := m.json()
	delete(after, "ts") // stands beside it
	delete(after, "thread_ts")
	return map[string]any{"channel": ch.id, "ts": m.TS, "text": m.Fallback, "message": after}, nil
}

func hasRichText(blocks []any) bool {
	return slices.ContainsFunc(blocks, func(b any) bool { return str(b, "type") == "rich_text" })
}

func deleteMessage(w *Workspace, c call) (map[string]any, *refused) {
	ch, no := w.place(c, "channel")
	if no != nil {
		return nil, no
	}
	m, no := ch.own(c.args.Get("ts"), "cant_delete_message")
	if no != nil {
		return nil, no
	}
	event := ch.remove(m, w.next())
	w.wake()
	w.Socket.Event(event)
	return map[string]any{"channel": ch.id, "ts": m.TS}, nil
}

func postEphemeral(w *Workspace, c call) (map[string]any, *refused) {
	ch, no := w.place(c, "channel")
	if no != nil {
		return nil, no
	}
	user := c.args.Get("user")
	if w.users[user] == nil {
		return nil, refuse("user_not_in_channel")
	}
	p, no := readPosting(c)
	if no != nil {
		return nil, no
	}
	m := &Message{TS: w.next(), User: BotUser, For: user, Thread: c.args.Get("thread_ts")}
	m.set(p)
	ch.messages = append(ch.messages, m)
	return map[string]any{"message_ts": m.TS}, nil
}

// stamp returns the time in a ts.
func stamp(ts string) time.Time {
	sec, micro, _ := strings.Cut(ts, ".")
	d, _ := time.ParseDuration(sec + "s" + micro + "us") // made by next
	return time.Unix(0, 0).Add(d)
}
