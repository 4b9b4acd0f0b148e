package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// A Gateway is Discord's side of the bot's websocket. Network.mu guards what it holds.
type Gateway struct {
	n        *Network
	conns    []*conn // that are open; the last is the newest
	sessions map[string]*session
	faults   GatewayFaults
	zombie   bool
	stats    Stats
	starts   []time.Time // of sessions, in the last day
	reset    bool        // the token is no good any more
	quit     bool
}

// GatewayFaults are what is to go wrong next. Numbers count down by themselves.
type GatewayFaults struct {
	Refuse         int   // connections that get 503 instead of a websocket
	Mute           int   // connections that never say Hello, nor anything else
	AckHello       int   // connections on which Op 11 comes right after Hello
	AckFirst       int   // Identify and Resume that are answered with Op 11 before anything else
	ReconnectFirst int   // Identify and Resume that are answered with Op 7
	InvalidFirst   int   // Identify and Resume that are answered with Op 9, false
	CloseWith      []int // codes with which the next Identify and Resume are answered
	Lose           int   // events that are not sent; Resume replays them
	Duplicate      int   // events that are sent twice, under the same number
}

// Stats are numbers of a Gateway.
type Stats struct {
	Open       int   // connections now
	Opened     int   // connections since the start
	Most       int   // connections that were open at once
	Ready      int   // connections now with a session
	Identified int   // sessions that were started
	Resumed    int   // sessions that were taken up again
	ResumeURL  int   // connections to the address that READY told
	Heartbeats int   // from the bot
	Behind     int   // events of the latest session of each shard of which the bot's heartbeats have not told yet that they arrived
	Left       []int // codes with which the bot closed; 1006 is without any
}

// Fail lets things go wrong.
func (g *Gateway) Fail(f GatewayFaults) {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	g.faults = f
}

// Stats returns how things are now.
func (g *Gateway) Stats() Stats {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	now := g.stats
	now.Open, now.Left = len(g.conns), slices.Clone(g.stats.Left)
	for _, c := range g.conns {
		if c.session != nil {
			now.Ready++
		}
	}
	latest := map[[2]int]*session{} // those before are given up, if the bot has died
	for _, s := range g.sessions {
		if l := latest[s.shard]; l == nil || s.id > l.id {
			latest[s.shard] = s
		}
	}
	for _, s := range latest {
		now.Behind += s.seq - s.told
	}
	return now
}

func (g *Gateway) close() {
	g.n.mu.Lock()
	g.quit = true
	conns := slices.Clone(g.conns)
	g.n.mu.Unlock()
	for _, c := range conns {
		c.breakOff()
		<-c.done
	}
}

// once reports whether one of the faults counted in left is due.
func once(left *int) bool {
	if *left <= 0 {
		return false
	}
	*left--
	return true
}

// ServeHTTP opens a connection.
func (g *Gateway) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	g.n.mu.Lock()
	refused := g.quit || once(&g.faults.Refuse)
	g.n.mu.Unlock()
	if refused {
		http.Error(rw, "upstream connect error", http.StatusServiceUnavailable)
		return
	}
	up := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := up.Upgrade(rw, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	c := newConn(g, ws)
	g.n.mu.Lock()
	g.conns = append(g.conns, c)
	g.stats.Opened++
	g.stats.Most = max(g.stats.Most, len(g.conns))
	if strings.HasPrefix(r.URL.Path, strings.TrimSuffix(resumePath, "/")) {
		g.stats.ResumeURL++
	}
	c.silent = once(&g.faults.Mute)
	v, encoding := r.URL.Query().Get("v"), r.URL.Query().Get("encoding")
	switch {
	case v != "9" && v != "10":
		c.close(4012, "Invalid API version")
	case encoding != "json":
		c.close(4002, "Error while decoding payload.")
	default:
		c.send(packet{Op: opHello, Data: object{"heartbeat_interval": g.n.cfg.HeartbeatEvery.Milliseconds(), "_trace": []string{"discordtest"}}})
		if once(&g.faults.AckHello) {
			c.send(packet{Op: opAck})
		}
	}
	g.n.wake()
	g.n.mu.Unlock()
	c.serve()
}

// A place is where something happens: who may hear of it depends on that.
type place struct {
	guild   string
	channel *channel // nil is the whole guild
}

// event numbers an event and sends it, to all sessions that are to hear of it. n.mu is held.
func (g *Gateway) event(name string, at place, data any) {
	if at.channel != nil && g.n.may(BotUser, at.channel)&ViewChannel == 0 {
		return
	}
	raw := map[bool]json.RawMessage{}
	for _, s := range g.sessions {
		if !s.hears(name, at) {
			continue
		}
		veiled := s.intents&intentContent == 0
		if raw[veiled] == nil {
			v := data
			if o, ok := data.(object); ok && veiled && (name == "MESSAGE_CREATE" || name == "MESSAGE_UPDATE") {
				v = g.n.veil(o)
			}
			raw[veiled], _ = json.Marshal(v)
		}
		s.dispatch(name, raw[veiled])
	}
	g.n.wake()
}

// Event sends an event of that name, whatever it is, to all sessions.
func (g *Gateway) Event(name string, data any) {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	raw, _ := json.Marshal(data)
	for _, s := range g.sessions {
		s.dispatch(name, raw)
	}
}

// Kill breaks all connections without a word.
func (g *Gateway) Kill() {
	for _, c := range opened(g) {
		c.breakOff()
	}
}

// Silence lets the open connections stand while nothing passes through them any more.
func (g *Gateway) Silence() {
	each(g, func(c *conn) { c.silent = true })
}

// Zombie lets heartbeats go without an answer, on present and future connections; or no longer.
func (g *Gateway) Zombie(on bool) {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	g.zombie = on
}

// Reconnect tells the bot to connect anew and to resume, with Op 7.
func (g *Gateway) Reconnect() {
	each(g, func(c *conn) { c.send(packet{Op: opReconnect}) })
}

// Beat asks for a heartbeat, with Op 1.
func (g *Gateway) Beat() {
	each(g, func(c *conn) { c.send(packet{Op: opHeartbeat}) })
}

// Invalidate ends the sessions with Op 9. Those that are resumable may be taken up again.
func (g *Gateway) Invalidate(resumable bool) {
	each(g, func(c *conn) { c.invalidate(resumable) })
}

// CloseWith closes all connections with a code, and ends the sessions if the code says so.
func (g *Gateway) CloseWith(code int) {
	each(g, func(c *conn) { c.close(code, "") })
}

// Raw sends a frame as it is.
func (g *Gateway) Raw(frame string) {
	each(g, func(c *conn) { c.out.put(frameOut{data: []byte(frame)}) })
}

func opened(g *Gateway) []*conn {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	return slices.Clone(g.conns)
}

func each(g *Gateway, do func(*conn)) {
	g.n.mu.Lock()
	defer g.n.mu.Unlock()
	for _, c := range g.conns {
		do(c)
	}
	g.n.wake()
}
