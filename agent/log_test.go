package agent_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// A flaky log fails while it is told to.
type flaky struct {
	store.Log
	down atomic.Bool
}

func (f *flaky) Append(ctx context.Context, session string, after store.Pos, frame store.Frame) (store.Pos, error) {
	if f.down.Load() {
		return 0, errors.New("no space left on device")
	}
	return f.Log.Append(ctx, session, after, frame)
}

// TestLogFails lets the disk be full in the middle of a turn: when there is room again the turn is
// brought to its end without a restart.
func TestLogFails(t *testing.T) {
	play(t, func(s *stage) {
		log := &flaky{Log: s.log}
		s.log = log
		ran := 0
		s.tool("fill", tools.Query, func(context.Context, tools.Call, string) (tools.Result, error) {
			ran++
			log.down.Store(true)
			return tools.Result{}, nil
		})
		s.model.calls("fill a")
		s.start()
		s.say("m1", "go")
		_, err := s.agent.Say(t.Context(), thread, "m2", agent.UserSaid{By: alice, Text: "hello?"})
		require.Error(t, err, "what is not in the log is not taken")
		require.Empty(t, s.ended())
		s.model.says("it may or may not have run", 0)
		log.down.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.Equal(t, []string{"1.1.1 interrupted"}, s.statuses())
		require.Equal(t, 1, ran)
	})
}
