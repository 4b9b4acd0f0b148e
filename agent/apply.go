package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// Apply folds the frame at pos into the session. An error means that this release cannot read the
// log, or that the log is broken; the session must not be used any more.
//
// Events of other packages pass by. An event of a person fits anywhere: it may reach a session that
// has just moved on. An event of the worker in the wrong place is an error.
func (s *Session) Apply(pos store.Pos, f store.Frame) error {
	if pos <= s.Pos {
		return fmt.Errorf("frame %d after frame %d", pos, s.Pos)
	}
	taken := f.Claim != "" && f.Claim != s.owner
	if s.turn != nil {
		s.turn.clock.tick(f, taken)
	}
	if taken {
		s.owner = f.Claim
	}
	for _, e := range f.Events {
		v, err := Decode(e)
		if err == nil && v != nil {
			err = s.event(pos, f, v)
		}
		if err != nil {
			return fmt.Errorf("frame %d: %w", pos, err)
		}
	}
	if s.turn != nil {
		s.turn.clock.idle = s.turn.asking() != nil
	}
	s.Pos, s.Last = pos, f
	s.Last.Events = nil
	return nil
}

// tick adds the time up to f, unless the turn waited for a person or was nobody's.
func (c *clock) tick(f store.Frame, taken bool) {
	if d := f.Time.Sub(c.mark); !c.idle && !taken && d > 0 {
		c.worked += d
	}
	c.mark = f.Time
}

var errPlace = errors.New("does not fit here")

func (s *Session) event(pos store.Pos, f store.Frame, v any) error {
	var err error
	switch e := v.(type) {
	case *Opened:
		err = s.open(e)
	case *UserSaid:
		s.hear(message{at: pos, id: f.Key, said: *e})
	case *Amended:
		s.amend(pos, e)
	case *Withdrawn:
		if e.Turn != 0 && e.Turn == s.current() && s.stop == nil {
			s.stop = &stop{at: pos, reason: TakenBack}
		}
		s.withdraw(pos, e)
	case *Forgotten:
		if s.turn == nil {
			s.forget()
			s.files.seen = nil // to be read again before it is changed
		}
	case *ModelChosen:
		s.files.model = e.Model
	case *Prompted:
		s.prompt = *e
	case *TurnStarted:
		err = s.start(f, e)
	case *ModelSaid:
		err = s.said(e)
	case *Nudged:
		if s.turn == nil {
			return fmt.Errorf("%T: %w", v, errPlace)
		}
		s.turn.brakes.nudged = s.turn.step
		s.tell(e.Text)
	case *CompactAsked:
		s.wish = e
	case *Compacted, *CompactFailed, *Overflowed:
		err = s.turn.sumUp(&s.talk, v)
	case *StopAsked:
		if s.current() != 0 {
			s.stop = &stop{pos, e.By, Cancelled}
		}
	case *TurnEnded:
		err = s.end(e)
	case *Decided:
		s.decide(e)
	case *Quoted:
		err = s.quote(e)
	case *Attached:
		s.attach(e)
		s.files.attach(e)
	case *Answered:
		s.files.answer(s.turn.call(e.Call), e)
	default:
		err = s.progress(f, v)
	}
	if err != nil {
		return fmt.Errorf("%T: %w", v, err)
	}
	return nil
}

func (s *Session) open(e *Opened) error {
	if s.opened != nil {
		return errPlace
	}
	if e.Format != Format {
		return fmt.Errorf("the session has format %d, this release reads %d: use the release that wrote it", e.Format, Format)
	}
	s.opened = e
	return nil
}

func (s *Session) start(f store.Frame, e *TurnStarted) error {
	if s.turn != nil || e.Turn != s.turns+1 {
		return errPlace
	}
	only := s.wish != nil && !begins(s.waiting)
	asked := s.take(e.Saw, false)
	s.turns = e.Turn
	s.turn = &turn{TurnStarted: *e, asked: asked, model: s.files.model, clock: clock{mark: f.Time}, sum: sum{only: only}}
	return nil
}

// tell puts a message of a person, or of the program, into the history.
func (k *talk) tell(text string) {
	k.add(&llm.Message{Role: llm.User, Text: k.masked(text)})
}

func (k *talk) add(m *llm.Message) {
	k.history = append(k.history, m)
	k.size += size(m)
	k.shown.add(m)
}

func (s *Session) said(e *ModelSaid) error {
	t := s.turn
	if t == nil || e.Turn != t.Turn || e.Step != t.step+1 || len(t.open()) > 0 {
		return errPlace
	}
	s.take(e.Saw, true)
	t.step, t.reply = e.Step, e
	t.usage = t.usage.Add(e.Usage)
	if e.Text != "" {
		t.text = e.Text
	}
	t.calls = nil
	m := &llm.Message{Role: llm.Assistant, Text: s.masked(e.Text), Reasoning: s.masked(e.Reasoning)}
	if raw := string(e.Raw); s.masked(raw) == raw {
		m.Raw = e.Raw // else it cannot be played back
	}
	for _, c := range e.Calls {
		t.calls = append(t.calls, &call{Call: c, secret: slices.Contains(e.Secret, c.ID)})
		args := json.RawMessage(s.masked(string(c.Args)))
		m.Calls = append(m.Calls, llm.Call{ID: c.Provider, Name: c.Tool, Args: args})
	}
	if e.Text != "" || len(e.Calls) > 0 {
		s.add(m)
	}
	t.brakes.step(t.calls)
	return nil
}

// step counts how often in a row the model has asked for just the same.
func (b *brakes) step(calls []*call) {
	var all []string
	for _, c := range calls {
		all = append(all, c.Tool+" "+tools.Canonical(c.Args))
	}
	slices.Sort(all)
	key := strings.Join(slices.Compact(all), "\n")
	switch {
	case key == "":
		b.same = 0
	case key == b.calls:
		b.same++
	default:
		b.same = 1
	}
	b.calls = key
}

func (s *Session) decide(e *Decided) {
	c := s.turn.call(e.Call)
	if c == nil || c.asked == nil || c.decided != nil || c.expired || e.Digest != c.asked.Digest {
		return // late: it was answered when it came
	}
	c.decided = e
	if s.files.decided == nil {
		s.files.decided = map[string]Decided{}
	}
	s.files.decided[e.Call] = *e
}

// progress folds what happens to one call.
func (s *Session) progress(f store.Frame, v any) error {
	var id string
	switch e := v.(type) {
	case *ApprovalAsked:
		id = e.Call
	case *ApprovalExpired:
		id = e.Call
	case *QuestionAsked:
		id = e.Call
	case *QuestionExpired:
		id = e.Call
	case *ToolStarted:
		id = e.Call
	case *ToolFinished:
		id = e.Call
	}
	c := s.turn.call(id)
	if c == nil || c.result != nil {
		return errPlace
	}
	switch e := v.(type) {
	case *ApprovalAsked:
		c.asked, c.decided, c.expired = e, nil, false
	case *ApprovalExpired, *QuestionExpired:
		c.expired = true
	case *QuestionAsked:
		c.question, c.answered, c.expired = &Question{*e, f.Time}, nil, false
	case *ToolStarted:
		c.started = e
	case *ToolFinished:
		c.result = e
		s.files.remember(e)
		if len(s.turn.open()) == 0 {
			s.settle()
		}
	}
	return nil
}

// settle puts the results of a step into the history, in the model's order.
func (s *Session) settle() {
	for _, c := range s.turn.calls {
		text := s.masked(observation(c))
		s.add(&llm.Message{Role: llm.ToolRole, CallID: c.Provider, Text: text})
	}
	s.turn.brakes.settle(s.turn.calls)
}

// settle counts how many steps in a row have brought nothing.
func (b *brakes) settle(calls []*call) {
	all := func(statuses ...Status) bool {
		return !slices.ContainsFunc(calls, func(c *call) bool { return !slices.Contains(statuses, c.result.Status) })
	}
	count := func(n *int, more bool) {
		if *n++; !more {
			*n = 0
		}
	}
	count(&b.failing, all(Failed, Invalid, Refused, TimedOut))
	count(&b.refused, all(Refused))
}

func (s *Session) end(e *TurnEnded) error {
	t := s.turn
	if t == nil || e.Turn != t.Turn || len(t.open()) > 0 {
		return errPlace
	}
	if (e.Reason == Cancelled || e.Reason == TakenBack) && s.stop != nil {
		s.take(s.stop.at, true) // what was said into the turn is stopped with it, what came after is not
	}
	if e.Note != "" {
		s.tell(e.Note)
	}
	if e.Reason == Cancelled {
		s.wish = nil
	}
	switch e.Kind {
	case llm.BadRequest, llm.ContextSize, llm.Content:
		if s.shown.n > 0 { // an image may be why: the thread must not be refused for ever
			s.rewrite(blind(s.history))
		}
	}
	s.turn, s.stop = nil, nil
	return nil
}
