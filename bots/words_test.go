package bots

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
)

// Every way for a turn to end has words of its own, and so has every failure of a model.
func TestWhy(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range []agent.Reason{
		agent.NoResponse, agent.MaxSteps, agent.TimeUp, agent.BudgetExhausted, agent.Repeated, agent.NoProgress,
		agent.PolicyRefused, agent.CutOff, agent.ContentFiltered, agent.Broken, "some reason of a newer release",
	} {
		s := why(&agent.TurnEnded{Reason: r, Steps: 7})
		require.NotEmpty(t, s)
		require.False(t, seen[s], s)
		seen[s] = true
	}
	for _, k := range []llm.Kind{
		llm.Auth, llm.Quota, llm.RateLimit, llm.ContextSize, llm.BadRequest, llm.Server, llm.Timeout, llm.Truncated,
		llm.Content, llm.Network, "some kind of a newer release",
	} {
		s := why(&agent.TurnEnded{Reason: agent.ModelFailed, Kind: k})
		require.Regexp(t, `(Please|Whoever runs me) `, s, "it says what to do")
		require.False(t, seen[s], s)
		seen[s] = true
	}
	require.Contains(t, ending(plain(noon), &agent.TurnEnded{Reason: agent.Broken, Detail: "no `hunter2`"}), "Details: `` no `[password]` ``")
}

func TestStatus(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []agent.Status{
		agent.OK, agent.Failed, agent.Invalid, agent.Refused, agent.Denied, agent.Expired, agent.TimedOut, agent.Stopped,
		agent.NotStarted, agent.Interrupted, "new",
	} {
		sign, words := status(s)
		require.NotEmpty(t, sign)
		require.False(t, seen[words], s)
		seen[words] = true
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                      "less than a second",
		999 * time.Millisecond: "less than a second",
		12 * time.Second:       "12 s",
		61 * time.Second:       "1 min 1 s",
		90 * time.Minute:       "1 h 30 min",
		50 * time.Hour:         "50 h 0 min",
	} {
		require.Equal(t, want, took(d))
	}
	for d, want := range map[time.Duration]string{
		-time.Second:      "",
		14 * time.Second:  "",
		16 * time.Second:  " 15 s",
		59 * time.Second:  " 45 s",
		119 * time.Second: " 1 min",
	} {
		require.Equal(t, want, elapsed(d))
	}
}

func TestCutting(t *testing.T) {
	require.Equal(t, "abc", fit("abc", 0))
	require.Equal(t, "ab…", fit("abcdef", 5))
	require.Equal(t, "日…", fit("日本語", 8))
	require.Equal(t, "a…", clip("abc", 2))
	require.Equal(t, "the key is ", settled("the key is sk-12"))
	require.Equal(t, "钥匙是", settled("钥匙是sk-12"))
	require.Equal(t, "short", tail("short", 10))
	require.Equal(t, "… end of it", tail("the very end of it", 11))
	require.Equal(t, "`a b`", plain(noon).code("a\n b"))
	require.Equal(t, "``` a``b ```", plain(noon).code("a``b"))
	require.Equal(t, "(nothing)", plain(noon).code(" \n"))
	require.Less(t, len(plain(noon).code(strings.Repeat("x", 1000))), 220)
}
