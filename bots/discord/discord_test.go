package discord_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fixture is a Discord with a bot, two people and a channel.
type fixture struct {
	t          *testing.T
	n          *discordtest.Network
	d          *discord.Discord
	c          string // the channel
	alice, bob string
	log        logs

	mu     sync.Mutex
	events []bots.Event
	fail   []error // of the next accepts
}

// logs keeps what is logged.
type logs struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logs) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.all.String(), text)
}

// quick is a Discord with so frequent heartbeats that a dead connection is noticed soon.
var quick = discordtest.Config{HeartbeatEvery: 100 * time.Millisecond}

func newFixture(t *testing.T, c discordtest.Config) *fixture {
	n := discordtest.New(c)
	t.Cleanup(n.Close)
	f := &fixture{t: t, n: n, c: n.AddChannel(discordtest.GuildID, "general"), alice: n.AddUser("alice"), bob: n.AddUser("bob")}
	f.d = f.connect(discord.Config{})
	return f
}

// connect returns another program with the same bot.
func (f *fixture) connect(c discord.Config) *discord.Discord {
	transport := &http.Transport{}
	f.t.Cleanup(transport.CloseIdleConnections)
	c.Token, c.APIURL = discordtest.BotToken, f.n.URL
	c.HTTPClient = &http.Client{Transport: transport, Timeout: 10 * time.Second}
	c.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(f.t.Output(), &f.log), nil))
	d, err := discord.New(c)
	require.NoError(f.t, err)
	return discord.Hasten(d)
}

// listen runs Listen until the test or stop ends it, and returns when it is connected.
func (f *fixture) listen() (stop func()) {
	stop = f.start()
	f.wait("a session", func() bool { return f.d.Health().Connected && f.n.Gateway.Stats().Ready == 1 })
	return stop
}

// start is listen that does not wait.
func (f *fixture) start() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.d.Listen(ctx, f.accept) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(f.t, <-done)
	})
	f.t.Cleanup(stop)
	return stop
}

func (f *fixture) accept(_ context.Context, ev bots.Event) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.fail) > 0 {
		err := f.fail[0]
		f.fail = f.fail[1:]
		return err
	}
	f.events = append(f.events, ev)
	return nil
}

func (f *fixture) got() []bots.Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.events)
}

// accepted waits until n events have been accepted, and looks whether there are just these.
func (f *fixture) accepted(n int) []bots.Event {
	f.t.Helper()
	f.wait("events", func() bool { return len(f.got()) >= n })
	require.Len(f.t, f.got(), n)
	return f.got()
}

// texts waits until n events have been accepted, and returns what was said in them.
func (f *fixture) texts(n int) (all []string) {
	f.t.Helper()
	for _, e := range f.accepted(n) {
		said, ok := e.(bots.Said)
		require.True(f.t, ok, "%T", e)
		all = append(all, said.Text)
	}
	return all
}

// wait waits for what changes within Discord, or within the program.
func (f *fixture) wait(what string, cond func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(2 * time.Millisecond) {
		require.True(f.t, time.Now().Before(deadline), "no %s: %+v %+v", what, f.n.Gateway.Stats(), f.d.Health())
	}
}

// thread is the address of a thread in the channel.
func (f *fixture) thread(root string) bots.Thread {
	return bots.Thread{Platform: discord.Name, Workspace: discordtest.GuildID, Channel: f.c, ID: root}
}

// say lets alice mention the bot in the channel, and returns the thread.
func (f *fixture) say(text string) bots.Thread {
	return f.thread(f.n.Say(f.alice, f.c, "@heddle "+text))
}

// post posts, and returns the message as it is in the thread.
func (f *fixture) post(t bots.Thread, m bots.Message) discordtest.Message {
	f.t.Helper()
	id, err := f.d.Post(f.t.Context(), t, m)
	require.NoError(f.t, err)
	for _, made := range f.n.Messages(t.ID) {
		if made.ID == string(id) {
			return made
		}
	}
	require.Fail(f.t, "the message is not in the thread")
	return discordtest.Message{}
}
