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
//
// It is also where events wait if the app takes them over HTTP; see Workspace.SendTo.
type Socket struct {
	w       *Workspace
	tickets tickets
	wake    chan struct{} // of capacity 1, for run
	quit    chan struct{}
	wg      sync.WaitGroup

	mu     sync.Mutex
	conns  []*conn // that are open; the last is the newest
	hook   *hook   // instead of them; nil is none
	stats  Stats   // as far as it is counted here
	queue  queue
	faults SocketFaults
}

// SocketFaults are what is to go wrong next.
type SocketFaults struct {
	LoseAcks  int  // acknowledgements that get lost on their way
	Duplicate int  // events that are delivered twice
	NoHello   int  // connections that break as soon as they are open
	Reorder   int  // events that are delivered after the next one
	Spread    bool // events go to each connection in turn, not to the newest only
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
	Most    int // connections that were open at once
	Unacked int // events that wait or were sent without an acknowledgement so far
	Lost    int // events that were never acknowledged and are not sent any more
	Acks    int // acknowledgements, lost ones left out
	Pongs   int // answers to pings
}

// Stats returns how things are now.
func (s *Socket) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.stats
	now.Open = len(s.conns)
	now.Unacked = s.queue.open()
	now.Lost = s.queue.lost
	return now
}

func newSocket(w *Workspace) *Socket {
	s := &Socket{w: w, wake: make(chan struct{}, 1), quit: make(chan struct{}), queue: queue{within: w.cfg.AckWithin}}
	s.wg.Go(s.run)
	return s
}

func (s *Socket) close() {
	close(s.quit)
	s.Kill()
	s.mu.Lock()
	h := s.hook
	s.mu.Unlock()
	if h != nil {
		h.close()
	}
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
	for c := ready(s); c != nil || s.hook != nil; c = ready(s) {
		e := s.queue.launch(c, now)
		switch {
		case e == nil:
			return s.queue.next(now)
		case s.hook != nil:
			s.hook.launch(s, e)
		default:
			c.send(e.json())
		}
	}
	return s.queue.next(now)
}

// ready returns a connection to send on, or nil. Slack takes any; here it is the newest, or each in
// turn.
func ready(s *Socket) *conn {
	fit := slices.DeleteFunc(slices.Clone(s.conns), func(c *conn) bool { return c.leaving })
	switch {
	case len(fit) == 0:
		return nil
	case s.faults.Spread:
		s.queue.turn++
		return fit[s.queue.turn%len(fit)]
	}
	return fit[len(fit)-1]
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
		if s.faults.Reorder > 0 && s.queue.held == nil {
			s.faults.Reorder--
			s.queue.held = &envelope{kind: "events_api", payload: payload}
			continue
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
	connected := s.hook != nil || ready(s) != nil
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
	if !s.tickets.use(r.URL.Query().Get("ticket")) {
		http.Error(rw, "this link was used before", http.StatusForbidden)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(rw, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := &conn{s: s, ws: ws}
	settle(s)
	s.mu.Lock()
	s.stats.Opened++
	if s.faults.NoHello > 0 {
		s.faults.NoHello--
		s.mu.Unlock()
		_ = ws.Close()
		return
	}
	s.conns = append(s.conns, c)
	n := len(s.conns)
	s.stats.Most = max(s.stats.Most, n)
	s.mu.Unlock()
	c.send(map[string]any{"type": "hello", "num_connections": n, "connection_info": map[string]any{"app_id": appID},
		"debug_info": map[string]any{"host": "slacktest", "approximate_connection_time": 18060}})
	s.poke()
	c.serve(s.w.cfg.PingEvery)
}

// settle waits a moment for connections that the app has closed to be noticed here, so that Stats.Most
// counts none of them.
func settle(s *Socket) {
	for range 100 {
		if len(s.open()) < 2 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// The tickets are those of links that nobody has opened. Each is good for one connection.
type tickets struct {
	mu   sync.Mutex
	last int
	good map[string]bool
}

func (t *tickets) issue() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	ticket := fmt.Sprint(t.last)
	if t.good == nil {
		t.good = map[string]bool{}
	}
	t.good[ticket] = true
	return ticket
}

func (t *tickets) use(ticket string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	good := t.good[ticket]
	delete(t.good, ticket)
	return good
}
