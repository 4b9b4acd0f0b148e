package bots

import (
	"fmt"
	"strings"
)

// An inquiry is a question on its way into the thread.
type inquiry struct {
	look
	k *card
}

// messages adds the messages that ask the people a question: the question and its options, in as many
// pieces as it takes, and with the last of them the card, which has the buttons. What is answered
// keeps its pieces, so that the thread can be read later.
func (l inquiry) messages(t *turn, add func(string, wanted)) {
	k, pieces := l.k, l.pieces()
	room := l.info.MaxText / 3 // what the card says beside the question; the same before the answer and after it
	if last := len(pieces) - 1; len(pieces[last])+1+room > l.info.MaxText {
		pieces = append(pieces, "")
	}
	last := len(pieces) - 1
	for i, text := range pieces[:last] {
		m := Message{Class: Approval, Text: text}
		add(fmt.Sprintf("%s/part/%d", k.name(), i+1), wanted{Message: m, cause: k.at, once: k.closed, lost: lostQuestion})
	}
	m := Message{Class: Approval, Text: pieces[last]}
	if m.Text != "" {
		m.Text += "\n"
	}
	switch {
	case k.closed:
		m.Text += fit(l.outcome(), room)
	case t.stopping != 0:
		m.Text += l.md(beingStopped)
	default:
		m.Text += fit(l.until(nil, k.question.Expires)+"\n"+l.md(howToAnswer(k)), room)
		m.Buttons = l.buttons()
	}
	add(k.name(), wanted{Message: m, cause: k.at, lost: lostQuestion})
}

// pieces returns the question and its options as the network writes them, in pieces that each fit one
// message. They are rendered apart, so that a fence which the question leaves open swallows no option.
func (l inquiry) pieces() []string {
	q := l.k.question
	head := "**Question:** "
	if strings.Contains(q.Question, "\n") {
		head = "**Question:**\n\n"
	}
	pieces := l.info.Render(l.mask(head + q.Question))
	var list []string
	for i, o := range q.Options {
		s := fmt.Sprintf("%d. %s", i+1, l.code(o.Label))
		if o.Description != "" {
			s += " – " + strings.Join(strings.Fields(o.Description), " ")
		}
		list = append(list, s)
	}
	options := l.info.Render(l.mask(strings.Join(list, "\n")))
	if last := len(pieces) - 1; last >= 0 && len(options) > 0 && len(pieces[last])+1+len(options[0]) <= l.info.MaxText {
		pieces[last] += "\n" + options[0]
		options = options[1:]
	}
	return append(pieces, options...)
}

// waits returns what a card asks, in a few words, and who may answer it.
func (k *card) waits(l look) (what, until string) {
	if k.question != nil {
		return clip(l.mask(k.question.Question), 80), l.until(nil, k.question.Expires)
	}
	return k.asked.Title, l.until(k.asked.Approvers, k.asked.Expires)
}

// howToAnswer says so, as Markdown.
func howToAnswer(k *card) string {
	n := k.number
	if !k.question.Free {
		return fmt.Sprintf("Press a button, or write `answer %d` and one of the options.", n)
	}
	return fmt.Sprintf("Press a button, or write `answer %d` and your answer. The next message to me in this thread counts as the answer, too.", n)
}

// buttons returns the buttons of a question that waits: one for each option, and one for a person's own
// words. A label that is too long for a button is cut; its number, as in the text, tells it from others.
func (l inquiry) buttons() []Button {
	q, call := l.k.question, l.k.call.ID
	var all []Button
	for i, o := range q.Options {
		label := strings.Join(strings.Fields(l.mask(o.Label)), " ")
		if most := l.info.MaxLabel; most > 0 && clip(label, most) != label {
			label = clip(fmt.Sprintf("%d. %s", i+1, label), most)
		}
		all = append(all, Button{Label: label, Action: Choose, Value: fmt.Sprintf("%s %d", call, i+1)})
	}
	if !q.Free {
		return all
	}
	other := "Other…"
	if len(all) == 0 {
		other = "Answer…"
	}
	form := clip(strings.Join(strings.Fields(l.mask(q.Question)), " "), 150)
	return append(all, Button{Label: other, Action: Choose, Value: call + " 0", Ask: form})
}

// outcome says what became of a question that waits for nobody any more.
func (l inquiry) outcome() string {
	switch a := l.k.answered; {
	case a != nil && a.Option > 0:
		return l.who(a.By) + " " + l.md("chose "+l.code(a.Text)+".")
	case a != nil:
		return l.who(a.By) + " " + l.md("answered: "+quote(a.Text)+".")
	case l.k.expired:
		return l.md("Nobody answered in time.")
	}
	return l.md("Nobody has answered, and no answer is needed any more.")
}
