package slack

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// maxQueued is how many envelopes wait to be accepted; beyond it they are left to Slack to send again.
const maxQueued = 1000

// An intake is one run of Listen: it has what comes in accepted one after the other, by whichever
// connection it came. An event is known by what it is about (eventKey), never by its envelope, for
// Slack sends the same event in several.
type intake struct {
	s      *Slack
	reader *reader
	accept func(context.Context, bots.Event) error
	log    *slog.Logger
	recent recent        // of deliver
	wake   chan struct{} // of capacity 1: something waits
	ended  chan struct{} // closed when nothing is accepted any more

	mu      sync.Mutex
	waiting []item // the first is the next
}

// An item waits to be accepted.
type item struct {
	delivery
	kind string        // of its envelope
	done func(ok bool) // is called once, unless the intake ends before: it is to be acknowledged, or not
}

func newIntake(s *Slack, r *reader, accept func(context.Context, bots.Event) error) *intake {
	return &intake{
		s: s, reader: r, accept: accept, log: s.cfg.Logger,
		recent: recent{known: map[string]bool{}},
		wake:   make(chan struct{}, 1),
		ended:  make(chan struct{}),
	}
}

// put lets an envelope wait. It does not block. It reports false, and does not call done, if too many
// wait already. What needs no accepting is done at once: it must not wait behind what does.
func (in *intake) put(env envelope, done func(ok bool)) bool {
	in.s.pulse.note(func(h *Health) { h.LastEvent = time.Now() })
	d, err := in.reader.read(env)
	if err != nil {
		in.log.Warn("an event of slack is not understood", "type", env.Type, "err", err)
	}
	if err != nil || d.event == nil && d.form == nil {
		done(true)
		return true
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) >= maxQueued {
		in.log.Error("too many events wait to be accepted; one is left to slack to send again", "type", env.Type)
		return false
	}
	it := item{d, env.Type, done}
	in.waiting = slices.Insert(in.waiting, place(in.waiting, it), it)
	select {
	case in.wake <- struct{}{}:
	default:
	}
	return true
}

// place returns the place of a new item among those that wait: the end, or before what happened later
// in its thread. Slack gives each event to any connection, so they may come out of order.
func place(waiting []item, it item) int {
	i := slices.IndexFunc(waiting, func(w item) bool {
		return it.at != "" && it.at < w.at && threadOf(it.event) == threadOf(w.event)
	})
	if i < 0 {
		return len(waiting)
	}
	return i
}

// take takes the next item, if there is one.
func (in *intake) take() (item, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 {
		return item{}, false
	}
	it := in.waiting[0]
	in.waiting = slices.Delete(in.waiting, 0, 1)
	return it, true
}

// deliver has items accepted until ctx ends.
func (in *intake) deliver(ctx context.Context) {
	defer close(in.ended)
	var forms sync.WaitGroup
	defer forms.Wait()
	for {
		it, ok := in.take()
		switch {
		case ctx.Err() != nil:
			return
		case ok && it.form != nil:
			forms.Go(func() { in.open(ctx, it.form) })
			it.done(true)
		case ok:
			it.done(in.handle(ctx, it))
		default:
			select {
			case <-ctx.Done():
			case <-in.wake:
			}
		}
	}
}

// handle reports whether the event is to be acknowledged.
func (in *intake) handle(ctx context.Context, it item) bool {
	key := eventKey(it.event)
	if in.recent.has(key) {
		return true
	}
	if err := in.accept(ctx, it.event); err != nil {
		if ctx.Err() == nil {
			in.log.Error("an event was not accepted; slack will send again", "type", it.kind, "err", err)
		}
		return false
	}
	in.recent.add(key)
	return true
}
