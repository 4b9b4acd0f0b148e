package bots

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/agent"
)

// Limits of what is told outside the log. It is bounded because a network that is down must not fill
// the memory, and because a person who hears nothing asks again.
const (
	maxWords  = 256  // that wait to be told; more are dropped
	maxTold   = 4096 // that are remembered
	tellTries = 4
)

// A teller tells what is in no log: answers to clicks, help. It does not know whether a message of
// before the program's start was told.
type teller struct {
	cfg   Config
	queue chan words
	told  recent
}

type words struct {
	at      Thread
	m       Message
	compose func(context.Context) (Message, error) // completes m; nil: it is complete
	show    func(context.Context) error            // is done instead of a post; nil: m is posted
}

func newTeller(c Config) teller { return teller{cfg: c, queue: make(chan words, maxWords)} }

// tell has text told to one person, once for each key in the thread.
func (t *teller) tell(at Thread, to Person, key, text string) {
	t.say(at, Message{Key: "told/" + key, Class: Notice, Text: text, For: to.ID})
}

// say has m posted, once for each key in the thread. Its text is as the network writes it. It does not
// wait.
func (t *teller) say(at Thread, m Message) {
	t.later(at, m, nil)
}

// later is say for a message that takes some time to be made: compose makes it of m when its turn comes.
func (t *teller) later(at Thread, m Message, compose func(context.Context) (Message, error)) {
	t.put(words{at: at, m: m, compose: compose})
}

// put lets words wait, once for each key in the thread.
func (t *teller) put(w words) {
	if t.told.before(w.at.String() + " " + w.m.Key) {
		return
	}
	select {
	case t.queue <- w:
	default:
		t.cfg.Logger.Warn("too much to be told, dropped", "session", w.at.String())
	}
}

// whole returns the message that is to be posted.
func (t *teller) whole(ctx context.Context, w words) Message {
	m := w.m
	if w.compose != nil {
		var err error
		if m, err = w.compose(ctx); err != nil {
			t.cfg.Logger.Error("not answered", "session", w.at.String(), "err", err)
			m = w.m
			m.Text = notDone
		}
	}
	l := t.cfg.look()
	m.Text = fit(l.mask(m.Text), l.info.MaxText)
	return m
}

// refuse tells a person why what they decided does not count, if err says so; over is told if the
// matter is. It returns err if it is a failure.
func (t *teller) refuse(at Thread, by Person, id, over string, err error) error {
	var decided *agent.DecidedError
	var answered *agent.AnsweredError
	text := notDone
	failure := err
	switch {
	case err == nil:
		return nil
	case errors.As(err, &decided):
		text, failure = decidedBefore(t.cfg.look(), decided.Decided, by), nil
	case errors.As(err, &answered):
		text, failure = answeredBefore(t.cfg.look(), answered.Answered, by), nil
	case errors.Is(err, agent.ErrNotAllowed):
		text, failure = mayNotDecide, nil
	case errors.Is(err, agent.ErrNoOption):
		text, failure = noOption, nil
	case errors.Is(err, agent.ErrOver):
		text, failure = over, nil
	}
	t.tell(at, by, id, text)
	return failure
}

// run posts what is in the queue until ctx ends.
func (t *teller) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-t.queue:
			if w.show != nil {
				t.try(ctx, w)
			} else {
				t.post(ctx, w)
			}
		}
	}
}

// try shows what is no message. If it fails nobody tries again: who looks again is shown again.
func (t *teller) try(ctx context.Context, w words) {
	if err := w.show(ctx); err != nil && ctx.Err() == nil {
		t.cfg.Logger.Warn("not shown", "what", w.m.Key, "err", err)
	}
}

func (t *teller) post(ctx context.Context, w words) {
	w.m = t.whole(ctx, w)
	for n := range tellTries {
		if ctx.Err() != nil {
			return
		}
		long, cancel := outlive(ctx)
		_, err := t.cfg.Platform.Post(long, w.at, w.m)
		cancel()
		if err == nil {
			return
		}
		f := failure(err)
		w.m.Unsure = w.m.Unsure || f.Unsure
		if f.Permanent || n == tellTries-1 || !sleep(ctx, max(f.RetryAfter, patience(n))) {
			t.cfg.Logger.Warn("not told", "session", w.at.String(), "err", err)
			if w.m.Upload != nil { // words may go where a file does not
				m := Message{Key: w.m.Key + "/failed", Class: Notice, Text: noFile, For: w.m.For}
				t.post(ctx, words{at: w.at, m: m})
			}
			return
		}
	}
}

// failure returns what is known of a Platform's error. One that is not an *Error leaves open
// whether the message was posted.
func failure(err error) Error {
	var e *Error
	if errors.As(err, &e) {
		return *e
	}
	return Error{Unsure: true, Err: err}
}

// sleep reports whether d went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// recent remembers the latest maxTold strings. The zero value is empty.
type recent struct {
	mu   sync.Mutex
	set  map[string]bool
	ring []string
	next int
}

// before reports whether s is remembered, and remembers it.
func (r *recent) before(s string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set[s] {
		return true
	}
	if r.set == nil {
		r.set = map[string]bool{}
	}
	if len(r.ring) < maxTold {
		r.ring = append(r.ring, s)
	} else {
		delete(r.set, r.ring[r.next])
		r.ring[r.next] = s
		r.next = (r.next + 1) % maxTold
	}
	r.set[s] = true
	return false
}
