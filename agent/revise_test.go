package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/tools"
)

// amend has Alice change what she has said.
func (s *stage) amend(id, of, text string) {
	s.t.Helper()
	require.NoError(s.t, s.agent.Amend(s.t.Context(), thread, id, of, agent.UserSaid{By: alice, Text: text}))
	synctest.Wait()
}

func (s *stage) withdraw(of string) {
	s.t.Helper()
	require.NoError(s.t, s.agent.Withdraw(s.t.Context(), thread, of))
	synctest.Wait()
}

// pass lets time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// read returns what people and the program said in the n-th request, counted from 1.
func (m *model) read(n int) (texts []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, msg := range m.asked[n-1].Messages {
		if msg.Role == llm.User {
			texts = append(texts, msg.Text)
		}
	}
	return texts
}

// requests returns how many there were so far.
func (m *model) requests() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

const edited = "(Heddle) A person has edited a message that you have read. It began:\n"

// What waits is changed where it waits: the model never reads what it was.
func TestAmendWhatWaits(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("one", time.Minute)
		s.model.says("two", time.Minute)
		s.model.says("three", 0)
		s.start()
		s.say("m1", "first")
		s.say("m2", "steer left", agent.Steer)
		s.say("m3", "later this", agent.Queue)
		s.amend("e1", "m2", "steer right")
		s.amend("e2", "m3", "later that")
		s.amend("e3", "m3", "later all")
		pass(2 * time.Minute)
		require.Equal(t, []string{"Alice: first", "Alice: steer right"}, s.model.read(2))
		require.Equal(t, []string{"Alice: first", "Alice: steer right", "Alice: later all"}, s.model.read(3))
		require.Equal(t, []agent.Reason{agent.Completed, agent.Completed}, s.ended())
	})
}

// What the model has read in the turn that runs it is told at the next step, also if it is writing the
// answer just now.
func TestAmendWhatIsBeingAnswered(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("red", time.Minute)
		s.model.says("two", time.Minute)
		s.model.says("blue", 0)
		s.start()
		s.say("m1", "paint it\nred")
		pass(time.Second)
		s.say("m2", "quickly")
		pass(time.Minute)
		require.Equal(t, 2, s.model.requests())
		s.amend("e1", "m2", "slowly")
		s.amend("e2", "m1", "paint it\nblue")
		require.Equal(t, 2, s.model.requests(), "the model is not interrupted")
		pass(time.Minute)
		require.Equal(t, []string{
			"Alice: paint it\n  red", "Alice: quickly",
			edited + "Alice: quickly\nWhat they want now is all of this:\nAlice: slowly",
			edited + "Alice: paint it\n  red\nWhat they want now is all of this:\nAlice: paint it\n  blue",
		}, s.model.read(3))
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

// An edit of what was answered long ago begins nothing, and is told with the next request.
func TestAmendWhatIsAnswered(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("hi", 0)
		s.model.says("I see", 0)
		s.start()
		s.say("m1", "hello")
		s.amend("e1", "m1", "good morning")
		pass(time.Minute)
		require.Equal(t, 1, s.model.requests())
		require.Len(t, s.ended(), 1)
		require.Empty(t, s.open(), "nothing is left to do")
		require.ErrorIs(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: alice}), agent.ErrOver)
		s.halt()
		s.start()
		s.say("m2", "and?")
		require.Equal(t, []string{
			"Alice: hello", edited + "Alice: hello\nWhat they want now is all of this:\nAlice: good morning", "Alice: and?",
		}, s.model.read(2))
	})
}

// The same words, a message that is not known, another's message, a second delivery: nothing.
func TestAmendNothing(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("hi", 0)
		s.start()
		s.say("m1", "hello")
		amend := func(id, of string, by agent.User, text string) error {
			return s.agent.Amend(t.Context(), thread, id, of, agent.UserSaid{By: by, Text: text})
		}
		require.NoError(t, amend("e1", "m1", alice, "hello"))
		require.ErrorIs(t, amend("e2", "m0", alice, "x"), agent.ErrUnknown)
		require.ErrorIs(t, amend("e3", "m1", bob, "x"), agent.ErrUnknown)
		require.Empty(t, events[agent.Amended](s))
		require.NoError(t, amend("e4", "m1", alice, "hello!"))
		require.NoError(t, amend("e5", "m1", alice, "hello?"))
		require.NoError(t, amend("e4", "m1", alice, "hello!"))
		all := events[agent.Amended](s)
		require.Len(t, all, 2)
		require.Equal(t, "hello?", all[1].Text)
	})
}

// Only the beginning of the old words is repeated, and secrets do not come in by an edit.
func TestAmendIsMasked(t *testing.T) {
	play(t, func(s *stage) {
		long := ""
		for range 300 {
			long += "ü"
		}
		s.model.says("hi", 0)
		s.start(func(c *agent.Config) {
			c.Redact = func(s string) string {
				if s == "hunter2" {
					return "[password]"
				}
				return s
			}
		})
		s.say("m1", long)
		s.amend("e1", "m1", "hunter2")
		e := events[agent.Amended](s)[0]
		require.Equal(t, "[password]", e.Text)
		require.Equal(t, edited+"Alice: "+long[:400]+"…\nWhat they want now is all of this:\nAlice: [password]", e.Note)
	})
}

// Who deletes the message that asked ends the turn, once what runs has ended.
func TestWithdrawEndsTheTurn(t *testing.T) {
	play(t, func(s *stage) {
		s.tool("stubborn", tools.Query, func(ctx context.Context, _ tools.Call, _ string) (tools.Result, error) {
			<-ctx.Done()
			time.Sleep(2 * time.Second)
			return tools.Result{Text: "so far"}, ctx.Err()
		})
		s.model.calls("stubborn a", "stubborn b")
		s.model.says("next", 0)
		s.start()
		s.say("m1", "go")
		s.withdraw("m1")
		require.Empty(t, s.ended(), "what runs has to end")
		s.say("m2", "do that instead")
		pass(2 * time.Second)
		require.Equal(t, []string{"1.1.1 stopped", "1.1.2 stopped"}, s.statuses())
		require.Equal(t, []agent.Reason{agent.TakenBack, agent.Completed}, s.ended())
		require.Equal(t, []string{"Alice: go",
			"(Heddle) A message that you have read was deleted. Take it as not said, and do not act on it. It began:\nAlice: go",
			"(Heddle) The message that asked for this was deleted, and the turn was ended. Do not go on with it unless asked.",
			"Alice: do that instead"}, s.model.read(2))
		require.ErrorIs(t, s.agent.Withdraw(t.Context(), thread, "m1"), agent.ErrUnknown, "delivered again")
		require.Len(t, events[agent.Withdrawn](s), 1)
	})
}

// What waits for approval is withdrawn with the message, also while the program does not run.
func TestWithdrawAnApproval(t *testing.T) {
	for name, down := range map[string]bool{"at once": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *stage) {
				s.tool("act", tools.Action, func(context.Context, tools.Call, string) (tools.Result, error) {
					t.Error("it ran")
					return tools.Result{}, nil
				})
				s.model.calls("act a", "act b")
				s.start()
				s.say("m1", "go")
				require.Len(t, events[agent.ApprovalAsked](s), 1)
				if down {
					s.halt()
				}
				s.withdraw("m1")
				if down {
					s.start()
				}
				require.Equal(t, []string{"1.1.1 not_started", "1.1.2 not_started"}, s.statuses())
				require.Equal(t, []agent.Reason{agent.TakenBack}, s.ended())
				require.ErrorIs(t, s.agent.Decide(t.Context(), thread, agent.Decided{Call: "1.1.1", Yes: true, By: bob}), agent.ErrOver)
				require.Empty(t, s.open())
			})
		})
	}
}

// A message that waits is removed; one that was taken in is told as withdrawn, and the turn goes on.
func TestWithdrawOthers(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("one", time.Minute)
		s.model.says("two", time.Minute)
		s.model.says("three", time.Minute)
		s.start()
		s.say("m1", "go")
		s.say("m2", "by car")
		s.say("m3", "never mind")
		s.say("m4", "then rest", agent.Queue)
		s.withdraw("m3")
		s.withdraw("m4")
		pass(time.Minute)
		require.Equal(t, []string{"Alice: go", "Alice: by car"}, s.model.read(2))
		s.withdraw("m2")
		pass(time.Minute)
		require.Equal(t, []string{"Alice: go", "Alice: by car",
			"(Heddle) A message that you have read was deleted. Take it as not said, and do not act on it. It began:\nAlice: by car",
		}, s.model.read(3))
		pass(time.Hour)
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended(), "nothing begins of what was withdrawn")
		require.Empty(t, s.open())
	})
}

// Of two who asked together one is enough for the turn to go on.
func TestWithdrawOneOfTwo(t *testing.T) {
	play(t, func(s *stage) {
		s.start()
		s.halt()
		s.say("m1", "paint it red")
		s.say("m2", "and wash it")
		s.say("m3", "not me")
		s.withdraw("m3")
		s.model.says("red", time.Minute)
		s.model.says("washed", time.Minute)
		s.start()
		require.Equal(t, []string{"Alice: paint it red", "Alice: and wash it"}, s.model.read(1))
		s.withdraw("m1")
		require.Empty(t, s.ended())
		pass(time.Minute)
		require.Contains(t, s.model.last(2), "Take it as not said, and do not act on it. It began:\nAlice: paint it red")
		s.withdraw("m2")
		require.Equal(t, []agent.Reason{agent.TakenBack}, s.ended())
	})
}

// Who waits in line and withdraws is gone at once, without a request to the model; the turn that the
// thread shows comes to its end.
func TestWithdrawInLine(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("first", time.Minute)
		s.model.says("third", 0)
		s.start(func(c *agent.Config) { c.Turns = 1 })
		_, err := s.agent.Say(t.Context(), "test/T1/C1/2", "m0", agent.UserSaid{By: bob, Text: "first"})
		require.NoError(t, err)
		synctest.Wait()
		s.say("m1", "second")
		require.True(t, s.agent.Live(thread).Queued)
		s.withdraw("m1")
		require.Equal(t, []agent.Reason{agent.TakenBack}, s.ended())
		s.say("m2", "third")
		pass(time.Minute)
		require.Equal(t, []agent.Reason{agent.TakenBack, agent.Completed}, s.ended())
		require.NotContains(t, s.model.read(2), "Alice: second")
	})
}
