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

// acting adds a tool that acts, counted.
func (s *stage) acting() *atomic.Int32 {
	var ran atomic.Int32
	s.tool("act", tools.Action, func(_ context.Context, c tools.Call, arg string) (tools.Result, error) {
		if c.Digest != "digest of "+arg {
			return tools.Result{}, tools.ErrChanged
		}
		ran.Add(1)
		return tools.Result{Text: "done " + arg, Note: "1 thing"}, nil
	})
	return &ran
}

func yes(by agent.User) agent.Decided { return agent.Decided{Call: "1.1.1", Yes: true, By: by} }

func TestApproval(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		s.settings.Approvers = []string{"role:2", bob.ID}
		s.model.calls("act now")
		s.model.says("I did", 0)
		s.start()
		s.say("m1", "act")
		asked := events[agent.ApprovalAsked](s)[0]
		require.Equal(t, "would now", asked.Preview)
		require.Equal(t, "act now", asked.Title)
		require.Equal(t, []string{"role:2", bob.ID}, asked.Approvers)
		require.Zero(t, ran.Load())
		require.Empty(t, s.open(), "what waits for a person costs only rows")

		time.Sleep(3 * 24 * time.Hour)
		s.start() // and it survives a restart
		require.Empty(t, s.agent.Live(thread))
		ctx := t.Context()
		require.ErrorIs(t, s.agent.Decide(ctx, thread, yes(alice)), agent.ErrNotAllowed)
		other := yes(alice)
		other.As = []string{"role:1", "2"}
		require.ErrorIs(t, s.agent.Decide(ctx, thread, other), agent.ErrNotAllowed)
		stale := yes(bob)
		stale.Digest = "digest of before"
		require.ErrorIs(t, s.agent.Decide(ctx, thread, stale), agent.ErrOver)
		require.NoError(t, s.agent.Decide(ctx, thread, yes(bob)))
		var before *agent.DecidedError
		require.ErrorAs(t, s.agent.Decide(ctx, thread, yes(bob)), &before)
		require.Equal(t, "Bob has approved this already", before.Error())
		synctest.Wait()
		require.EqualValues(t, 1, ran.Load())
		require.Equal(t, "act: ok\ndone now", s.model.last(2))
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.ErrorAs(t, s.agent.Decide(ctx, thread, yes(bob)), &before, "also after the turn")
		unknown := yes(bob)
		unknown.Call = "7.7.7"
		require.ErrorIs(t, s.agent.Decide(ctx, thread, unknown), agent.ErrOver)
	})
}

func TestTwoClickAtOnce(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		s.model.calls("act now")
		s.model.says("I did", 0)
		s.start()
		s.say("m1", "act")
		errs := make(chan error)
		for range 10 {
			go func() { errs <- s.agent.Decide(t.Context(), thread, yes(bob)) }()
		}
		won := 0
		for range 10 {
			if err := <-errs; err == nil {
				won++
			} else {
				var before *agent.DecidedError
				require.ErrorAs(t, err, &before)
			}
		}
		synctest.Wait()
		require.Equal(t, 1, won)
		require.EqualValues(t, 1, ran.Load())
	})
}

func TestDenied(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		s.model.calls("act now")
		s.model.says("as you wish", 0)
		s.start()
		s.say("m1", "act")
		no := agent.Decided{Call: "1.1.1", By: bob, Reason: "not on a Friday"}
		require.NoError(t, s.agent.Decide(t.Context(), thread, no))
		synctest.Wait()
		require.Zero(t, ran.Load())
		require.Contains(t, s.model.last(2), "act: denied\n")
		require.Contains(t, s.model.last(2), "not on a Friday")
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestExpiry(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		s.settings.Limits.Approval = time.Hour
		s.model.calls("act now")
		s.model.says("nobody was there", 0)
		s.start()
		s.say("m1", "act")
		s.halt()
		time.Sleep(time.Hour)
		require.ErrorIs(t, s.agent.Decide(t.Context(), thread, yes(bob)), agent.ErrOver, "a click in the last moment is late")
		s.start()
		synctest.Wait()
		require.Zero(t, ran.Load())
		require.Contains(t, s.model.last(2), "act: expired\n")
		require.NotContains(t, s.model.last(2), "denied")
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestExpiryWhileRunning(t *testing.T) {
	play(t, func(s *stage) {
		s.acting()
		s.settings.Limits.Approval = time.Hour
		s.model.calls("act now")
		s.model.says("nobody was there", 0)
		s.start()
		s.say("m1", "act")
		time.Sleep(time.Hour + 2*time.Second)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestChangedUnderApproval(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		digest := "before"
		s.tools[1].Preview = func(context.Context, tools.Call) (tools.Preview, error) {
			return tools.Preview{Kind: tools.Diff, Text: "diff " + digest, Digest: digest}, nil
		}
		s.tools[1].Run = func(_ context.Context, c tools.Call) (tools.Result, error) {
			require.Equal(t, digest, c.Digest)
			ran.Add(1)
			return tools.Result{}, nil
		}
		s.model.calls("act now")
		s.model.says("I did", 0)
		s.start()
		s.say("m1", "act")
		digest = "after"
		require.NoError(t, s.agent.Decide(t.Context(), thread, yes(bob)))
		synctest.Wait()
		require.Zero(t, ran.Load(), "what was approved is not what would run")
		asked := events[agent.ApprovalAsked](s)
		require.Len(t, asked, 2)
		require.True(t, asked[1].Again)
		require.Equal(t, "diff after", asked[1].Preview)

		old := yes(bob)
		old.Digest = "before"
		var before *agent.DecidedError
		require.ErrorAs(t, s.agent.Decide(t.Context(), thread, old), &before, "a second click on the old card")
		require.NoError(t, s.agent.Decide(t.Context(), thread, yes(bob)))
		synctest.Wait()
		require.EqualValues(t, 1, ran.Load())
	})
}

func TestImpossibleCallIsNotAsked(t *testing.T) {
	play(t, func(s *stage) {
		s.acting()
		s.tools[1].Preview = func(context.Context, tools.Call) (tools.Preview, error) {
			return tools.Preview{}, errors.New("there is no such file")
		}
		s.model.calls("act now")
		s.model.says("oh", 0)
		s.start()
		s.say("m1", "act")
		require.Empty(t, events[agent.ApprovalAsked](s))
		require.Equal(t, "act: failed\nthere is no such file", s.model.last(2))
	})
}

// TestCrash cuts the log after each frame of a story, as kill -9 would, and starts again: the tool
// that acts never runs twice, and the turn comes to an end that is told.
func TestCrash(t *testing.T) {
	for cut := 1; cut <= 11; cut++ {
		play(t, func(s *stage) {
			ran := s.acting()
			script := func() {
				s.model = model{}
				s.model.calls("look first", "act now")
				for range 3 {
					s.model.says("I did", 0)
				}
			}
			script()
			s.start()
			s.say("m1", "act")
			decide := func() error { return s.agent.Decide(t.Context(), thread, yes1(bob)) }
			require.NoError(t, decide())
			synctest.Wait()
			s.halt()
			require.EqualValues(t, 1, ran.Load())

			whole := s.log
			s.log = cutOff(t, whole, cut)
			acted := started(s) // whether the effect had happened is not known then: say it had
			if !acted {
				ran.Store(0)
			}
			script()
			if len(events[agent.ModelSaid](s)) > 0 { // it is not asked again for what it has said
				s.model.replies = s.model.replies[1:]
			}
			s.start()
			s.say("m1", "act") // the network sends again what was not acknowledged
			if err := decide(); err != nil {
				var before *agent.DecidedError
				require.True(t, errors.As(err, &before) || errors.Is(err, agent.ErrOver), "%v", err)
			}
			synctest.Wait()
			require.EqualValues(t, 1, ran.Load(), "cut after frame %d", cut)
			require.Equal(t, []agent.Reason{agent.Completed}, s.ended(), "cut after frame %d", cut)
			require.Len(t, s.statuses(), 2)
			if acted && len(events[agent.ToolFinished](s)) == 2 && cut < 10 {
				require.Contains(t, s.statuses(), "1.1.2 interrupted")
			}
		})
	}
}

func yes1(by agent.User) agent.Decided { return agent.Decided{Call: "1.1.2", Yes: true, By: by} }

// cutOff returns a log with the first n frames of the thread.
func cutOff(t *testing.T, from store.Log, n int) store.Log {
	to := newLog()
	var pos store.Pos
	for e, err := range from.Read(t.Context(), thread, 0) {
		require.NoError(t, err)
		if n--; n < 0 {
			break
		}
		pos, err = to.Append(t.Context(), thread, pos, e.Frame)
		require.NoError(t, err)
	}
	return to
}

// started reports whether the acting call has started in the log.
func started(s *stage) bool {
	for _, e := range events[agent.ToolStarted](s) {
		if e.Call == "1.1.2" {
			return true
		}
	}
	return false
}

// A role may decide. Which one somebody had is not kept: it is of that moment.
func TestApprovalByRole(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		s.settings.Approvers = []string{"role:2"}
		s.model.calls("act now")
		s.model.says("I did", 0)
		s.start()
		s.say("m1", "act")
		require.ErrorIs(t, s.agent.Decide(t.Context(), thread, yes(bob)), agent.ErrNotAllowed)
		d := yes(bob)
		d.As = []string{"role:1", "role:2"}
		require.NoError(t, s.agent.Decide(t.Context(), thread, d))
		synctest.Wait()
		require.EqualValues(t, 1, ran.Load())
		require.Empty(t, events[agent.Decided](s)[0].As)
	})
}
