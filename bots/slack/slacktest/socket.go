package slacktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A Socket is the workspace's side of Socket Mode.
type Socket struct {
	w    *Workspace
	wake chan struct{} // of capacity 1, for run
	quit chan struct{}
	wg   sync.WaitGroup

	mu     sync.Mutex
	conns  []*conn // that are open; the last is the newest
	opened int
	pongs  int
	acks   int
	queue  queue
	faults SocketFaults
}

// SocketFaults are what is to go wrong next.
type SocketFaults struct {
	LoseAcks  int // acknowledgements that get lost on their way
	Duplicate int // events that are delivered twice
	NoHello   int // connections that break as soon as they are open
}

// Fail lets things go wrong.
func (s *Socket) Fail(f SocketFaults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Stats are numbers of a Socket.
type Stats struct {
	Open    int // connections now
	Opened  int // connections since the start
	Unacked int // events that wait or were sent without an acknowledgement so far
	Lost    int // events that were never acknowledged and are not sent any more
	Acks    int // acknowledgements, lost ones left out
	Pongs   int // answers to pings
}

// Stats returns how things are now.
func (s *Socket) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Open:    len(s.conns),
		Opened:  s.opened,
		Unacked: len(s.queue.waiting) + len(s.queue.flying),
		Lost:    s.queue.lost,
		Acks:    s.acks,
		Pongs:   s.pongs,
	}
}

func newSocket(w *Workspace) *Socket {
	s := &Socket{w: w, wake: make(chan struct{}, 1), quit: make(chan struct{}), queue: queue{within: w.cfg.AckWithin}}
	s.wg.Go(s.run)
	return s
}

func (s *Socket) close() {
	close(s.quit)
	s.Kill()
	s.wg.Wait()
}

// poke makes run look at the queue.
func (s *Socket) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run sends what waits, and sends again what was not acknowledged in time.
func (s *Socket) run() {
	for {
		next := s.pump(time.Now())
		s.w.change()
		timer := time.NewTimer(next)
		select {
		case <-s.quit:
			timer.Stop()
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// pump does what is due and returns when to look again.
func (s *Socket) pump(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.expire(now)
	if c := s.ready(); c != nil {
		for e := s.queue.launch(c, now); e != nil; e = s.queue.launch(c, now) {
			c.send(e.json())
		}
	}
	return s.queue.next(now)
}

// ready returns a connection to send on. Slack takes any; here it is the newest.
func (s *Socket) ready() *conn {
	for _, c := range slices.Backward(s.conns) {
		if !c.leaving {
			return c
		}
	}
	return nil
}

// Event sends events with the given inner events, whatever they are.
func (s *Socket) Event(inner ...map[string]any) {
	s.mu.Lock()
	for _, in := range inner {
		payload := map[string]any{
			"token": "verification", "team_id": TeamID, "api_app_id": appID, "type": "event_callback",
			"event_id": fmt.Sprintf("Ev%08d", s.queue.number()), "event_time": time.Now().Unix(), "event": in,
			"authorizations": []any{map[string]any{"team_id": TeamID, "user_id": BotUser, "is_bot": true, "is_enterprise_install": false}}, "is_ext_shared_channel": shared(in),
		}
		s.queue.add(&envelope{kind: "events_api", payload: payload})
		if s.faults.Duplicate > 0 {
			s.faults.Duplicate--
			s.queue.add(&envelope{kind: "events_api", payload: payload})
		}
	}
	s.mu.Unlock()
	s.poke()
}

// interact sends an interaction or a command and waits for its acknowledgement. It is never sent again.
func interact(s *Socket, kind string, payload any) (json.RawMessage, error) {
	e := &envelope{kind: kind, payload: payload, done: make(chan reply, 1)}
	s.mu.Lock()
	connected := s.ready() != nil
	if connected {
		s.queue.add(e)
	}
	s.mu.Unlock()
	if !connected {
		return nil, errors.New("slack shows that the app is not connected")
	}
	s.poke()
	select {
	case r := <-e.done:
		return r.payload, r.err
	case <-s.quit:
		return nil, errors.New("the workspace is closed")
	}
}

// ServeHTTP opens a connection.
func (s *Socket) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(rw, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &conn{s: s, ws: ws}
	s.mu.Lock()
	s.opened++
	if s.faults.NoHello > 0 {
		s.faults.NoHello--
		s.mu.Unlock()
		_ = ws.Close()
		return
	}
	s.conns = append(s.conns, c)
	n := len(s.conns)
	s.mu.Unlock()
	c.send(map[string]any{"type": "hello", "num_connections": n, "connection_info": map[string]any{"app_id": appID},
		"debug_info": map[string]any{"host": "slacktest", "approximate_connection_time": 18060}})
	s.poke()
	c.serve(s.w.cfg.PingEvery)
}
