package bots

import (
	"fmt"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
)

// A wanted is one message that the thread should show.
type wanted struct {
	Message
	turn  int
	cause time.Time // when what it tells came up: if that was before this start, it may have been posted already
	once  bool      // it is never edited
	lost  string    // told, as Markdown with %s for the reason, if the network refuses it for good; empty is nothing
	last  bool      // it is posted after everything else that waits to be
	spare bool      // it is not worth posting now, but if it may have been posted it is to be brought up to date

	artefact string // of the file that is its Upload; empty is none
	file     string // the name of that
}

// A look is what the view depends on beside the session.
type look struct {
	info   Info
	redact func(string) string // nil changes nothing
	now    time.Time
}

// view returns what the thread should show of the turns that are not painted, in the order in which
// it is to be posted.
func view(s *state, live agent.Live, l look) []wanted {
	if l.info.Shows {
		return nil
	}
	var all []wanted
	for _, t := range s.turns {
		all = append(all, l.turn(s, t, live)...)
	}
	if t := s.coming(); t != nil {
		all = append(all, l.turn(s, t, live)...)
	}
	return all
}

func (l look) turn(s *state, t *turn, live agent.Live) []wanted {
	var all []wanted
	add := func(rest string, w wanted) {
		w.Key, w.turn = key(t, rest), t.n
		w.Text = fit(w.Text, l.info.MaxText)
		all = append(all, w)
		if detail, ok := s.failed[w.Key]; ok && w.lost != "" {
			text := l.md(fmt.Sprintf(w.lost, l.code(detail)))
			m := Message{Key: w.Key + "/failed", Class: Notice, Text: fit(text, l.info.MaxText)}
			all = append(all, wanted{Message: m, turn: t.n, cause: w.cause, once: true})
		}
	}
	if t.ended == nil {
		add("progress", wanted{Message: l.progress(t, live), cause: t.since})
	} else { // if there were no calls the answer says it all
		add("progress", wanted{Message: l.summary(t), cause: t.since, spare: len(t.calls) == 0})
	}
	for _, m := range t.marks {
		switch {
		case m.card != nil && m.card.question != nil:
			inquiry{l, m.card}.messages(t, add)
		case m.card != nil:
			l.approval(s, t, m.card, add)
		case m.mailed != nil:
			add("file/"+m.mailed.call.ID, mailed(l, m.mailed))
		case m.unread != nil:
			notice := Message{Class: Notice, Text: unread(l, m.unread)}
			add(fmt.Sprintf("unread/%d", m.unread.Said), wanted{Message: notice, cause: m.at, once: true})
		case m.summed != 0:
			notice := Message{Class: Notice, Text: l.md(summedUp)}
			add(fmt.Sprintf("summed/%d", m.summed), wanted{Message: notice, cause: m.at, once: true})
		default:
			notice := Message{Class: Notice, Text: l.md(fateOf(m))}
			spare := len(m.row) == 0 || m.newest().fate == taken
			add(fmt.Sprintf("said/%d", m.said.pos), wanted{Message: notice, cause: m.said.at, spare: spare, last: true})
		}
	}
	if t.ended != nil {
		conclude(l, s, t, add)
	}
	return all
}

// An answer of more pieces than maxPieces is a wall that nobody reads in a thread: it begins there, with
// the first of them, and the whole is in a file.
const (
	maxPieces   = 8
	firstPieces = 2
)

// conclude adds the messages that end a turn.
func conclude(l look, s *state, t *turn, add func(string, wanted)) {
	const file = "answer/file"
	pieces := l.answer(t.ended)
	_, failed := s.failed[key(t, file)]
	long := len(pieces) > maxPieces && !failed // if there can be no file, all of it goes into the thread
	var whole Message
	if long {
		name := fmt.Sprintf("answer-%d.md", t.n)
		text := l.md("That is not all. The whole answer is in the file " + l.code(name) + ".")
		if t.ended.Reason != agent.Completed {
			text += "\n\n" + ended(l, t.ended)
		}
		whole = Message{Class: Final, Text: text, Upload: &Upload{name, []byte(l.mask(t.ended.Text))}}
		pieces = pieces[:firstPieces]
	}
	for i, text := range pieces {
		m := Message{Class: Final, Text: text}
		add(fmt.Sprintf("answer/%d", i), wanted{Message: m, cause: t.till, once: true, lost: lostAnswer})
	}
	if long {
		add(file, wanted{Message: whole, cause: t.till, once: true})
	}
}

// answer returns the pieces of what a turn says in the end. It is never nothing.
func (l look) answer(e *agent.TurnEnded) []string {
	var pieces []string
	if text := strings.TrimSpace(l.mask(e.Text)); text != "" {
		pieces = l.info.Render(text)
	}
	if e.Reason == agent.Completed && len(pieces) > 0 {
		return pieces
	}
	end := ended(l, e)
	if n := len(pieces); n > 0 && len(pieces[n-1])+2+len(end) <= l.info.MaxText {
		pieces[n-1] += "\n\n" + end
		return pieces
	}
	return append(pieces, end)
}

// ended says why a turn ended without being completed.
func ended(l look, e *agent.TurnEnded) string {
	if e.Reason == agent.Cancelled {
		return "Stopped by " + l.who(e.By) + "."
	}
	return l.md(ending(l, e))
}

// What is told of messages that could not be posted.
const (
	lostCard = "I need an approval here, but the network refuses the card that asks for it (%s). " +
		"Nobody can answer, so say “stop” to end this. Please tell whoever runs me."
	lostPart = "I need an approval here, but the network refuses to show a part of what I would do (%s). " +
		"Nobody can approve what is not shown; it can only be denied. Please tell whoever runs me."
	lostFile     = "I have a file for you that could not be posted here (%s). Please tell whoever runs me."
	lostQuestion = "I have a question here, but the network refuses to show all of it (%s). " +
		"If you cannot answer what you see, say “stop” to end this. Please tell whoever runs me."
	lostAnswer = "Part of my answer could not be posted here: the network refuses it (%s). Please tell whoever runs me."
)

// md returns our own words as the network writes them, in one piece.
func (l look) md(s string) string {
	pieces := l.info.Render(l.mask(s))
	if len(pieces) == 0 {
		return ""
	}
	if len(pieces) > 1 {
		pieces[0] += "\n…"
	}
	return strings.TrimSpace(pieces[0])
}

// code returns s as Markdown code in a line of its own making: short, without line breaks, and
// unable to end early.
func (l look) code(s string) string {
	s = clip(strings.Join(strings.Fields(l.mask(s)), " "), 200)
	fence, run := 1, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		fence = max(fence, run+1)
	}
	if s == "" {
		return "(nothing)"
	}
	ticks := strings.Repeat("`", fence)
	if fence > 1 {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// who returns the name of u as the network writes it. It does not go through md.
func (l look) who(u agent.User) string {
	if l.info.Mention != nil && u.ID != "" {
		return l.info.Mention(u.ID)
	}
	return l.md(u.String())
}

func (l look) mask(s string) string {
	if l.redact == nil {
		return s
	}
	return l.redact(s)
}
