package slack

import (
	"sync"
	"time"
)

// A Health is how the connection is.
type Health struct {
	Connected  bool      // events can come in: by a socket, or to Handler
	Open       int       // sockets; two, if all is well, of Socket Mode
	Since      time.Time // it has been connected, or not
	LastEvent  time.Time // an event came in; zero if none has since Listen began
	Reconnects int       // sockets that had to be replaced since Listen began
	LastError  string    // of the latest try to connect; empty if it succeeded
}

// Health returns how the connection of Listen is.
func (s *Slack) Health() Health {
	s.pulse.mu.Lock()
	defer s.pulse.mu.Unlock()
	return s.pulse.health
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

// connected notes one more socket.
func (p *pulse) connected() {
	p.note(func(h *Health) {
		if h.Open++; !h.Connected {
			h.Connected, h.Since = true, time.Now()
		}
		h.LastError = ""
	})
}

// disconnected notes one less.
func (p *pulse) disconnected() {
	p.note(func(h *Health) {
		if h.Open--; h.Open == 0 {
			h.Connected, h.Since = false, time.Now()
		}
		h.Reconnects++
	})
}
