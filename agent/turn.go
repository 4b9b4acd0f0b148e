package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
)

// This file is what a worker does to a turn as a whole, and its talk with the model. The session is
// locked in each function, but for what runs in unlocked.

// begin starts a turn with what is waiting.
func (w *worker) begin(settings Settings, fault error) error {
	l := w.l
	start := TurnStarted{Turn: l.s.turns + 1, Saw: sight(&l.s), Model: settings.ModelName}
	events := []any{start}
	prompted := 0
	if fault == nil {
		now, err := w.brief(settings)
		switch {
		case errors.Is(err, errMoved):
			return err
		case err == nil:
			prompted = start.Turn
		} // any other goOn meets again, in a turn in which people can be told
		if err == nil && !now.equal(l.s.prompt) {
			events = append(events, now)
		}
	}
	if err := l.work(unlessMoved, events...); err != nil {
		return err
	}
	w.prompted = prompted
	w.cfg.Logger.Info("turn started", "session", l.id, "turn", start.Turn, "model", start.Model)
	return nil
}

// sight returns up to where a turn that begins now takes in what was said: what came after a stop is
// not stopped with it.
func sight(s *Session) store.Pos {
	if s.stop != nil {
		return s.stop.at
	}
	return s.Pos
}

// end ends the turn. Calls that have no result get one: providers demand a result for every call.
func (w *worker) end(do EndTurn) error {
	l, t := w.l, w.l.s.turn
	var events []any
	for _, c := range t.open() {
		status := NotStarted
		if c.started != nil {
			status = Interrupted
		}
		events = append(events, w.refusal(Refuse{c.Call, status, ""}))
	}
	e := TurnEnded{
		Turn:   t.Turn,
		Reason: do.Reason,
		Kind:   do.Kind,
		Detail: w.cfg.Redact(do.Detail),
		Steps:  t.step,
		Usage:  t.usage,
		Text:   t.text,
	}
	if do.Reason == Cancelled {
		e.By = l.s.stop.by
	}
	switch do.Reason {
	case Completed, SummedUp, NotSummedUp:
	default:
		e.Note = note(string(do.Reason))
	}
	if err := l.work(unlessMoved, append(events, e)...); err != nil {
		return err
	}
	w.cfg.Logger.Info("turn ended", "session", l.id, "turn", e.Turn, "reason", e.Reason, "steps", e.Steps, "tokens", e.Usage.Total())
	return nil
}

// ask asks the model and appends what it said.
func (w *worker) ask(ctx context.Context, do AskModel, settings Settings) error {
	if !w.claimSlot(ctx) {
		return nil
	}
	l := w.l
	if w.prompted != l.s.turn.Turn {
		return w.goOn(settings)
	}
	saw, turn, step := l.s.Pos, l.s.turn.Turn, l.s.turn.step+1
	request := l.s.Request()
	ctx, cancel := context.WithTimeoutCause(ctx, do.Left, errTimeUp)
	defer cancel()
	l.asking = true
	defer func() { l.asking = false; l.written() }()
	var reply *llm.Reply
	var err error
	w.l.unlocked(func() { reply, err = settings.Model.Generate(ctx, request, w.emit) })
	partial := l.written()
	if err != nil {
		said := ModelSaid{Turn: turn, Step: step, Saw: saw, Text: w.cfg.Redact(partial), Partial: true}
		said.Usage = guess(request, partial)
		return w.unanswered(context.Cause(ctx), err, said)
	}
	said := ModelSaid{
		Turn: turn, Step: step, Saw: saw,
		Text: w.cfg.Redact(reply.Text), Reasoning: w.cfg.Redact(reply.Reasoning),
		Stop: reply.Stop, Usage: reply.Usage, Model: reply.Model, Raw: reply.Raw,
	}
	if said.Usage.Total() == 0 {
		said.Usage = guess(request, reply.Text)
	}
	if raw := string(reply.Raw); w.cfg.Redact(raw) != raw {
		said.Raw = nil
	}
	for i, c := range reply.Calls {
		id := fmt.Sprintf("%d.%d.%d", turn, step, i+1)
		args := w.cfg.Redact(string(c.Args))
		said.Calls = append(said.Calls, Call{id, c.ID, c.Name, json.RawMessage(args)})
		if args != string(c.Args) {
			said.Secret = append(said.Secret, id)
		}
	}
	return l.work(unlessFenced, said)
}

// unanswered deals with a request that brought no whole reply. What a person or the clock cut off is
// kept as far as it had come.
func (w *worker) unanswered(cause, err error, partial ModelSaid) error {
	switch {
	case errors.Is(cause, errShutdown):
		return errShutdown // asked again at the next start
	case errors.Is(cause, errInterrupt):
		if partial.Text == "" {
			return nil
		}
		return w.l.work(unlessFenced, partial, Nudged{partial.Turn, "new message", note("new message")})
	case errors.Is(cause, errStop), errors.Is(cause, errTimeUp):
		if partial.Text == "" {
			return nil
		}
		return w.l.work(unlessFenced, partial)
	}
	e, ok := errors.AsType[*llm.Error](err)
	if s := &w.l.s; ok && e.Kind == llm.ContextSize && s.turn.sum.refused == 0 && shrinks(s.history) {
		return w.l.work(unlessFenced, Overflowed{partial.Turn, w.cfg.Redact(e.Error())})
	}
	return w.end(failure(err))
}

// failure returns how a turn ends that the model did not answer.
func failure(err error) EndTurn {
	var e *llm.Error
	if !errors.As(err, &e) {
		return EndTurn{Reason: ModelFailed, Detail: err.Error()}
	}
	do := EndTurn{ModelFailed, e.Error(), e.Kind}
	switch e.Kind {
	case llm.Empty:
		do.Reason = NoResponse
	case llm.Content:
		do.Reason = ContentFiltered
	}
	return do
}

// emit takes what the model is writing, for people to watch.
func (w *worker) emit(d llm.Delta) {
	w.l.show(func(n *now) {
		if d.Restart {
			n.text = n.text[:0]
		}
		n.text = append(n.text, d.Text...)
	})
}

// guess returns what a request costs of which nobody has told.
func guess(r *llm.Request, reply string) llm.Usage {
	return llm.Usage{Input: estimate(r), Output: tokens(len(reply))}
}

// goOn prepares a turn that this worker has not begun, or that could not be prepared when it began:
// what the model is told beside the conversation may not be what it was told. A workspace that is gone
// ends the turn.
func (w *worker) goOn(settings Settings) error {
	now, err := w.brief(settings)
	if errors.Is(err, errMoved) {
		return err
	}
	if err != nil {
		return w.end(EndTurn{Reason: Broken, Detail: err.Error()})
	}
	w.prompted = w.l.s.turn.Turn
	if now.equal(w.l.s.prompt) {
		return nil
	}
	return w.l.work(unlessMoved, now)
}

// brief returns what the model is told beside the conversation, or errMoved.
func (w *worker) brief(s Settings) (p Prompted, err error) {
	at := w.l.s.Pos
	var project string
	w.l.unlocked(func() { project, err = instructions(s.Dir) })
	if w.l.s.Pos != at {
		return p, errMoved
	}
	if errors.Is(err, errWorkspace) {
		return p, err
	}
	if err != nil {
		w.cfg.Logger.Warn("the project's instructions are left out", "session", w.l.id, "err", err)
	}
	tools := w.cfg.Tools.Tools()
	for _, t := range tools {
		p.Tools = append(p.Tools, llm.Tool{Name: t.Name, Description: t.Description, Input: t.Input})
	}
	p.System = w.cfg.Redact(system(s, tools, project))
	return p, nil
}
