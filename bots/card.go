package bots

import (
	"strings"

	"github.com/heddle-bot/heddle/agent"
)

// card returns an approval card as it should look now.
func (l look) card(t *turn, k *card) Message {
	a := k.asked
	m := Message{Class: Approval, Code: l.mask(a.Preview)}
	switch a.Kind { // of package tools; the strings are for ever
	case "diff":
		m.Lang = "diff"
	case "command":
		m.Lang = "sh"
	}
	lines := []string{l.md("**May I do this?** " + l.code(a.Title))}
	if a.Dir != "" {
		lines = append(lines, l.md("In "+l.code(a.Dir)))
	}
	if a.Again {
		lines = append(lines, l.md("It has changed since it was shown before: this is what it would do now."))
	}
	if k.closed {
		lines[0] = l.md(l.code(a.Title))
		m.Text = strings.Join(append(lines, l.outcome(k)), "\n")
		return m
	}
	m.Text = strings.Join(append(lines, l.question(a)), "\n")
	if t.stopping > 0 {
		return m
	}
	value := k.call.ID + " " + a.Digest
	m.Buttons = []Button{
		{Label: "Approve", Action: Approve, Value: value, Style: Primary},
		{Label: "Deny", Action: Deny, Value: value, Style: Danger},
		{Label: "Deny with reason", Action: Deny, Value: value, Ask: "What should be done instead?"},
	}
	return m
}

// question says who may answer, and until when.
func (l look) question(a *agent.ApprovalAsked) string {
	who := "Whoever may talk to me here"
	if len(a.Approvers) > 0 {
		names := make([]string, len(a.Approvers))
		for i, id := range a.Approvers {
			names[i] = l.who(agent.User{ID: id})
		}
		who = strings.Join(names, ", ")
	}
	s := who + " may answer"
	if !a.Expires.IsZero() {
		s += a.Expires.UTC().Format(" until 2 January 15:04 UTC")
	}
	return s + "."
}

// outcome says what became of a card that waits for nobody any more.
func (l look) outcome(k *card) string {
	var s string
	switch d := k.decided; {
	case d != nil && d.Yes:
		s = "Approved by " + l.who(d.By) + "."
	case d != nil:
		s = "Denied by " + l.who(d.By) + "."
	}
	if d := k.decided; d != nil && strings.TrimSpace(d.Reason) != "" {
		s = strings.TrimSuffix(s, ".") + l.md(": “"+clip(strings.Join(strings.Fields(d.Reason), " "), 500)+"”.")
	}
	if s != "" && !k.decided.Yes {
		return s
	}
	return strings.TrimSpace(s + " " + l.md(l.after(k)))
}

// after says what happened after the decision, as Markdown.
func (l look) after(k *card) string {
	c := k.call
	switch {
	case k != c.card():
		return "It did not run, because what it would do has changed. It is asked again below."
	case k.expired:
		return "Nobody answered in time, so it did not run."
	case c.result == nil && c.started != nil:
		return "It is running."
	case c.result == nil:
		return "It runs as soon as it can."
	case k.decided == nil:
		return "Nobody has answered; it did not run."
	}
	r := c.result
	s := "It ran."
	if _, words := status(r.Status); words != "" {
		s = "It " + words + "."
	}
	if r.Note != "" {
		s = strings.TrimSuffix(s, ".") + " (" + l.code(r.Note) + ")."
	}
	return s
}
