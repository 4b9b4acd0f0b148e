package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// An atWork is a fixture with turns at work.
type atWork struct{ *fixture }

func newAtWork(t *testing.T, c slacktest.Config) atWork { return atWork{newFixture(t, c)} }

// turn is alice's turn at work: what its message says as text, and the tasks behind the first.
func (f atWork) turn(key, text string, tasks ...bots.Task) bots.Message {
	head := bots.Task{ID: "turn", Title: text, State: bots.TaskRunning}
	return bots.Message{
		Key: key, Class: bots.Progress, Text: text,
		Buttons: []bots.Button{{Label: "Stop", Action: bots.Stop, Value: "1"}},
		Work:    &bots.Work{Tasks: append([]bots.Task{head}, tasks...), Asker: f.alice},
	}
}

// over is the same message in the end.
func (f atWork) over(key, text string, tasks ...bots.Task) bots.Message {
	m := f.turn(key, text, tasks...)
	m.Work.Tasks[0].State, m.Work.Ended, m.Buttons = bots.TaskDone, true, nil
	return m
}

func (f atWork) edit(t bots.Thread, id bots.MessageID, m bots.Message) {
	f.t.Helper()
	require.NoError(f.t, f.s.Edit(f.t.Context(), t, id, m))
}

// shown returns the message of that id.
func (f atWork) shown(t bots.Thread, id bots.MessageID) slacktest.Message {
	f.t.Helper()
	for _, m := range f.w.Thread(t.Channel, t.ID) {
		if m.TS == string(id) {
			return m
		}
	}
	require.Fail(f.t, "there is no such message")
	return slacktest.Message{}
}

// calls returns how often the methods have been called, "post 1, update 0".
func (f atWork) calls(methods ...string) string {
	var all []string
	for _, m := range methods {
		all = append(all, fmt.Sprintf("%s %d", m, len(f.w.API.Calls("chat."+m))))
	}
	return strings.Join(all, ", ")
}

func TestStreamOfATurn(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, f.turn("1/progress", "Working…"))
	args := f.w.API.Calls("chat.startStream")[0].Args
	require.Equal(t, f.alice, args.Get("recipient_user_id"))
	require.Equal(t, slacktest.TeamID, args.Get("recipient_team_id"))
	require.Equal(t, "timeline", args.Get("task_display_mode"))

	read := bots.Task{ID: "1.1.1", Title: "read a.go", State: bots.TaskRunning}
	m := f.turn("1/progress", "Working…", read, bots.Task{ID: "1.1.2", Title: "make", State: bots.TaskPending})
	f.edit(th, id, m)
	require.JSONEq(t, `[{"type":"task_update","id":"1.1.1","title":"read a.go","status":"in_progress"},
		{"type":"task_update","id":"1.1.2","title":"make","status":"pending"}]`, f.w.API.Calls("chat.appendStream")[0].Args.Get("chunks"))
	f.edit(th, id, m)
	require.Len(t, f.w.API.Calls("chat.appendStream"), 1, "nothing has changed")

	card := f.post(th, bots.Message{Key: "1/card", Class: bots.Approval, Text: "May I?", Buttons: []bots.Button{{Label: "Approve", Action: bots.Approve, Value: "1"}}})
	require.Equal(t, []string{"Approve"}, f.shown(th, card).Labels())

	read.State = bots.TaskDone
	writing := bots.Task{ID: "text/2", Title: "Writing", State: bots.TaskRunning, Detail: "It is so that"}
	m = f.turn("1/progress", "Working… 15 s", read, writing)
	f.edit(th, id, m)
	m.Work.Tasks[2].Detail = "It is so that all\nis well"
	f.edit(th, id, m)
	require.Equal(t, slacktest.Stream{}.State, f.shown(th, card).Stream.State)
	require.Equal(t, []slacktest.Task{
		{ID: "turn", Title: "Working… 15 s", Status: "in_progress"},
		{ID: "1.1.1", Title: "read a.go", Status: "complete"},
		{ID: "1.1.2", Title: "make", Status: "complete"},
		{ID: "text/2", Title: "Writing", Status: "in_progress", Details: "It is so that all\nis well"},
	}, f.shown(th, id).Stream.Tasks)

	f.edit(th, id, f.over("1/progress", "Done in 20 s.", read))
	got := f.shown(th, id)
	require.Equal(t, "ended", got.Stream.State)
	require.Equal(t, "1/progress", got.Key, "it is found again by its key")
	require.Equal(t, "✓ Done in 20 s.\n✓ read a.go\n✓ make\n✓ Writing\n  It is so that all\n  is well", got.Text)
	require.Equal(t, "startStream 1, appendStream 3, stopStream 1, postMessage 1, update 0",
		f.calls("startStream", "appendStream", "stopStream", "postMessage", "update"))

	f.edit(th, id, f.over("1/progress", "Done, as I said."))
	require.Equal(t, "Done, as I said.", f.shown(th, id).Text, "what comes later is an edit")
}

// What is over when it is posted, and what answers nobody, is a message like others.
func TestNoStreamIsWorthIt(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	f.post(th, f.over("1/progress", "Done."))
	m := f.turn("2/progress", "Working…")
	m.Work.Asker = ""
	require.Equal(t, []string{"Stop"}, f.shown(th, f.post(th, m)).Labels())
	require.Equal(t, "startStream 0, postMessage 2", f.calls("startStream", "postMessage"))
}

// The program starts anew and does not know that the message is streamed.
func TestRestartInMidStream(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, f.turn("1/progress", "Working…"))
	f.s = f.connect(0)
	f.w.API.Fail("chat.stopStream", slacktest.Fault{Status: 503})
	require.True(t, failure(t, f.s.Edit(t.Context(), th, id, f.turn("1/progress", "Working…"))).Unsure)
	f.edit(th, id, f.turn("1/progress", "Working… 15 s"))
	got := f.shown(th, id)
	require.Equal(t, "ended", got.Stream.State)
	require.Equal(t, "1/progress", got.Key)
	require.Equal(t, "Working… 15 s", got.Text)
	require.Equal(t, []string{"Stop"}, got.Labels())
	f.edit(th, id, f.over("1/progress", "Done."))
	require.Equal(t, "Done.", f.shown(th, id).Text)
	require.Len(t, f.w.API.Calls("chat.stopStream"), 2)
}

func TestWithoutStreams(t *testing.T) {
	for _, c := range []struct {
		name, code string
		config     slacktest.Config
		asked      int // times in two channels
	}{
		{name: "in no channel", config: slacktest.Config{NoStreams: true}, asked: 2},
		{name: "in one", code: "missing_recipient_team_id", asked: 2},
		{name: "at all", code: "unknown_method", asked: 1},
		{name: "for one person", code: "user_not_found", asked: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newAtWork(t, c.config)
			other := f.w.AddChannel("other")
			if c.code != "" {
				f.w.API.Fail("chat.startStream", slacktest.Fault{Error: c.code}, slacktest.Fault{Error: c.code}, slacktest.Fault{Error: c.code}, slacktest.Fault{Error: c.code})
			}
			for range 2 {
				for _, th := range []bots.Thread{f.root(), {Platform: "slack", Workspace: slacktest.TeamID, Channel: other, ID: f.w.Say(f.alice, other, "", "hello")}} {
					id := f.post(th, f.turn("1/progress", "Working…"))
					f.edit(th, id, f.over("1/progress", "Done."))
					require.Equal(t, "Done.", f.shown(th, id).Text)
				}
			}
			require.Equal(t, fmt.Sprintf("startStream %d, postMessage 4, update 4, stopStream 0", c.asked), f.calls("startStream", "postMessage", "update", "stopStream"))
			require.Equal(t, c.asked%4, f.log.count("slack has no streams here"), "once for each place")
		})
	}
}

// A stream that cannot be begun at once is not waited for.
func TestStreamsAreFew(t *testing.T) {
	f := newAtWork(t, slacktest.Config{Tiers: true})
	f.w.API.Fail("chat.startStream", slacktest.Fault{Status: 429, RetryAfter: "60"})
	f.post(f.root(), f.turn("1/progress", "Working…"))
	f.post(f.root(), f.turn("1/progress", "Working…"))
	require.Equal(t, "startStream 1, postMessage 2", f.calls("startStream", "postMessage"))

	f = newAtWork(t, slacktest.Config{Tiers: true})
	for i := range 25 {
		c := f.w.AddChannel(fmt.Sprint("c", i))
		th := bots.Thread{Platform: "slack", Workspace: slacktest.TeamID, Channel: c, ID: f.w.Say(f.alice, c, "", "hello")}
		f.post(th, f.turn("1/progress", "Working…"))
	}
	n := len(f.w.API.Calls("chat.startStream"))
	require.GreaterOrEqual(t, n, 10)
	require.Less(t, n, 20)
	require.Equal(t, 25-n, len(f.w.API.Calls("chat.postMessage")))
}

// A limit on appending holds up nothing else, and the next that is told is the newest.
func TestLimitOnAppending(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, f.turn("1/progress", "Working…"))
	f.w.API.Fail("chat.appendStream", slacktest.Fault{Status: 429, RetryAfter: "1"})
	require.Equal(t, time.Second, failure(t, f.s.Edit(t.Context(), th, id, f.turn("1/progress", "one"))).RetryAfter)
	require.NotZero(t, failure(t, f.s.Edit(t.Context(), th, id, f.turn("1/progress", "two"))).RetryAfter)
	require.Len(t, f.w.API.Calls("chat.appendStream"), 1, "the second did not reach Slack")
	f.post(th, bots.Message{Key: "1/card", Class: bots.Approval, Text: "May I?"})
	f.wait("the limit to end", func() bool { return f.s.Edit(t.Context(), th, id, f.turn("1/progress", "three")) == nil })
	require.Equal(t, "▸ three", f.shown(th, id).Text)
	require.Len(t, f.w.API.Calls("chat.appendStream"), 2)
}

// A stream ends by a person, by its age, or because of something in it that Slack does not take.
func TestStreamIsOverEarly(t *testing.T) {
	for _, c := range []struct {
		name   string
		config slacktest.Config
		end    func(f atWork, th bots.Thread)
	}{
		{"stopped", slacktest.Config{}, func(f atWork, th bots.Thread) { require.NoError(t, f.w.People.Stop(f.bob, f.c, th.ID)) }},
		{"too old", slacktest.Config{StreamFor: time.Nanosecond}, func(atWork, bots.Thread) {}},
		{"refused", slacktest.Config{}, func(f atWork, _ bots.Thread) {
			f.w.API.Fail("chat.appendStream", slacktest.Fault{Error: "invalid_chunks"})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newAtWork(t, c.config)
			th := f.root()
			id := f.post(th, f.turn("1/progress", "Working…"))
			c.end(f, th)
			f.edit(th, id, f.turn("1/progress", "Stopping…"))
			require.Equal(t, "Stopping…", f.shown(th, id).Text)
			f.edit(th, id, f.over("1/progress", "Stopped after 3 s."))
			got := f.shown(th, id)
			require.Equal(t, "Stopped after 3 s.", got.Text)
			require.Equal(t, "1/progress", got.Key)
			require.Equal(t, "appendStream 1", f.calls("appendStream"))
		})
	}
	f := newAtWork(t, slacktest.Config{StreamFor: time.Nanosecond})
	th := f.root()
	id := f.post(th, f.turn("1/progress", "Working…"))
	f.edit(th, id, f.over("1/progress", "Done."))
	require.Equal(t, "Done.", f.shown(th, id).Text, "it was too late to end it")
}

func TestStreamIsDeleted(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, f.turn("1/progress", "Working…"))
	f.w.People.Delete(f.c, string(id))
	require.ErrorIs(t, f.s.Edit(t.Context(), th, id, f.turn("1/progress", "Working… 15 s")), bots.ErrUnknownMessage)
	require.ErrorIs(t, f.s.Edit(t.Context(), th, id, f.turn("1/progress", "Working… 30 s")), bots.ErrUnknownMessage)
	require.Equal(t, "appendStream 1, update 1", f.calls("appendStream", "update"))
}

// The answer to the start of a stream is lost: the next try finds the stream, and goes on with it.
func TestLostStartOfStream(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	before := f.post(th, f.turn("0/progress", "Working…")) // has no key yet either
	_, err := f.s.Post(t.Context(), th, bots.Message{Key: "0/file", Class: bots.Final, Text: "x", Upload: &bots.Upload{Name: "a.md", Content: []byte("x")}})
	require.NoError(t, err)
	f.w.API.Fail("chat.startStream", slacktest.Fault{Drop: true, Applied: true})
	m := f.turn("1/progress", "Working…", bots.Task{ID: "text/0", Title: "Writing", State: bots.TaskRunning, Detail: "Well"})
	_, err = f.s.Post(t.Context(), th, m)
	require.True(t, failure(t, err).Unsure)

	for _, s := range []string{"here", "after a restart"} {
		if s != "here" {
			f.edit(th, before, f.over("0/progress", "Done."))
			f.s = f.connect(0)
		}
		m.Unsure = true
		id := f.post(th, m)
		thread := f.w.Thread(f.c, th.ID)
		require.Len(t, thread, 4)
		require.Equal(t, thread[3].TS, string(id), s)
	}
	id := f.post(th, m)
	f.post(th, bots.Message{Key: "1/card", Class: bots.Approval, Text: "May I?", Unsure: true})
	require.Len(t, f.w.Thread(f.c, th.ID), 5, "what is not streamed is never taken for a stream")

	m.Unsure = false
	f.edit(th, id, m)
	f.edit(th, id, f.over("1/progress", "Done."))
	got := f.shown(th, id)
	require.Equal(t, "1/progress", got.Key)
	require.Equal(t, "ended", got.Stream.State)
	m.Unsure = true
	require.Equal(t, id, f.post(th, m))
	require.Equal(t, "startStream 2, update 0", f.calls("startStream", "update"))
}

// A start that was not made is made.
func TestStartOfStreamThatWasNotMade(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	f.w.API.Fail("chat.startStream", slacktest.Fault{Drop: true})
	m := f.turn("1/progress", "Working…")
	_, err := f.s.Post(t.Context(), th, m)
	require.True(t, failure(t, err).Unsure)
	m.Unsure = true
	require.Equal(t, "▸ Working…", f.shown(th, f.post(th, m)).Text)
}

// The answer to an addition is lost: what it brought does not show twice.
func TestLostAppend(t *testing.T) {
	f := newAtWork(t, slacktest.Config{})
	th := f.root()
	id := f.post(th, f.turn("1/progress", "Working…"))
	writing := bots.Task{ID: "text/0", Title: "Writing", State: bots.TaskRunning, Detail: "One"}
	f.w.API.Fail("chat.appendStream", slacktest.Fault{Drop: true, Applied: true})
	require.True(t, failure(t, f.s.Edit(t.Context(), th, id, f.turn("1/progress", "Working…", writing))).Unsure)
	writing.Detail = "One two"
	f.edit(th, id, f.turn("1/progress", "Working…", writing))
	require.Equal(t, "▸ Working…\n▸ Writing\n  One two", f.shown(th, id).Text)

	f.w.API.Fail("chat.stopStream", slacktest.Fault{Drop: true, Applied: true})
	require.True(t, failure(t, f.s.Edit(t.Context(), th, id, f.over("1/progress", "Done."))).Unsure)
	f.edit(th, id, f.over("1/progress", "Done."))
	require.Equal(t, "Done.", f.shown(th, id).Text)
}
