package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// This file is one connection to the Gateway. Whatever happens on it, it ends: every read and every
// write has a deadline, and nothing is waited for under a lock but a write.

// The operations of the Gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// Limits of a connection.
const (
	maxPayload = 64 << 20         // bytes; a large guild comes in one
	dialWithin = 30 * time.Second // of the handshake
	sendWithin = 10 * time.Second
)

// closeKeeps is the code with which we close a connection whose session is to be resumed: 1000 and
// 1001 would end it.
const closeKeeps = 4900

// A frame is what Discord sends and gets.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  int64           `json:"s"`
	Type string          `json:"t"`
}

// A socket is one connection.
type socket struct {
	ws    *websocket.Conn
	g     *gateway
	every time.Duration // a heartbeat is due
	acked atomic.Bool   // the latest was answered, or none was sent yet
	quit  chan struct{}
	wg    sync.WaitGroup // of the heartbeats

	mu  sync.Mutex // for writing
	why error      // we closed it, if we did
}

// dial opens a connection.
func (g *gateway) dial(ctx context.Context, address string) (*socket, error) {
	address, err := gatewayURL(address)
	if err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: min(dialWithin, g.pace.answer)}
	ws, resp, err := dialer.DialContext(ctx, address, nil)
	if err != nil {
		if resp != nil {
			err = fmt.Errorf("%w: %s", err, resp.Status)
		}
		return nil, fmt.Errorf("opening a web socket: %w", err)
	}
	ws.SetReadLimit(maxPayload)
	_ = ws.SetReadDeadline(time.Now().Add(g.pace.answer)) // it fails if the next read does
	c := &socket{ws: ws, g: g, quit: make(chan struct{})}
	c.acked.Store(true)
	c.wg.Go(func() {
		select {
		case <-ctx.Done():
			c.end(websocket.CloseNormalClosure, ctx.Err())
		case <-c.quit:
		}
	})
	return c, nil
}

// close ends the connection and waits for what belongs to it.
func (c *socket) close() {
	close(c.quit)
	_ = c.ws.Close()
	c.wg.Wait()
}

// end closes the connection for a reason. The reader notices.
func (c *socket) end(code int, why error) {
	c.mu.Lock()
	if c.why == nil {
		c.why = why
	}
	c.mu.Unlock()
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	_ = c.ws.Close()
}

// hello takes in the first frame, and begins with heartbeats.
func (c *socket) hello() error {
	f, err := c.next()
	if err != nil {
		return err
	}
	var h struct {
		Interval int64 `json:"heartbeat_interval"` // ms
	}
	if err := json.Unmarshal(f.Data, &h); f.Op != opHello || err != nil || h.Interval <= 0 {
		return fmt.Errorf("discord does not begin with hello, but with operation %d", f.Op)
	}
	c.every = time.Duration(h.Interval) * time.Millisecond
	c.wg.Go(c.beat)
	return nil
}

// next reads a frame.
func (c *socket) next() (frame, error) {
	_, data, err := c.ws.ReadMessage()
	if err != nil {
		c.mu.Lock()
		why := c.why
		c.mu.Unlock()
		late, ok := errors.AsType[net.Error](err)
		switch {
		case why != nil:
			return frame{}, why
		case ok && late.Timeout():
			return frame{}, errors.New("discord is silent")
		}
		return frame{}, err
	}
	var f frame
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&f); err != nil {
		return frame{}, fmt.Errorf("discord sent what is no frame: %w", err)
	}
	return f, nil
}

// read reads until the connection ends and returns why. It calls ready with READY or RESUMED. Only then
// the rolling deadline holds; until then there is one for all.
func (c *socket) read(ctx context.Context, ready func(dispatch)) error {
	for up := false; ; {
		f, err := c.next()
		if err != nil {
			return err
		}
		if up {
			_ = c.ws.SetReadDeadline(time.Now().Add(c.every*22/10 + time.Second)) // it fails if the next read does
		}
		switch f.Op {
		case opDispatch:
			d := dispatch{f.Type, f.Data}
			if !c.g.in.put(ctx, d) {
				return ctx.Err()
			}
			c.g.seq.Store(max(c.g.seq.Load(), f.Seq)) // what is replayed has its old numbers
			if !up && (f.Type == "READY" || f.Type == "RESUMED") {
				up = true
				ready(d)
			}
		case opHeartbeat:
			if err := c.heartbeat(); err != nil {
				return err
			}
		case opReconnect:
			err := errors.New("discord asks to connect anew")
			c.end(closeKeeps, err)
			return err
		case opInvalid:
			var resumable bool
			_ = json.Unmarshal(f.Data, &resumable) // false if it is odd
			err := errInvalid{resumable}
			c.end(closeKeeps, err)
			return err
		case opAck:
			c.acked.Store(true)
		}
	}
}

// beat sends heartbeats, the first after a random part of the interval, until the connection ends. A
// connection on which the last was not answered is dead, though the network may not know it yet.
func (c *socket) beat() {
	wait := rand.N(c.every)
	for {
		select {
		case <-c.quit:
			return
		case <-time.After(wait):
		}
		wait = c.every
		if !c.acked.Swap(false) {
			c.end(closeKeeps, errors.New("discord did not answer a heartbeat"))
			return
		}
		if err := c.heartbeat(); err != nil {
			c.end(closeKeeps, fmt.Errorf("sending a heartbeat: %w", err))
			return
		}
	}
}

func (c *socket) heartbeat() error {
	if seq := c.g.seq.Load(); seq > 0 {
		return c.send(opHeartbeat, seq)
	}
	return c.send(opHeartbeat, nil)
}

func (c *socket) identify() error {
	data := map[string]any{
		"token":      c.g.d.rest.token,
		"intents":    c.g.d.cfg.intents(),
		"properties": map[string]string{"os": runtime.GOOS, "browser": "heddle", "device": "heddle"},
	}
	if c.g.d.cfg.Shards > 1 {
		data["shard"] = []int{c.g.d.cfg.Shard, c.g.d.cfg.Shards}
	}
	return c.send(opIdentify, data)
}

func (c *socket) send(op int, data any) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(sendWithin))
	return c.ws.WriteJSON(map[string]any{"op": op, "d": data})
}
