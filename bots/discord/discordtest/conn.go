package discordtest

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Kinds of packets.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opPresence       = 3
	opVoiceState     = 4
	opResume         = 6
	opReconnect      = 7
	opMembers        = 8
	opInvalidSession = 9
	opHello          = 10
	opAck            = 11
)

// A packet is what goes over the Gateway, from Discord.
type packet struct {
	Op   int    `json:"op"`
	Data any    `json:"d"`
	Seq  *int   `json:"s"`
	Name string `json:"t,omitempty"`
}

// A conn is one open connection of the bot. Network.mu guards it.
type conn struct {
	g       *Gateway
	ws      *websocket.Conn
	out     outbox
	done    chan struct{} // closed when it is over
	session *session      // nil before Identify
	silent  bool          // nothing goes out and nothing comes in
	closing bool          // a close frame is on its way
	beat    time.Time     // the last from the bot
	sent    []time.Time   // by the bot, in the last minute
}

func newConn(g *Gateway, ws *websocket.Conn) *conn {
	return &conn{g: g, ws: ws, done: make(chan struct{}), beat: time.Now(), out: outbox{more: make(chan struct{}, 1)}}
}

// send queues a packet.
func (c *conn) send(p packet) {
	data, _ := json.Marshal(p)
	if !c.silent && !c.closing {
		c.out.put(frameOut{data: data})
	}
}

// close queues a close frame. Most codes end the session too.
func (c *conn) close(code int, why string) {
	if c.silent || c.closing {
		return
	}
	c.closing = true
	c.out.put(frameOut{close: code, data: []byte(why)})
	switch code {
	case 4004, 4007, 4009, 4010, 4011, 4012, 4013, 4014:
		c.forget()
	}
}

// forget ends the session, if there is one.
func (c *conn) forget() {
	if c.session != nil {
		delete(c.g.sessions, c.session.id)
	}
}

func (c *conn) invalidate(resumable bool) {
	c.send(packet{Op: opInvalidSession, Data: resumable})
	if !resumable {
		c.forget()
	}
	c.detach()
}

// detach parts the connection from its session.
func (c *conn) detach() {
	if c.session != nil {
		c.session.conn, c.session = nil, nil
	}
}

// breakOff ends the connection without a close frame.
func (c *conn) breakOff() { _ = c.ws.UnderlyingConn().Close() }

// serve reads what the bot sends until the connection ends.
func (c *conn) serve() {
	defer close(c.done)
	var wg sync.WaitGroup
	quit := make(chan struct{})
	wg.Go(func() { c.out.drain(c.ws, quit) })
	wg.Go(func() { c.watch(quit) })
	for {
		_, data, err := c.ws.ReadMessage()
		if err != nil {
			c.left(err)
			break
		}
		c.g.n.mu.Lock()
		if !c.silent && !c.closing {
			c.take(data)
		}
		c.g.n.wake()
		c.g.n.mu.Unlock()
	}
	close(quit)
	wg.Wait()
	_ = c.ws.Close()
}

// grace is how much later than after two intervals a heartbeat may come.
const grace = 5 * time.Second

// watch closes the connection if the bot's heartbeats stay away.
func (c *conn) watch(quit <-chan struct{}) {
	every := c.g.n.cfg.HeartbeatEvery
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-quit:
			return
		case now := <-tick.C:
			c.g.n.mu.Lock()
			if now.Sub(c.beat) > 2*every+grace {
				c.close(4009, "Session timed out.")
			}
			c.g.n.mu.Unlock()
		}
	}
}

// left notes that the connection has ended. Codes 1000 and 1001 of the bot end the session too.
func (c *conn) left(err error) {
	c.g.n.mu.Lock()
	defer c.g.n.mu.Unlock()
	code := websocket.CloseAbnormalClosure
	if e, ok := err.(*websocket.CloseError); ok {
		code = e.Code
	}
	if !c.closing { // else the bot only repeats our code
		c.g.stats.Left = append(c.g.stats.Left, code)
		if code == websocket.CloseNormalClosure || code == websocket.CloseGoingAway {
			c.forget()
		}
	}
	c.detach()
	c.g.conns = slices.DeleteFunc(c.g.conns, func(o *conn) bool { return o == c })
	c.g.n.wake()
}

// An outbox is what waits to be written to one connection, so that a bot that reads slowly holds up
// nobody.
type outbox struct {
	mu    sync.Mutex
	queue []frameOut
	more  chan struct{} // of capacity 1
}

type frameOut struct {
	data  []byte
	close int // the code, if it is a close frame
}

func (o *outbox) put(f frameOut) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = append(o.queue, f)
	select {
	case o.more <- struct{}{}:
	default:
	}
}

func (o *outbox) take() []frameOut {
	o.mu.Lock()
	defer o.mu.Unlock()
	frames := o.queue
	o.queue = nil
	return frames
}

// drain writes until quit. What fails shows when the connection is read.
func (o *outbox) drain(ws *websocket.Conn, quit <-chan struct{}) {
	for {
		select {
		case <-quit:
			return
		case <-o.more:
		}
		for _, f := range o.take() {
			_ = ws.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if f.close == 0 {
				_ = ws.WriteMessage(websocket.TextMessage, f.data)
				continue
			}
			_ = ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(f.close, string(f.data)), time.Now().Add(10*time.Second))
			_ = ws.SetReadDeadline(time.Now().Add(time.Second)) // for the other side's close frame
		}
	}
}
