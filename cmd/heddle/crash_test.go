package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// TestEveryMessageIsAnsweredOnce kills heddle again and again while people ask in many threads, each
// time just after Slack has got a post, so that its receipt is at stake. In the end each question has
// its answer, once.
func TestEveryMessageIsAnsweredOnce(t *testing.T) {
	const threads, kills = 12, 8
	w, err := newWorld(t.TempDir(), llmtest.Reply{From: look, Repeat: true})
	require.NoError(t, err)
	defer w.close()
	w.env = append(w.env, os.Environ()...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w)
		}
	})

	require.NoError(t, w.start())
	roots := map[string]string{}
	posts := func() int { return len(w.slack.API.Calls("chat.postMessage")) }
	for i := range kills {
		for j := range threads {
			if j%kills != i {
				continue
			}
			question := fmt.Sprintf("question %d.", j)
			roots[question] = w.slack.Say(w.ids["ALICE"], w.channel, "", "@heddle "+question)
		}
		before := posts()
		require.NoError(t, w.wait(func() bool { return posts() > before }))
		require.Error(t, w.halt(syscall.SIGKILL))
		require.NoError(t, w.start())
	}

	answers := func(question string) (n int) {
		for _, m := range w.slack.Thread(w.channel, roots[question]) {
			if m.User == slacktest.BotUser && strings.Contains(m.Text, "The answer to "+question) {
				n++
			}
		}
		return n
	}
	for question := range roots {
		require.NoError(t, w.wait(func() bool { return answers(question) > 0 }), question)
	}
	require.NotContains(t, w.process.logged(), "level=ERROR")
	require.NoError(t, w.halt(syscall.SIGTERM))
	for question := range roots {
		require.Equal(t, 1, answers(question), question)
	}
}

// look is a model that looks at the workspace before it answers.
func look(r *llm.Request) llmtest.Reply {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == llm.User {
		return llmtest.Call("glob", `{"pattern":"*"}`)
	}
	_, question, _ := strings.Cut(r.Messages[0].Text, ": ")
	return llmtest.Say("The answer to " + question)
}
