// Package slacktest is a Slack workspace for tests: the Web API and Socket Mode over loopback, as
// far as bots/slack speaks them, written from Slack's documentation and without its client library.
//
// It refuses what Slack refuses, sends what Slack sends (a mention in a channel comes as app_mention
// and as message, the bot hears its own messages and edits), sends again what is not acknowledged,
// and fails on demand. The bot may be another process: events that it has not acknowledged when its
// connection breaks wait for the next one. A press on a button does not wait, as with Slack.
//
// Be as strict as Slack here, never more lenient: what passes a lenient twin fails in production. So
// a method, an argument or a field of a block that this package does not know is refused, even if
// Slack has it: whoever starts to use it gives it its rules here first.
//
// People and messages are methods of Workspace, what people do more rarely is Workspace.People,
// the connection with its faults is Workspace.Socket, the calls of the Web API with theirs are
// Workspace.API.
//
// BUG(slacktest): Slack does not tell how much text a whole stream may have, nor how many calls above
// its tiers it lets through. Here a stream has no end but its time, and the tiers are exact.
package slacktest

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is how a workspace behaves. The zero Config is as Slack does it.
type Config struct {
	AckWithin time.Duration // after which an event is sent again, and a press has failed; 0 is 3 s
	PingEvery time.Duration // 0 is 1 s
	PageSize  int           // of what comes in pages, at most; 0 is what is asked for
	Scopes    string        // of the bot token; empty is all that there are here
	Tiers     bool          // Slack's rate limits hold
	NoStreams bool          // the workspace has no streaming
	Direct    bool          // there is no network: calls come by RoundTrip, and events do not go out

	StreamFor  time.Duration // after which a stream ends by itself; 0 is 5 min
	EditWithin time.Duration // after which the bot may not edit any more; 0 is never
}

// Who the bot is, and its tokens.
const (
	TeamID   = "T0HEDDLE"
	BotUser  = "U0HEDDLE"
	BotID    = "B0HEDDLE"
	BotName  = "heddle"
	BotToken = "xoxb-test-bot"
	AppToken = "xapp-test-app"
	appID    = "A0HEDDLE"
)

// A Workspace is one Slack workspace with one app installed. Its methods may be called concurrently.
type Workspace struct {
	Socket *Socket
	API    *API
	People People
	URL    string // of the Web API: what bots/slack takes as APIURL

	cfg    Config
	server *httptest.Server
	closed sync.Once
	state
}

// A state is what the workspace holds.
type state struct {
	mu        sync.Mutex    // is taken before Socket.mu, if both are
	changed   chan struct{} // closed at each change
	users     map[string]*user
	channels  map[string]*channel
	triggers  map[string]trigger
	views     map[string]*View // open forms by user
	homes     map[string]*View // the app's home by user
	files     map[string]*File
	responses map[string]*responseURL // by the last part of the address

	assistants map[string]*Assistant // by channel and root, with a slash between
	calls      callLog
	lastTS     int64 // microseconds
}

type channel struct {
	id, name string
	kind     string // "channel" or "im"
	absent   bool   // the bot is not in it
	shared   bool   // people from another team are in it
	archived bool
	messages []*Message
}

// New starts a workspace. Close ends it.
func New(c Config) *Workspace {
	if c.AckWithin == 0 {
		c.AckWithin = 3 * time.Second
	}
	if c.PingEvery == 0 {
		c.PingEvery = time.Second
	}
	if c.StreamFor == 0 {
		c.StreamFor = streamFor
	}
	if c.Scopes == "" {
		c.Scopes = everything
	}
	w := &Workspace{cfg: c, state: state{
		changed:    make(chan struct{}),
		users:      map[string]*user{BotUser: {name: BotName}},
		channels:   map[string]*channel{},
		triggers:   map[string]trigger{},
		views:      map[string]*View{},
		homes:      map[string]*View{},
		files:      map[string]*File{},
		responses:  map[string]*responseURL{},
		assistants: map[string]*Assistant{},
		calls:      callLog{},
	}}
	w.Socket, w.People = newSocket(w), People{w}
	w.API = newAPI(w)
	w.server = serve(w.API.routes(), c.Direct)
	w.URL = w.server.URL + "/api/"
	return w
}

// Close ends the workspace with all its connections. It may be called again.
func (w *Workspace) Close() {
	w.closed.Do(func() {
		w.Socket.close()
		w.API.close()
		w.server.CloseClientConnections()
		w.server.Close()
	})
}

// Wait returns nil as soon as cond holds, which it looks at after every change of the workspace, or
// ctx's error.
func (w *Workspace) Wait(ctx context.Context, cond func() bool) error {
	for {
		w.mu.Lock()
		changed := w.changed
		w.mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for a state of the workspace: %w", context.Cause(ctx))
		}
	}
}

// change wakes those who wait.
func (w *state) change() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wake()
}

// wake is change for who holds w.mu.
func (w *state) wake() {
	close(w.changed)
	w.changed = make(chan struct{})
}

// AddUser adds a person and returns the id: "UALICE" for alice.
func (w *Workspace) AddUser(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := newID("U", name)
	w.users[id] = &user{name: name}
	return id
}

func newID(kind, name string) string {
	return kind + strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToUpper(name))
}

// A State is how a channel is to the bot.
type State int

// The states of a channel.
const (
	Joined State = iota
	Absent
	Archived
)

// AddChannel adds a channel with the bot in it and returns the id: "CGENERAL" for general.
func (w *Workspace) AddChannel(name string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := newID("C", name)
	w.channels[id] = &channel{id: id, name: name, kind: "channel"}
	return id
}

// SetState changes what the bot may do in a channel. Slack writes into a channel that it was archived,
// and that it is not any more.
func (w *Workspace) SetState(channel string, s State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channel(channel)
	was := c.archived
	c.absent, c.archived = s == Absent, s == Archived
	if was == c.archived {
		return
	}
	notice := "channel_archive"
	if was {
		notice = "channel_unarchive"
	}
	const admin = "U0ADMIN"
	text := "<@" + admin + "> did " + notice
	c.messages = append(c.messages, &Message{TS: w.next(), User: admin, Text: text, Fallback: text, content: content{notice: notice}})
}

// Direct returns the id of the direct conversation between a person and the bot.
func (w *Workspace) Direct(user string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := "D" + strings.TrimPrefix(user, "U")
	if w.channels[id] == nil {
		w.channels[id] = &channel{id: id, name: user, kind: "im"}
	}
	return id
}

// channel returns a channel that the test has added; anything else is a mistake of the test.
func (w *state) channel(id string) *channel {
	c := w.channels[id]
	if c == nil {
		panic(fmt.Sprintf("slacktest: there is no channel %q", id))
	}
	return c
}

// Say lets a person write into a channel, or into a thread if one is given, and returns the ts of the
// message. The text is as typed: "@heddle" and other names of people become mentions, the rest is
// escaped as Slack does it.
func (w *Workspace) Say(user, channel, thread, text string) string {
	return w.SayRaw(user, channel, thread, w.typed(text))
}

// SayRaw is Say for text in Slack's own form.
func (w *Workspace) SayRaw(user, channel, thread, text string) string {
	return write(w, &Message{Thread: thread, User: user, Text: text, Fallback: text}, channel)
}

// write adds a person's message to a channel.
func write(w *Workspace, m *Message, channel string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channel(channel)
	m.TS = w.next()
	if u := w.users[m.User]; u != nil && u.team != "" {
		m.team, c.shared = u.team, true
	}
	c.messages = append(c.messages, m)
	w.wake()
	if !c.absent {
		w.Socket.Event(c.events(m)...)
	}
	return m.TS
}

// typed returns what Slack makes of what somebody types.
func (w *state) typed(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
	var pairs [][2]string
	for id, u := range w.users {
		pairs = append(pairs, [2]string{"@" + u.name, "<@" + id + ">"})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int { return len(b[0]) - len(a[0]) }) // @anna before @ann
	for _, p := range pairs {
		text = strings.ReplaceAll(text, p[0], p[1])
	}
	return text
}

// next returns a new ts, greater than all before.
func (w *state) next() string {
	w.lastTS = max(w.lastTS+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", w.lastTS/1e6, w.lastTS%1e6)
}
