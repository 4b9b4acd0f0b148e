package bots

import (
	"fmt"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
)

// approval adds the messages that ask for an approval: all of what is to be approved, in as many
// parts as it takes, and with the last of them the card, which has the buttons. The card is posted
// after its parts. If the network refuses one of them for good, nobody can approve.
func (l look) approval(s *state, t *turn, k *card, add func(string, wanted)) {
	name := k.name()
	parts := l.info.Cut(l.mask(k.asked.Preview))
	whole := true
	for i := range len(parts) - 1 {
		rest := fmt.Sprintf("%s/part/%d", name, i+1)
		// A later start may cut elsewhere, with other secrets or another limit: while the card waits,
		// its parts follow.
		add(rest, wanted{Message: l.part(k, parts, i), cause: k.at, once: k.closed, lost: lostPart})
		if _, failed := s.failed[key(t, rest)]; failed {
			whole = false
			break
		}
	}
	var state []string
	switch {
	case k.closed:
		state = []string{l.outcome(k)}
	case t.stopping != 0:
		state = []string{l.md(beingStopped)}
	default:
		state = []string{l.until(k.asked.Approvers, k.asked.Expires), l.md(inWords(k.number, whole))}
	}
	m := l.card(k, parts, state)
	if !k.closed && t.stopping == 0 {
		m.Buttons = answers(k, whole)
	}
	add(name, wanted{Message: m, cause: k.at, lost: lostCard})
}

// part returns a part of what is to be approved that stands before the card.
func (l look) part(k *card, parts []string, i int) Message {
	text := l.md(fmt.Sprintf("Part %d of %d of what I would do: ", i+1, len(parts)) + l.code(k.asked.Title) + within(parts, i))
	return Message{Class: Approval, Text: text, Code: parts[i], Lang: lang(k.asked)}
}

// within says so if a part begins within a line.
func within(parts []string, i int) string {
	if i == 0 || strings.HasSuffix(parts[i-1], "\n") {
		return ""
	}
	return "\nIt begins in the middle of a line."
}

// card returns an approval card as it should look now, but for its buttons, with the last of the parts.
// The lines of state say who may answer, or what became of it.
func (l look) card(k *card, parts, state []string) Message {
	a, last := k.asked, len(parts)-1
	lines := []string{l.md("**May I do this?** " + l.code(a.Title))}
	if k.closed {
		lines[0] = l.md(l.code(a.Title))
	}
	if a.Dir != "" {
		lines = append(lines, l.md("In "+l.code(a.Dir)))
	}
	if a.Again {
		lines = append(lines, l.md("It has changed since it was shown before: this is what it would do now."))
	}
	if last > 0 {
		lines = append(lines, l.md(fmt.Sprintf("This is the last of %d parts of what I would do.", len(parts))+within(parts, last)))
	}
	lines = append(lines, state...)
	return Message{Class: Approval, Text: strings.Join(lines, "\n"), Code: parts[last], Lang: lang(a)}
}

// lang returns the language of a preview.
func lang(a *agent.ApprovalAsked) string {
	switch a.Kind { // of package tools; the strings are for ever
	case "diff":
		return "diff"
	case "command":
		return "sh"
	}
	return ""
}

// answers returns the buttons of a card that waits. What is not shown whole cannot be approved.
func answers(k *card, whole bool) []Button {
	value := k.call.ID + " " + k.asked.Digest
	deny := []Button{
		{Label: "Deny", Action: Deny, Value: value, Style: Danger},
		{Label: "Deny with reason", Action: Deny, Value: value, Ask: "What should be done instead?"},
	}
	if !whole {
		return deny
	}
	return append([]Button{{Label: "Approve", Action: Approve, Value: value, Style: Primary}}, deny...)
}

// inWords says what can be written instead of pressing a button, as Markdown.
func inWords(n int, whole bool) string {
	s := fmt.Sprintf("Or write `deny %d` or `deny %d because …`.", n, n)
	if whole {
		s = fmt.Sprintf("Or write `approve %d`, `deny %d` or `deny %d because …`.", n, n, n)
	}
	return s
}

// until says who may answer, and until when.
func (l look) until(approvers []string, expires time.Time) string {
	s := names(l, approvers, "Whoever may talk to me here") + " may answer"
	if !expires.IsZero() {
		s += expires.UTC().Format(" until 2 January 15:04 UTC")
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
	return strings.TrimSpace(s + " " + l.md(k.after(l)))
}

// after says what happened after the decision, as Markdown.
func (k *card) after(l look) string {
	c := k.call
	switch {
	case k != c.card():
		return "It did not run, because what it would do has changed. It is asked again below."
	case k.gone && c.started == nil:
		return "It did not run: the message that asked for it was deleted."
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
