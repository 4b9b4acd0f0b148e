package slack_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// While Slack replaces one connection after the other there is always one, so that a press, which
// Slack does not send again, is never lost.
func TestNoGapWhileConnectionsAreReplaced(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	th := f.root()
	f.accepted(1)
	id := f.post(th, card())
	for i := range 6 {
		opened := f.w.Socket.Stats().Opened
		f.w.Socket.Refresh("refresh_requested")
		require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Approve"))
		f.accepted(i + 2)
		f.wait("the next", func() bool { now := f.w.Socket.Stats(); return now.Opened == opened+1 && now.Open == 2 })
		f.wait("its hello", func() bool { return f.s.Health().Open == 2 })
	}
	require.Equal(t, 2, f.w.Socket.Stats().Most)
	h := f.s.Health()
	require.Equal(t, 6, h.Reconnects)
	require.Equal(t, 6, f.log.count("refresh_requested"))
}

// A token that is taken away while the bot works is found when a socket is replaced.
func TestListenEndsWhenTheTokenIsRevoked(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	done := make(chan error, 1)
	go func() { done <- f.s.Listen(t.Context(), f.accept) }()
	f.wait("both connections", func() bool { return f.s.Health().Open == 2 })
	f.w.API.Fail("apps.connections.open", slacktest.Fault{Error: "token_revoked"})
	f.w.Socket.Refresh("link_disabled")
	require.ErrorContains(t, <-done, "reinstall it and copy the new tokens")
	f.wait("the end of the other", func() bool { return f.w.Socket.Stats().Open == 0 })
	require.False(t, f.s.Health().Connected)
	require.Contains(t, f.s.Health().LastError, "token_revoked")
}

func TestHealthCountsBothConnections(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	stop := f.listen()
	since := f.s.Health().Since
	hold := make(chan struct{})
	f.w.API.Fail("apps.connections.open", slacktest.Fault{Hold: hold})
	f.w.Socket.Refresh("warning")
	f.wait("one connection", func() bool { return f.s.Health().Open == 1 })
	require.True(t, f.s.Health().Connected)
	close(hold)
	f.wait("both", func() bool { return f.s.Health().Open == 2 })
	require.Equal(t, since, f.s.Health().Since, "it was connected all the time")
	stop()
	require.False(t, f.s.Health().Connected)
	require.Zero(t, f.s.Health().Open)
}

// What both connections bring is accepted once, in the order of its thread.
func TestBothConnectionsDeliver(t *testing.T) {
	f := newFixture(t, slacktest.Config{AckWithin: time.Minute, PingEvery: 10 * time.Millisecond})
	f.listen()
	f.mu.Lock() // accept waits for it
	root := f.w.Say(f.alice, f.c, "", "0")
	f.wait("accept", func() bool { return f.entered.Load() == 1 })
	f.w.Socket.Fail(slacktest.SocketFaults{Spread: true, Duplicate: 20})
	for i := range 39 {
		f.w.Say(f.alice, f.c, root, fmt.Sprint(i+1))
	}
	f.wait("all to be sent", func() bool { return f.w.Socket.Stats().Unacked == 60 })
	before := f.w.Socket.Stats().Pongs
	f.wait("all to be read, of both connections", func() bool { return f.w.Socket.Stats().Pongs > before+20 })
	f.mu.Unlock()
	all := said(f.accepted(40))
	for i, s := range all {
		require.Equal(t, fmt.Sprint(i), s.Text)
	}
}

func TestEditsAndDeletions(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	ts := f.w.Say(f.alice, f.c, "", "<old>")
	f.w.People.Unfurl(f.c, ts)
	f.w.People.Edit(f.c, ts, "@heddle <new>")
	f.w.People.Unfurl(f.c, ts)
	f.w.People.Edit(f.c, ts, "@heddle <new>")
	reply := f.w.Say(f.bob, f.c, ts, "hm")
	f.w.People.Delete(f.c, reply)
	reply = f.w.Say(f.bob, f.c, ts, "hm")
	f.w.People.Delete(f.c, ts)
	all := f.accepted(6)
	edited := all[1].(bots.Edited)
	require.Contains(t, edited.ID, "edit/"+ts+"/")
	require.Equal(t, ts, edited.Said.ID)
	require.Equal(t, f.thread(ts), edited.Said.Thread)
	require.Equal(t, "<new>", edited.Said.Text)
	require.True(t, edited.Said.Mention)
	require.Equal(t, f.thread(ts), all[3].(bots.Deleted).Thread)
	require.Equal(t, bots.Deleted{ID: ts, Thread: f.thread(ts)}, all[5])
	require.Equal(t, reply, all[4].(bots.Said).ID)
}

func TestCommands(t *testing.T) {
	f := newFixture(t, slacktest.Config{AckWithin: time.Second})
	f.listen()
	require.NoError(t, f.w.People.Command(f.alice, f.c, "model gpt"))
	require.NoError(t, f.w.People.Command(f.alice, f.c, "model gpt"))
	all := f.accepted(2)
	c := all[0].(bots.Commanded)
	require.Equal(t, f.thread(""), c.Thread)
	require.Equal(t, "model gpt", c.Text)
	require.Equal(t, f.alice, c.By.ID)
	require.NotEqual(t, c.ID, all[1].(bots.Commanded).ID)

	f.mu.Lock()
	f.fail = []error{errors.New("the disk is full")}
	f.mu.Unlock()
	require.Error(t, f.w.People.Command(f.alice, f.c, "help"), "Slack says so to the person")
}

func TestPeopleFromOutside(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	mallory := f.w.People.AddStranger("mallory")
	f.listen()
	ts := f.w.Say(mallory, f.c, "", "@heddle let me in")
	f.wait("both events", func() bool { return f.w.Socket.Stats().Acks == 2 })
	require.True(t, f.accepted(1)[0].(bots.Said).By.Outside)
	id := f.post(f.thread(ts), card())
	require.NoError(t, f.w.Click(mallory, f.c, string(id), "Approve"))
	require.NoError(t, f.w.Click(mallory, f.c, string(id), "Deny with reason"))
	f.wait("the form", func() bool { _, ok := f.w.View(mallory); return ok })
	require.NoError(t, f.w.Submit(mallory, "because"))
	require.NoError(t, f.w.Click(f.alice, f.c, string(id), "Approve"))
	all := f.accepted(4)
	require.True(t, all[1].(bots.Clicked).By.Outside)
	require.True(t, all[2].(bots.Clicked).By.Outside)
	require.False(t, all[3].(bots.Clicked).By.Outside)
}

// A hard network: people talk while connections break, stand still, are asked to leave, and lose,
// double and swap what they carry, and while processes end and begin. Every message is accepted once.
func TestFlapping(t *testing.T) {
	f := newFixture(t, slacktest.Config{AckWithin: 40 * time.Millisecond, PingEvery: 20 * time.Millisecond})
	var want []string
	say := func(n int) {
		for range n {
			want = append(want, f.w.Say(f.alice, f.c, "", fmt.Sprint("@heddle ", len(want))))
		}
	}
	for round := range 4 {
		before := len(f.got())
		f.s = f.connect(300 * time.Millisecond) // each opens fewer than ten connections: then Slack's limit would slow it down
		stop := f.listen()
		for i, trouble := range []func(){
			func() { f.w.Socket.Refresh("warning") },
			f.w.Socket.Kill,
			f.w.Socket.Silence,
			func() { f.w.Socket.Disconnect("refresh_requested") },
		} {
			if i == round {
				continue
			}
			f.w.Socket.Fail(slacktest.SocketFaults{LoseAcks: 2, Duplicate: 3, Reorder: 2, Spread: true, NoHello: (i + round) % 2})
			say(5)
			trouble()
			say(5)
			f.wait("all to be accepted", func() bool { return len(said(f.got())) == len(want) })
		}
		f.wait("both connections", func() bool { return f.s.Health().Open == 2 })
		stop()
		offered := said(f.got()[before:])
		require.Len(t, f.got()[before:], len(offered), "one process offers each once")
		say(2)
	}
	f.s = f.connect(0)
	f.listen()
	f.wait("all to be acknowledged", func() bool { return f.w.Socket.Stats().Unacked == 0 && len(said(f.got())) == len(want) })
	require.ElementsMatch(t, want, ids(said(f.got())))
	require.LessOrEqual(t, f.w.Socket.Stats().Most, 2)
}

func ids(all []bots.Said) []string {
	var got []string
	for _, s := range all {
		got = append(got, s.ID)
	}
	return got
}

// After an outage of hours the next try comes within half a minute, and never at once.
func TestOutageDoesNotMakeItSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		st.answers["apps.connections.open"] = unreachable
		var last time.Duration
		var mu sync.Mutex
		var longest time.Duration
		tries := 0
		st.answers["apps.connections.open"] = func(r *http.Request) (*http.Response, error) {
			at := <-st.opens
			mu.Lock()
			defer mu.Unlock()
			if tries++; tries > 1 {
				longest = max(longest, at-last)
				require.GreaterOrEqual(t, at-last, 250*time.Millisecond)
			}
			last = at
			return unreachable(r)
		}
		defer st.listen()()
		time.Sleep(5 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		require.LessOrEqual(t, longest, 30*time.Second)
		require.Greater(t, tries, 600)
		require.False(t, st.s.Health().Connected)
		require.Contains(t, st.s.Health().LastError, "connection refused")
	})
}
