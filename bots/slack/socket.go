package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gorilla/websocket"
)

// This file is Socket Mode. Two sockets are open, so that one is while the other is replaced, which
// Slack asks for every few hours; there is never a third, of the ten that Slack allows an app. The
// library has a client of its own, which is not used: it lets go of payloads that it cannot decode,
// tries again for ever where that is hopeless, and after a long outage only every five minutes.

// Limits of a socket.
const (
	maxEnvelope = 16 << 20         // bytes
	dialWithin  = 30 * time.Second // of the handshake
	sendWithin  = 5 * time.Second  // of an acknowledgement; Slack waits for 3 s
	retryFirst  = 500 * time.Millisecond
	retryLast   = 20 * time.Second // and half of it more or less: 30 s at most
)

// errNoHello is a connection that was of no use.
var errNoHello = errors.New("the connection broke before slack said hello")

// The sockets of one run of Listen.
type sockets struct{ *intake }

// hold keeps two sockets open until ctx ends or one of them is hopeless. The second waits for the
// first to show that the tokens are good.
func (so sockets) hold(ctx context.Context) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	up := make(chan struct{})
	begun := sync.OnceFunc(func() { close(up) })
	var wg sync.WaitGroup
	wg.Go(func() { fail(so.keep(ctx, begun)) })
	wg.Go(func() {
		select {
		case <-up:
			fail(so.keep(ctx, begun))
		case <-ctx.Done():
		}
	})
	wg.Wait()
	return context.Cause(ctx)
}

// keep keeps one socket open: when it has ended the next is opened in its place. It calls up whenever
// Slack has said hello. It returns why there will be no next one.
func (so sockets) keep(ctx context.Context, up func()) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: retryFirst, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: retryLast}
	for {
		greeted, err := so.connect(ctx, up)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case hopeless(err) != nil:
			so.s.pulse.note(func(h *Health) { h.LastError = err.Error() })
			return err
		case greeted: // the next at once, no faster than the limit on opening allows
			pause.Reset()
			so.log.Info("slack disconnected", "err", err)
			continue
		}
		so.log.Warn("slack cannot be reached", "err", err)
		so.s.pulse.note(func(h *Health) { h.LastError = err.Error() })
		select {
		case <-time.After(pause.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// connect opens a socket and reads it to its end. It reports whether Slack said hello.
func (so sockets) connect(ctx context.Context, up func()) (greeted bool, err error) {
	var url string // good for one connection
	err = so.s.web.call(ctx, request{method: "apps.connections.open"}, func(ctx context.Context) (err error) {
		_, url, err = so.s.web.api.StartSocketModeContext(ctx)
		return err
	})
	if err != nil {
		return false, err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialWithin}
	ws, resp, err := dialer.DialContext(ctx, url, nil)
	if err != nil {
		if resp != nil {
			err = fmt.Errorf("%w: %s", err, resp.Status)
		}
		return false, fmt.Errorf("opening a web socket: %w", err)
	}
	c := &socket{ws: ws, in: so.intake, silentFor: so.s.cfg.SilentFor, log: so.log}
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { c.ping(ctx, quit) })
	err = c.read(func() {
		greeted = true
		so.s.pulse.connected()
		up()
	})
	close(quit)
	wg.Wait() // it closes the connection
	if greeted {
		so.s.pulse.disconnected()
		return true, err
	}
	return false, fmt.Errorf("%w: %w", errNoHello, err)
}

// A socket is one connection.
type socket struct {
	ws        *websocket.Conn
	in        *intake
	silentFor time.Duration
	log       *slog.Logger

	mu sync.Mutex // for writing messages
}

// A frame is what Slack sends over a socket: an envelope, or a word about the connection.
type frame struct {
	envelope
	Reason      string `json:"reason"`          // of "disconnect"
	Connections int    `json:"num_connections"` // of the app; of "hello"
}

// read reads until the connection ends and returns why. Whatever comes, even the answer to a ping, is
// a sign of life; without one the connection counts as dead, though the network may not know it yet.
func (c *socket) read(hello func()) error {
	c.ws.SetReadLimit(maxEnvelope)
	alive := func() { _ = c.ws.SetReadDeadline(time.Now().Add(c.silentFor)) } // it fails if the next read does
	c.ws.SetPongHandler(func(string) error { alive(); return nil })
	c.ws.SetPingHandler(func(data string) error {
		alive()
		_ = c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(sendWithin)) // likewise
		return nil
	})
	for greeted := false; ; {
		alive()
		_, data, err := c.ws.ReadMessage()
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
			return fmt.Errorf("slack was silent for %v", c.silentFor)
		}
		if err != nil {
			return err
		}
		var f frame
		if err := json.Unmarshal(data, &f); err != nil {
			c.log.Warn("slack sent what is no envelope", "err", err)
			continue
		}
		switch {
		case f.Type == "hello" && !greeted:
			greeted = true
			c.log.Info("slack connected", "connections", f.Connections)
			hello()
		case f.Type == "disconnect":
			return fmt.Errorf("slack asks to connect anew: %s", f.Reason)
		case f.ID != "":
			c.in.put(f.envelope, func(ok bool) {
				if ok {
					c.ack(f.envelope)
				}
			})
		}
	}
}

// ping asks for signs of life until ctx ends or quit is closed, and then closes the connection.
func (c *socket) ping(ctx context.Context, quit <-chan struct{}) {
	defer c.ws.Close()
	tick := time.NewTicker(max(c.silentFor/3, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-quit:
			return
		case <-tick.C:
			_ = c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(sendWithin)) // the reader notices
		}
	}
}

// ack acknowledges an envelope on the connection by which it came: any other would not count.
func (c *socket) ack(env envelope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(sendWithin))
	if err := c.ws.WriteJSON(map[string]string{"envelope_id": env.ID}); err != nil {
		c.log.Warn("an event was not acknowledged; slack will send again", "type", env.Type, "err", err)
	}
}
