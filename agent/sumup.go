package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/prompts"
)

// This file is what a worker does to have a conversation summed up. What is decided is in compact.go.

// compact has the model sum up what was said so far, and appends the summary.
func (w runner) compact(ctx context.Context, do Compact) error {
	if !w.claimSlot(ctx) {
		return nil
	}
	l := w.l
	if w.prompted != l.s.turn.Turn {
		return w.goOn(w.settings)
	}
	fail := func(err error, cost llm.Usage) error { // leaves the conversation as it is
		return l.work(unlessFenced, CompactFailed{l.s.turns, w.cfg.Redact(err.Error()), cost})
	}
	last := &llm.Message{Role: llm.User, Text: prompts.Text("compact.md")}
	done := Compacted{Turn: l.s.turn.Turn}
	done.Replaced = cut(l.s.history, w.settings.Window, l.s.prompt.fixed()+size(last), do.Refused)
	if do.Refused {
		done.Trim, done.Note = trimTo, note("result cut")
	}
	switch {
	case done.Replaced == 0 && do.Refused:
		return l.work(unlessFenced, done)
	case done.Replaced == 0:
		return fail(errNothing, llm.Usage{})
	}
	old := l.s.history[:done.Replaced:done.Replaced]
	request := l.s.Request()
	request.Messages, request.NoCalls = append(old, last), true
	ctx, cancel := context.WithTimeoutCause(ctx, do.Left, errTimeUp)
	defer cancel()
	var reply *llm.Reply
	var err error
	l.unlocked(func() { reply, err = w.settings.Model.Generate(ctx, request, nil) })
	switch cause := context.Cause(ctx); {
	case err == nil:
	case errors.Is(cause, errShutdown):
		return errShutdown // asked again at the next start
	case cause != nil:
		return nil // Next knows why
	default:
		return fail(err, guess(request, ""))
	}
	done.Usage, done.Model = reply.Usage, reply.Model
	if done.Usage.Total() == 0 {
		done.Usage = guess(request, reply.Text)
	}
	if !better(reply, old) {
		return fail(errNoSummary, done.Usage)
	}
	done.Summary = w.cfg.Redact(note("summary") + "\n" + strings.TrimSpace(reply.Text))
	return l.work(unlessFenced, done)
}
