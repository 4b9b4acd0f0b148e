package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/heddle-bot/heddle/bots"
)

// Listen implements bots.Platform. It reconnects for as long as that may help; an error says what a
// person must do. Two goroutines share the work: one keeps a connection and reads it, one has what was
// read accepted in order. Interactions are answered beside them.
func (d *Discord) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	d.pulse.note(func(h *Health) { *h = Health{Since: time.Now()} })
	me, err := d.login(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	run, cancel := context.WithCancel(ctx)
	in := newIntake(d, me, accept)
	var wg sync.WaitGroup
	wg.Go(func() { in.deliver(run) })
	wg.Go(func() { register(run, d) })
	err = (&gateway{d: d, in: in, log: d.cfg.Logger, pace: d.pace}).hold(run)
	cancel()
	wg.Wait()
	in.wg.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("discord: the connection ended: %w", err)
}

// login is whoami that tries until Discord answers. It fails if Discord refuses the token, or ctx ends.
func (d *Discord) login(ctx context.Context) (*user, error) {
	pause := &backoff.ExponentialBackOff{InitialInterval: d.pace.first, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: d.pace.last}
	return backoff.Retry(ctx, func() (*user, error) {
		me, err := d.rest.whoami(ctx)
		if err == nil {
			return me, nil
		}
		if hopeless := hopeless(err); hopeless != nil {
			d.pulse.note(func(h *Health) { h.LastError = err.Error() })
			return nil, backoff.Permanent(hopeless)
		}
		d.cfg.Logger.Warn("discord does not answer", "err", err)
		d.pulse.note(func(h *Health) { h.LastError = err.Error() })
		if e, ok := errors.AsType[*bots.Error](err); ok && e.RetryAfter > 0 {
			return nil, &backoff.RetryAfterError{Duration: e.RetryAfter}
		}
		return nil, err
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0))
}
