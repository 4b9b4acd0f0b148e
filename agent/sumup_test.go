package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/tools"
)

// chatter fills the conversation with n questions and answers.
func (s *stage) chatter(n int) {
	for i := range n {
		s.model.says(fmt.Sprintf("answer %d %s", i, strings.Repeat("long ", 400)), 0)
		s.say(fmt.Sprint("c", len(s.model.asked)), fmt.Sprintf("question %d", i))
	}
}

func first(r *llm.Request) string { return r.Messages[0].Text }

// TestSumUpWhenFull is the whole way of.
func TestSumUpWhenFull(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		s.chatter(8)
		s.settings.Window = 8000
		s.model.says("the people asked questions", 0)
		s.model.says("and this", 0)
		s.start()
		s.say("m", "what did I ask?")
		require.Len(t, s.model.asked, 10)
		asked, then := s.model.asked[8], s.model.asked[9]
		require.True(t, asked.NoCalls)
		require.Equal(t, then.Tools, asked.Tools)
		require.Equal(t, then.System, asked.System)
		require.Equal(t, "Alice: question 0", first(asked))
		require.Contains(t, s.model.last(9), "Write a summary")
		require.Contains(t, first(then), "the people asked questions")
		require.Equal(t, "Alice: what did I ask?", s.model.last(10))

		c := events[agent.Compacted](s)
		require.Len(t, c, 1)
		require.Equal(t, c[0].Replaced, len(asked.Messages)-1)
		kept := s.model.asked[7].Messages[c[0].Replaced:]
		for i, m := range kept {
			require.Equal(t, m.Text, then.Messages[i+1].Text)
		}
		end := events[agent.TurnEnded](s)[8]
		require.Equal(t, agent.Completed, end.Reason)
		require.Equal(t, llm.Usage{Input: 20, Output: 2}, end.Usage, "of the summary too")

		s.model.says("yes", 0)
		s.say("m2", "go on")
		require.Len(t, s.model.asked, 11, "there is room now")
	})
}

// TestSumUpInsideATurn fills the window with what tools bring.
func TestSumUpInsideATurn(t *testing.T) {
	play(t, func(s *stage) {
		s.settings.Window = 8000
		s.tool("dump", tools.Query, func(_ context.Context, _ tools.Call, arg string) (tools.Result, error) {
			return tools.Result{Text: arg + strings.Repeat(" much", 900)}, nil
		})
		s.start()
		for i := range 3 {
			s.model.calls(fmt.Sprint("dump ", i))
		}
		s.model.says("I have dumped 0", 0)
		s.model.calls("dump 3")
		s.model.says("I have dumped 0 and 1", 0)
		s.model.says("done", 0)
		s.say("m", "dump it all")
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.Len(t, events[agent.Compacted](s), 2)
		last := s.model.asked[6]
		require.Contains(t, first(last), "I have dumped 0 and 1")
		for _, m := range last.Messages[1:] {
			require.NotContains(t, m.Text, "summed up", "there is one summary")
		}
	})
}

// TestNoSummary leaves everything as it was, and does not try again in the same turn.
func TestNoSummary(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		s.chatter(8)
		s.settings.Window = 8000
		s.start()
		s.model.fails(&llm.Error{Kind: llm.Server, Message: "overloaded"})
		s.model.calls("look a")
		s.model.says("all the same", 0)
		s.say("m", "more")
		require.Equal(t, agent.Completed, s.ended()[8])
		require.Contains(t, events[agent.CompactFailed](s)[0].Detail, "overloaded")
		require.Len(t, s.model.asked, 11)
		require.Equal(t, "Alice: question 0", first(s.model.asked[10]))
	})
}

func TestStopWhileSummingUp(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		s.chatter(8)
		s.settings.Window = 8000
		s.start()
		s.model.says("a summary that takes long", time.Minute)
		s.say("m", "more")
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s", agent.StopAsked{By: bob}))
		synctest.Wait()
		require.Equal(t, agent.Cancelled, s.ended()[8])
		s.settings.Window = 0
		s.model.says("yes", 0)
		s.say("m2", "again")
		require.Equal(t, "Alice: question 0", first(s.model.asked[9]))
		require.Empty(t, events[agent.Compacted](s))
	})
}

func TestCrashWhileSummingUp(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		s.chatter(8)
		s.settings.Window = 8000
		s.start()
		s.model.says("a summary that takes long", time.Hour)
		s.say("m", "more")
		s.halt()
		s.model.says("a summary", 0)
		s.model.says("an answer", 0)
		s.start()
		require.Equal(t, agent.Completed, s.ended()[8])
		require.Contains(t, first(s.model.asked[10]), "a summary")
	})
}

// TestTooLargeForTheModel is R-105: a refused request makes room, once.
func TestTooLargeForTheModel(t *testing.T) {
	tooLarge := &llm.Error{Kind: llm.ContextSize, Message: "at most 8192 tokens"}
	dump := func(s *stage) {
		s.tool("dump", tools.Query, func(context.Context, tools.Call, string) (tools.Result, error) {
			return tools.Result{Text: strings.Repeat("much ", 1000)}, nil
		})
		s.start()
		s.chatter(3)
		s.model.calls("dump x")
		s.model.fails(tooLarge)
		s.model.says("a summary", 0)
	}
	play(t, func(s *stage) {
		dump(s)
		s.model.says("done", 0)
		s.say("m", "dump it")
		require.Equal(t, agent.Completed, s.ended()[3])
		then := s.model.asked[6]
		require.Contains(t, first(then), "a summary")
		require.Less(t, len(s.model.last(7)), 2500)
		require.Contains(t, s.model.last(7), "cut by Heddle")
	})
	play(t, func(s *stage) {
		dump(s)
		s.model.fails(tooLarge)
		s.say("m", "dump it")
		require.Equal(t, agent.ModelFailed, s.ended()[3])
		require.Equal(t, llm.ContextSize, events[agent.TurnEnded](s)[3].Kind)
	})
}

func TestSumUpWhenAsked(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		require.ErrorIs(t, s.agent.Compact(t.Context(), thread, "c0", bob), agent.ErrOver)
		s.chatter(1)
		require.NoError(t, s.agent.Compact(t.Context(), thread, "c1", bob))
		synctest.Wait()
		require.Equal(t, agent.NotSummedUp, s.ended()[1])
		require.Contains(t, events[agent.TurnEnded](s)[1].Detail, "not enough")

		s.chatter(5)
		s.model.says("they asked", 0)
		for range 2 { // as networks do
			require.NoError(t, s.agent.Compact(t.Context(), thread, "c2", bob))
			synctest.Wait()
		}
		require.Equal(t, agent.SummedUp, s.ended()[len(s.ended())-1])
		require.Len(t, events[agent.Compacted](s), 1)
		require.Empty(t, s.open())
		n := len(s.model.asked)
		s.model.says("yes", 0)
		s.say("m", "go on")
		require.Contains(t, first(s.model.asked[n]), "they asked")
		for _, m := range s.model.asked[n].Messages {
			require.NotContains(t, m.Text, "(Heddle) The turn ended")
		}
	})
}

// TestSumUpAskedDuringATurn does it at the next step, or when the turn is over if there is none.
func TestSumUpAskedDuringATurn(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		s.chatter(5)
		s.model.says("an answer", time.Minute)
		s.model.says("a summary", 0)
		s.say("m", "go")
		require.NoError(t, s.agent.Compact(t.Context(), thread, "c", bob))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed, agent.SummedUp}, s.ended()[5:])
	})
}
