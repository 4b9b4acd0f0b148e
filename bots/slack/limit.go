package slack

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/heddle-bot/heddle/bots"
)

// A limiter keeps our calls within Slack's limits, which are per method and workspace, for
// chat.postMessage per channel. Whoever waits for a method gets it in the order of their class, then
// of their coming. Progress does not wait: it is told when to come back, and by then has something
// newer to say. The zero limiter is not usable.
type limiter struct {
	mu    sync.Mutex
	lanes map[string]*lane
}

func newLimiter() *limiter { return &limiter{lanes: map[string]*lane{}} }

// maxLanes bounds the lanes in memory; beyond it those that nobody has used lately are dropped.
const maxLanes = 1000

// A request names what is asked of Slack.
type request struct {
	method  string
	channel string // if the method's limit is per channel
	class   bots.Class
}

func (r request) lane() string { return r.method + " " + r.channel }

// A limit is how often a method may be called.
type limit struct {
	minute  int // calls that Slack takes in a minute
	burst   int // of these may be made at once, after a rest
	reserve int // of the burst are not for progress
}

// limit returns the limit of a method. Slack gives it by tier: 2 is 20 a minute, 3 is 50, 4 is 100;
// chat.postMessage has one of its own. We make a burst at once and the other calls of the minute evenly.
// So no minute has more than Slack takes, and the n-th of many that come together is never later than
// at an even pace. That holds beside progress too, for as many as Slack takes in half a minute, because
// progress leaves half of the burst and one; those after them come at the pace that is left beside the
// burst. Where there is nothing but progress it may use all.
func (r request) limit() limit {
	switch r.method {
	case "chat.postMessage":
		return limit{60, 10, 6}
	case "chat.update", "chat.delete", "conversations.history", "conversations.replies":
		return limit{50, 10, 6}
	case "chat.startStream", "chat.stopStream":
		return limit{20, 10, 0}
	case "chat.appendStream", "assistant.threads.setStatus":
		return limit{100, 20, 0}
	case "users.list":
		return limit{20, maxPages, 0}
	case "apps.connections.open":
		return limit{20, 10, 0}
	}
	return limit{100, 20, 11}
}

// A busyError says that a method may not be called yet.
type busyError struct {
	method string
	after  time.Duration
}

func (e *busyError) Error() string {
	return fmt.Sprintf("%s is at its rate limit for another %s", e.method, e.after.Round(time.Millisecond))
}

// wait returns when r may be made. Errors: ctx's, or *busyError for progress.
func (l *limiter) wait(ctx context.Context, r request) error {
	la := l.lane(r)
	if r.class == bots.Progress {
		if after := la.try(time.Now()); after > 0 {
			return &busyError{r.method, after}
		}
		return nil
	}
	return la.wait(ctx, r.class)
}

// pause keeps everybody from calling r's method for d.
func (l *limiter) pause(r request, d time.Duration) { l.lane(r).pause(time.Now().Add(d)) }

func (l *limiter) lane(r request) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	la := l.lanes[r.lane()]
	if la == nil {
		if len(l.lanes) >= maxLanes {
			l.sweep(time.Now())
		}
		most := r.limit()
		la = &lane{limit: most, bucket: rate.NewLimiter(rate.Limit(most.minute-most.burst)/60, most.burst)}
		l.lanes[r.lane()] = la
	}
	return la
}

func (l *limiter) sweep(now time.Time) {
	for name, la := range l.lanes {
		if la.idle(now) {
			delete(l.lanes, name)
		}
	}
}

// A lane is the calls that share one limit.
type lane struct {
	limit limit

	mu     sync.Mutex
	bucket *rate.Limiter
	until  time.Time // Slack does not want to be called before
	queue  []*waiter // the first is the next
}

type waiter struct {
	class bots.Class
	wake  chan struct{} // of capacity 1: the waiter may have become the first
}

// try takes a token if nobody waits and enough of them are left for what matters more. Otherwise it
// says when it may be worth trying again.
func (la *lane) try(now time.Time) (after time.Duration) {
	la.mu.Lock()
	defer la.mu.Unlock()
	if after = la.delay(now, float64(la.limit.reserve+len(la.queue))); after == 0 {
		la.bucket.AllowN(now, 1)
	}
	return after
}

// delay returns the time until the bucket has a token and so many more.
func (la *lane) delay(now time.Time, more float64) time.Duration {
	if now.Before(la.until) {
		return la.until.Sub(now)
	}
	short := 1 + more - la.bucket.TokensAt(now)
	if short <= 0 {
		return 0
	}
	return max(time.Duration(short/float64(la.bucket.Limit())*float64(time.Second)), time.Millisecond)
}

func (la *lane) wait(ctx context.Context, class bots.Class) error {
	w := la.enter(class)
	for {
		after, first := la.take(w, time.Now())
		if first && after == 0 {
			return nil
		}
		var due <-chan time.Time
		if first {
			due = time.After(after)
		}
		select {
		case <-due:
		case <-w.wake:
		case <-ctx.Done():
			la.leave(w)
			return ctx.Err()
		}
	}
}

// enter puts a new waiter into its place.
func (la *lane) enter(class bots.Class) *waiter {
	w := &waiter{class, make(chan struct{}, 1)}
	la.mu.Lock()
	defer la.mu.Unlock()
	i := slices.IndexFunc(la.queue, func(o *waiter) bool { return o.class > class })
	if i < 0 {
		i = len(la.queue)
	}
	la.queue = slices.Insert(la.queue, i, w)
	return w
}

// take takes a token for w if w is the first and there is one; after is when there will be.
func (la *lane) take(w *waiter, now time.Time) (after time.Duration, first bool) {
	la.mu.Lock()
	defer la.mu.Unlock()
	if la.queue[0] != w {
		return 0, false
	}
	if after = la.delay(now, 0); after == 0 {
		la.bucket.AllowN(now, 1)
		la.remove(0)
	}
	return after, true
}

func (la *lane) leave(w *waiter) {
	la.mu.Lock()
	defer la.mu.Unlock()
	la.remove(slices.Index(la.queue, w))
}

func (la *lane) remove(i int) {
	la.queue = slices.Delete(la.queue, i, i+1)
	if len(la.queue) > 0 {
		select {
		case la.queue[0].wake <- struct{}{}:
		default:
		}
	}
}

func (la *lane) pause(until time.Time) {
	la.mu.Lock()
	defer la.mu.Unlock()
	if until.After(la.until) {
		la.until = until
	}
}

func (la *lane) idle(now time.Time) bool {
	la.mu.Lock()
	defer la.mu.Unlock()
	full := la.bucket.TokensAt(now) >= float64(la.bucket.Burst())
	return full && len(la.queue) == 0 && !now.Before(la.until)
}
