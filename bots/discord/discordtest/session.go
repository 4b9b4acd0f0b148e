package discordtest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Intents that are looked at here.
const (
	intentGuilds         = 1 << 0
	intentMembers        = 1 << 1
	intentPresences      = 1 << 8
	intentMessages       = 1 << 9
	intentDirectMessages = 1 << 12
	intentContent        = 1 << 15
	intentAny            = 1<<26 - 1
)

// resumePath is where READY says to come back to. It differs from the first address, as Discord's does.
const resumePath = "/resume/"

// maxReplay is how many events Discord keeps for Resume, here.
const maxReplay = 10_000

// A session is what the bot has on the Gateway. It outlives connections.
type session struct {
	id      string
	g       *Gateway
	conn    *conn // nil while the bot is away
	intents int
	shard   [2]int
	seq     int
	told    int      // the number in the bot's latest heartbeat
	log     []packet // the latest, up to seq
}

// hears reports whether the session is told of an event.
func (s *session) hears(name string, at place) bool {
	if at.guild == "" && at.channel == nil {
		return true
	}
	home := 0 // direct messages go to the first shard
	if at.guild != "" {
		home = int((snowflake(at.guild) >> 22) % uint64(s.shard[1]))
	}
	if home != s.shard[0] {
		return false
	}
	need := intentGuilds
	switch {
	case strings.HasPrefix(name, "MESSAGE_") && at.guild == "":
		need = intentDirectMessages
	case strings.HasPrefix(name, "MESSAGE_"):
		need = intentMessages
	case strings.HasPrefix(name, "GUILD_MEMBER_"):
		need = intentMembers
	case name == "INTERACTION_CREATE":
		return true
	}
	return s.intents&need != 0
}

// dispatch numbers an event, keeps it for Resume, and sends it if the bot is there.
func (s *session) dispatch(name string, data any) {
	s.seq++
	seq := s.seq
	p := packet{Op: opDispatch, Data: data, Seq: &seq, Name: name}
	s.log = append(s.log, p)
	s.log = s.log[max(0, len(s.log)-maxReplay):]
	if s.conn == nil || once(&s.g.faults.Lose) {
		return
	}
	s.conn.send(p)
	if once(&s.g.faults.Duplicate) {
		s.conn.send(p)
	}
}

// take does what a packet of the bot's asks for. n.mu is held.
func (c *conn) take(data []byte) {
	var p struct {
		Op   int             `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	now := time.Now()
	c.sent = append(slices.DeleteFunc(c.sent, func(t time.Time) bool { return now.Sub(t) > time.Minute }), now)
	switch {
	case len(data) > 4096 || json.Unmarshal(data, &p) != nil:
		c.close(4002, "Error while decoding payload.")
		return
	case len(c.sent) > 120:
		c.close(4008, "You are being rate limited.")
		return
	}
	switch p.Op {
	case opHeartbeat:
		c.beat = now
		c.g.stats.Heartbeats++
		if n := 0; c.session != nil && json.Unmarshal(p.Data, &n) == nil {
			c.session.told = max(c.session.told, n)
		}
		if !c.g.zombie {
			c.send(packet{Op: opAck})
		}
	case opIdentify, opResume:
		if c.session != nil {
			c.close(4005, "Already authenticated.")
			return
		}
		if c.greet() {
			return
		}
		if p.Op == opIdentify {
			c.identify(p.Data)
		} else {
			c.resume(p.Data)
		}
	case opPresence, opVoiceState, opMembers:
		if c.session == nil {
			c.close(4003, "Not authenticated.")
		}
	default:
		c.close(4001, "Unknown opcode.")
	}
}

// greet does what goes wrong instead of an answer to Identify or Resume, and reports whether that is
// all.
func (c *conn) greet() bool {
	f := &c.g.faults
	if once(&f.AckFirst) {
		c.send(packet{Op: opAck})
	}
	switch {
	case once(&f.ReconnectFirst):
		c.send(packet{Op: opReconnect})
	case once(&f.InvalidFirst):
		c.send(packet{Op: opInvalidSession, Data: false})
	case len(f.CloseWith) > 0:
		code := f.CloseWith[0]
		f.CloseWith = f.CloseWith[1:]
		c.close(code, "")
	default:
		return false
	}
	return true
}

func (c *conn) identify(data []byte) {
	var in struct {
		Token      string            `json:"token"`
		Properties map[string]string `json:"properties"`
		Intents    *int              `json:"intents"`
		Shard      *[2]int           `json:"shard"`
	}
	if json.Unmarshal(data, &in) != nil || in.Properties == nil || in.Intents == nil {
		c.close(4002, "Error while decoding payload.")
		return
	}
	shard := [2]int{0, 1}
	if in.Shard != nil {
		shard = *in.Shard
	}
	privileged := 0
	if c.g.n.cfg.NoContent {
		privileged = intentContent
	}
	now := time.Now()
	switch {
	case c.g.reset || strings.TrimPrefix(in.Token, "Bot ") != BotToken:
		c.close(4004, "Authentication failed.")
	case shard[1] < 1 || shard[0] < 0 || shard[0] >= shard[1]:
		c.close(4010, "Invalid shard.")
	case shard[1] < c.g.n.cfg.Shards:
		c.close(4011, "Sharding required.")
	case *in.Intents&^intentAny != 0:
		c.close(4013, "Invalid intent(s).")
	case *in.Intents&(privileged|intentPresences|intentMembers) != 0:
		c.close(4014, "Disallowed intent(s).")
	case c.g.n.cfg.Limits && len(c.g.starts) > 0 && now.Sub(c.g.starts[len(c.g.starts)-1]) < 5*time.Second:
		c.invalidate(false) // max_concurrency is 1
	case c.g.left(now) == 0:
		c.g.reset = true
		c.close(4004, "Authentication failed.")
	default:
		c.g.starts = append(c.g.starts, now)
		c.ready(*in.Intents, shard)
	}
}

// left returns how many sessions may still be started today.
func (g *Gateway) left(now time.Time) int {
	g.starts = slices.DeleteFunc(g.starts, func(t time.Time) bool { return now.Sub(t) > 24*time.Hour })
	return max(0, g.n.cfg.Identifies-len(g.starts))
}

func (c *conn) ready(intents int, shard [2]int) {
	n := c.g.n
	s := &session{id: "session-" + n.next(), g: c.g, conn: c, intents: intents, shard: shard}
	c.session = s
	c.g.sessions[s.id] = s
	c.g.stats.Identified++
	mine := []*guild{}
	absent := []object{}
	for _, g := range sorted(n.guilds) {
		if s.hears("GUILD_CREATE", place{guild: g.id}) {
			mine = append(mine, g)
		}
		absent = append(absent, object{"id": g.id, "unavailable": true})
	}
	s.dispatch("READY", object{"v": 10, "user": n.users[BotUser].json(), "guilds": absent, "session_id": s.id,
		"resume_gateway_url": "ws" + strings.TrimPrefix(n.base, "http") + resumePath, "shard": shard,
		"session_type": "normal", "application": object{"id": AppID, "flags": n.appFlags()}, "private_channels": []any{}, "presences": []any{},
		"relationships": []any{}, "user_settings": object{}, "_trace": []string{"discordtest"}})
	for _, g := range mine {
		s.dispatch("GUILD_CREATE", n.guildCreate(g))
	}
}

func (c *conn) resume(data []byte) {
	var in struct {
		Token   string `json:"token"`
		Session string `json:"session_id"`
		Seq     *int   `json:"seq"`
	}
	if json.Unmarshal(data, &in) != nil || in.Seq == nil {
		c.close(4002, "Error while decoding payload.")
		return
	}
	s := c.g.sessions[in.Session]
	switch {
	case c.g.reset || strings.TrimPrefix(in.Token, "Bot ") != BotToken:
		c.close(4004, "Authentication failed.")
	case s == nil || s.seq-*in.Seq > len(s.log):
		c.invalidate(false)
	case *in.Seq > s.seq:
		delete(c.g.sessions, s.id)
		c.close(4007, "Invalid seq.")
	default:
		if old := s.conn; old != nil {
			old.detach()
			old.close(4000, "Session was taken over.")
		}
		s.conn, c.session = c, s
		c.g.stats.Resumed++
		for _, p := range s.log[len(s.log)-(s.seq-*in.Seq):] {
			c.send(p)
		}
		s.dispatch("RESUMED", object{"_trace": []string{"discordtest"}})
	}
}

// sorted returns the values by id.
func sorted[T any](of map[string]T) []T {
	var all []T
	ids := make([]string, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		all = append(all, of[id])
	}
	return all
}

// Flags of an application.
const (
	flagContentLimited = 1 << 19
	flagCommandBadge   = 1 << 23
)

func (f looks) appFlags() int {
	flags := 0
	if !f.n.cfg.NoContent {
		flags |= flagContentLimited
	}
	if len(f.n.commands[""]) > 0 {
		flags |= flagCommandBadge
	}
	return flags
}
