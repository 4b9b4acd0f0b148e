package slack_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestPostAndEdit(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, bots.Message{Key: "k", Class: bots.Progress, Text: "*working*"})
	require.NoError(t, f.s.Edit(t.Context(), th, id, bots.Message{Key: "k", Class: bots.Progress, Text: "*still* working"}))

	thread := f.w.Thread(f.c, th.ID)
	require.Len(t, thread, 2)
	m := thread[1]
	require.Equal(t, string(id), m.TS)
	require.Equal(t, "*still* working", m.Text)
	require.Equal(t, m.Text, m.Fallback)
	require.Equal(t, "k", m.Key)
	require.Equal(t, 1, m.Edits)
	require.Equal(t, th.ID, m.Thread)
	args := f.w.API.Calls("chat.postMessage")[0].Args
	require.Equal(t, "false", args.Get("unfurl_links"))
	require.Equal(t, "false", args.Get("unfurl_media"))
	require.Equal(t, "none", args.Get("parse"))
	require.Contains(t, args.Get("blocks"), `"verbatim":true`)
}

func TestPostForOnePerson(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	m := bots.Message{Key: "k", Text: "you may not", For: f.bob}
	id := f.post(th, m)
	thread := f.w.Thread(f.c, th.ID)
	require.Equal(t, f.bob, thread[1].For)
	require.Equal(t, "you may not", thread[1].Text)
	require.True(t, failure(t, f.s.Edit(t.Context(), th, id, m)).Permanent)
}

func TestEditTakesButtonsAndCodeAway(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, bots.Message{Key: "k", Text: "may I?", Code: "rm x", Lang: "sh", Buttons: []bots.Button{{Label: "Approve", Action: bots.Approve, Value: "1"}}})
	require.Equal(t, "may I?\n```\nrm x\n```", f.w.Thread(f.c, th.ID)[1].Text)
	require.NoError(t, f.s.Edit(t.Context(), th, id, bots.Message{Key: "k", Text: "approved"}))
	m := f.w.Thread(f.c, th.ID)[1]
	require.Equal(t, "approved", m.Text)
	require.Empty(t, m.Buttons)
}

// Text and code of the greatest size that Slack takes, in characters that it counts in several ways.
func TestGreatestMessage(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	limit := f.s.Info().MaxText
	for _, unit := range []string{"a", "é", "汉", "😀", "&amp;"} {
		m := bots.Message{Key: unit, Text: strings.Repeat(unit, limit/len(unit)), Code: strings.Repeat(strings.Repeat("<"+unit, 40)+"\n", 400)}
		for i := range 60 {
			m.Buttons = append(m.Buttons, bots.Button{Label: strings.Repeat("x", i), Action: bots.Approve, Value: strings.Repeat("v", 2000/(i+1))})
		}
		id := f.post(th, m)
		require.NoError(t, f.s.Edit(t.Context(), th, id, m))
		shown := f.w.Thread(f.c, th.ID)
		require.Contains(t, shown[len(shown)-1].Text, "characters that are not shown: ")
	}
}

func TestMessagesThatCannotBe(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	for name, m := range map[string]bots.Message{
		"empty":      {Key: "k"},
		"too long":   {Key: "k", Text: strings.Repeat("x", f.s.Info().MaxText+1)},
		"long value": {Key: "k", Text: "x", Buttons: []bots.Button{{Label: "x", Action: bots.Stop, Value: strings.Repeat("x", 2001)}}},
	} {
		_, err := f.s.Post(t.Context(), th, m)
		require.True(t, failure(t, err).Permanent, name)
		require.True(t, failure(t, f.s.Edit(t.Context(), th, "1.2", m)).Permanent, name)
	}
	require.Empty(t, f.w.API.Calls("chat.postMessage"))
}

func TestRefusals(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	post := func(th bots.Thread) *bots.Error {
		_, err := f.s.Post(t.Context(), th, bots.Message{Key: "k", Text: "x"})
		return failure(t, err)
	}
	elsewhere := th
	elsewhere.Channel = "C404"
	require.True(t, post(elsewhere).Permanent)
	f.w.SetState(f.c, slacktest.Archived)
	require.True(t, post(th).Permanent)
	f.w.SetState(f.c, slacktest.Absent)
	require.ErrorContains(t, post(th), "not_in_channel")
	f.w.SetState(f.c, slacktest.Joined)

	err := f.s.Edit(t.Context(), th, "1.2", bots.Message{Text: "x"})
	require.ErrorIs(t, err, bots.ErrUnknownMessage)
	require.True(t, failure(t, err).Permanent)
	require.True(t, failure(t, f.s.Edit(t.Context(), th, bots.MessageID(th.ID), bots.Message{Text: "x"})).Permanent, "not our message")
}

// A reply that Slack puts into the channel, because the root is gone, is taken back.
func TestRootIsGone(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	_, err := f.s.Post(t.Context(), f.thread("1.000001"), bots.Message{Key: "k", Text: "leak"})
	require.True(t, failure(t, err).Permanent)
	require.ErrorContains(t, err, "does not exist any more")
	require.Empty(t, f.w.Channel(f.c))
}

func TestKindsOfFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault slacktest.Fault
		want  bots.Error
	}{
		{"429 with a number", slacktest.Fault{Status: 429, RetryAfter: "7"}, bots.Error{RetryAfter: 7 * time.Second}},
		{"429 with zero", slacktest.Fault{Status: 429, RetryAfter: "0"}, bots.Error{RetryAfter: time.Second}},
		{"429 without a number", slacktest.Fault{Status: 429}, bots.Error{RetryAfter: 30 * time.Second}},
		{"429 with nonsense", slacktest.Fault{Status: 429, RetryAfter: "soon"}, bots.Error{RetryAfter: 30 * time.Second}},
		{"200 that means 429", slacktest.Fault{Error: "ratelimited"}, bots.Error{RetryAfter: 30 * time.Second}},
		{"5xx", slacktest.Fault{Status: 502}, bots.Error{Unsure: true}},
		{"their fault", slacktest.Fault{Error: "internal_error"}, bots.Error{Unsure: true}},
		{"no answer", slacktest.Fault{Drop: true}, bots.Error{Unsure: true}},
		{"empty answer", slacktest.Fault{Change: func(v map[string]any) { clear(v) }}, bots.Error{Unsure: true}},
		{"blocks", slacktest.Fault{Error: "invalid_blocks"}, bots.Error{Permanent: true}},
		{"too long", slacktest.Fault{Error: "msg_too_long"}, bots.Error{Permanent: true}},
		{"forbidden", slacktest.Fault{Error: "restricted_action"}, bots.Error{Permanent: true}},
		{"our token", slacktest.Fault{Error: "token_revoked"}, bots.Error{}},
		{"new code", slacktest.Fault{Error: "from_the_future"}, bots.Error{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, slacktest.Config{})
			th := f.root()
			f.w.API.Fail("chat.postMessage", c.fault)
			_, err := f.s.Post(t.Context(), th, bots.Message{Key: "k", Text: "x"})
			got := *failure(t, err)
			require.NotContains(t, got.Err.Error(), slacktest.BotToken)
			require.ErrorContains(t, got.Err, "chat.postMessage")
			got.Err = nil
			require.Equal(t, c.want, got)
		})
	}
}

func TestNotSentIsNotUnsure(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	f.w.Close()
	_, err := f.s.Post(t.Context(), th, bots.Message{Key: "k", Text: "x"})
	e := failure(t, err)
	require.False(t, e.Unsure, "no connection was made")
	require.False(t, e.Permanent)
}

func TestTimeoutIsUnsure(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	f.w.API.Fail("chat.postMessage", slacktest.Fault{Hold: make(chan struct{}), Applied: true})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		_ = f.w.Wait(ctx, func() bool { return len(f.w.Thread(f.c, th.ID)) == 2 })
	}()
	_, err := f.s.Post(ctx, th, bots.Message{Key: "k", Text: "x"})
	require.True(t, failure(t, err).Unsure)
}

// The answer to a post is lost, so it is not known whether it was made; the next try finds it, on
// the third page.
func TestUnsurePostIsMadeOnce(t *testing.T) {
	f := newFixture(t, slacktest.Config{PageSize: 3})
	th := f.root()
	for range 3 {
		f.w.Say(f.alice, f.c, th.ID, "chatter")
		f.post(th, bots.Message{Key: "other", Text: "x"})
	}
	f.w.API.Fail("chat.postMessage", slacktest.Fault{Drop: true, Applied: true})
	m := bots.Message{Key: "k", Text: "the answer"}
	_, err := f.s.Post(t.Context(), th, m)
	require.True(t, failure(t, err).Unsure)

	m.Unsure = true
	f.w.API.Fail("conversations.replies", slacktest.Fault{Status: 500})
	_, err = f.s.Post(t.Context(), th, m)
	require.True(t, failure(t, err).Unsure, "it could not look, so it does not post")

	id := f.post(th, m)
	thread := f.w.Thread(f.c, th.ID)
	require.Len(t, thread, 8)
	require.Equal(t, string(id), thread[7].TS)
	require.Zero(t, thread[7].Edits)
	require.Equal(t, id, f.post(th, m), "again")
}

func TestUnsurePostThatWasNotMade(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	f.w.API.Fail("chat.postMessage", slacktest.Fault{Drop: true})
	m := bots.Message{Key: "k", Text: "the answer"}
	_, err := f.s.Post(t.Context(), th, m)
	require.True(t, failure(t, err).Unsure)
	m.Unsure = true
	f.post(th, m)
	require.Len(t, f.w.Thread(f.c, th.ID), 2)
}

// While a method is paused only progress is sent away; other methods go on.
func TestPauseOfAMethod(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, bots.Message{Key: "k", Text: "x"})
	f.w.API.Fail("chat.update", slacktest.Fault{Status: 429, RetryAfter: "60"})
	m := bots.Message{Key: "k", Class: bots.Progress, Text: "y"}
	require.Equal(t, time.Minute, failure(t, f.s.Edit(t.Context(), th, id, m)).RetryAfter)
	after := failure(t, f.s.Edit(t.Context(), th, id, m)).RetryAfter
	require.Greater(t, after, 30*time.Second)
	require.Len(t, f.w.API.Calls("chat.update"), 1, "the second did not reach Slack")
	f.post(th, bots.Message{Key: "l", Class: bots.Final, Text: "z"})

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	m.Class = bots.Final
	e := failure(t, f.s.Edit(ctx, th, id, m))
	require.ErrorIs(t, e, context.DeadlineExceeded)
	require.False(t, e.Unsure)
}

func TestPostsAtOnce(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := f.w.AddChannel(fmt.Sprint(i))
			th := bots.Thread{Platform: "slack", Workspace: slacktest.TeamID, Channel: c, ID: f.w.Say(f.alice, c, "", "hello")}
			for range 5 {
				_, err := f.s.Post(t.Context(), th, bots.Message{Key: "k", Text: "x", Class: bots.Class(i % 3)})
				require.NoError(t, err)
			}
			require.Len(t, f.w.Thread(c, th.ID), 6)
		})
	}
	wg.Wait()
}
