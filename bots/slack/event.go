package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// An envelope is one delivery of Socket Mode. The payload is decoded here and not by the library: it
// refuses whole messages for a block that it does not know, and they would be lost.
type envelope struct {
	Type    string          `json:"type"`
	ID      string          `json:"envelope_id"`
	Payload json.RawMessage `json:"payload"`
}

// A delivery is what an envelope means to us: one of the two, or nothing.
type delivery struct {
	event bots.Event
	form  *form // to be opened for who pressed the button
}

// A form asks a person something beside a button.
type form struct {
	trigger string // opens it, for three seconds
	by      string
	title   string
	about   about
	ask     string
}

// An about is what a form that comes back is about. It travels in the form's private_metadata.
type about struct {
	Channel string `json:"channel"`
	Thread  string `json:"thread"`
	Message string `json:"message"`
	Action  string `json:"action"`
	Value   string `json:"value"`
}

// formID is the callback_id of our forms.
const formID = "heddle.ask"

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
		return r.message(p.Event), nil
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
	}
	return delivery{}, nil
}

// A message is the inner event of app_mention and message.
type message struct {
	Type        string `json:"type"`
	SubType     string `json:"subtype"`
	User        string `json:"user"`
	BotID       string `json:"bot_id"`
	Text        string `json:"text"`
	TS          string `json:"ts"`
	ThreadTS    string `json:"thread_ts"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"` // not told in app_mention
}

// message decodes what somebody wrote. A mention in a channel comes twice, as app_mention and as
// message, in either order; both yield the same Said, so it does not matter which of them is taken.
func (r *reader) message(m message) delivery {
	switch {
	case m.Type != "app_mention" && m.Type != "message",
		m.BotID != "" && m.BotID == r.me.bot, m.User == r.me.user, // our own words
		m.Channel == "", m.TS == "", cmp.Or(m.User, m.BotID) == "":
		return delivery{}
	}
	switch m.SubType {
	case "", "file_share", "thread_broadcast":
	default: // edits, deletions, joins
		return delivery{}
	}
	text, mentioned := readText(m.Text, r.me.user, r.name)
	by := cmp.Or(m.User, m.BotID)
	return delivery{event: bots.Said{
		ID:      m.TS,
		Thread:  r.thread(m.Channel, m.ThreadTS, m.TS),
		By:      bots.Person{ID: by, Name: r.name(by), Bot: m.BotID != ""},
		Text:    text,
		Mention: mentioned || direct(m),
		Reply:   m.ThreadTS != "" && m.ThreadTS != m.TS,
		Time:    stamp(m.TS),
	}}
}

// direct reports whether m is in a conversation with the bot alone. Their ids begin with D, always.
func direct(m message) bool { return m.ChannelType == "im" || strings.HasPrefix(m.Channel, "D") }

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

// An interaction is a press on a button, or a form that was sent.
type interaction struct {
	Type      string `json:"type"`
	TriggerID string `json:"trigger_id"`
	User      struct {
		ID string `json:"id"`
	} `json:"user"`
	Container struct {
		Channel string `json:"channel_id"`
		Message string `json:"message_ts"`
		Thread  string `json:"thread_ts"`
	} `json:"container"`
	Message struct {
		ThreadTS string `json:"thread_ts"`
	} `json:"message"`
	Actions []struct {
		Type     string `json:"type"`
		ActionID string `json:"action_id"`
		Value    string `json:"value"`
		TS       string `json:"action_ts"`
		Text     struct {
			Text string `json:"text"`
		} `json:"text"`
	} `json:"actions"`
	View struct {
		ID       string `json:"id"`
		Callback string `json:"callback_id"`
		Private  string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	} `json:"view"`
}

// press decodes a press on a button. Slack sends one action at a time.
func (r *reader) press(p interaction) delivery {
	if len(p.Actions) == 0 || p.Actions[0].Type != "button" || p.Container.Message == "" || p.User.ID == "" {
		return delivery{}
	}
	a := p.Actions[0]
	button := decodePress(a.ActionID, a.Value)
	t := r.thread(p.Container.Channel, cmp.Or(p.Container.Thread, p.Message.ThreadTS), p.Container.Message)
	if button.ask != "" {
		return delivery{form: &form{
			trigger: p.TriggerID,
			by:      p.User.ID,
			title:   a.Text.Text,
			ask:     button.ask,
			about:   about{t.Channel, t.ID, p.Container.Message, string(button.action), button.value},
		}}
	}
	return delivery{event: bots.Clicked{
		ID:      strings.Join([]string{"press", p.Container.Message, p.User.ID, a.TS}, "/"),
		Thread:  t,
		Message: bots.MessageID(p.Container.Message),
		By:      bots.Person{ID: p.User.ID, Name: r.name(p.User.ID)},
		Action:  button.action,
		Value:   button.value,
	}}
}

// answer decodes a form that was sent: it is the press on the button that opened it.
func (r *reader) answer(p interaction) (delivery, error) {
	if p.View.Callback != formID {
		return delivery{}, nil
	}
	var of about
	if err := json.Unmarshal([]byte(p.View.Private), &of); err != nil {
		return delivery{}, fmt.Errorf("decoding what a form is about: %w", err)
	}
	var reason string
	for _, b := range p.View.State.Values {
		for _, field := range b {
			reason = strings.TrimSpace(field.Value)
		}
	}
	return delivery{event: bots.Clicked{
		ID:      "form/" + p.View.ID,
		Thread:  r.thread(of.Channel, of.Thread, of.Message),
		Message: bots.MessageID(of.Message),
		By:      bots.Person{ID: p.User.ID, Name: r.name(p.User.ID)},
		Action:  bots.Action(of.Action),
		Value:   of.Value,
		Reason:  reason,
	}}, nil
}
