package bots_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// longDiff takes three messages of a botstest.Chat.
func longDiff() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "+this is line %d of it\n", i)
	}
	return b.String()
}

// asksFor writes that the model wants a call that would do what preview shows.
func (b *board) asksFor(preview string) {
	saw := last(b.log, at.String()).Pos
	b.write(b.t, at.String(), agent.ModelSaid{Turn: 1, Step: 1, Saw: saw, Calls: []agent.Call{{ID: "1.1.1", Tool: "edit"}}})
	b.write(b.t, at.String(), agent.ApprovalAsked{
		Call: "1.1.1", Tool: "edit", Title: "edit it", Kind: tools.Diff, Preview: preview, Digest: "d", Expires: time.Now().Add(24 * time.Hour),
	})
}

// card returns what is shown of the approval: the parts without buttons, and the messages with some.
func (b *board) card() (parts, withButtons []botstest.Shown) {
	for _, m := range b.chat.Shown(at, ann.ID) {
		switch {
		case len(m.Buttons) > 1:
			withButtons = append(withButtons, m)
		case strings.HasPrefix(m.Text, "Part "):
			parts = append(parts, m)
		}
	}
	return parts, withButtons
}

// whole checks that the thread shows all of the diff, in order, and that it can be approved.
func (b *board) whole() {
	b.t.Helper()
	var code strings.Builder
	parts, cards := b.card()
	require.Len(b.t, parts, 2)
	require.Len(b.t, cards, 1)
	require.Equal(b.t, []string{"Approve", "Deny", "Deny with reason"}, cards[0].Buttons)
	for i, m := range append(parts, cards...) {
		if i < len(parts) {
			require.Contains(b.t, m.Text, fmt.Sprintf("Part %d of 3 of what I would do", i+1))
		} else {
			require.Contains(b.t, m.Text, "the last of 3 parts")
		}
		code.WriteString(m.Text[strings.IndexByte(m.Text, '+'):])
	}
	require.Equal(b.t, longDiff(), code.String())
}

func isPart(op botstest.Op, n int) bool {
	return strings.HasSuffix(op.Message.Key, fmt.Sprintf("/part/%d", n))
}

func TestParts(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		b.asksFor(longDiff())
		b.settled()
		b.whole()
		b.write(t, at.String(), agent.Decided{Call: "1.1.1", Digest: "d", Yes: true, By: agent.User{ID: bob.ID}},
			agent.ToolFinished{Call: "1.1.1", Status: agent.OK})
		b.ends(1, "Hi.")
		b.settled()
		for _, op := range b.chat.Ops() {
			require.False(t, op.Edit && strings.Contains(op.Message.Key, "/part/"), "a part is never edited")
			if strings.Contains(op.Message.Key, "/card/") {
				require.Equal(t, "diff", op.Message.Lang)
			}
		}
		got := texts(b.chat, at, ann.ID)
		require.Contains(t, got[3], "Approved by @UBOB.")
		require.Contains(t, got[3], "line 199")
	})
}

// A part that cannot be posted for now holds back what follows it.
func TestPartFails(t *testing.T) {
	var up atomic.Bool
	inBubble(t, func(op botstest.Op) botstest.Fault {
		if !up.Load() && isPart(op, 2) {
			return botstest.Fault{Err: &bots.Error{RetryAfter: time.Minute, Err: errors.New("rate limited")}}
		}
		return botstest.Fault{}
	}, func(b *board) {
		b.says(1)
		b.asksFor(longDiff())
		time.Sleep(10*time.Minute + time.Second)
		parts, cards := b.card()
		require.Len(t, parts, 1)
		require.Empty(t, cards, "nobody can approve what is not shown")
		up.Store(true)
		b.settled()
		b.whole()
	})
}

// A part that the network refuses for good is told, and nobody can approve.
func TestPartRefused(t *testing.T) {
	inBubble(t, func(op botstest.Op) botstest.Fault {
		if isPart(op, 2) {
			return botstest.Fault{Err: &bots.Error{Permanent: true, Err: errors.New("invalid_blocks")}}
		}
		return botstest.Fault{}
	}, func(b *board) {
		var free atomic.Bool                           // of the disk
		b.lose = func(_ string, e store.Event) error { // the program dies before it has noted the refusal
			if !free.Load() && e.Kind == "bots.PostFailed" {
				return errors.New("the disk is full")
			}
			return nil
		}
		b.says(1)
		b.asksFor(longDiff())
		time.Sleep(10 * time.Minute)
		_, cards := b.card()
		require.Empty(t, cards)
		free.Store(true)
		b.crash()
		b.settled()
		parts, cards := b.card()
		require.Len(t, parts, 1)
		require.Len(t, cards, 1)
		require.Equal(t, []string{"Deny", "Deny with reason"}, cards[0].Buttons)
		require.True(t, slices.ContainsFunc(texts(b.chat, at, ann.ID), func(s string) bool {
			return strings.Contains(s, "refuses to show a part of what I would do (`invalid_blocks`)")
		}))
		for _, op := range b.chat.Ops() {
			for _, button := range op.Message.Buttons {
				require.NotEqual(t, bots.Approve, button.Action, "at no time")
			}
		}
		b.write(t, at.String(), agent.ToolFinished{Call: "1.1.1", Status: agent.Denied})
		b.ends(1, "Hi.")
		b.settled()
	})
}

// The program dies after a part is in the thread and before its receipt is in the log.
func TestCrashBetweenParts(t *testing.T) {
	for n := 1; n <= 2; n++ {
		inBubble(t, nil, func(b *board) {
			b.lose = func(_ string, e store.Event) error {
				if strings.Contains(string(e.Data), fmt.Sprintf("/part/%d", n)) {
					return errors.New("the disk is full")
				}
				return nil
			}
			b.says(1)
			b.asksFor(longDiff())
			time.Sleep(time.Minute)
			parts, cards := b.card()
			require.Len(t, parts, n)
			require.Empty(t, cards)
			b.crash()
			b.settled()
			b.whole()
		})
	}
}

// The next start masks more, so that it cuts elsewhere: while the card waits, its parts follow.
func TestPartsFollow(t *testing.T) {
	inBubble(t, nil, func(b *board) {
		b.says(1)
		b.asksFor(longDiff())
		b.settled()
		b.whole()
		b.stop()
		b.scribe = newScribe(b.log)
		masked := func(s string) string { return strings.ReplaceAll(s, "this is line 1 ", "[masked]") }
		b.stop = run(t, bots.Config{Platform: b.chat, Agent: b.scribe, Log: b.log, Redact: masked})
		b.write(t, at.String(), agent.Nudged{Turn: 1}) // now it looks
		b.settled()
		var code strings.Builder
		for _, m := range b.chat.Shown(at, ann.ID)[1:] {
			code.WriteString(m.Text[strings.IndexByte(m.Text, '+'):])
		}
		require.Equal(t, masked(longDiff()), code.String())
	})
}
