package botstest

import (
	"sync"

	"github.com/heddle-bot/heddle/bots"
)

// A queue holds the events that no accept has taken, oldest first.
type queue struct {
	mu     sync.Mutex
	events []bots.Event
	more   chan struct{} // is closed when there is more; nil if nobody waits
}

// first returns the oldest event, or nil and a channel that is closed when there is one.
func (q *queue) first() (bots.Event, <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.events) > 0 {
		return q.events[0], nil
	}
	if q.more == nil {
		q.more = make(chan struct{})
	}
	return nil, q.more
}

// taken removes the oldest event.
func (q *queue) taken() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = q.events[1:]
}

func (q *queue) put(e bots.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events = append(q.events, e)
	if q.more != nil {
		close(q.more)
		q.more = nil
	}
}
