package slacktest

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// A conn is one open connection of the app.
type conn struct {
	s  *Socket
	ws *websocket.Conn

	mu      sync.Mutex // for writing, and silent
	silent  bool       // nothing goes out and nothing comes in
	leaving bool       // it has been told to go; under s.mu
}

// send writes v. A connection that fails shows when it is read.
func (c *conn) send(v any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.silent {
		return
	}
	_ = c.ws.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_ = c.ws.WriteJSON(v)
}

func (c *conn) isSilent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.silent
}

// serve reads acknowledgements until the connection ends.
func (c *conn) serve(pingEvery time.Duration) {
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { c.ping(pingEvery, quit) })
	c.ws.SetPingHandler(func(data string) error {
		if !c.isSilent() {
			_ = c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(time.Second))
		}
		return nil
	})
	c.ws.SetPongHandler(func(string) error {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		c.s.stats.Pongs++
		return nil
	})
	for {
		var ack struct {
			ID      string          `json:"envelope_id"`
			Payload json.RawMessage `json:"payload"`
		}
		if err := c.ws.ReadJSON(&ack); err != nil {
			break
		}
		if !c.isSilent() {
			c.acknowledged(ack.ID, ack.Payload)
		}
	}
	close(quit)
	_ = c.ws.Close()
	wg.Wait()
	c.gone()
}

func (c *conn) ping(every time.Duration, quit <-chan struct{}) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if !c.isSilent() {
			_ = c.ws.WriteControl(websocket.PingMessage, []byte("ping"), time.Now().Add(time.Second))
		}
		select {
		case <-quit:
			return
		case <-tick.C:
		}
	}
}

func (c *conn) acknowledged(id string, payload json.RawMessage) {
	c.s.acknowledged(id, payload)
}

func (s *Socket) acknowledged(id string, payload json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults.LoseAcks > 0 {
		s.faults.LoseAcks--
		return
	}
	s.stats.Acks++
	s.queue.settle(id, payload)
	s.poke()
}

func (c *conn) gone() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.conns = slices.DeleteFunc(c.s.conns, func(o *conn) bool { return o == c })
	c.s.queue.recall(c)
	c.s.poke()
}

// Kill breaks all connections.
func (s *Socket) Kill() {
	for _, c := range s.open() {
		_ = c.ws.UnderlyingConn().Close()
	}
}

// Silence lets the open connections stand while nothing passes through them any more.
func (s *Socket) Silence() {
	for _, c := range s.open() {
		c.mu.Lock()
		c.silent = true
		c.mu.Unlock()
	}
}

// Disconnect tells the app to connect anew, as Slack does every few hours: "warning",
// "refresh_requested".
func (s *Socket) Disconnect(reason string) {
	leave(s, reason, s.open())
}

// Refresh is Disconnect for the oldest connection only, as Slack does it: one after the other.
func (s *Socket) Refresh(reason string) {
	all := s.open()
	leave(s, reason, all[:min(1, len(all))])
}

func leave(s *Socket, reason string, conns []*conn) {
	for _, c := range conns {
		s.mu.Lock()
		c.leaving = true
		s.mu.Unlock()
		c.send(map[string]any{"type": "disconnect", "reason": reason, "debug_info": map[string]any{"host": "slacktest"}})
	}
}

// Raw sends a frame as it is, on the newest connection.
func (s *Socket) Raw(frame string) {
	all := s.open()
	if len(all) == 0 {
		return
	}
	c := all[len(all)-1]
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.WriteMessage(websocket.TextMessage, []byte(frame))
}

func (s *Socket) open() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.conns)
}
