package discord

import (
	"encoding/json"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// An interaction is a press on a button, a form that was sent, or a command.
type interaction struct {
	ID      string                    `json:"id"`
	App     string                    `json:"application_id"`
	Kind    discordgo.InteractionType `json:"type"`
	Token   string                    `json:"token"`
	Guild   string                    `json:"guild_id"`
	Channel string                    `json:"channel_id"`
	Where   *channel                  `json:"channel"`
	Member  *member                   `json:"member"` // of whom, in a guild
	User    *user                     `json:"user"`   // elsewhere
	Message *message                  `json:"message"`
	Data    interacted                `json:"data"`
}

// interacted is what was done.
type interacted struct {
	CustomID   string                           `json:"custom_id"` // of a button, or a form
	Component  discordgo.ComponentType          `json:"component_type"`
	Components json.RawMessage                  `json:"components"` // of a form
	Name       string                           `json:"name"`       // of a command
	Kind       discordgo.ApplicationCommandType `json:"type"`       // likewise
	Options    []option                         `json:"options"`    // likewise
	Target     string                           `json:"target_id"`  // the message that a command is about
	Resolved   struct {
		Messages map[string]message `json:"messages"`
	} `json:"resolved"`
}

// An option is a word of a command: a further command, or a value.
type option struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Options []option        `json:"options"`
	Focused bool            `json:"focused"` // it is being typed
}

// typed returns what is being typed, of an interaction that asks how it may go on.
func typed(options []option) string {
	for _, o := range options {
		var s string
		if o.Focused && json.Unmarshal(o.Value, &s) == nil {
			return s
		}
		if s := typed(o.Options); s != "" {
			return s
		}
	}
	return ""
}

// by returns who it was, or nil.
func (i interaction) by() *user {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User
	}
	return i.User
}

// words returns the options of a command as one would write them.
func words(options []option) string {
	var all []string
	for _, o := range options {
		var s string
		switch {
		case len(o.Value) == 0:
			s = strings.TrimSpace(o.Name + " " + words(o.Options))
		case json.Unmarshal(o.Value, &s) != nil:
			s = string(o.Value) // a number
		}
		all = append(all, s)
	}
	return strings.Join(all, " ")
}

// answer returns what was written into a form.
func answer(components json.RawMessage) string {
	var rows []struct {
		Value      string          `json:"value"`
		Components json.RawMessage `json:"components"`
		Component  json.RawMessage `json:"component"` // of a label
	}
	if len(components) == 0 || json.Unmarshal(components, &rows) != nil {
		return ""
	}
	for _, r := range rows {
		if r.Value != "" {
			return strings.TrimSpace(r.Value)
		}
		if inner := answer(r.Components); inner != "" {
			return inner
		}
		if inner := answer(json.RawMessage("[" + string(r.Component) + "]")); inner != "" {
			return inner
		}
	}
	return ""
}

// A press is what a button is for, as its custom_id tells. The written form is for ever.
type press struct {
	action bots.Action
	value  string
	ask    string // the question of the form that the button opens, as far as there is room, or ""
}

// The parts of a custom_id: the action, with asks behind it if there is a form; a line feed, and the
// value; another, and the question, of which what does not fit is cut. What makes it differ from the
// others of its message begins with nth.
const (
	asks  = "?"
	nth   = "#"
	maxID = 100 // characters; our values have bytes only
)

func (p press) encode() string {
	if p.ask == "" {
		return string(p.action) + "\n" + p.value
	}
	id := string(p.action) + asks + "\n" + p.value + "\n"
	return id + clip(strings.Join(strings.Fields(p.ask), " "), max(maxID-len(id)-len(nth)-2, 1))
}

func decodePress(id string) press {
	action, value, _ := strings.Cut(id, "\n")
	action, _, _ = strings.Cut(action, nth)
	action, ask := strings.CutSuffix(action, asks)
	p := press{action: bots.Action(action), value: value}
	if ask {
		p.value, p.ask, _ = strings.Cut(value, "\n")
	}
	return p
}

// clip cuts s to max characters.
func clip(s string, max int) string {
	r := []rune(s)
	if len(r) > max {
		r = append(r[:max-1], '…')
	}
	return string(r)
}

// labelOf returns the label of the button of that custom_id.
func labelOf(components json.RawMessage, id string) string {
	var all []struct {
		ID         string          `json:"custom_id"`
		Label      string          `json:"label"`
		Components json.RawMessage `json:"components"`
	}
	if len(components) == 0 || json.Unmarshal(components, &all) != nil {
		return ""
	}
	for _, c := range all {
		if c.ID == id {
			return c.Label
		}
		if label := labelOf(c.Components, id); label != "" {
			return label
		}
	}
	return ""
}
