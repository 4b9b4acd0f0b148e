package agent

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/store"
)

// This file is what people do to what they have said. What the model has not read is changed where it
// waits; of what it has read it is told, like of any other words, but they begin no turn.

// A message is a UserSaid in its place, or the word of a change to one that the model has read.
type message struct {
	at      store.Pos
	id      string // the Key of its frame, which is the network's id
	said    UserSaid
	changes []change  // oldest first
	note    string    // not empty: this is no message but the word of a change
	quoted  *Quoted   // goes before it
	files   *Attached // goes behind it
}

// A change is an Amended or a Withdrawn in its place.
type change struct {
	at   store.Pos
	text string
	gone bool
	note string
}

// seen returns the message as a model reads it that sees the log up to saw, whether it was there then,
// and the changes of which the model has to be told later.
func (m *message) seen(saw store.Pos) (said UserSaid, there bool, later []message) {
	said, there = m.said, true
	for _, c := range m.changes {
		if c.at > saw {
			later = append(later, message{at: c.at, note: c.note})
			continue
		}
		said.Text, there = c.text, !c.gone
	}
	if !there {
		later = nil
	}
	return said, there, later
}

// waits reports whether this is a message, and there.
func (m message) waits() bool { return m.note == "" && !m.gone() }

func (m *message) gone() bool {
	n := len(m.changes)
	return n > 0 && m.changes[n-1].gone
}

// hear takes a message in line. The first of all may be one inside an existing thread.
func (k *talk) hear(m message) {
	if !k.heard && m.said.Reply {
		k.first = &m
	}
	k.heard = true
	k.waiting = append(k.waiting, m)
	if m.id == "" {
		return
	}
	if k.known == nil {
		k.known = map[string]UserSaid{}
	}
	k.known[m.id] = m.said
}

// begins reports whether a message waits that is to begin a turn.
func begins(waiting []message) bool {
	return slices.ContainsFunc(waiting, message.waits)
}

// next returns the messages that a request made now would take in, beside the history. While a turn
// runs those that are to begin a turn of their own stay.
func (k *talk) next(running bool) []message {
	var taken []message
	for _, m := range k.waiting {
		if !m.gone() && !(running && m.said.Busy == Queue) {
			taken = append(taken, m)
		}
	}
	return taken
}

// take moves what is waiting up to saw into the history, as it was then, and returns the ids of the
// messages. Those that are to begin a turn stay when one runs.
func (k *talk) take(saw store.Pos, running bool) (ids []string) {
	var rest []message
	for _, m := range k.waiting {
		if m.at > saw || running && m.said.Busy == Queue {
			rest = append(rest, m)
			continue
		}
		told, later := k.told(m, saw)
		for _, m := range told {
			k.add(m)
		}
		if len(told) > 0 && m.id != "" {
			ids = append(ids, m.id)
		}
		rest = append(rest, later...)
	}
	k.waiting = rest
	if k.shown.over() {
		k.rewrite(bounded(k.history))
	}
	return ids
}

func (k *talk) amend(at store.Pos, e *Amended) {
	said, ok := k.known[e.Of]
	if !ok {
		return
	}
	said.Text = e.Text
	k.known[e.Of] = said
	k.change(e.Of, change{at: at, text: e.Text, note: e.Note})
}

func (k *talk) withdraw(at store.Pos, e *Withdrawn) {
	if _, ok := k.known[e.Of]; !ok {
		return
	}
	delete(k.known, e.Of)
	k.change(e.Of, change{at: at, gone: true, note: e.Note})
}

// change notes a change beside the message while that waits: a model that is writing just now may have
// read it as it was. Else the model is to be told.
func (k *talk) change(of string, c change) {
	for i := range k.waiting {
		if k.waiting[i].id == of {
			k.waiting[i].changes = append(k.waiting[i].changes, c)
			return
		}
	}
	k.waiting = append(k.waiting, message{at: c.at, note: c.note})
}

// forget begins the conversation anew. What is in line stays there.
func (k *talk) forget() {
	k.history, k.size, k.shown = nil, 0, tally{}
	k.waiting = slices.DeleteFunc(k.waiting, func(m message) bool { return m.note != "" })
	known := map[string]UserSaid{}
	for _, m := range k.waiting {
		if said, ok := k.known[m.id]; ok {
			known[m.id] = said
		}
	}
	k.known = known
}

// turnWithout returns the turn that nobody asks for any more without the message, or 0.
func turnWithout(s *Session, id string) int {
	var asked []string
	switch {
	case s.stop != nil, s.turn == nil && s.wish != nil:
		return 0 // it ends anyway, or something else begins it
	case s.turn != nil:
		asked = s.turn.asked
	default:
		for _, m := range s.waiting {
			asked = append(asked, m.id)
		}
	}
	others := slices.ContainsFunc(asked, func(other string) bool {
		_, there := s.known[other]
		return other != id && there
	})
	if others || !slices.Contains(asked, id) {
		return 0
	}
	return s.current()
}

// Amend changes the text of the message of that id, which said.By has said; id names the change. The
// same text once more changes nothing. It returns ErrUnknown if the session has no such message of this
// person. It is idempotent by id, and to be repeated after other errors.
func (a *Agent) Amend(ctx context.Context, session, id, of string, said UserSaid) error {
	said.Text = a.cfg.Redact(said.Text)
	return revise(ctx, a, session, "amend/"+id, func(s *Session) (any, error) {
		old, ok := s.known[of]
		switch {
		case !ok || old.By.ID != said.By.ID:
			return nil, ErrUnknown
		case old.Text == said.Text:
			return nil, nil
		}
		return Amended{Of: of, By: said.By, Text: said.Text, Note: about("message edited", old, said)}, nil
	})
}

// Withdraw says that the message of that id was deleted. What it asked for and has not run does not run
// any more: a turn that it began ends, and with it what waits for approval. It returns ErrUnknown if the
// session has no such message, or has it no more. It is to be repeated after other errors.
func (a *Agent) Withdraw(ctx context.Context, session, of string) error {
	return revise(ctx, a, session, "withdraw/"+of, func(s *Session) (any, error) {
		old, ok := s.known[of]
		if !ok {
			return nil, ErrUnknown
		}
		return Withdrawn{Of: of, Turn: turnWithout(s, of), Note: about("message withdrawn", old, UserSaid{})}, nil
	})
}

// revise appends, under key, the event that decide makes of the session as it is.
func revise(ctx context.Context, a *Agent, session, key string, decide func(*Session) (any, error)) error {
	l, release, err := a.get(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	for {
		e, err := decide(&l.s)
		if e == nil || err != nil {
			return err
		}
		switch err := l.append(ctx, store.Frame{Key: key}, unlessMoved, e); {
		case errors.Is(err, errMoved):
			continue
		case errors.Is(err, store.ErrDuplicate):
			return nil
		case err != nil:
			return err
		}
		if l.s.stop != nil {
			l.cancel(errStop) // after the append: the worker then finds the reason in the log
		}
		l.start()
		return nil
	}
}

// maxOld is how much of a message the model is given to know it by, in runes.
const maxOld = 200

// about returns the note of that name on a message.
func about(name string, old, now UserSaid) string {
	if r := []rune(old.Text); len(r) > maxOld {
		old.Text = string(r[:maxOld]) + "…"
	}
	return strings.NewReplacer("{old}", line(old), "{new}", line(now)).Replace(note(name))
}
