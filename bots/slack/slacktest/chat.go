package slacktest

import (
	"encoding/json"
	"slices"
	"strings"
)

// A posting is what the bot wants a message to be. What is nil was not sent.
type posting struct {
	text     *string
	blocks   []blockJSON
	metadata json.RawMessage
}

// Slack's limits on the text of a message, in characters.
const (
	maxPost   = 40_000 // longer text is cut
	maxUpdate = 4_000
)

// place returns the channel that the bot may write in.
func (w *state) place(c call) (*channel, refused) {
	ch := w.channels[c.args.Get("channel")]
	switch {
	case ch == nil:
		return nil, "channel_not_found"
	case ch.archived:
		return nil, "is_archived"
	case ch.absent:
		return nil, "not_in_channel"
	}
	return ch, ""
}

func readPosting(c call) (posting, refused) {
	var p posting
	if c.args.Has("text") {
		text := c.args.Get("text")
		p.text = &text
	}
	if raw := c.args.Get("blocks"); raw != "" {
		blocks, no := checkBlocks(raw)
		if no != "" {
			return p, no
		}
		p.blocks = blocks
	}
	if raw := c.args.Get("metadata"); raw != "" {
		var meta struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		}
		if err := json.Unmarshal([]byte(raw), &meta); err != nil || meta.Type == "" || meta.Payload == nil {
			return p, "invalid_metadata_format"
		}
		p.metadata = json.RawMessage(raw)
	}
	return p, ""
}

func (p posting) empty() bool { return (p.text == nil || *p.text == "") && len(p.blocks) == 0 }

func postMessage(w *Workspace, c call) (map[string]any, refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch, no := w.place(c)
	if no != "" {
		return nil, no
	}
	p, no := readPosting(c)
	if no != "" {
		return nil, no
	}
	if p.empty() {
		return nil, "no_text"
	}
	if p.text != nil && length(*p.text) > maxPost {
		short := string([]rune(*p.text)[:maxPost])
		p.text = &short
	}
	m := &Message{TS: w.next(), User: BotUser}
	// Slack posts into the channel if the root is not there.
	if root := ch.find(c.args.Get("thread_ts")); root != nil {
		m.Thread = root.TS
		if root.Thread != "" {
			m.Thread = root.Thread
		}
	}
	m.show(p)
	ch.messages = append(ch.messages, m)
	w.wake()
	w.Socket.Event(ch.events(m)...)
	return map[string]any{"channel": ch.id, "ts": m.TS, "message": m.json()}, ""
}

func updateMessage(w *Workspace, c call) (map[string]any, refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch, no := w.place(c)
	if no != "" {
		return nil, no
	}
	m := ch.find(c.args.Get("ts"))
	if m == nil {
		return nil, "message_not_found"
	}
	if m.User != BotUser {
		return nil, "cant_update_message"
	}
	p, no := readPosting(c)
	switch {
	case no != "":
		return nil, no
	case p.empty():
		return nil, "no_text"
	case p.text != nil && length(*p.text) > maxUpdate:
		return nil, "msg_too_long"
	}
	before := m.json()
	m.show(p)
	m.Edits++
	w.wake()
	w.Socket.Event(changedEvent(ch, m, before, w.next()))
	return map[string]any{"channel": ch.id, "ts": m.TS, "text": m.Fallback, "message": m.json()}, ""
}

func deleteMessage(w *Workspace, c call) (map[string]any, refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch, no := w.place(c)
	if no != "" {
		return nil, no
	}
	m := ch.find(c.args.Get("ts"))
	switch {
	case m == nil:
		return nil, "message_not_found"
	case m.User != BotUser:
		return nil, "cant_delete_message"
	}
	ch.messages = slices.DeleteFunc(ch.messages, func(o *Message) bool { return o == m })
	w.wake()
	return map[string]any{"channel": ch.id, "ts": m.TS}, ""
}

func postEphemeral(w *Workspace, c call) (map[string]any, refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch, no := w.place(c)
	if no != "" {
		return nil, no
	}
	user := c.args.Get("user")
	if w.users[user] == "" {
		return nil, "user_not_in_channel"
	}
	p, no := readPosting(c)
	if no != "" {
		return nil, no
	}
	if p.empty() {
		return nil, "no_text"
	}
	m := &Message{TS: w.next(), User: BotUser, For: user, Thread: c.args.Get("thread_ts")}
	p.metadata = nil // Slack keeps none
	m.show(p)
	ch.messages = append(ch.messages, m)
	w.wake()
	return map[string]any{"message_ts": m.TS}, ""
}

func replies(w *Workspace, c call) (map[string]any, refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := w.channels[c.args.Get("channel")]
	if ch == nil {
		return nil, "channel_not_found"
	}
	root := ch.find(c.args.Get("ts"))
	if root == nil {
		return nil, "thread_not_found"
	}
	limit := min(number(c.args.Get("limit"), 1000), 1000)
	if w.cfg.PageSize > 0 {
		limit = min(limit, w.cfg.PageSize)
	}
	after := c.args.Get("cursor")
	var page []map[string]any
	more, last := false, ""
	for _, m := range ch.messages {
		if m.For != "" || m.TS != root.TS && m.Thread != root.TS || after != "" && strings.Compare(m.TS, after) <= 0 {
			continue
		}
		if more = len(page) == limit; more {
			break
		}
		v := m.json()
		if m.metadata != nil && c.args.Get("include_all_metadata") == "1" {
			v["metadata"] = m.metadata
		}
		page, last = append(page, v), m.TS
	}
	cursor := ""
	if more {
		cursor = last
	}
	return map[string]any{"messages": page, "has_more": more, "response_metadata": map[string]any{"next_cursor": cursor}}, ""
}
