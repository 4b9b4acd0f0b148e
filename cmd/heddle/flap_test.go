package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// TestFlapping lets several people talk with heddle in many threads while nothing around it holds:
// connections break, acknowledgements get lost, events come twice, late and as edits that are none,
// methods are limited, fail, and do what they are asked without an answer; now and then heddle itself
// dies. When it is calm again every message has its one answer in its thread, what was approved has run
// once, nothing is there twice, and no session is open.
func TestFlapping(t *testing.T) {
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f := newFlock(t, seed)
	for round := range rounds {
		f.disturb()
		for range 1 + f.rand.IntN(3) {
			f.speak()
		}
		f.meddle()
		f.approve()
		if round%10 == 5 {
			require.Error(t, f.halt(syscall.SIGKILL))
			require.NoError(t, f.start())
		}
		if round%3 == 0 { // else people go on though nothing has been answered
			answered := f.answered()
			require.True(t, f.patiently(func() bool { f.approve(); return f.answered() > answered || answered == len(f.said) }))
		}
	}
	f.settle()
	f.check()
}

// A flock is people who talk in many threads.
type flock struct {
	tale
	*testing.T
	rand     *rand.Rand
	channels []string // several, for Slack takes one message a second in each
	said     []saying

	pressed map[string]bool // cards, by their ts
	cut     []string        // deeds in the middle of which heddle was killed
}

// A place is a thread.
type place struct{ channel, root string }

// A saying is a message that somebody has written.
type saying struct {
	word   string // which its answer repeats
	at     place  // the thread
	ts     string
	effect bool // it asks for something that needs approval
}

func newFlock(t *testing.T, seed uint64) *flock {
	w, err := newWorld(t.TempDir(), llmtest.Reply{From: repeats, Repeat: true})
	require.NoError(t, err)
	t.Cleanup(w.close)
	w.env = append(w.env, os.Environ()...)
	t.Cleanup(func() {
		if t.Failed() && w.process != nil {
			t.Log(w.process.logged())
		}
	})
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "config.toml"), []byte("[channels.default]\nbusy = \"queue\"\n"), 0o600))
	channels := []string{w.channel}
	for _, name := range []string{"kitchen", "garden", "attic", "cellar"} {
		channels = append(channels, w.slack.AddChannel(name))
	}
	require.NoError(t, w.start())
	return &flock{tale: tale{w, filepath.Join(w.dir, "state/heddle.db")}, T: t, rand: rand.New(rand.NewPCG(seed, 0)), channels: channels, pressed: map[string]bool{}}
}

// word is what the answer to a message repeats.
var word = regexp.MustCompile(`\b(word|deed)\d+\b`)

// repeats is the model: it does the deeds that are asked for, one after the other, and then repeats all
// words since its last answer.
func repeats(r *llm.Request) llmtest.Reply {
	var asked []string
	done := map[string]bool{}
	for _, m := range r.Messages {
		switch {
		case m.Role == llm.User:
			asked = append(asked, word.FindAllString(m.Text, -1)...)
		case len(m.Calls) > 0:
			done[word.FindString(string(m.Calls[0].Args))] = true
		case m.Role == llm.Assistant:
			asked = nil
		}
	}
	for _, w := range asked {
		if strings.HasPrefix(w, "deed") && !done[w] {
			return llmtest.Call("shell", fmt.Sprintf(`{"command":"echo %s >> deeds.txt"}`, w))
		}
	}
	return llmtest.Say("So be it: " + strings.Join(asked, " ") + ".")
}

// disturb lets the next things go wrong.
func (f *flock) disturb() {
	switch s := f.slack.Socket; f.rand.IntN(6) {
	case 0:
		s.Kill()
	case 1:
		s.Disconnect("warning")
	case 2:
		s.Refresh("refresh_requested")
	}
	f.slack.Socket.Fail(slacktest.SocketFaults{
		LoseAcks:  f.rand.IntN(4),
		Duplicate: f.rand.IntN(3),
		NoHello:   f.rand.IntN(2),
		Reorder:   f.rand.IntN(2),
		Spread:    f.rand.IntN(2) == 0,
	})
	faults := []slacktest.Fault{
		{Status: 429, RetryAfter: "1"},
		{Status: 503},
		{Status: 500, Applied: true},
		{Drop: true},
		{Drop: true, Applied: true},
		{Error: "internal_error"},
	}
	for _, method := range []string{"chat.postMessage", "chat.update", "conversations.replies", "apps.connections.open", "assistant.threads.setStatus"} {
		if f.rand.IntN(3) == 0 {
			f.slack.API.Fail(method, faults[f.rand.IntN(len(faults))])
		}
	}
}

// speak lets somebody write: into a thread in which the bot has spoken, or into the channel.
func (f *flock) speak() {
	names := []string{"ALICE", "BOB", "MALLORY"}
	s := saying{effect: f.rand.IntN(5) == 0}
	s.word = fmt.Sprintf("word%d", len(f.said))
	if s.effect {
		s.word = fmt.Sprintf("deed%d", len(f.said))
	}
	text := "please, " + s.word
	s.at.channel = f.channels[f.rand.IntN(len(f.channels))]
	if all := f.places(); len(all) > 0 && f.rand.IntN(3) > 0 {
		s.at = all[f.rand.IntN(len(all))]
	} else {
		text = "@heddle " + text
	}
	s.ts = f.slack.Say(f.ids[names[f.rand.IntN(len(names))]], s.at.channel, s.at.root, text)
	if s.at.root == "" {
		s.at.root = s.ts
	}
	f.said = append(f.said, s)
}

// all returns the bot's messages that everybody sees, by the thread, in order.
func (f *flock) all(visit func(place, slacktest.Message)) {
	for _, c := range f.channels {
		for _, m := range f.slack.Channel(c) {
			if m.User == slacktest.BotUser && m.For == "" {
				visit(place{c, m.Thread}, m)
			}
		}
	}
}

// places returns the threads in which the bot has spoken.
func (f *flock) places() (all []place) {
	f.all(func(at place, _ slacktest.Message) {
		if !slices.Contains(all, at) {
			all = append(all, at)
		}
	})
	return all
}

// meddle has Slack tell of a message that has not changed as of one that has.
func (f *flock) meddle() {
	if s := f.said[f.rand.IntN(len(f.said))]; f.rand.IntN(2) == 0 {
		f.slack.People.Unfurl(s.at.channel, s.ts)
	}
}

// approve presses every Approve that there is. A press that fails is repeated later, as people do.
func (f *flock) approve() {
	f.all(func(at place, m slacktest.Message) {
		if slices.Contains(m.Labels(), "Approve") && !f.pressed[m.TS] {
			f.pressed[m.TS] = f.slack.Click(f.ids["BOB"], at.channel, m.TS, "Approve") == nil
		}
	})
}

// answers returns where the answers are that repeat the word.
func (f *flock) answers(of string) (all []place) {
	f.all(func(at place, m slacktest.Message) {
		if strings.Contains(m.Key, "/answer/") && slices.Contains(word.FindAllString(m.Text, -1), of) {
			all = append(all, at)
		}
	})
	return all
}

func (f *flock) answered() (n int) {
	for _, s := range f.said {
		if len(f.answers(s.word)) > 0 {
			n++
		}
	}
	return n
}

// patiently waits until cond holds: what failed again and again is tried again after a minute at most, and
// Slack limits how much is done in one.
func (f *flock) patiently(cond func() bool) bool {
	for range 6 {
		if f.eventually(cond) == nil {
			return true
		}
	}
	return false
}

// settle waits until all is answered and nothing is left to do.
func (f *flock) settle() {
	f.slack.Socket.Fail(slacktest.SocketFaults{})
	for _, s := range f.said {
		require.True(f, f.patiently(func() bool { f.approve(); return len(f.answers(s.word)) > 0 }), s.word)
	}
	open := regexp.MustCompile(`  (open|waits) `)
	list := ""
	closed := func() bool { list = f.ask(f.T, question{Ask: askList}); return !open.MatchString(list) }
	require.True(f, f.patiently(closed), list)
	require.NotContains(f, f.process.logged(), "level=ERROR")
	for _, c := range finishedCalls(f.T, f.ask(f.T, question{Ask: askExport})) {
		if c.Status == agent.Interrupted {
			f.cut = append(f.cut, word.FindString(c.Title))
		}
	}
	require.NoError(f, f.halt(syscall.SIGTERM))
}

// check checks what is in the threads in the end, and in the file of deeds.
func (f *flock) check() {
	deeds := strings.Fields(f.content(f.T, "deeds.txt"))
	for _, s := range f.said {
		require.Equal(f, []place{s.at}, f.answers(s.word), s.word)
		if s.effect && !slices.Contains(f.cut, s.word) { // else it was killed while it ran, and may not have
			require.Contains(f, deeds, s.word)
		}
	}
	slices.Sort(deeds)
	require.Equal(f, slices.Compact(slices.Clone(deeds)), deeds, "each once")
	keys := map[string]bool{}
	f.all(func(at place, m slacktest.Message) {
		require.NotEmpty(f, at.root)
		require.NotEmpty(f, m.Key)
		key := at.root + " " + m.Key
		require.False(f, keys[key], "the message %s is there twice", key)
		require.Empty(f, m.Buttons)
		keys[key] = true
	})
}
