package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
	"github.com/heddle-bot/heddle/store"
)

// TestKilledAtAnyMoment kills heddle once in the middle of a conversation with two approvals, at moments
// spread over all of it and its start. Whenever that is: after a restart the thread ends as if nothing
// had happened, each effect is there once, and what was interrupted is told.
func TestKilledAtAnyMoment(t *testing.T) {
	rounds, atOnce := 50, 4
	if testing.Short() {
		rounds = 5
	}
	begin := time.Now()
	want := newTale(t).end(t)
	whole := want.answered.Sub(begin)
	unstreamed := newTale(t, slacktest.Fault{Error: "unknown_method"}).end(t).thread
	require.Equal(t, want.thread[1:], unstreamed[1:])
	require.Empty(t, want.interrupted)
	require.Equal(t, "x\n", want.runs)
	seed := rand.Uint64()
	t.Logf("seed %d, the conversation takes %v and ends so:\n%s", seed, whole, strings.Join(want.thread, "\n"))

	var wg sync.WaitGroup
	moments := make(chan time.Duration)
	for range atOnce {
		wg.Go(func() {
			for moment := range moments {
				t.Run(moment.String(), func(t *testing.T) { killedAt(t, moment, want, unstreamed) })
			}
		})
	}
	random := rand.New(rand.NewPCG(seed, 0))
	whole += whole / 4 // beside others it takes longer; and then the thread is tidied up
	for i := range rounds {
		step := whole / time.Duration(rounds)
		moments <- time.Duration(i)*step + time.Duration(random.Int64N(int64(step)))
	}
	close(moments)
	wg.Wait()
}

// killedAt lives through the conversation with a death that long after its start. A stream that death
// cuts off is shown as one is that never was: unstreamed.
func killedAt(t *testing.T, moment time.Duration, want ending, unstreamed []string) {
	w := newTale(t)
	time.Sleep(moment)
	at := w.stage()
	require.Error(t, w.halt(syscall.SIGKILL))
	require.NoError(t, w.start())
	got := w.end(t)
	t.Logf("killed when it %s; interrupted %q", at, got.interrupted)

	require.Equal(t, want.file, got.file)
	switch told := strings.Contains(strings.Join(got.thread, "\n"), "may or may not have run"); {
	case len(got.interrupted) == 0:
		require.Contains(t, [][]string{want.thread, unstreamed}, got.thread)
		require.Equal(t, want.runs, got.runs)
		require.False(t, told)
	case slices.Contains(got.interrupted, "shell"):
		require.Contains(t, []string{"", want.runs}, got.runs, "at most once")
		require.True(t, told)
	default:
		require.Equal(t, want.runs, got.runs)
		require.True(t, told)
	}
}

// A tale is one telling of the conversation.
type tale struct {
	*world
	store string // path of the log
}

// newTale starts heddle, which has a message to answer, and lets a person approve all it asks for. The
// first streams meet the faults.
func newTale(t *testing.T, faults ...slacktest.Fault) tale {
	w, err := newWorld(t.TempDir(), llmtest.Reply{From: careful, Repeat: true})
	require.NoError(t, err)
	t.Cleanup(w.close)
	w.slack.API.Fail("chat.startStream", faults...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w)
		}
	})
	w.env = append(w.env, os.Environ()...)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "work/hello.txt"), []byte("hello moon\n"), 0o600))
	w.threads[""] = w.slack.Say(w.ids["ALICE"], w.channel, "", "@heddle greet the world, and note the run")
	require.NoError(t, w.configure())
	w.process, err = startProcess(w.dir, w.env)
	require.NoError(t, err)

	ctx, leave := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { w.approve(ctx) })
	t.Cleanup(func() { leave(); wg.Wait() })
	return tale{w, filepath.Join(w.dir, "state/heddle.db")}
}

// approve presses every Approve until ctx ends. A press that fails because heddle is down is repeated,
// as people do; one that was taken is not.
func (w *world) approve(ctx context.Context) {
	pressed := map[string]bool{}
	var card string
	open := func() bool {
		card = ""
		for _, m := range w.slack.Thread(w.channel, w.root()) {
			if slices.Contains(m.Labels(), "Approve") && !pressed[m.TS] {
				card = m.TS
			}
		}
		return card != ""
	}
	for w.slack.Wait(ctx, open) == nil {
		if w.slack.Click(w.ids["ALICE"], w.channel, card, "Approve") == nil {
			pressed[card] = true
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// careful is the model. It depends on nothing but the request. What was interrupted it looks at before it
// goes on, and it never repeats what may have acted.
func careful(r *llm.Request) llmtest.Reply {
	reply := llmtest.Say("Hello it is.")
	call, result := newest(r)
	read := func(path string) llmtest.Reply { return llmtest.Call("read", `{"path":"`+path+`"}`) }
	switch unsure := strings.Contains(result, "interrupted"); {
	case call.Name == "", call.Name == "edit" && unsure:
		reply = read("hello.txt")
	case call.Name == "read" && unsure:
		reply = llmtest.Call("read", string(call.Args))
	case call.Name == "shell" && unsure:
		reply = read("runs.txt")
	case call.Name == "read" && strings.Contains(result, "moon"):
		reply = llmtest.Call("edit", `{"path":"hello.txt","old":"moon","new":"world"}`)
	case call.Name == "edit", call.Name == "read" && strings.Contains(result, "world"):
		reply = llmtest.Call("shell", `{"command":"sleep 0.05; echo x >> runs.txt; sleep 0.05"}`)
	case call.Name == "read" && !strings.Contains(result, "1|x"):
		reply = llmtest.Say("Hello it is, but the run is not noted.")
	}
	thinking := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(thinking) })
	reply.Wait = thinking
	return reply
}

// newest returns the call that was made last, and its result.
func newest(r *llm.Request) (call llm.Call, result string) {
	for _, m := range r.Messages {
		if n := len(m.Calls); n > 0 {
			call = m.Calls[n-1]
		}
		if m.Role == llm.ToolRole {
			result = m.Text
		}
	}
	return call, result
}

// stage says how far the conversation has come.
func (w *world) stage() string {
	if w.slack.Socket.Stats().Opened == 0 {
		return "starts"
	}
	n := len(w.found(func(slacktest.Message) bool { return true }))
	return fmt.Sprintf("has asked the model %d times and posted %d messages", w.model.Count(), n)
}

// An ending is what the conversation comes to.
type ending struct {
	thread      []string // without what depends on time and place
	file, runs  string
	interrupted []string // tools of calls
	answered    time.Time
}

// end waits until nothing is left to do, ends heddle, and checks what must hold whatever has happened.
func (w tale) end(t *testing.T) ending {
	idle := func() bool { return strings.Contains(w.ask(t, question{Ask: askList}), "  idle ") }
	require.NoError(t, w.wait(func() bool { return w.answers() > 0 }))
	answered := time.Now()
	require.NoError(t, w.eventually(idle))
	story := w.ask(t, question{Ask: askExport})
	require.Regexp(t, "^1 sessions, ", w.ask(t, question{Ask: askCheck}))
	require.NotContains(t, w.process.logged(), "level=ERROR")
	require.NoError(t, w.halt(syscall.SIGTERM))
	require.Equal(t, 1, w.answers())

	e := ending{file: w.content(t, "hello.txt"), runs: w.content(t, "runs.txt"), answered: answered}
	done := map[string]int{}
	for _, f := range finishedCalls(t, story) {
		switch f.Status {
		case agent.Interrupted:
			e.interrupted = append(e.interrupted, f.Tool)
		case agent.OK:
			done[f.Tool]++
		}
	}
	require.LessOrEqual(t, done["edit"], 1)
	require.LessOrEqual(t, done["shell"], 1)
	keys := map[string]bool{}
	for _, m := range w.slack.Channel(w.channel) {
		if m.User != slacktest.BotUser || m.For != "" {
			continue
		}
		require.Equal(t, w.root(), m.Thread)
		require.NotEmpty(t, m.Key)
		require.False(t, keys[m.Key], "the message %s is there twice", m.Key)
		keys[m.Key] = true
		require.Empty(t, m.Buttons)
		e.thread = append(e.thread, w.timeless(m.Text))
	}
	return e
}

// finishedCalls returns the results of calls from an export.
func finishedCalls(t *testing.T, export string) (all []agent.ToolFinished) {
	for line := range strings.Lines(export) {
		var e store.Line
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Kind == "agent.ToolFinished" {
			var f agent.ToolFinished
			require.NoError(t, json.Unmarshal(e.Data, &f))
			all = append(all, f)
		}
	}
	return all
}

func (w *world) answers() int {
	return len(w.found(func(m slacktest.Message) bool { return strings.Contains(m.Key, "/answer/") }))
}

// timeless is text without what depends on the time and the place. People's names are among it: Slack's
// adapter learns them while the thread is painted already, so a message that is brought up to date just
// after a start may show the id of a person.
func (w tale) timeless(text string) string {
	text = strings.NewReplacer(w.dir, "", "@"+w.ids["ALICE"], "@alice").Replace(text)
	return regexp.MustCompile(`less than a second|\d+ s\b`).ReplaceAllString(text, "a while")
}

// ask asks the heddle that serves.
func (w tale) ask(t *testing.T, q question) string {
	var b strings.Builder
	require.NoError(t, ask(context.Background(), w.store, nil, q, &b))
	return b.String()
}

// content is that of a file in the workspace, or empty without one.
func (w tale) content(t *testing.T, name string) string {
	data, err := os.ReadFile(filepath.Join(w.dir, "work", name))
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return string(data)
}
