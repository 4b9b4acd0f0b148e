package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
)

// Limits of trying again. A provider that asks to wait longer than maxWait is not waited for: the
// error says how long, and the caller decides.
const (
	firstWait = 500 * time.Millisecond
	lastWait  = 10 * time.Second
	maxWait   = time.Minute
)

// Generate implements llm.Model.
func (m *model) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	emitted := false
	tell := func(d llm.Delta) {
		emitted = !d.Restart
		if emit != nil {
			emit(d)
		}
	}
	for n := 1; ; n++ {
		reply, err := m.try(ctx, r, tell)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		fault := m.masked(err)
		wait, again := pause(n, fault, rand.Float64())
		if !again || n >= m.cfg.Tries {
			return nil, fault
		}
		m.cfg.Logger.Info("model is tried again", "model", m.cfg.Model,
			"kind", fault.Kind, "status", fault.Status, "try", n, "wait", wait)
		if emitted {
			tell(llm.Delta{Restart: true})
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// pause returns how long to wait after the n-th try, from 1, failed, and whether it is worth it: twice
// as long each time, of which a random half is spread by chance (0 to 1), so that many sessions that
// failed together do not come back together. What the provider asks for is waited in any case.
func pause(n int, e *llm.Error, chance float64) (time.Duration, bool) {
	if !e.Kind.Temporary() || e.RetryAfter > maxWait {
		return 0, false
	}
	wait := lastWait
	if n < 8 {
		wait = min(firstWait<<(n-1), lastWait)
	}
	spread := time.Duration(chance * float64(wait/2))
	return max(wait/2, e.RetryAfter) + spread, true
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// masked returns err as an *llm.Error whose text does not hold the key, whoever wrote it there.
func (m *model) masked(err error) *llm.Error {
	var e *llm.Error
	if !errors.As(err, &e) {
		e = &llm.Error{Kind: llm.Server, Err: err}
	}
	masked := *e
	if masked.Message == "" && masked.Err != nil {
		masked.Message = masked.Err.Error()
	}
	if key := m.cfg.Key; len(key) > 3 {
		masked.Message = strings.ReplaceAll(masked.Message, key, "[key]")
		if masked.Err != nil && strings.Contains(masked.Err.Error(), key) {
			masked.Err = nil
		}
	}
	return &masked
}
