package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A Message is one message as it is now.
type Message struct {
	TS       string
	Thread   string // the ts of the root; empty in the channel
	User     string
	Text     string // what is shown, in mrkdwn: the text of the blocks if there are any
	Fallback string // the text proper, for notifications
	Buttons  []Button
	Key      string // of the bot's metadata
	Edits    int
	For      string // only this person sees it

	blocks   []blockJSON
	metadata json.RawMessage
}

// A Button is what a person can press.
type Button struct {
	ActionID string
	Label    string
	Value    string
	Style    string
}

// Labels returns the labels of the message's buttons.
func (m Message) Labels() []string {
	var all []string
	for _, b := range m.Buttons {
		all = append(all, b.Label)
	}
	return all
}

// Thread returns the messages of a thread, the root and private ones included, oldest first.
func (w *Workspace) Thread(channel, root string) []Message {
	return w.messages(channel, func(m *Message) bool { return m.TS == root || m.Thread == root })
}

// Channel returns all messages of a channel and its threads, oldest first.
func (w *Workspace) Channel(channel string) []Message {
	return w.messages(channel, func(*Message) bool { return true })
}

func (w *state) messages(channel string, which func(*Message) bool) []Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Message
	for _, m := range w.channel(channel).messages {
		if which(m) {
			all = append(all, *m)
		}
	}
	return all
}

// show sets what the bot wants the message to be.
func (m *Message) show(p posting) {
	if p.text != nil {
		m.Text, m.Fallback = *p.text, *p.text
	}
	if p.blocks != nil {
		m.blocks = p.blocks
	}
	if p.metadata != nil {
		m.metadata = p.metadata
		m.Key = metadataKey(p.metadata)
	}
	m.Buttons = nil
	var texts []string
	for _, b := range m.blocks {
		if b.Text != nil {
			texts = append(texts, b.Text.Text)
		}
		for _, e := range b.Elements {
			if e.Type == "button" && e.Text != nil {
				m.Buttons = append(m.Buttons, Button{e.ActionID, e.Text.Text, e.Value, e.Style})
			}
		}
	}
	if len(m.blocks) > 0 {
		m.Text = strings.Join(texts, "\n")
	}
}

func metadataKey(raw json.RawMessage) string {
	var meta struct {
		Payload struct {
			Key string `json:"key"`
		} `json:"event_payload"`
	}
	_ = json.Unmarshal(raw, &meta) // checked before
	return meta.Payload.Key
}

// json returns the message as the Web API and events show it.
func (m *Message) json() map[string]any {
	v := map[string]any{"type": "message", "ts": m.TS, "user": m.User, "text": m.Fallback, "team": TeamID}
	if m.Thread != "" {
		v["thread_ts"] = m.Thread
	}
	if m.User == BotUser {
		v["bot_id"], v["app_id"] = BotID, appID
	}
	if m.blocks != nil {
		v["blocks"] = m.blocks
	}
	if m.Edits > 0 {
		v["edited"] = map[string]any{"user": m.User, "ts": m.TS}
	}
	return v
}

// events returns the events that Slack sends for a new message, in an order that the app
// cannot rely on: here the message comes first if its ts is even.
func (c *channel) events(m *Message) []map[string]any {
	inner := func(kind string) map[string]any {
		v := m.json()
		v["type"], v["channel"], v["event_ts"] = kind, c.id, m.TS
		if kind == "message" {
			v["channel_type"] = c.kind
		}
		return v
	}
	events := []map[string]any{inner("message")}
	if c.kind == "channel" && m.User != BotUser && strings.Contains(m.Fallback, "<@"+BotUser+">") {
		events = append(events, inner("app_mention"))
		if m.TS[len(m.TS)-1]%2 == 1 {
			slices.Reverse(events)
		}
	}
	return events
}

// changedEvent is what Slack sends when a message was edited.
func changedEvent(c *channel, m *Message, before map[string]any, ts string) map[string]any {
	return map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.id, "channel_type": c.kind,
		"ts": ts, "event_ts": ts, "message": m.json(), "previous_message": before,
	}
}

// find returns a message that everybody sees.
func (c *channel) find(ts string) *Message {
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.TS == ts && m.For == "" })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// String is the message in one line, for failures of tests.
func (m Message) String() string {
	s := fmt.Sprintf("%s %s: %q", m.TS, m.User, m.Text)
	if len(m.Buttons) > 0 {
		s += fmt.Sprintf(" %q", m.Labels())
	}
	if m.For != "" {
		s += " for " + m.For
	}
	return s
}
