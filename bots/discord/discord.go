// Package discord connects the agent to Discord: the Gateway in, REST out.
//
// Events come in on a web socket that the program opens (socket.go) and opens again for as long as that
// may help (gateway.go). They are decoded by small structs of our own (event.go, press.go) and offered
// to the bot in order, once, until it has taken them (intake.go). Discord has no acknowledgements:
// while a session lasts it sends again what a broken connection has missed; what was missed between
// two sessions is read from the threads (catchup.go). Messages go out (post.go) in the form that
// compose.go gives them, at the rate that Discord allows (limit.go), and every refusal is sorted into
// what can be tried again and what cannot (errors.go).
//
// A thread of ours is a thread of Discord's: a channel with the id of the message at its root, made
// before the first post. A direct conversation is one thread, whose id is that of its channel.
//
// The library serves for Discord's vocabulary. Its session and its client of REST are not used: the
// one can stop for ever, identify at the wrong moment and close the wrong connection, which cannot be
// mended from outside; the other repeats posts by itself.
//
// What may be changed here is how Discord is spoken to. What a thread shows is decided in package
// bots. The form of a button's custom_id is in messages already posted, and is for ever.
//
// BUG(discord): what was missed while the program was down, or between two sessions, is read from at most
// 100 places where we were active last, and in each guild 100 others, at most 100 messages of each;
// direct messages of people who had none with us before, edits and deletions of then are not noticed.
package discord

import (
	"errors"

	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// Name is the Info.Name of this network.
const Name = "discord"

// editEvery paces the edits of one thread's progress. Discord allows some five in five seconds.
const editEvery = 2 * time.Second

// typingFor is how long Discord shows that somebody is typing.
const typingFor = 10 * time.Second

// Config is how to reach Discord.
type Config struct {
	Token          string       // of the bot, without "Bot "
	APIURL         string       // of REST, without the version; empty is Discord's own
	HTTPClient     *http.Client // for REST; nil is one with a timeout. It must have one: answers may never come
	WithoutContent bool         // do without the intent Message Content: only mentions, direct messages and commands have words
	Guilds         []string     // where the commands are registered; empty is everywhere
	Models         []string     // names that are offered to whoever types the command that chooses one
	Shard, Shards  int          // which of how many connections this is; 0 of 0 is the only one
	Logger         *slog.Logger // nil logs nothing
}

// Discord is one bot on Discord. It implements bots.Platform.
type Discord struct {
	cfg    Config
	rest   *rest
	places *places
	own    *own
	names  *names
	tokens *tokens
	titles *titles
	seen   *seen
	pulse  *pulse
	pace   pace
}

var _ bots.Platform = (*Discord)(nil)

// New returns the bot that the token is for. It asks Discord nothing yet.
func New(c Config) (*Discord, error) {
	c.Token = strings.TrimPrefix(strings.TrimSpace(c.Token), "Bot ")
	switch {
	case c.Token == "":
		return nil, errors.New("discord: the bot token is missing: it is on the application's page under “Bot”, “Reset Token”")
	case c.HTTPClient != nil && c.HTTPClient.Timeout == 0:
		return nil, errors.New("discord: Config.HTTPClient needs a timeout")
	case c.Shard < 0 || c.Shard > 0 && c.Shard >= c.Shards:
		return nil, errors.New("discord: the shards are numbered from 0: the number must be less than how many there are")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{Timeout: 30 * time.Second}
	}
	base := strings.TrimRight(c.APIURL, "/")
	if base == "" {
		base = strings.TrimRight(discordgo.EndpointDiscord, "/") + "/api"
	}
	r := &rest{base: base + "/v" + discordgo.APIVersion, token: c.Token, http: c.HTTPClient, limits: newLimiter()}
	return &Discord{
		cfg:    c,
		rest:   r,
		places: newPlaces(r),
		own:    newOwn(r),
		names:  newNames(),
		tokens: newTokens(),
		titles: newTitles(),
		seen:   newSeen(),
		pulse:  &pulse{},
		pace: pace{
			identify: 5 * time.Second,
			invalid:  func() time.Duration { return time.Second + rand.N(4*time.Second) },
			first:    500 * time.Millisecond,
			last:     30 * time.Second,
			answer:   30 * time.Second,
		},
	}, nil
}

// A pace is how long to wait for what.
type pace struct {
	identify    time.Duration        // between two sessions
	invalid     func() time.Duration // after a session was called invalid: 1 to 5 s, says Discord
	first, last time.Duration        // between tries to connect
	answer      time.Duration        // of the Gateway, until a connection can be used
}

// Info implements bots.Platform.
func (d *Discord) Info() bots.Info {
	return bots.Info{
		Name:      Name,
		EditEvery: editEvery,
		Render:    func(markdown string) []string { return render(markdown, maxText) },
		MaxText:   maxText,
		MaxCode:   maxCode,
		CodeSize:  codeSize,
		MaxLabel:  maxLabel,
		Mention:   mention,
		Abilities: bots.Abilities{
			Working:    d.working,
			WorkingFor: typingFor,
			Fetch:      fetcher{d.rest}.fetch,
			Earlier:    d.earlier,
			Follow:     d.seen.resume,
			Link:       messageLink,
		},
	}
}
