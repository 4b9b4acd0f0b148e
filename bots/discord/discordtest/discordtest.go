// Package discordtest is a Discord for tests: REST and the Gateway over loopback, as far as
// bots/discord speaks them, written from Discord's documentation and without a client library.
//
// It refuses what Discord refuses, with Discord's own codes and bodies, and sends what Discord sends:
// READY and the guilds, the bot's own messages, threads, interactions. A session outlives its
// connection: events go on being numbered and are replayed by Resume. It fails on demand. The bot may
// be another process.
//
// Be as strict as Discord here, never more lenient: what passes a lenient twin fails in production. A
// route or a field of a body that this package does not know is refused, even if Discord has it or
// would overlook it: whoever starts to use it gives it its rules here first.
//
// Guilds, channels and plain messages are methods of Network, what people do more rarely to messages is
// Network.People, to channels and threads Network.Places, with commands, buttons and forms
// Network.Interactions. The connection with its faults is Network.Gateway, the calls of REST with theirs
// are Network.API.
//
// BUG(discordtest): Discord does not publish its limits per route. With Config.Limits they are 5 in 5
// seconds for each route and channel, as is commonly seen.
package discordtest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Config is how Discord behaves. The zero Config is as Discord does it, but for quicker heartbeats and
// no rate limits.
type Config struct {
	HeartbeatEvery time.Duration // is told in Hello; 0 is 1 s
	AnswerWithin   time.Duration // after which an interaction has failed; 0 is 3 s
	TokenFor       time.Duration // after which the token of an interaction is dead; 0 is 15 min
	NonceFor       time.Duration // during which an enforced nonce makes one message; 0 is 5 min

	NoContent  bool // the intent Message Content is not enabled on the application's page
	Limits     bool // Discord's rate limits hold, those of the Gateway included
	Identifies int  // that are allowed; with the next the token is reset; 0 is 1000
	Shards     int  // that are needed at least; 0 is 1
	MaxInvalid int  // answers 401, 403 and 429 in 10 min that lead to a ban; 0 is 10,000
}

// Who the bot is, its token, and the guild that is there from the start.
const (
	AppID    = "1100000000000000001"
	BotUser  = "1100000000000000002" // differs from AppID, as with old applications
	BotName  = "heddle"
	BotToken = "test-discord-bot"
	GuildID  = "1100000000000000003" // its name is "weavers"
	Owner    = "1100000000000000004" // of the application and of all guilds
	BotRole  = "1100000000000000005" // that Discord has made for the bot in that guild
)

// A Network is one Discord with one application. Its methods may be called concurrently.
type Network struct {
	Gateway      *Gateway
	API          *API
	People       People
	Places       Places
	Interactions Interactions
	URL          string // of REST without the version: "http://127.0.0.1:1234/api"

	cfg Config
	host
	state
	looks
	acts
}

// A host is where Discord is to be reached.
type host struct {
	base   string // "http://127.0.0.1:1234"
	server *httptest.Server
	closed sync.Once
}

// looks are what Discord's things look like on the wire, and acts what is done to them and told of. Both
// expect that the state is locked.
type (
	looks struct{ n *Network }
	acts  struct{ n *Network }
)

// A state is what Discord holds.
type state struct {
	mu       sync.Mutex
	changed  chan struct{} // closed at each change
	users    map[string]*user
	guilds   map[string]*guild
	channels map[string]*channel
	files    map[string]*File        // by id
	commands map[string][]*command   // by guild; "" is everywhere
	calls    map[string]*interaction // interactions by token
	forms    map[string]*Form        // that people see, by user
	last     uint64                  // snowflake
}

// object is a piece of JSON.
type object = map[string]any

// New starts a Discord. Close ends it.
func New(c Config) *Network {
	c.HeartbeatEvery = either(c.HeartbeatEvery, time.Second)
	c.AnswerWithin = either(c.AnswerWithin, 3*time.Second)
	c.TokenFor = either(c.TokenFor, 15*time.Minute)
	c.NonceFor = either(c.NonceFor, 5*time.Minute)
	c.Identifies = either(c.Identifies, 1000)
	c.MaxInvalid = either(c.MaxInvalid, 10_000)
	c.Shards = either(c.Shards, 1)
	n := &Network{cfg: c, state: state{
		changed:  make(chan struct{}),
		users:    map[string]*user{BotUser: {id: BotUser, name: BotName, bot: true}, Owner: {id: Owner, name: "owner"}},
		guilds:   map[string]*guild{},
		channels: map[string]*channel{},
		files:    map[string]*File{},
		commands: map[string][]*command{},
		calls:    map[string]*interaction{},
		forms:    map[string]*Form{},
	}}
	n.addGuild(GuildID, "weavers", BotRole)
	n.looks, n.acts = looks{n}, acts{n}
	n.Gateway = &Gateway{n: n, sessions: map[string]*session{}}
	n.People, n.Places, n.Interactions = People{n}, Places{n}, Interactions{n}
	n.API = newAPI(n)
	n.server = httptest.NewServer(n.API.routes())
	n.base = n.server.URL
	n.URL = n.base + "/api"
	return n
}

func either[T comparable](a, b T) T {
	var zero T
	if a == zero {
		return b
	}
	return a
}

// Close ends Discord with all its connections. It may be called again.
func (n *Network) Close() {
	n.closed.Do(func() {
		n.API.close()
		n.Gateway.close()
		n.server.CloseClientConnections()
		n.server.Close()
	})
}

// RoundTrip answers a call of REST without a network, as http.Client.Transport, for tests whose clock is not
// real.
func (n *Network) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	n.server.Config.Handler.ServeHTTP(rec, r)
	return rec.Result(), nil
}

// Wait returns nil as soon as cond holds, which it looks at after every change, or ctx's error.
func (n *Network) Wait(ctx context.Context, cond func() bool) error {
	for {
		n.mu.Lock()
		changed := n.changed
		n.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a state of Discord: %w", context.Cause(ctx))
		}
	}
}

// change wakes those who wait.
func (s *state) change() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wake()
}

// wake is change for who holds s.mu.
func (s *state) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// epoch is the first millisecond of Discord's ids.
const epoch = 1420070400000

// next returns a new id, greater than all before. It tells the time.
func (s *state) next() string {
	s.last = max(s.last+1, uint64(time.Now().UnixMilli()-epoch)<<22)
	return strconv.FormatUint(s.last, 10)
}

// snowflake reads an id; what is none is 0.
func snowflake(id string) uint64 {
	v, _ := strconv.ParseUint(id, 10, 64)
	return v
}

// born returns when an id was made, as Discord writes it.
func born(id string) string {
	return stamp(time.UnixMilli(int64(snowflake(id)>>22) + epoch))
}

func stamp(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000000+00:00")
}

// AddUser adds a person to Discord and to every guild, and returns the id.
func (n *Network) AddUser(name string) string { return n.addUser(&user{name: name}) }

// AddBot is AddUser for another application's bot.
func (n *Network) AddBot(name string) string { return n.addUser(&user{name: name, bot: true}) }

func (s *state) addUser(u *user) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.id = s.next()
	s.users[u.id] = u
	return u.id
}

// AddGuild adds a guild with the bot in it and returns the id.
func (n *Network) AddGuild(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.addGuild(n.next(), name, n.next())
	n.Gateway.event("GUILD_CREATE", place{guild: g.id}, n.guildCreate(g))
	return g.id
}

// AddChannel adds a text channel to a guild and returns the id. A name that begins with "forum" makes
// it one of those.
func (n *Network) AddChannel(guild, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &channel{id: n.next(), guild: guild, name: name, kind: guildText}
	if strings.HasPrefix(name, "forum") {
		c.kind = guildForum
	}
	n.channels[c.id] = c
	n.Gateway.event("CHANNEL_CREATE", c.place(), n.channelJSON(c))
	return c.id
}

// Direct returns the id of the direct channel between a person and the bot.
func (n *Network) Direct(user string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.direct(user).id
}

// Say lets somebody write into a channel or a thread and returns the id of the message. The text is as
// typed: "@heddle" and other names of people and roles become mentions.
func (n *Network) Say(user, channel, text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.write(channel, &Message{Author: user, Content: n.typed(channel, text)}).ID
}

// Messages returns the messages of a channel, a thread or a direct conversation as they are now, the
// oldest first. Those with For are seen by one person only.
func (n *Network) Messages(channel string) []Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []Message
	for _, m := range n.channel(channel).messages {
		all = append(all, m.clone())
	}
	return all
}
