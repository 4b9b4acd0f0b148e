package slacktest

import (
	"slices"
	"strings"
)

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
	for _, f := range m.Files {
		events = append(events, map[string]any{"type": "file_shared", "channel_id": c.id, "file_id": f.ID, "user_id": m.User,
			"file": map[string]any{"id": f.ID}, "event_ts": m.TS})
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

// remove deletes a message and returns the event that tells of it. What has a thread leaves a mark
// behind, as long as there is the thread, and Slack says that it was changed.
func (c *channel) remove(m *Message, ts string) map[string]any {
	before := m.json()
	replied := func(root string) bool {
		return slices.ContainsFunc(c.messages, func(o *Message) bool { return o.Thread == root && o.For == "" })
	}
	if replied(m.TS) {
		m.gone = true
		m.Text, m.Fallback, m.Buttons, m.Files = "", "", nil, nil
		return changedEvent(c, m, before, ts)
	}
	c.messages = slices.DeleteFunc(c.messages, func(o *Message) bool { return o == m })
	if root := c.find(m.Thread); root != nil && root.gone && !replied(root.TS) {
		c.messages = slices.DeleteFunc(c.messages, func(o *Message) bool { return o == root })
	}
	return map[string]any{
		"type": "message", "subtype": "message_deleted", "hidden": true, "channel": c.id, "channel_type": c.kind,
		"ts": ts, "event_ts": ts, "deleted_ts": m.TS, "previous_message": before,
	}
}

// shared reports whether an inner event comes from a channel that is shared with another team.
func shared(inner map[string]any) bool { return inner["source_team"] != nil }
