package slacktest

import (
	"slices"
	"strings"
)

// A stretch is which messages a call asks for, by their ts.
type stretch struct {
	oldest, latest string
	inclusive      bool
}

func (s stretch) has(ts string) bool {
	after := s.oldest == "" || ts > s.oldest || s.inclusive && ts == s.oldest
	before := s.latest == "" || ts < s.latest || s.inclusive && ts == s.latest
	return after && before
}

// replies returns a thread, oldest first. A cursor is the ts of the last message of the page before.
func replies(w *Workspace, c call) (map[string]any, *refused) {
	ch := w.channels[c.args.Get("channel")]
	if ch == nil {
		return nil, refuse("channel_not_found")
	}
	root := ch.find(c.args.Get("ts"))
	if root == nil {
		return nil, refuse("thread_not_found")
	}
	var all []*Message
	for _, m := range ch.messages {
		if m.For == "" && (m.TS == root.TS || m.Thread == root.TS) {
			all = append(all, m)
		}
	}
	return page(w, c, ch, all, func(ts, cursor string) bool { return ts > cursor })
}

// history returns what is in the channel itself, newest first.
func history(w *Workspace, c call) (map[string]any, *refused) {
	ch := w.channels[c.args.Get("channel")]
	switch {
	case ch == nil:
		return nil, refuse("channel_not_found")
	case ch.absent:
		return nil, refuse("not_in_channel")
	}
	var all []*Message
	for _, m := range slices.Backward(ch.messages) {
		if m.For == "" && m.Thread == "" {
			all = append(all, m)
		}
	}
	v, no := page(w, c, ch, all, func(ts, cursor string) bool { return ts < cursor })
	if no == nil {
		v["pin_count"] = 0
	}
	return v, no
}

// page returns the part of all that a call asks for, from those that are beyond its cursor.
func page(w *Workspace, c call, ch *channel, all []*Message, beyond func(ts, cursor string) bool) (map[string]any, *refused) {
	most, no := limit(w, c, 1000)
	if no != nil {
		return nil, no
	}
	cursor := c.args.Get("cursor")
	if cursor != "" && strings.Trim(cursor, "0123456789.") != "" {
		return nil, refuse("invalid_cursor")
	}
	s := stretch{c.args.Get("oldest"), c.args.Get("latest"), c.flag("inclusive")}
	found, next, last := []map[string]any{}, "", ""
	for _, m := range all {
		if cursor != "" && !beyond(m.TS, cursor) || !s.has(m.TS) {
			continue
		}
		if len(found) == most {
			next = last
			break
		}
		v := ch.listed(m)
		if m.metadata != nil && c.flag("include_all_metadata") {
			v["metadata"] = m.metadata
		}
		found, last = append(found, v), m.TS
	}
	return map[string]any{"messages": found, "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next}}, nil
}

// listed returns a message with what its thread is like.
func (c *channel) listed(m *Message) map[string]any {
	v := m.json()
	if root := c.find(m.Thread); root != nil {
		v["parent_user_id"] = root.User
		return v
	}
	var by []string
	n, latest := 0, ""
	for _, o := range c.messages {
		if o.Thread == m.TS && o.For == "" {
			n, latest = n+1, o.TS
			if !slices.Contains(by, o.User) {
				by = append(by, o.User)
			}
		}
	}
	if n > 0 {
		v["thread_ts"], v["reply_count"], v["reply_users_count"] = m.TS, n, len(by)
		v["reply_users"], v["latest_reply"], v["is_locked"], v["subscribed"] = by, latest, false, true
	}
	return v
}

func channelInfo(w *Workspace, c call) (map[string]any, *refused) {
	ch := w.channels[c.args.Get("channel")]
	if ch == nil {
		return nil, refuse("channel_not_found")
	}
	direct := ch.kind == "im"
	v := map[string]any{"id": ch.id, "is_channel": !direct, "is_group": false, "is_im": direct, "is_mpim": false, "is_private": direct,
		"created": 1, "updated": 1, "is_archived": ch.archived, "is_org_shared": false, "context_team_id": TeamID}
	if !direct {
		v["name"], v["name_normalized"], v["is_general"], v["is_member"] = ch.name, ch.name, false, !ch.absent
		v["is_shared"], v["is_ext_shared"], v["creator"] = ch.shared, ch.shared, BotUser
		about := map[string]any{"value": "", "creator": "", "last_set": 0}
		v["topic"], v["purpose"] = about, about
	}
	return map[string]any{"channel": v}, nil
}
