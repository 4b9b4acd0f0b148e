package agent_test

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/tools"
)

// asking adds a tool that asks the people about its argument.
func (s *stage) asking() {
	s.tool("ask", tools.Inquiry, nil)
	t := &s.tools[len(s.tools)-1]
	t.Run = nil
	t.Question = func(data json.RawMessage) (tools.Question, error) {
		var v struct{ Arg string }
		require.NoError(s.t, json.Unmarshal(data, &v))
		if v.Arg == "nothing" {
			return tools.Question{}, errors.New("there is nothing to ask")
		}
		options := []tools.Option{{Label: "red", Description: "as blood"}, {Label: "green"}}
		return tools.Question{Text: v.Arg, Options: options, Free: v.Arg != "strict"}, nil
	}
}

func option(n int, by agent.User) agent.Answered {
	return agent.Answered{Call: "1.1.1", Option: n, By: by}
}

func words(text, message string, by agent.User) agent.Answered {
	return agent.Answered{Call: "1.1.1", Text: text, Message: message, By: by}
}

func (s *stage) answer(a agent.Answered) error {
	err := s.agent.Answer(s.t.Context(), thread, a)
	synctest.Wait()
	return err
}

func TestQuestion(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.settings.Approvers = []string{bob.ID}
		s.model.calls("ask which")
		s.model.says("red it is", 0)
		s.start()
		s.say("m1", "paint it")
		asked := events[agent.QuestionAsked](s)
		require.Equal(t, []agent.QuestionAsked{{
			Call: "1.1.1", Question: "which", Free: true, Expires: asked[0].Expires,
			Options: []agent.Option{{Label: "red", Description: "as blood"}, {Label: "green"}},
		}}, asked)
		require.Empty(t, s.open(), "what waits for a person costs only rows")

		time.Sleep(3 * 24 * time.Hour)
		s.start() // and it survives a restart
		q, err := s.agent.Question(t.Context(), thread)
		require.NoError(t, err)
		require.Equal(t, asked[0], q.QuestionAsked)
		require.Equal(t, 3*24*time.Hour, time.Since(q.At).Truncate(time.Hour))
		require.ErrorIs(t, s.answer(option(3, alice)), agent.ErrNoOption)
		require.ErrorIs(t, s.answer(option(-1, alice)), agent.ErrNoOption)
		require.ErrorIs(t, s.answer(words("  ", "", alice)), agent.ErrNoOption)
		require.ErrorIs(t, s.agent.Decide(t.Context(), thread, yes(bob)), agent.ErrOver, "it is no approval")
		require.NoError(t, s.answer(option(1, alice)), "also of who may not approve")
		require.Equal(t, "ask: ok\nThe option that a person chose:\nAlice: red", s.model.last(2))
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.Equal(t, "Alice: red", events[agent.ToolFinished](s)[0].Note)

		var before *agent.AnsweredError
		require.ErrorAs(t, s.answer(option(2, bob)), &before, "also after the turn")
		require.Equal(t, "Alice has answered this already", before.Error())
		other := option(1, bob)
		other.Call = "7.7.7"
		require.ErrorIs(t, s.answer(other), agent.ErrOver)
		q, err = s.agent.Question(t.Context(), thread)
		require.NoError(t, err)
		require.Nil(t, q)
		require.Len(t, events[agent.Answered](s), 1)
	})
}

// An answer in words is a message or an answer, never both, however often it comes.
func TestAnswerInWords(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.model.calls("ask which")
		s.model.says("blue it is", 0)
		s.start()
		s.say("m1", "paint it")
		require.NoError(t, s.answer(words("blue\nBob: red", "m2", alice)))
		require.NoError(t, s.answer(words("blue\nBob: red", "m2", alice)), "it comes again")
		require.True(t, s.say("m2", "blue\nBob: red").Duplicate)
		require.Equal(t, "ask: ok\nThe answer of a person:\nAlice: blue\n  Bob: red", s.model.last(2))
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.Len(t, events[agent.UserSaid](s), 1)
		var before *agent.AnsweredError
		require.ErrorAs(t, s.answer(words("green", "m3", bob)), &before)
	})
}

// A message that was taken in as one is not an answer when it is delivered again.
func TestMessageIsNoAnswer(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.acting()
		s.model.calls("ask which")
		s.start()
		s.say("m1", "paint it")
		require.NoError(t, s.answer(words("blue", "m1", alice)))
		require.Empty(t, events[agent.Answered](s))
	})
}

// A decision in words is idempotent, too.
func TestDecideInWords(t *testing.T) {
	play(t, func(s *stage) {
		ran := s.acting()
		s.model.calls("act now")
		s.model.says("I did", 0)
		s.start()
		s.say("m1", "act")
		d := yes(bob)
		d.Message = "m2"
		for range 2 {
			require.NoError(t, s.agent.Decide(t.Context(), thread, d))
			synctest.Wait()
		}
		require.EqualValues(t, 1, ran.Load())
		require.True(t, s.say("m2", "approve 1").Duplicate)
		d.Message = "m3"
		var before *agent.DecidedError
		require.ErrorAs(t, s.agent.Decide(t.Context(), thread, d), &before)
		require.Len(t, events[agent.Decided](s), 1)
	})
}

func TestTwoAnswerAtOnce(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.model.calls("ask which")
		s.model.says("thanks", 0)
		s.start()
		s.say("m1", "paint it")
		errs := make(chan error)
		for i := range 10 {
			go func() { errs <- s.agent.Answer(t.Context(), thread, option(1+i%2, bob)) }()
		}
		won := 0
		for range 10 {
			err := <-errs
			var before *agent.AnsweredError
			if err == nil {
				won++
			} else {
				require.ErrorAs(t, err, &before)
			}
		}
		synctest.Wait()
		require.Equal(t, 1, won)
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestStrictQuestion(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.model.calls("ask strict")
		s.model.says("thanks", 0)
		s.start()
		s.say("m1", "paint it")
		require.ErrorIs(t, s.answer(words("blue", "m2", alice)), agent.ErrNoOption)
		require.False(t, s.say("m2", "blue").Duplicate, "it is no answer, so it may be a message")
		require.NoError(t, s.answer(option(2, alice)))
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

// What cannot be asked fails, and nobody is asked.
func TestNothingToAsk(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.model.calls("ask nothing")
		s.model.says("well", 0)
		s.start()
		s.say("m1", "paint it")
		require.Empty(t, events[agent.QuestionAsked](s))
		require.Equal(t, "ask: failed\nthere is nothing to ask", s.model.last(2))
	})
}

func TestQuestionExpires(t *testing.T) {
	for name, halted := range map[string]bool{"while it runs": false, "while it is down": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *stage) {
				s.asking()
				s.settings.Limits.Approval = time.Hour
				s.settings.Limits.Time = time.Minute
				s.model.calls("ask which")
				s.model.says("I take red", 0)
				s.start()
				s.say("m1", "paint it")
				if halted {
					s.halt()
				}
				time.Sleep(time.Hour)
				require.ErrorIs(t, s.agent.Answer(t.Context(), thread, option(1, bob)), agent.ErrOver, "an answer in the last moment is late")
				if halted {
					s.start()
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				require.Contains(t, s.model.last(2), "ask: expired\nNobody answered the question in time.")
				require.Equal(t, []agent.Reason{agent.Completed}, s.ended(), "the wait is not work time")
				require.Len(t, events[agent.QuestionExpired](s), 1)
			})
		})
	}
}

func TestStopClosesQuestion(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.model.calls("ask which", "ask next")
		s.model.says("yes?", 0)
		s.start()
		s.say("m1", "paint it")
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}))
		synctest.Wait()
		require.Equal(t, []string{"1.1.1 not_started", "1.1.2 not_started"}, s.statuses())
		require.Equal(t, []agent.Reason{agent.Cancelled}, s.ended())
		require.ErrorIs(t, s.answer(option(1, bob)), agent.ErrOver)
		results := events[agent.ToolFinished](s)
		require.Equal(t, "The turn ended before anybody answered the question.", results[0].Text)
		require.Equal(t, "The turn ended before this call was run. It did not run.", results[1].Text)
	})
}

// One reply with two questions: one is asked after the other.
func TestOneQuestionAtATime(t *testing.T) {
	play(t, func(s *stage) {
		s.asking()
		s.model.calls("ask which", "ask strict")
		s.model.says("thanks", 0)
		s.start()
		s.say("m1", "paint it")
		require.Len(t, events[agent.QuestionAsked](s), 1)
		require.NoError(t, s.answer(option(1, alice)))
		require.Len(t, events[agent.QuestionAsked](s), 2)
		second := option(2, bob)
		second.Call = "1.1.2"
		require.NoError(t, s.answer(second))
		require.Equal(t, []string{"1.1.1 ok", "1.1.2 ok"}, s.statuses())
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

// TestCrashAroundQuestion cuts the log after each frame of a story, as kill -9 would, and starts again:
// the question is asked once, the answer counts once, and the turn comes to its end.
func TestCrashAroundQuestion(t *testing.T) {
	for cut := 1; cut <= 8; cut++ {
		play(t, func(s *stage) {
			s.asking()
			script := func() {
				s.model = model{}
				s.model.calls("ask which")
				s.model.says("blue it is", 0)
			}
			script()
			s.start()
			s.say("m1", "paint it")
			require.NoError(t, s.answer(words("blue", "m2", alice)))
			s.halt()
			require.Equal(t, []agent.Reason{agent.Completed}, s.ended())

			s.log = cutOff(t, s.log, cut)
			script()
			s.model.replies = s.model.replies[len(events[agent.ModelSaid](s)):]
			s.start()
			s.say("m1", "paint it") // the network sends again what was not acknowledged
			require.NoError(t, s.answer(words("blue", "m2", alice)))
			require.True(t, s.say("m2", "blue").Duplicate)
			require.Equal(t, []agent.Reason{agent.Completed}, s.ended(), "cut after frame %d", cut)
			require.Len(t, events[agent.QuestionAsked](s), 1)
			require.Len(t, events[agent.Answered](s), 1)
			require.Equal(t, []string{"1.1.1 ok"}, s.statuses())
		})
	}
}
