package discord

import (
	"sync"
	"time"
)

// A Health is how the connection is.
type Health struct {
	Connected  bool      // events come in
	Since      time.Time // it has been connected, or not
	LastEvent  time.Time // an event came in; zero if none has since Listen began
	Reconnects int       // connections that had to be replaced since Listen began
	Sessions   int       // that Listen has begun; each but the first may have missed events, which are read from the threads
	LastError  string    // of the latest try to connect; empty if it succeeded
}

// Health returns how the connection of Listen is.
func (d *Discord) Health() Health {
	d.pulse.mu.Lock()
	defer d.pulse.mu.Unlock()
	return d.pulse.health
}

// A pulse keeps the health.
type pulse struct {
	mu     sync.Mutex
	health Health
}

// note changes the health.
func (p *pulse) note(change func(*Health)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.health)
}

// connected notes that events come in.
func (p *pulse) connected(fresh bool) {
	p.note(func(h *Health) {
		h.Connected, h.Since, h.LastError = true, time.Now(), ""
		if fresh {
			h.Sessions++
		}
	})
}

// disconnected notes that none do.
func (p *pulse) disconnected() {
	p.note(func(h *Health) {
		h.Connected, h.Since = false, time.Now()
		h.Reconnects++
	})
}
