package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A queue is the envelopes that the app has not acknowledged. Socket.mu guards it.
type queue struct {
	waiting []*envelope // to be sent, in order
	flying  []*envelope // sent
	held    *envelope   // waits behind the next; nil is none
	serial  int
	turn    int // of the connections
	lost    int // were sent too often
	within  time.Duration
}

// An envelope is one thing to be delivered.
type envelope struct {
	id       string
	kind     string // "events_api", "interactive" or "slash_commands"
	payload  any
	attempt  int
	reason   string     // of this attempt
	conn     *conn      // it was sent on
	deadline time.Time  // of the acknowledgement; while it waits, the time from which it may be sent
	done     chan reply // of capacity 1, for an interaction
}

// A reply is how an interaction went.
type reply struct {
	payload json.RawMessage
	err     error
}

// maxAttempts is how often Slack sends an event again that a connected app does not acknowledge.
const maxAttempts = 3

func (q *queue) number() int {
	q.serial++
	return q.serial
}

func (q *queue) add(e *envelope) {
	e.id = fmt.Sprintf("envelope-%d", q.number())
	q.waiting = append(q.waiting, e)
	if held := q.held; held != nil {
		q.held = nil
		q.add(held)
	}
}

// open returns how many are not acknowledged.
func (q *queue) open() int {
	n := len(q.waiting) + len(q.flying)
	if q.held != nil {
		n++
	}
	return n
}

// launch takes the first that may be sent, to be sent on c, or nil.
func (q *queue) launch(c *conn, now time.Time) *envelope {
	i := slices.IndexFunc(q.waiting, func(e *envelope) bool { return !now.Before(e.deadline) })
	if i < 0 {
		return nil
	}
	e := q.waiting[i]
	q.waiting = slices.Delete(q.waiting, i, i+1)
	e.conn, e.deadline = c, now.Add(q.within)
	q.flying = append(q.flying, e)
	return e
}

// next returns the time until something is due.
func (q *queue) next(now time.Time) time.Duration {
	next := time.Minute
	for _, e := range slices.Concat(q.flying, q.waiting) {
		if d := e.deadline.Sub(now); d > 0 {
			next = min(next, d)
		}
	}
	return next
}

// expire takes back what was not acknowledged in time. Slack sends it again at once, then after a
// minute, then after five: 20 and 100 times the time for an acknowledgement.
func (q *queue) expire(now time.Time) {
	q.takeBack("timeout", 1, func(e *envelope) bool { return !now.Before(e.deadline) })
	pause := [maxAttempts + 1]time.Duration{2: 20, 3: 100}
	for _, e := range q.waiting {
		if e.attempt > 0 && e.deadline.IsZero() {
			e.deadline = now.Add(pause[e.attempt] * q.within)
		}
	}
}

// recall takes back what was not acknowledged on c, for the next connection.
func (q *queue) recall(c *conn) {
	q.takeBack("connection_failed", 0, func(e *envelope) bool { return e.conn == c })
}

// takeBack puts those in flight before those that wait, but for interactions: they have failed.
func (q *queue) takeBack(reason string, attempts int, which func(*envelope) bool) {
	var again []*envelope
	q.flying = slices.DeleteFunc(q.flying, func(e *envelope) bool {
		switch {
		case !which(e):
			return false
		case e.done != nil:
			e.done <- reply{err: fmt.Errorf("slack shows that the app failed: %s", reason)}
		case e.attempt+attempts > maxAttempts:
			q.lost++
		default:
			again = append(again, &envelope{id: fmt.Sprintf("envelope-%d", q.number()), kind: e.kind,
				payload: e.payload, attempt: e.attempt + attempts, reason: reason})
		}
		return true
	})
	q.waiting = append(again, q.waiting...)
}

// settle ends what was acknowledged.
func (q *queue) settle(id string, payload json.RawMessage) {
	q.flying = slices.DeleteFunc(q.flying, func(e *envelope) bool {
		if e.id == id && e.done != nil {
			e.done <- reply{payload: payload}
		}
		return e.id == id
	})
}

func (e *envelope) json() map[string]any {
	v := map[string]any{"envelope_id": e.id, "type": e.kind, "payload": e.payload, "accepts_response_payload": e.kind != "events_api"}
	if e.kind == "events_api" {
		v["retry_attempt"], v["retry_reason"] = e.attempt, e.reason
	}
	return v
}
