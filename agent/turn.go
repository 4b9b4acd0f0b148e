package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/heddle-bot/heddle/agent/llm"
)

// This file is what a worker does to a turn as a whole, and its talk with the model. The session is
// locked in each function, but for what runs in unlocked.

// begin starts a turn with what is waiting. A fault in the settings ends it at once, in words that
// the people see.
func (w *worker) begin(settings Settings, fault error) error {
	l := w.l
	start := TurnStarted{Turn: l.s.turns + 1, Saw: l.s.Pos, Model: settings.ModelName}
	events := []any{start}
	var prompt Prompted
	if fault == nil {
		prompt, fault = w.prompt(settings)
	}
	if fault == nil && !prompt.equal(l.s.prompt) {
		events = append(events, prompt)
	}
	if err := l.work(unlessMoved, events...); err != nil {
		return err
	}
	w.cfg.Logger.Info("turn started", "session", l.id, "turn", start.Turn, "model", start.Model)
	if fault != nil {
		return w.end(EndTurn{Reason: Broken, Detail: fault.Error()})
	}
	return nil
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
		Detail: do.Detail,
		Steps:  t.step,
		Usage:  t.usage,
		Text:   t.text,
	}
	if do.Reason == Cancelled {
		e.By = l.s.stop.by
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
	saw, turn, step := l.s.Pos, l.s.turn.Turn, l.s.turn.step+1
	request := l.s.Request()
	ctx, cancel := context.WithTimeoutCause(ctx, do.Left, errTimeUp)
	defer cancel()
	l.asking = true
	defer func() { l.asking = false }()
	var reply *llm.Reply
	var err error
	w.unlocked(func() { reply, err = settings.Model.Generate(ctx, request, w.emit) })
	partial := l.written()
	if err != nil {
		return w.unanswered(context.Cause(ctx), err, ModelSaid{Turn: turn, Step: step, Saw: saw, Text: partial, Partial: true})
	}
	said := ModelSaid{
		Turn: turn, Step: step, Saw: saw,
		Text: reply.Text, Reasoning: reply.Reasoning,
		Stop: reply.Stop, Usage: reply.Usage, Model: reply.Model, Raw: reply.Raw,
	}
	for i, c := range reply.Calls {
		id := fmt.Sprintf("%d.%d.%d", turn, step, i+1)
		said.Calls = append(said.Calls, Call{id, c.ID, c.Name, c.Args})
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
	return w.end(failure(err, w.cfg.Redact))
}

// failure returns how a turn ends that the model did not answer.
func failure(err error, redact func(string) string) EndTurn {
	var e *llm.Error
	if !errors.As(err, &e) {
		return EndTurn{Reason: ModelFailed, Detail: redact(err.Error())}
	}
	do := EndTurn{ModelFailed, redact(e.Error()), e.Kind}
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

// prompt returns what the model is told beside the conversation.
func (w *worker) prompt(s Settings) (Prompted, error) {
	tools := w.cfg.Tools.Tools()
	p := Prompted{}
	for _, t := range tools {
		p.Tools = append(p.Tools, llm.Tool{Name: t.Name, Description: t.Description, Input: t.Input})
	}
	project, err := instructions(s.Dir)
	if err != nil {
		return p, err
	}
	p.System = w.cfg.Redact(system(s, tools, project))
	return p, nil
}
