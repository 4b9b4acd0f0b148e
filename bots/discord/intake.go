package discord

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// maxQueued is how many events wait to be accepted. Beyond it the connection is not read any more, and
// Discord keeps what comes until the session is resumed.
const maxQueued = 10_000

// An intake is one run of Listen: it has what comes in accepted one after the other. Discord does not
// send an event again that was not accepted, so it is offered until it is.
type intake struct {
	d      *Discord
	log    *slog.Logger
	reader *reader
	accept func(context.Context, bots.Event) error
	queue  chan item
	recent recent         // of deliver
	lapse  lapse          // of deliver
	wg     sync.WaitGroup // of answers to interactions
}

// An item waits to be accepted.
type item struct {
	dispatch
	event bots.Event    // if it is decoded already
	done  chan struct{} // is closed when it was accepted; nil: nobody waits
}

func newIntake(d *Discord, me *user, accept func(context.Context, bots.Event) error) *intake {
	in := &intake{
		d: d, log: d.cfg.Logger, accept: accept,
		reader: &reader{d, me},
		queue:  make(chan item, maxQueued),
		recent: recent{known: map[string]bool{}},
	}
	in.lapse.in = in
	return in
}

// put lets an event wait. Interactions are answered at once: Discord gives three seconds. It reports
// false if ctx ended before there was room.
func (in *intake) put(ctx context.Context, d dispatch) bool {
	in.d.pulse.note(func(h *Health) { h.LastEvent = time.Now() })
	if d.Type == "INTERACTION_CREATE" {
		var i interaction
		if err := json.Unmarshal(d.Data, &i); err != nil {
			in.log.Warn("an interaction of discord is not understood", "err", err)
			return true
		}
		in.interact(ctx, i)
		return true
	}
	return in.add(ctx, item{dispatch: d})
}

func (in *intake) add(ctx context.Context, it item) bool {
	select {
	case in.queue <- it:
		return true
	case <-ctx.Done():
		return false
	}
}

// lastItems is how long what waits may take to be accepted when Listen is to end: the next start
// begins a new session, to which Discord does not send it again.
const lastItems = 2 * time.Second

// drain has accepted what waits, which it does for lastItems at most. The one that was being accepted when
// ctx ended is the first, if there is one: accept may have been cut short.
func (in *intake) drain(ctx context.Context, first []item) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastItems)
	defer cancel()
	for _, it := range first {
		in.handle(ctx, it)
	}
	for {
		select {
		case it := <-in.queue:
			in.handle(ctx, it)
		default:
			return
		}
	}
}

// deliver has items accepted until ctx ends, and then those that wait.
func (in *intake) deliver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			in.drain(ctx, nil)
			return
		case it := <-in.queue:
			if it.Type == "READY" {
				in.lapse.catchUp(ctx)
			}
			in.handle(ctx, it)
			if ctx.Err() != nil {
				in.drain(ctx, []item{it})
				return
			}
			if it.done != nil {
				close(it.done)
			}
		}
	}
}

// handle has one item accepted. It returns when it was, when it is nothing for us, or when ctx ended.
func (in *intake) handle(ctx context.Context, it item) {
	events := []bots.Event{it.event}
	if it.event == nil {
		var ok bool
		if events, ok = in.decode(ctx, it.dispatch); !ok {
			return
		}
	}
	for _, e := range events {
		in.offer(ctx, e)
	}
	if it.Type == "GUILD_CREATE" {
		in.lapse.catchUpGuild(ctx, it.Data)
	}
}

// decode decodes an event. It reports false if that cannot be done.
func (in *intake) decode(ctx context.Context, d dispatch) (events []bots.Event, ok bool) {
	err := persist(ctx, in.d, "an event", func() (err error) {
		events, err = in.reader.read(ctx, d)
		return err
	})
	if err != nil && ctx.Err() == nil {
		in.log.Warn("an event of discord is not understood", "type", d.Type, "err", err)
	}
	return events, err == nil
}

// persist does what needs an answer of Discord's until there is one, or until ctx ends: what is not
// understood for a moment must not be lost.
func persist(ctx context.Context, d *Discord, what string, do func() error) error {
	for wait := d.pace.first; ; wait = min(2*wait, d.pace.last) {
		err := do()
		if err == nil || ctx.Err() != nil || !passes(err) {
			return err
		}
		e, _ := errors.AsType[*bots.Error](err)
		d.cfg.Logger.Warn("discord does not answer yet", "what waits", what, "err", err)
		if !sleep(ctx, max(wait, e.RetryAfter)) {
			return ctx.Err()
		}
	}
}

// offer offers an event until it is accepted.
func (in *intake) offer(ctx context.Context, e bots.Event) {
	key := eventKey(e)
	if in.recent.has(key) {
		return
	}
	for wait := in.d.pace.first; ; wait = min(2*wait, in.d.pace.last) {
		err := in.accept(ctx, e)
		if err == nil {
			in.recent.add(key)
			return
		}
		if ctx.Err() != nil {
			return
		}
		in.log.Error("an event was not accepted; it is offered again", "err", err)
		if !sleep(ctx, wait) {
			return
		}
	}
}
