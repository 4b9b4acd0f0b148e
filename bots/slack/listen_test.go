package slack_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestMention(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	ts := f.w.Say(f.alice, f.c, "", "@heddle is 1 < 2 & 3 > 2?")
	f.wait("both events", func() bool { return f.w.Socket.Stats().Acks == 2 })
	s := f.accepted(1)[0].(bots.Said)
	require.Equal(t, ts, s.ID)
	require.Equal(t, f.thread(ts), s.Thread)
	require.Equal(t, f.alice, s.By.ID)
	require.Equal(t, "is 1 < 2 & 3 > 2?", s.Text)
	require.True(t, s.Mention)
	require.False(t, s.Reply)
	require.WithinDuration(t, time.Now(), s.Time, time.Minute)
}

func TestKindsOfMessages(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	root := f.w.Say(f.alice, f.c, "", "lunch?")
	f.w.Say(f.bob, f.c, root, "yes")
	direct := f.w.Say(f.alice, f.w.Direct(f.alice), "", "psst")
	all := said(f.accepted(3))

	require.Equal(t, "lunch?", all[0].Text)
	require.False(t, all[0].Mention)
	require.False(t, all[0].Reply)
	require.Equal(t, f.thread(root), all[1].Thread, "a reply has the address of its root")
	require.True(t, all[1].Reply)
	require.Equal(t, f.bob, all[1].By.ID)
	require.Equal(t, direct, all[2].Thread.ID)
	require.True(t, all[2].Mention, "a direct message is for the bot")
}

func TestWhatIsNotForUs(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	th := f.root()
	id := f.post(th, bots.Message{Key: "a", Text: "my own words"})
	require.NoError(t, f.s.Edit(t.Context(), th, id, bots.Message{Key: "a", Text: "my own edit"}))
	for _, kind := range []string{"message_changed", "message_deleted", "channel_join", "bot_message"} {
		f.w.Socket.Event(map[string]any{"type": "message", "subtype": kind, "channel": f.c, "ts": "1.000001", "user": f.alice, "text": "x"})
	}
	f.w.Socket.Event(map[string]any{"type": "reaction_added", "user": f.alice, "reaction": "eyes"})
	require.Equal(t, "hello", said(f.accepted(1))[0].Text)
}

func TestOtherBotsAreSaidToBeBots(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	f.w.Socket.Event(map[string]any{"type": "message", "channel": f.c, "ts": "1.000001", "bot_id": "B1", "text": "x"})
	require.Equal(t, bots.Person{ID: "B1", Name: "B1", Bot: true}, said(f.accepted(1))[0].By)
}

// What the library refuses to decode is decoded by us, and acknowledged.
func TestPayloadsThatTheLibraryRefuses(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	f.w.Socket.Event(map[string]any{"type": "message", "channel": f.c, "ts": "1.000001", "user": f.alice, "text": "odd blocks",
		"blocks": "not a list", "attachments": 7})
	f.w.Socket.Event(map[string]any{"type": "from_the_future", "user": map[string]any{"id": 1}})
	f.w.Socket.Event(map[string]any{"type": "message", "channel": f.c, "ts": []int{1}})
	f.w.Socket.Raw("this is no JSON")
	f.w.Socket.Raw(`{"type":"no_envelope"}`)
	f.w.Say(f.bob, f.c, "", "after")
	all := said(f.accepted(2))
	require.Equal(t, "odd blocks", all[0].Text)
	require.Equal(t, "after", all[1].Text)
}

func TestAcknowledgedOnlyOnceAccepted(t *testing.T) {
	f := newFixture(t, quick)
	f.fail = []error{errors.New("the disk is full")}
	f.listen()
	ts := f.w.Say(f.alice, f.c, "", "hello")
	require.Equal(t, ts, f.accepted(1)[0].(bots.Said).ID, "sent again until it is accepted")
}

func TestSlackSendsAgain(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.w.Socket.Fail(slacktest.SocketFaults{LoseAcks: 1})
	f.w.Say(f.alice, f.c, "", "lost ack")
	f.accepted(1)
	f.w.Socket.Fail(slacktest.SocketFaults{Duplicate: 1})
	f.w.Say(f.alice, f.c, "", "twice")
	f.wait("acknowledgements", func() bool { return f.w.Socket.Stats().Acks == 3 })
	f.accepted(2)
}

func TestReconnects(t *testing.T) {
	for name, breakIt := range map[string]func(*slacktest.Socket){
		"killed":        (*slacktest.Socket).Kill,
		"silent":        (*slacktest.Socket).Silence,
		"told to leave": func(s *slacktest.Socket) { s.Disconnect("refresh_requested") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, slacktest.Config{AckWithin: time.Minute, PingEvery: 10 * time.Millisecond})
			f.s = f.connect(500 * time.Millisecond)
			f.listen()
			f.mu.Lock() // accept waits for it, so that the order in which connections are read does not matter
			root := f.w.Say(f.alice, f.c, "", "root")
			f.wait("accept", func() bool { return f.entered.Load() == 1 })
			breakIt(f.w.Socket)
			for i := range 20 {
				f.w.Say(f.alice, f.c, root, fmt.Sprint(i))
			}
			f.wait("other connections", func() bool { return f.w.Socket.Stats().Opened >= 4 && f.s.Health().Open == 2 })
			before := f.w.Socket.Stats().Pongs
			f.wait("all to be read", func() bool { return f.w.Socket.Stats().Pongs > before+20 })
			f.mu.Unlock()
			f.wait("all messages", func() bool { return len(said(f.got())) == 21 && f.w.Socket.Stats().Unacked == 0 })
			for i, s := range said(f.got())[1:] {
				require.Equal(t, fmt.Sprint(i), s.Text, "in order")
			}
			f.wait("two connections", func() bool { return f.s.Health().Open == 2 && f.w.Socket.Stats().Open == 2 })
			require.Equal(t, 2, f.w.Socket.Stats().Most, "an old one is closed before the next is opened")
			h := f.s.Health()
			require.True(t, h.Connected)
			require.GreaterOrEqual(t, h.Reconnects, 1)
			require.WithinDuration(t, time.Now(), h.LastEvent, time.Minute)
		})
	}
}

func TestEventsWaitForTheNextProcess(t *testing.T) {
	f := newFixture(t, quick)
	stop := f.listen()
	f.fail = []error{errors.New("dying")}
	f.w.Say(f.alice, f.c, "", "before")
	f.wait("the failed accept", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.fail) == 0 })
	stop()
	f.w.Say(f.alice, f.c, "", "while it was down")
	require.Error(t, f.w.Click(f.alice, f.c, "1.0", "Approve"))

	f.s = f.connect(time.Second)
	f.listen()
	all := said(f.accepted(2))
	require.Equal(t, "before", all[0].Text)
	require.Equal(t, "while it was down", all[1].Text)
}

// Listen returns only when accept has, and what accept did not take comes again.
func TestShutdownInTheMiddleOfAccept(t *testing.T) {
	f := newFixture(t, quick)
	begun, release := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- f.s.Listen(ctx, func(ctx context.Context, _ bots.Event) error {
			close(begun) // a second event would panic here
			<-ctx.Done()
			<-release
			return ctx.Err()
		})
	}()
	f.wait("both connections", func() bool { return f.s.Health().Open == 2 })
	f.w.Say(f.alice, f.c, "", "first")
	<-begun
	f.w.Say(f.alice, f.c, "", "second")
	cancel()
	f.wait("the connection to end", func() bool { return f.w.Socket.Stats().Open == 0 })
	require.Empty(t, done, "accept is still at work")
	close(release)
	require.NoError(t, <-done)
	require.False(t, f.s.Health().Connected)

	f.s = f.connect(time.Second)
	f.listen()
	all := said(f.accepted(2))
	require.Equal(t, "first", all[0].Text)
	require.Equal(t, "second", all[1].Text)
}

// Beyond what can wait, events are left to Slack; the connection stays.
func TestFullQueue(t *testing.T) {
	const many = 1100
	f := newFixture(t, slacktest.Config{AckWithin: 3 * time.Second, PingEvery: 20 * time.Millisecond})
	f.listen()
	f.mu.Lock() // accept waits for it
	for i := range many {
		f.w.Say(f.alice, f.c, "", fmt.Sprint(i))
	}
	f.wait("the queue to be full", func() bool { return f.log.count("too many events") > 0 })
	f.mu.Unlock()
	f.accepted(many)
	require.Len(t, said(f.got()), many)
	require.Equal(t, 2, f.w.Socket.Stats().Opened)
}

// Acknowledgements that cannot be written do not hold up what was received.
func TestAcceptsWithoutAConnection(t *testing.T) {
	const many = 100
	f := newFixture(t, slacktest.Config{AckWithin: time.Minute, PingEvery: 20 * time.Millisecond})
	f.listen()
	f.mu.Lock() // accept waits for it
	for i := range many {
		f.w.Say(f.alice, f.c, "", fmt.Sprint(i))
	}
	f.wait("all to be sent", func() bool { return f.w.Socket.Stats().Unacked == many })
	before := f.w.Socket.Stats().Pongs
	f.wait("all to be read", func() bool { return f.w.Socket.Stats().Pongs > before+1 })
	hold := make(chan struct{})
	held := slacktest.Fault{Hold: hold}
	f.w.API.Fail("apps.connections.open", held, held, held) // each until the client's timeout
	f.w.Socket.Kill()
	f.wait("the loss", func() bool { return !f.s.Health().Connected })
	f.mu.Unlock()
	f.wait("all to be accepted", func() bool { return len(f.got()) == many })
	close(hold)
	f.accepted(many)
}

// A slow accept must not keep pings from being answered: the connection stays.
func TestSlowAcceptKeepsTheConnection(t *testing.T) {
	f := newFixture(t, slacktest.Config{PingEvery: 20 * time.Millisecond, AckWithin: time.Minute})
	f.listen()
	f.mu.Lock() // accept waits for it
	for i := range 200 {
		f.w.Say(f.alice, f.c, "", fmt.Sprint(i))
	}
	f.wait("all to be sent", func() bool { return f.w.Socket.Stats().Unacked == 200 })
	before := f.w.Socket.Stats().Pongs
	f.wait("pings to be answered", func() bool { return f.w.Socket.Stats().Pongs > before+5 })
	f.mu.Unlock()
	f.accepted(200)
	require.Equal(t, 2, f.w.Socket.Stats().Opened)
}

func TestListenSaysWhatToDo(t *testing.T) {
	for _, c := range []struct{ method, code, want string }{
		{"auth.test", "invalid_auth", "copy both tokens"},
		{"auth.test", "account_inactive", "reinstall"},
		{"apps.connections.open", "not_allowed_token_type", "the app token with xapp-"},
		{"apps.connections.open", "missing_scope", "connections:write"},
		{"apps.connections.open", "token_revoked", "copy the new tokens"},
	} {
		t.Run(c.method+" "+c.code, func(t *testing.T) {
			f := newFixture(t, slacktest.Config{})
			f.w.API.Fail(c.method, slacktest.Fault{Error: c.code})
			err := f.s.Listen(t.Context(), f.accept)
			require.ErrorContains(t, err, c.code)
			require.ErrorContains(t, err, c.want)
			require.False(t, f.s.Health().Connected)
		})
	}
}

func TestListenOutlastsPassingTrouble(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.w.API.Fail("auth.test", slacktest.Fault{Status: 503}, slacktest.Fault{Drop: true})
	f.w.API.Fail("apps.connections.open", slacktest.Fault{Error: "internal_error"}, slacktest.Fault{Status: 500})
	f.listen()
	require.Empty(t, f.s.Health().LastError)
}

func TestConnectionsThatBreakAtOnce(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.w.Socket.Fail(slacktest.SocketFaults{NoHello: 2})
	f.listen()
	require.Equal(t, 2, f.log.count("before slack said hello"))
	require.Empty(t, f.s.Health().LastError)
}

func TestListenFindsNoAPI(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.w.API.Fail("apps.connections.open", slacktest.Fault{Status: 404})
	require.ErrorContains(t, f.s.Listen(t.Context(), f.accept), "correct api_url")
}
