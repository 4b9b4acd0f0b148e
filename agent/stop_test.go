package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/tools"
)

func TestStopKeepsWhatWasWritten(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("once upon a time", time.Minute)
		s.model.says("yes?", 0)
		s.start()
		s.say("m1", "tell me a story")
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}))
		synctest.Wait()
		end := events[agent.TurnEnded](s)[0]
		require.Equal(t, agent.Cancelled, end.Reason)
		require.Equal(t, bob, end.By)
		require.Equal(t, "once upo", end.Text)
		require.ErrorIs(t, s.agent.Stop(t.Context(), thread, "s2", agent.StopAsked{By: bob}), agent.ErrOver)

		s.say("m2", "go on")
		r := s.model.asked[1]
		require.Equal(t, "once upo", r.Messages[1].Text, "what was shown is in the history")
		require.Contains(t, r.Messages[2].Text, "stopped")
	})
}

func TestStopEndsTools(t *testing.T) {
	play(t, func(s *stage) {
		s.tool("long", tools.Query, func(ctx context.Context, _ tools.Call, _ string) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{Text: "so far"}, ctx.Err()
		})
		s.model.calls("long a", "bad b")
		s.start()
		s.say("m1", "go")
		require.Len(t, s.agent.Live(thread).Calls, 1)
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: alice}))
		synctest.Wait()
		require.Equal(t, []string{"1.1.1 stopped", "1.1.2 not_started"}, s.statuses())
		require.Contains(t, events[agent.ToolFinished](s)[0].Text, "so far")
		require.Equal(t, []agent.Reason{agent.Cancelled}, s.ended())
	})
}

// TestStopDeliveredAgain shows that a stop stops once, also across a restart.
func TestStopDeliveredAgain(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("once upon a time", time.Minute)
		s.model.says("hello", time.Minute)
		s.start()
		s.say("m1", "a story")
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}))
		synctest.Wait()
		s.say("m2", "hi")
		s.halt()
		s.model.says("hello", time.Minute)
		s.start()
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Cancelled, agent.Completed}, s.ended())
	})
}

// TestWordsAfterAStop shows that what is said after a stop is not stopped with the turn, however long
// that takes to end.
func TestWordsAfterAStop(t *testing.T) {
	play(t, func(s *stage) {
		s.tool("stubborn", tools.Query, func(ctx context.Context, _ tools.Call, _ string) (tools.Result, error) {
			<-ctx.Done()
			time.Sleep(2 * time.Second)
			return tools.Result{}, ctx.Err()
		})
		s.model.calls("stubborn a")
		s.model.says("of course", 0)
		s.start()
		s.say("m1", "go")
		s.say("m2", "and hurry")
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}))
		s.say("m3", "do that instead")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Cancelled, agent.Completed}, s.ended())
		require.Equal(t, "Alice: do that instead", s.model.last(2))
		require.Equal(t, "(Heddle) A person stopped this turn. Do not go on with it unless asked.",
			s.model.asked[1].Messages[4].Text)
	})
}

// TestDecideAfterAStop shows that nobody approves what is being stopped, though the turn has not ended.
func TestDecideAfterAStop(t *testing.T) {
	play(t, func(s *stage) {
		s.tool("act", tools.Action, func(context.Context, tools.Call, string) (tools.Result, error) {
			t.Error("it ran")
			return tools.Result{}, nil
		})
		s.model.calls("act a")
		s.start()
		s.say("m1", "go")
		s.halt()
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}))
		require.ErrorIs(t, s.agent.Decide(t.Context(), thread, agent.Decided{Call: "1.1.1", Yes: true, By: bob}), agent.ErrOver)
		s.start()
		require.Equal(t, []agent.Reason{agent.Cancelled}, s.ended())
		require.Empty(t, events[agent.Decided](s))
	})
}
