package slack

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// Listen implements bots.Platform. It takes events from two web sockets, or from Handler if there is
// a signing secret. It reconnects for as long as that may help; an error says what a person must do.
// Several goroutines share the work: one for each socket reads, one has what was read accepted and
// acknowledged in order, one looks up names, and one learns the names of the workspace, for which the
// connection waits a moment.
func (s *Slack) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	s.pulse.note(func(h *Health) { *h = Health{Since: time.Now()} })
	me, err := s.login(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	run, cancel := context.WithCancel(ctx)
	in := newIntake(s, &reader{me: me, name: s.names.get}, accept)
	var wg sync.WaitGroup
	filled := make(chan struct{})
	wg.Go(func() {
		s.names.fill(run, s.web, s.cfg.Logger)
		close(filled)
	})
	wg.Go(func() { s.names.run(run, s.web, s.cfg.Logger) })
	wg.Go(func() { in.deliver(run) })
	select {
	case <-filled:
	case <-time.After(namesWithin):
	case <-run.Done():
	}
	if s.cfg.SigningSecret != "" {
		err = s.hooks.serve(run, in)
	} else {
		err = sockets{in}.hold(run)
	}
	cancel()
	wg.Wait()
	if ctx.Err() != nil {
		return nil
	}
	if hopeless := hopeless(err); hopeless != nil {
		return hopeless
	}
	return fmt.Errorf("slack: the connection ended: %w", err)
}
