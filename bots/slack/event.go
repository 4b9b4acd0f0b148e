package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// An envelope is one delivery. The payload is decoded here and not by the library: it refuses whole
// messages for a block that it does not know, and they would be lost.
type envelope struct {
	Type    string          `json:"type"`
	ID      string          `json:"envelope_id"` // of Socket Mode
	Payload json.RawMessage `json:"payload"`
}

// A delivery is what an envelope means to us: an event or a form, or nothing.
type delivery struct {
	event bots.Event
	at    string // the ts of the event; "" if it has none
	form  *form  // to be opened for who pressed the button
}

// A reader decodes envelopes for one bot.
type reader struct {
	me   *identity
	name func(id string) string // as far as it is known
}

// read decodes an envelope. What is not for us is an empty delivery; an error is a payload that
// cannot be understood, and would not be the next time either.
func (r *reader) read(env envelope) (delivery, error) {
	switch env.Type {
	case "events_api":
		var p struct {
			Event message `json:"event"`
		}
		if err := json.Unmarshal(env.Payload, &p); err != nil {
			return delivery{}, fmt.Errorf("decoding an event: %w", err)
		}
		return delivery{event: r.event(p.Event), at: p.Event.EventTS}, nil
	case "interactive":
		var p interaction
		if err := json.Unmarshal(env.Payload, &p); err != nil {
			return delivery{}, fmt.Errorf("decoding an interaction: %w", err)
		}
		switch p.Type {
		case "block_actions":
			return r.press(p), nil
		case "view_submission":
			return r.answer(p)
		}
	case "slash_commands":
		var p command
		if err := json.Unmarshal(env.Payload, &p); err != nil {
			return delivery{}, fmt.Errorf("decoding a command: %w", err)
		}
		return delivery{event: r.command(p)}, nil
	}
	return delivery{}, nil
}

// A message is an inner event: app_mention, message, or what else has its fields.
type message struct {
	spoken
	Type        string   `json:"type"`
	Channel     string   `json:"channel"`
	ChannelType string   `json:"channel_type"` // not told in app_mention
	EventTS     string   `json:"event_ts"`
	Tab         string   `json:"tab"`                  // of app_home_opened
	DeletedTS   string   `json:"deleted_ts"`           // of message_deleted
	Now         *spoken  `json:"message"`              // of message_changed
	Before      *spoken  `json:"previous_message"`     // of both
	Streams     []string `json:"streaming_message_ts"` // of agent_session_stopped
}

// A spoken is what somebody said.
type spoken struct {
	SubType  string          `json:"subtype"`
	User     string          `json:"user"`
	BotID    string          `json:"bot_id"`
	Text     string          `json:"text"`
	TS       string          `json:"ts"`
	ThreadTS string          `json:"thread_ts"`
	Team     string          `json:"team"`      // of the author
	UserTeam string          `json:"user_team"` // likewise, in channels that are shared
	Files    json.RawMessage `json:"files"`
	Edited   struct {
		TS string `json:"ts"`
	} `json:"edited"`
}

// event decodes an inner event; nil is none for us.
func (r *reader) event(m message) bots.Event {
	switch {
	case m.Type == "app_home_opened":
		return r.opened(m)
	case m.Channel == "":
		return nil
	case m.Type == "agent_session_stopped":
		return r.stopped(m)
	case m.Type != "app_mention" && m.Type != "message":
		return nil
	}
	switch m.SubType {
	case "message_changed":
		return r.changed(m)
	case "message_deleted":
		return r.deleted(m)
	}
	if !r.theirs(m.spoken) {
		return nil
	}
	return r.said(m.Channel, m.ChannelType, m.spoken)
}

// theirs reports whether w are words of somebody else, and no notice of the network's.
func (r *reader) theirs(w spoken) bool {
	switch {
	case w.BotID != "" && w.BotID == r.me.bot, w.User == r.me.user: // our own words
		return false
	case w.TS == "", cmp.Or(w.User, w.BotID) == "":
		return false
	}
	switch w.SubType {
	case "", "file_share", "thread_broadcast":
		return true
	}
	return false // joins, the root of an assistant's thread
}

// said decodes what somebody wrote. A mention in a channel comes twice, as app_mention and as
// message, in either order; both yield the same Said, so it does not matter which of them is taken.
func (r *reader) said(channel, channelType string, w spoken) bots.Said {
	text, mentioned := readText(w.Text, r.me.user, r.name)
	by := r.person(cmp.Or(w.User, w.BotID), cmp.Or(w.UserTeam, w.Team))
	by.Bot = w.BotID != ""
	return bots.Said{
		ID:      w.TS,
		Thread:  r.thread(channel, w.ThreadTS, w.TS),
		By:      by,
		Text:    text,
		Files:   readFiles(w.Files),
		Mention: mentioned || direct(channel, channelType),
		Reply:   w.ThreadTS != "" && w.ThreadTS != w.TS,
		Time:    stamp(w.TS),
	}
}

// changed decodes message_changed, which Slack sends for new words, but also for a reply, a preview of
// a link, and each edit of ours. The root of a thread that is deleted becomes a stone.
func (r *reader) changed(m message) bots.Event {
	now, before := m.Now, m.Before
	switch {
	case now == nil:
		return nil
	case now.SubType == "tombstone":
		if before == nil || !r.theirs(*before) {
			return nil
		}
		return bots.Deleted{ID: before.TS, Thread: r.thread(m.Channel, before.ThreadTS, before.TS)}
	case !r.theirs(*now), now.Edited.TS == "":
		return nil
	case before != nil && (before.Text == now.Text || before.Edited.TS == now.Edited.TS):
		return nil
	}
	return bots.Edited{
		ID:   strings.Join([]string{"edit", now.TS, now.Edited.TS}, "/"),
		Said: r.said(m.Channel, m.ChannelType, *now),
	}
}

func (r *reader) deleted(m message) bots.Event {
	before := m.Before
	if before == nil || !r.theirs(*before) {
		return nil
	}
	id := cmp.Or(m.DeletedTS, before.TS)
	return bots.Deleted{ID: id, Thread: r.thread(m.Channel, before.ThreadTS, id)}
}

// stopped decodes a press on the stop button that Slack itself shows in a thread of an agent. It means
// whatever runs there.
func (r *reader) stopped(m message) bots.Event {
	if m.User == "" || m.ThreadTS == "" {
		return nil
	}
	c := bots.Clicked{
		ID:     strings.Join([]string{"stopped", m.ThreadTS, m.User, m.EventTS}, "/"),
		Thread: r.thread(m.Channel, m.ThreadTS, ""),
		By:     r.person(m.User, cmp.Or(m.UserTeam, m.Team)),
		Action: bots.Stop,
		Value:  "0",
	}
	if len(m.Streams) > 0 {
		c.Message = bots.MessageID(m.Streams[0])
	}
	return c
}

// person is who has that id. The team is that of the person as Slack tells it, or the organisation
// that the team is a part of; without one nobody is taken for an outsider.
func (r *reader) person(id, team string) bots.Person {
	return bots.Person{ID: id, Name: r.name(id), Outside: !slices.Contains([]string{"", r.me.team, r.me.enterprise}, team)}
}

// direct reports whether a channel is a conversation with the bot alone. Their ids begin with D, always.
func direct(channel, kind string) bool { return kind == "im" || strings.HasPrefix(channel, "D") }

// A command is what somebody typed after a slash. Slack does not tell the thread.
type command struct {
	Channel string `json:"channel_id"`
	User    string `json:"user_id"`
	Team    string `json:"team_id"` // of the person
	Text    string `json:"text"`
	Trigger string `json:"trigger_id"`
}

// command decodes a command; an app gets only its own.
func (r *reader) command(c command) bots.Event {
	if c.Channel == "" || c.User == "" || c.Trigger == "" {
		return nil
	}
	text, _ := readText(c.Text, r.me.user, r.name)
	return bots.Commanded{
		ID:     "command/" + c.Trigger,
		Thread: r.thread(c.Channel, "", ""),
		By:     r.person(c.User, c.Team),
		Text:   text,
	}
}

// thread is the one way in which an address is made, for a root and for a reply. The workspace is
// ours even if the author, in a shared channel, is from another.
func (r *reader) thread(channel, thread, ts string) bots.Thread {
	return bots.Thread{Platform: Name, Workspace: r.me.team, Channel: channel, ID: cmp.Or(thread, ts)}
}

// stamp returns the time in a ts: seconds, a point and six digits that make it unique.
func stamp(ts string) time.Time {
	sec, micro, _ := strings.Cut(ts, ".")
	s, err1 := strconv.ParseInt(sec, 10, 64)
	us, err2 := strconv.ParseInt(micro, 10, 64)
	if err1 != nil || err2 != nil {
		return time.Time{}
	}
	return time.Unix(s, us*1000).UTC()
}
