package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/tools"
)

// This file is the life of a question that the model asks the people: what the worker does, and what
// people do. In between nothing runs; the log says that it waits.

// A Question is a QuestionAsked in its place.
type Question struct {
	QuestionAsked
	At time.Time // when it was asked
}

// An AnsweredError says that somebody has answered the question before.
type AnsweredError struct{ Answered Answered }

func (e *AnsweredError) Error() string {
	return fmt.Sprintf("%s has answered this already", e.Answered.By)
}

// waits reports whether the call waits for a person.
func (c *call) waits() bool {
	return !c.expired && (c.asked != nil && c.decided == nil || c.question != nil && c.answered == nil)
}

// expires returns until when the call waits, if it does.
func (c *call) expires() time.Time {
	if c.question != nil {
		return c.question.Expires
	}
	return c.asked.Expires
}

// question puts the question of a call to the people.
func (w runner) question(c Call) error {
	tool, call, err := w.call(c)
	if err != nil {
		return err
	}
	q, err := question(tool, call)
	if err != nil {
		return w.l.work(unlessMoved, w.finished(c, tool, Failed, err.Error()))
	}
	asked := QuestionAsked{
		Call:     c.ID,
		Question: w.cfg.Redact(q.Text),
		Free:     q.Free,
		Expires:  time.Now().Add(w.settings.Limits.Approval).UTC(),
	}
	for _, o := range q.Options {
		asked.Options = append(asked.Options, Option{w.cfg.Redact(o.Label), w.cfg.Redact(o.Description)})
	}
	return w.l.work(unlessMoved, asked)
}

// question is Tool.Question. A panic in it is an error.
func question(t *tools.Tool, c tools.Call) (q tools.Question, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("a fault in tool %s: %v", t.Name, r)
		}
	}()
	return t.Question(c.Args)
}

// asks reports whether the call has put a question to the people. c may be nil.
func (c *call) asks() bool { return c != nil && c.question != nil }

// expiry returns the event which says that nobody answered.
func (c *call) expiry() any {
	if c.asks() {
		return QuestionExpired{c.ID}
	}
	return ApprovalExpired{c.ID}
}

// conclusion returns the result of a question that was answered. The model reads the answer as it
// reads what people say: under the name of who gave it.
func (w runner) conclusion(do Conclude) ToolFinished {
	word := note("answered")
	if do.Answer.Option > 0 {
		word = note("chosen")
	}
	tool, _, err := w.cfg.Tools.Check(do.Call.Tool, do.Call.Args)
	if err != nil {
		tool = nil
	}
	f := w.finished(do.Call, tool, OK, word+"\n"+line(UserSaid{By: do.Answer.By, Text: do.Answer.Text}))
	f.Note = tools.Clip(do.Answer.By.String()+": "+do.Answer.Text, 80)
	return f
}

// Question returns the question that waits for an answer in the session, or nil.
func (a *Agent) Question(ctx context.Context, session string) (*Question, error) {
	l, release, err := a.get(ctx, session)
	if err != nil {
		return nil, err
	}
	defer release()
	if c := l.s.turn.asking(); c != nil && c.question != nil && l.s.stop == nil && time.Now().Before(c.question.Expires) {
		return c.question, nil // a fold never changes what it points to
	}
	return nil, nil
}

// Answer answers a question, with an option or, where they are welcome, with the person's own words.
// The first answer counts: Answer returns nil for it, and ErrOver, ErrNoOption or an *AnsweredError
// otherwise. With e.Message it is idempotent, and the message is no UserSaid any more: Say takes it
// for a duplicate.
func (a *Agent) Answer(ctx context.Context, session string, e Answered) error {
	e.Text = a.cfg.Redact(e.Text)
	return revise(ctx, a, session, e.Message, func(s *Session) (any, error) {
		answered, err := answerable(s, e, time.Now())
		if before := (*AnsweredError)(nil); errors.As(err, &before) && e.Message != "" && e.Message == before.Answered.Message {
			return nil, nil
		}
		return answered, err
	})
}

// answerable returns e as it is to be written, or why it does not count.
func answerable(s *Session, e Answered, now time.Time) (Answered, error) {
	c := s.turn.asking()
	if c == nil || c.ID != e.Call || c.question == nil || s.stop != nil || !now.Before(c.question.Expires) {
		if before, ok := s.files.answered[e.Call]; ok {
			return e, &AnsweredError{before}
		}
		return e, ErrOver
	}
	q := c.question
	switch {
	case e.Option < 0, e.Option > len(q.Options):
		return e, ErrNoOption
	case e.Option > 0:
		e.Text = q.Options[e.Option-1].Label
	case !q.Free, strings.TrimSpace(e.Text) == "":
		return e, ErrNoOption
	}
	return e, nil
}

// answer folds a person's answer to a question of c, which may be nil.
func (m *memory) answer(c *call, e *Answered) {
	if c == nil || c.question == nil || !c.waits() {
		return // late: it was answered when it came
	}
	c.answered = e
	if m.answered == nil {
		m.answered = map[string]Answered{}
	}
	m.answered[e.Call] = *e
}
