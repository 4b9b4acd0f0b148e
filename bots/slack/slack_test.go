package slack_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A fixture is a workspace with a channel and two people, and the bot that listens in it.
type fixture struct {
	t          *testing.T
	w          *slacktest.Workspace
	s          *slack.Slack
	c          string // the channel
	alice, bob string

	log     logs
	entered atomic.Int32 // calls of accept

	mu     sync.Mutex
	events []bots.Event
	fail   []error // of the next accepts
	woken  chan struct{}
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

// count returns how often the text was logged.
func (l *logs) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), text)
}

// quick is a workspace that sends again soon.
var quick = slacktest.Config{AckWithin: 100 * time.Millisecond, PingEvery: 20 * time.Millisecond}

func newFixture(t *testing.T, c slacktest.Config) *fixture {
	w := slacktest.New(c)
	t.Cleanup(w.Close)
	f := &fixture{t: t, w: w, c: w.AddChannel("general"), alice: w.AddUser("alice"), bob: w.AddUser("bob"), woken: make(chan struct{}, 1)}
	f.s = f.connect(0)
	return f
}

// connect returns another client of the same workspace.
func (f *fixture) connect(silentFor time.Duration) *slack.Slack {
	return f.connectWith(slack.Config{AppToken: slacktest.AppToken, SilentFor: silentFor})
}

func (f *fixture) connectWith(c slack.Config) *slack.Slack {
	transport := &http.Transport{}
	f.t.Cleanup(transport.CloseIdleConnections)
	c.BotToken, c.APIURL = slacktest.BotToken, f.w.URL
	c.HTTPClient = &http.Client{Transport: transport, Timeout: 10 * time.Second}
	c.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(f.t.Output(), &f.log), nil))
	s, err := slack.New(c)
	require.NoError(f.t, err)
	return s
}

// listen runs Listen until the test or stop ends it.
func (f *fixture) listen() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.s.Listen(ctx, f.accept) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(f.t, <-done)
	})
	f.t.Cleanup(stop)
	f.wait("both connections", func() bool { return f.s.Health().Open == 2 })
	return stop
}

func (f *fixture) accept(_ context.Context, ev bots.Event) error {
	f.entered.Add(1)
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

// accepted waits until n events have been accepted and acknowledged and nothing is on its way.
func (f *fixture) accepted(n int) []bots.Event {
	f.t.Helper()
	f.wait("events", func() bool { return len(f.got()) >= n && f.w.Socket.Stats().Unacked == 0 })
	require.Len(f.t, f.got(), n)
	return f.got()
}

// said returns the messages among the events, once each.
func said(events []bots.Event) []bots.Said {
	var all []bots.Said
	seen := map[string]bool{}
	for _, ev := range events {
		if s, ok := ev.(bots.Said); ok && !seen[s.ID] {
			seen[s.ID] = true
			all = append(all, s)
		}
	}
	return all
}

// wait looks at a state again and again until it holds.
func (f *fixture) wait(what string, cond func() bool) {
	f.t.Helper()
	require.Eventually(f.t, cond, 20*time.Second, 2*time.Millisecond, what)
}

func (f *fixture) thread(root string) bots.Thread {
	return bots.Thread{Platform: "slack", Workspace: slacktest.TeamID, Channel: f.c, ID: root}
}

// root is a thread whose root alice has written.
func (f *fixture) root() bots.Thread { return f.thread(f.w.Say(f.alice, f.c, "", "hello")) }

func (f *fixture) post(t bots.Thread, m bots.Message) bots.MessageID {
	f.t.Helper()
	id, err := f.s.Post(f.t.Context(), t, m)
	require.NoError(f.t, err)
	return id
}

// failure returns err as what a Platform fails with.
func failure(t *testing.T, err error) *bots.Error {
	t.Helper()
	e, ok := errors.AsType[*bots.Error](err)
	require.True(t, ok, "%v is no *bots.Error", err)
	return e
}

func TestNewRefusesWrongTokens(t *testing.T) {
	for _, c := range []struct {
		config slack.Config
		want   string
	}{
		{slack.Config{AppToken: "xapp-1"}, "the bot token is missing"},
		{slack.Config{BotToken: "xoxb-1"}, "the app token is missing"},
		{slack.Config{BotToken: "xapp-1", AppToken: "xoxb-1"}, "the bot token must begin with xoxb-"},
		{slack.Config{BotToken: "xoxb-1", AppToken: "xoxb-1"}, "the app token must begin with xapp-"},
		{slack.Config{BotToken: "xoxb-1", AppToken: "xapp-1", HTTPClient: &http.Client{}}, "needs a timeout"},
	} {
		_, err := slack.New(c.config)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "xoxb-1")
	}
}

func TestInfo(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	info := f.s.Info()
	require.Equal(t, "slack", info.Name)
	require.Equal(t, []string{"*hi* &lt;!here&gt;"}, info.Render("**hi** <!here>"))
	require.LessOrEqual(t, info.MaxText, 4000, "an edit with more fails")
	require.Equal(t, "@U&lt;1&gt;", info.Mention("U<1>"), "not known yet: the id, which calls nobody")

	f.listen()
	require.Equal(t, "@alice", info.Mention(f.alice))
}

func TestCheck(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	for _, finding := range f.s.Check(t.Context()) {
		require.True(t, finding.OK, finding.Text)
	}
	f.w.API.Fail("apps.connections.open", slacktest.Fault{Error: "missing_scope"})
	findings := f.s.Check(t.Context())
	require.Len(t, findings, 3)
	require.False(t, findings[2].OK)
	require.Contains(t, findings[2].Text, "connections:write")

	f.w.API.Fail("auth.test", slacktest.Fault{Error: "invalid_auth"})
	findings = f.connect(time.Second).Check(t.Context())
	require.False(t, findings[0].OK)
	require.Contains(t, findings[0].Text, "copy both tokens")
}

func TestCheckNamesMissingScopes(t *testing.T) {
	f := newFixture(t, slacktest.Config{Scopes: "chat:write,users:read,channels:history"})
	findings := f.s.Check(t.Context())
	require.Equal(t, "slack scopes", findings[1].Name)
	require.False(t, findings[1].OK)
	require.Contains(t, findings[1].Text, "add app_mentions:read, channels:read, commands, files:read, files:write, groups:history, groups:read, im:history, mpim:history on")
}
