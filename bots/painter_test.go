package bots_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
	"github.com/heddle-bot/heddle/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	at  = bots.Thread{Platform: botstest.Name, Workspace: "W", Channel: "general", ID: "1"}
	ann = bots.Person{ID: "UANN", Name: "Ann"}
	bob = bots.Person{ID: "UBOB", Name: "Bob"}
)

// A board is a bot on a chat, with an agent that the test plays.
type board struct {
	*scribe
	t    *testing.T
	chat *botstest.Chat
	stop func()
}

// inBubble runs f with a board whose bot has been running for a second.
func inBubble(t *testing.T, fault func(botstest.Op) botstest.Fault, f func(b *board)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &board{t: t, chat: &botstest.Chat{Fault: fault}, scribe: newScribe(storetest.NewMemory())}
		b.begin()
		defer func() { b.stop() }()
		f(b)
	})
}

func (b *board) begin() {
	b.stop = run(b.t, bots.Config{Platform: b.chat, Agent: b.scribe, Log: b.log})
	b.open(b.t)
	time.Sleep(time.Second)
}

// crash ends the program and starts it anew.
func (b *board) crash() {
	b.stop()
	b.scribe = newScribe(b.log)
	b.begin()
}

// says writes a message and the start of its turn.
func (b *board) says(turn int) {
	pos := b.write(b.t, at.String(), agent.UserSaid{By: agent.User{ID: ann.ID}, Text: "hello"})
	b.write(b.t, at.String(), agent.TurnStarted{Turn: turn, Saw: pos})
}

// asks writes that the model wants a call that a person has to approve.
func (b *board) asks(call, digest string) {
	saw := last(b.log, at.String()).Pos
	b.write(b.t, at.String(), agent.ModelSaid{Turn: 1, Step: 1, Saw: saw, Calls: []agent.Call{{ID: call, Tool: "shell"}}})
	b.write(b.t, at.String(), agent.ApprovalAsked{
		Call: call, Tool: "shell", Title: "make", Kind: tools.Command, Preview: "make", Digest: digest, Expires: time.Now().Add(time.Hour),
	})
}

func (b *board) ends(turn int, text string) {
	b.write(b.t, at.String(), agent.TurnEnded{Turn: turn, Reason: agent.Completed, Text: text})
}

// receipts returns what this package has written into the log.
func (b *board) receipts() []string {
	var all []string
	for e, err := range b.log.Read(b.t.Context(), at.String(), 0) {
		require.NoError(b.t, err)
		for _, ev := range e.Events {
			if strings.HasPrefix(ev.Kind, "bots.") {
				all = append(all, ev.Kind+" "+string(ev.Data))
			}
		}
	}
	return all
}

// settled checks that all is shown: the session is free and nothing is left to do.
func (b *board) settled() {
	b.t.Helper()
	time.Sleep(5 * time.Minute)
	ops := len(b.chat.Ops())
	require.True(b.t, last(b.log, at.String()).Free)
	time.Sleep(time.Hour)
	require.Len(b.t, b.chat.Ops(), ops)
}

func TestTurn(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		time.Sleep(time.Second)
		require.Equal(t, []string{"Working…"}, texts(b.chat, at, ann.ID))
		require.False(t, last(b.log, at.String()).Free)
		b.ends(1, "Hi.")
		b.settled()
		require.Equal(t, []string{"Done in 1 s.", "Hi."}, texts(b.chat, at, ann.ID))
		require.Equal(t, []string{
			`bots.Posted {"key":"1/progress","id":"1"}`,
			`bots.Posted {"key":"1/answer/0","id":"2"}`,
			`bots.Painted {"turn":1}`,
		}, b.receipts())
		for _, op := range b.chat.Ops() {
			require.False(t, op.Message.Unsure, "nothing of this start can have been posted before")
		}
		b.crash()
		b.settled()
	})
}

// The program dies after the network has taken a message and before the log knows.
func TestCrashBetweenPostAndReceipt(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.lose = func(string, store.Event) error { return errors.New("the disk is full") }
		b.says(1)
		time.Sleep(time.Second)
		b.ends(1, "Hi.")
		time.Sleep(time.Minute)
		require.Len(t, b.chat.Shown(at, ann.ID), 2)
		require.Empty(t, b.receipts())
		b.crash()
		b.settled()
		require.Equal(t, []string{"Hi."}, texts(b.chat, at, ann.ID)[1:])
		require.Len(t, b.chat.Shown(at, ann.ID), 2)
		require.Contains(t, b.receipts(), `bots.Painted {"turn":1}`)
	})
}

// A card that was shown before a crash in a form that is no longer true is brought up to date.
func TestCrashWithStaleCard(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		b.lose = func(_ string, e store.Event) error {
			if strings.Contains(string(e.Data), "card") {
				return errors.New("the disk is full")
			}
			return nil
		}
		b.asks("1.1.1", "d")
		time.Sleep(time.Second)
		b.stop()
		b.write(t, at.String(), agent.ToolFinished{Call: "1.1.1", Status: agent.NotStarted})
		b.write(t, at.String(), agent.TurnEnded{Turn: 1, Reason: agent.Cancelled, By: agent.User{ID: bob.ID}})
		b.scribe = newScribe(b.log)
		b.begin()
		b.settled()
		got := b.chat.Shown(at, ann.ID)
		require.Len(t, got, 3)
		require.Contains(t, got[1].Text, "Nobody has answered")
		require.Empty(t, got[1].Buttons)
		require.Equal(t, "Stopped by @UBOB.", got[2].Text)
	})
}

// The network takes a post, and the answer is lost.
func TestLostAnswer(t *testing.T) {
	var n atomic.Int32
	inBubble(t, func(op botstest.Op) botstest.Fault {
		if !op.Edit && n.Add(1)%2 == 1 {
			return botstest.Fault{Err: &bots.Error{Unsure: true, Err: errors.New("connection reset")}, Done: true}
		}
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		time.Sleep(10 * time.Second)
		b.ends(1, "Hi.")
		b.settled()
		require.Equal(t, []string{"Done in 10 s.", "Hi."}, texts(b.chat, at, ann.ID))
	})
}

// The network says how long to wait. Other threads are not held up.
func TestRateLimit(t *testing.T) {
	first := time.Time{}
	inBubble(t, func(op botstest.Op) botstest.Fault {
		if op.Thread == at && op.Message.Class == bots.Final && first.IsZero() {
			first = op.Time
			return botstest.Fault{Err: &bots.Error{RetryAfter: 30 * time.Second, Err: errors.New("rate limited")}}
		}
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		b.ends(1, "Hi.")
		other := at
		other.ID = "2"
		pos := b.write(t, other.String(), agent.UserSaid{Text: "hello"})
		b.write(t, other.String(), agent.TurnStarted{Turn: 1, Saw: pos}, agent.TurnEnded{Turn: 1, Reason: agent.Completed, Text: "Hi you."})
		time.Sleep(29 * time.Second)
		require.NotContains(t, texts(b.chat, at, ann.ID), "Hi.")
		require.Contains(t, texts(b.chat, other, ann.ID), "Hi you.")
		b.settled()
		require.Contains(t, texts(b.chat, at, ann.ID), "Hi.")
		for _, op := range b.chat.Ops() {
			if op.Thread == at && op.Message.Class == bots.Final && op.Time != first {
				require.Equal(t, first.Add(30*time.Second), op.Time)
				require.False(t, op.Message.Unsure)
			}
		}
	})
}

// What the network refuses for good is noted, told and does not keep the session open.
func TestRefused(t *testing.T) {
	inBubble(t, func(op botstest.Op) botstest.Fault {
		if op.Message.Class == bots.Final || op.Message.Class == bots.Approval {
			return botstest.Fault{Err: &bots.Error{Permanent: true, Err: errors.New("invalid_blocks")}}
		}
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		b.asks("1.1.1", "d")
		b.settled()
		require.Contains(t, b.receipts(), `bots.PostFailed {"key":"1/card/1.1.1/1","detail":"invalid_blocks"}`)
		got := texts(b.chat, at, ann.ID)
		require.Len(t, got, 2)
		require.Contains(t, got[1], "the network refuses the card")
		b.write(t, at.String(), agent.ToolFinished{Call: "1.1.1", Status: agent.NotStarted})
		b.ends(1, "Hi.")
		b.settled()
		got = texts(b.chat, at, ann.ID)
		require.Len(t, got, 3)
		require.Contains(t, got[2], "Part of my answer could not be posted")
		require.Contains(t, b.receipts(), `bots.Painted {"turn":1}`)
	})
}

// Progress is edited no more often than the network allows, and never to what it shows already.
func TestCoalesced(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		var text strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&text, "word%d ", i)
			b.shows(at.String(), agent.Live{Text: text.String()})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		b.shows(at.String(), agent.Live{})
		b.ends(1, "Hi.")
		b.settled()
		every := b.chat.Info().EditEvery
		var before botstest.Op
		edits := 0
		for _, op := range b.chat.Ops() {
			if op.Message.Class != bots.Progress {
				continue
			}
			if edits++; edits > 1 {
				require.NotEqual(t, before.Message, op.Message)
				require.GreaterOrEqual(t, op.Time.Sub(before.Time), every)
			}
			before = op
		}
		require.Greater(t, edits, 5)
		require.Less(t, edits, 15)
		require.Equal(t, "Done in 1 min 10 s.", before.Message.Text)
	})
}

// A person deletes messages. Only a card that is waited for comes back.
func TestDeleted(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		b.asks("1.1.1", "d")
		time.Sleep(time.Minute)
		shown := b.chat.Shown(at, ann.ID)
		require.Len(t, shown, 2)
		ops := len(b.chat.Ops())
		for _, m := range shown {
			b.chat.Delete(at, m.ID)
		}
		b.crash()
		b.write(t, at.String(), agent.Nudged{Turn: 1}) // now it looks
		b.settled()
		shown = b.chat.Shown(at, ann.ID)
		require.Len(t, shown, 1)
		require.Equal(t, []string{"Approve", "Deny", "Deny with reason"}, shown[0].Buttons)
		b.chat.Delete(at, shown[0].ID)
		b.write(t, at.String(), agent.Decided{Call: "1.1.1", Digest: "d", By: agent.User{ID: bob.ID}})
		b.write(t, at.String(), agent.ToolFinished{Call: "1.1.1", Status: agent.Denied})
		b.ends(1, "Hi.")
		b.settled()
		require.Equal(t, []string{"Hi."}, texts(b.chat, at, ann.ID))
		edits := 0
		for _, op := range b.chat.Ops()[ops:] {
			if op.Edit && op.Message.Key == "1/progress" {
				edits++
			}
		}
		require.Equal(t, 1, edits, "to see that it is gone")
	})
}

// The network is down for a day. Nothing is lost, and it is not hammered.
func TestOutage(t *testing.T) {
	var down atomic.Bool
	down.Store(true)
	inBubble(t, func(botstest.Op) botstest.Fault {
		if down.Load() {
			return botstest.Fault{Err: &bots.Error{Err: errors.New("bad gateway")}}
		}
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		b.ends(1, "Hi.")
		time.Sleep(24 * time.Hour)
		require.Less(t, len(b.chat.Ops()), 2*24*60*2)
		require.False(t, last(b.log, at.String()).Free)
		down.Store(false)
		b.settled()
		require.Contains(t, texts(b.chat, at, ann.ID), "Hi.")
	})
}

// What waits for a person is looked at by nobody, and what was shown is not shown again afterwards.
func TestWaitingCostsNothing(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		b.asks("1.1.1", "d")
		b.settled()
		ops := len(b.chat.Ops())
		b.write(t, at.String(), agent.StopAsked{By: agent.User{ID: bob.ID}}, agent.ToolFinished{Call: "1.1.1", Status: agent.NotStarted},
			agent.TurnEnded{Turn: 1, Reason: agent.Cancelled, By: agent.User{ID: bob.ID}})
		b.settled()
		require.Len(t, b.chat.Ops()[ops:], 3, "the card, the summary and the answer")
	})
}

// Sessions of other networks and of no network are left alone.
func TestOthers(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		for _, session := range []string{"slack/T1/C1/1", "chat", "chat/1", "cli"} {
			b.write(t, session, agent.UserSaid{Text: "hello"})
		}
		time.Sleep(time.Minute)
		require.Empty(t, b.chat.Ops())
	})
}

// People see that the bot is at work for as long as it is, and not while it waits for them.
func TestWorking(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		require.False(t, b.chat.Working(at))
		b.says(1)
		time.Sleep(10 * time.Minute)
		require.True(t, b.chat.Working(at))
		b.asks("1.1.1", "d")
		time.Sleep(time.Second)
		require.False(t, b.chat.Working(at))
		b.write(t, at.String(), agent.Decided{Call: "1.1.1", Digest: "d", Yes: true, By: agent.User{ID: bob.ID}})
		time.Sleep(time.Second)
		require.True(t, b.chat.Working(at))
		b.write(t, at.String(), agent.ToolFinished{Call: "1.1.1", Status: agent.OK})
		b.ends(1, "Hi.")
		time.Sleep(time.Second)
		require.False(t, b.chat.Working(at))
	})
}

// Where a network takes one message a second, what people wait for comes before what they may wait for.
func TestNoticesComeLast(t *testing.T) {
	inBubble(t, func(botstest.Op) botstest.Fault {
		time.Sleep(time.Second)
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		for _, busy := range []agent.Busy{agent.Steer, agent.Queue, agent.Steer, agent.Queue} {
			b.write(t, at.String(), agent.UserSaid{By: agent.User{ID: ann.ID}, Text: "and?", Busy: busy})
		}
		b.asks("1.1.1", "d")
		b.settled()
		var keys []string
		for _, op := range b.chat.Ops() {
			if !op.Edit {
				keys = append(keys, op.Message.Key)
			}
		}
		require.Equal(t, []string{"1/progress", "1/card/1.1.1/1"}, keys[:2])
		require.Len(t, keys, 4)
	})
}
