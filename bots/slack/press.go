package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heddle-bot/heddle/bots"
)

// An interaction is a press on a button, or a form that was sent.
type interaction struct {
	Type      string `json:"type"`
	TriggerID string `json:"trigger_id"`
	User      struct {
		ID   string `json:"id"`
		Team string `json:"team_id"`
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
	return delivery{at: a.TS, event: bots.Clicked{
		ID:      strings.Join([]string{"press", p.Container.Message, p.User.ID, a.TS}, "/"),
		Thread:  t,
		Message: bots.MessageID(p.Container.Message),
		By:      r.person(p.User.ID, p.User.Team),
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
		By:      r.person(p.User.ID, p.User.Team),
		Action:  bots.Action(of.Action),
		Value:   of.Value,
		Reason:  reason,
	}}, nil
}
