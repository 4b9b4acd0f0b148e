package discord

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/heddle-bot/heddle/bots"
)

// A limiter keeps our calls within Discord's limits. There is one for all calls together, one for
// answers that refuse a call, and one for each bucket, of which Discord tells in the headers of its
// answers. A bucket is used by one call at a time: what the answer says is exact then, and messages
// keep their order. Whoever waits gets the bucket in the order of their class, then of their coming.
// Progress does not wait: it is told when to come back, and by then has something newer to say. The
// zero limiter is not usable.
type limiter struct {
	global  *lane
	invalid *rate.Limiter

	mu      sync.Mutex
	lanes   map[string]*lane  // by bucket or route, and what it is about
	buckets map[string]string // that routes belong to
}

// Discord allows 50 calls a second, and 10,000 in ten minutes that it refuses with 401, 403 or 429. In
// no second are there more than perSecond+burst of ours, and in no ten minutes more than twice
// maxRefused refused ones.
const (
	perSecond  = 30
	burst      = 20
	maxRefused = 4000
	maxLanes   = 1000 // in memory; beyond it those that nobody uses are dropped
)

func newLimiter() *limiter {
	return &limiter{
		global:  &lane{bucket: rate.NewLimiter(perSecond, burst)},
		invalid: rate.NewLimiter(rate.Every(10*time.Minute/maxRefused), maxRefused),
		lanes:   map[string]*lane{},
		buckets: map[string]string{},
	}
}

// A busyError says that a call may not be made yet.
type busyError struct{ after time.Duration }

func (e *busyError) Error() string {
	return fmt.Sprintf("at the rate limit for another %s", e.after.Round(time.Millisecond))
}

// enter returns when c may be made; leave is to be called with the answer, nil if there is none.
// Errors: ctx's, or *busyError for progress.
func (l *limiter) enter(ctx context.Context, c call) (leave func(*http.Response, *refusal), err error) {
	la := l.lane(c)
	if err := la.enter(ctx, c.class); err != nil {
		return nil, err
	}
	if err := l.global.enter(ctx, c.class); err != nil {
		la.leave()
		return nil, err
	}
	return func(resp *http.Response, r *refusal) {
		now := time.Now()
		if resp != nil {
			l.learn(c, la, resp.Header, now)
		}
		l.refused(c, la, r, now)
		la.leave()
	}, nil
}

// learn takes in what the headers of an answer say of the bucket.
func (l *limiter) learn(c call, la *lane, h http.Header, now time.Time) {
	left, err := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	after, err2 := seconds(h.Get("X-RateLimit-Reset-After"))
	if err != nil || err2 != nil {
		return
	}
	if bucket := h.Get("X-RateLimit-Bucket"); bucket != "" {
		route, _ := c.route()
		l.mu.Lock()
		if _, ok := l.buckets[route]; ok || len(l.buckets) < maxLanes {
			l.buckets[route] = bucket
		}
		l.mu.Unlock()
	}
	for _, la := range []*lane{la, l.lane(c)} { // it may be known as a bucket's only now
		la.left(left, now.Add(after), now)
	}
}

// refused takes in that Discord refused a call.
func (l *limiter) refused(c call, la *lane, r *refusal, now time.Time) {
	switch {
	case r == nil:
		return
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden, r.status == http.StatusTooManyRequests && !r.shared:
		if d := l.invalid.ReserveN(now, 1).DelayFrom(now); d > 0 {
			l.global.pause(now.Add(d))
		}
	}
	switch {
	case r.status != http.StatusTooManyRequests:
	case r.global:
		l.global.pause(now.Add(r.after))
	default:
		la.pause(now.Add(r.after))
		l.lane(c).pause(now.Add(r.after))
	}
}

func (l *limiter) lane(c call) *lane {
	route, about := c.route()
	l.mu.Lock()
	defer l.mu.Unlock()
	if bucket, ok := l.buckets[route]; ok {
		route = bucket
	}
	name := route + " " + about
	la := l.lanes[name]
	if la == nil {
		if len(l.lanes) >= maxLanes {
			l.sweep(time.Now())
		}
		la = &lane{serial: true}
		l.lanes[name] = la
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

// seconds reads a header: a decimal number of seconds.
func seconds(s string) (time.Duration, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || f < 0 || f > 1e6 {
		return 0, fmt.Errorf("%q is no number of seconds", s)
	}
	return time.Duration(f * float64(time.Second)), nil
}

// A lane is the calls that share one limit.
type lane struct {
	serial bool          // one call at a time
	bucket *rate.Limiter // nil: Discord's headers tell

	mu     sync.Mutex
	busy   bool      // a call is under way, of a serial lane
	until  time.Time // Discord does not want to be called before
	scarce time.Time // until then one call is left, which progress leaves to others
	queue  []*waiter // the first is the next
}

type waiter struct {
	class bots.Class
	wake  chan struct{} // of capacity 1: it may be the waiter's turn
}

// retryBusy is when progress may come again while a lane is in use.
const retryBusy = 500 * time.Millisecond

// enter returns when a call may be made. Errors: ctx's, or *busyError for progress.
func (la *lane) enter(ctx context.Context, class bots.Class) error {
	if class == bots.Progress {
		return la.try(time.Now())
	}
	w := la.join(class)
	for {
		after, next := la.take(w, time.Now())
		if next && after == 0 {
			return nil
		}
		var due <-chan time.Time
		if next {
			due = time.After(after)
		}
		select {
		case <-due:
		case <-w.wake:
		case <-ctx.Done():
			la.quit(w)
			return ctx.Err()
		}
	}
}

// try takes the lane if nobody else wants it and enough is left for what matters more.
func (la *lane) try(now time.Time) error {
	la.mu.Lock()
	defer la.mu.Unlock()
	after := la.delay(now)
	switch {
	case after > 0:
		return &busyError{after}
	case la.busy, len(la.queue) > 0, la.bucket != nil && la.bucket.TokensAt(now) < burst/4:
		return &busyError{retryBusy}
	case now.Before(la.scarce):
		return &busyError{la.scarce.Sub(now)}
	}
	la.use(now)
	return nil
}

func (la *lane) use(now time.Time) {
	la.busy = la.serial
	if la.bucket != nil {
		la.bucket.AllowN(now, 1)
	}
}

// delay returns the time until Discord lets a call be made.
func (la *lane) delay(now time.Time) time.Duration {
	if now.Before(la.until) {
		return la.until.Sub(now)
	}
	if la.bucket == nil {
		return 0
	}
	short := 1 - la.bucket.TokensAt(now)
	if short <= 0 {
		return 0
	}
	return max(time.Duration(short/float64(la.bucket.Limit())*float64(time.Second)), time.Millisecond)
}

// join puts a new waiter into its place.
func (la *lane) join(class bots.Class) *waiter {
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

// take takes the lane for w if it can; next says that it is w's turn when after has passed.
func (la *lane) take(w *waiter, now time.Time) (after time.Duration, next bool) {
	la.mu.Lock()
	defer la.mu.Unlock()
	if la.busy || la.queue[0] != w {
		return 0, false
	}
	if after = la.delay(now); after == 0 {
		la.use(now)
		la.remove(0)
	}
	return after, true
}

func (la *lane) quit(w *waiter) {
	la.mu.Lock()
	defer la.mu.Unlock()
	la.remove(slices.Index(la.queue, w))
}

func (la *lane) remove(i int) {
	la.queue = slices.Delete(la.queue, i, i+1)
	la.wake()
}

func (la *lane) wake() {
	if len(la.queue) > 0 {
		select {
		case la.queue[0].wake <- struct{}{}:
		default:
		}
	}
}

// leave ends a call.
func (la *lane) leave() {
	la.mu.Lock()
	defer la.mu.Unlock()
	la.busy = false
	la.wake()
}

// left notes how many calls are left until the reset.
func (la *lane) left(n int, reset, now time.Time) {
	la.mu.Lock()
	defer la.mu.Unlock()
	la.scarce = time.Time{}
	switch {
	case n <= 0 && reset.After(la.until):
		la.until = reset
	case n == 1:
		la.scarce = reset
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
	return !la.busy && len(la.queue) == 0 && !now.Before(la.until)
}
