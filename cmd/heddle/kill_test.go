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
	t.Run("slack", func(t *testing.T) { killed(t, onSlack, 50) })
	t.Run("discord", func(t *testing.T) { killed(t, onDiscord, 25) })
}

func killed(t *testing.T, on func(*world) stage, rounds int) {
	const atOnce = 4
	if testing.Short() {
		rounds = 5
	}
	begin := time.Now()
	want := newTale(t, on).end(t)
	whole := want.answered.Sub(begin)
	unstreamed := newTale(t, unstreaming(on)).end(t).thread
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
				t.Run(moment.String(), func(t *testing.T) { killedAt(t, newTale(t, on), moment, want, unstreamed) })
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
func killedAt(t *testing.T, w tale, moment time.Duration, want ending, unstreamed []string) {
	time.Sleep(moment)
	at := w.progress()
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

// unstreaming is a stage on which the first stream is refused, if there are streams.
func unstreaming(on func(*world) stage) func(*world) stage {
	return func(w *world) stage {
		s := on(w)
		if w.slack != nil {
			w.slack.API.Fail("chat.startStream", slacktest.Fault{Error: "unknown_method"})
		}
		return s
	}
}

// newTale starts heddle, which has a message to answer, and lets a person approve all it asks for.
func newTale(t *testing.T, on func(*world) stage) tale {
	w, err := newWorldOn(on, t.TempDir(), llmtest.Reply{From: careful, Repeat: true})
	require.NoError(t, err)
	t.Cleanup(w.close)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w)
		}
	})
	w.env = append(w.env, os.Environ()...)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "work/hello.txt"), []byte("hello moon\n"), 0o600))
	if w.discord != nil { // it does not deliver what was said before the first start
		require.NoError(t, w.start())
		w.current = "before"
		w.threads[w.current] = w.stage.say(w.ids["ALICE"], "", "@heddle good morning", nil)
		require.NoError(t, w.wait(func() bool { return len(w.found(func(m line) bool { return m.text == "Good morning." })) > 0 }))
		require.NoError(t, w.halt(syscall.SIGTERM))
		w.current = ""
	}
	w.threads[""] = w.stage.say(w.ids["ALICE"], "", "@heddle greet the world, and note the run", nil)
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
		for _, m := range w.found(func(m line) bool { return slices.Contains(m.labels, "Approve") }) {
			if !pressed[m.id] {
				card = m.id
			}
		}
		return card != ""
	}
	for w.stage.wait(ctx, open) == nil {
		if w.stage.press(w.ids["ALICE"], w.root(), card, "Approve") == nil {
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
	case call.Name == "" && strings.Contains(r.Messages[len(r.Messages)-1].Text, "good morning"):
		return llmtest.Say("Good morning.")
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

// progress says how far the conversation has come.
func (w *world) progress() string {
	if w.stage.opened() == 0 {
		return "starts"
	}
	n := len(w.found(func(line) bool { return true }))
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
	idle := func() bool {
		return !regexp.MustCompile(`  (open|waits) `).MatchString(w.ask(t, question{Ask: askList}))
	}
	require.NoError(t, w.wait(func() bool { return w.answers() > 0 }))
	answered := time.Now()
	require.NoError(t, w.eventually(idle))
	story := w.ask(t, question{Ask: askExport})
	require.Regexp(t, "^[12] sessions, ", w.ask(t, question{Ask: askCheck}))
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
	for _, m := range w.found(func(m line) bool { return m.only == "" }) {
		require.NotEmpty(t, m.key)
		require.False(t, keys[m.key], "the message %s is there twice", m.key)
		keys[m.key] = true
		require.Empty(t, m.labels)
		e.thread = append(e.thread, w.timeless(m.text))
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
	return len(w.found(func(m line) bool { return m.answer && strings.Contains(m.text, "Hello it is") }))
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
