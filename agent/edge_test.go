package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// TestSamePreviewAskedAgain lets a call be asked again with the very preview that was approved before:
// the second answer counts too.
func TestSamePreviewAskedAgain(t *testing.T) {
	play(t, func(s *stage) {
		s.acting()
		previews := []string{"A", "B", "A", "A"}
		s.tools[1].Preview = func(context.Context, tools.Call) (tools.Preview, error) {
			p := tools.Preview{Kind: tools.Diff, Text: "diff", Digest: previews[0]}
			if len(previews) > 1 {
				previews = previews[1:]
			}
			return p, nil
		}
		s.tools[1].Run = func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, nil }
		s.model.calls("act now")
		s.model.says("done", 0)
		s.start()
		s.say("m1", "act")
		for range 2 {
			require.NoError(t, s.agent.Decide(t.Context(), thread, yes(bob)))
			synctest.Wait()
		}
		require.Len(t, events[agent.ApprovalAsked](s), 2)
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

// A slow log lets a test do something while a frame of a kind is being written.
type slow struct {
	store.Log
	kind   string
	during func()
}

func (l *slow) Append(ctx context.Context, session string, after store.Pos, f store.Frame) (store.Pos, error) {
	for _, e := range f.Events {
		if e.Kind == l.kind && l.during != nil {
			during := l.during
			l.during = nil
			go during()
			for range 1000 {
				runtime.Gosched() // until it waits for the session
			}
		}
	}
	return l.Log.Append(ctx, session, after, f)
}

// TestWordAtTheEnd lets somebody speak just while the worker is about to rest.
func TestWordAtTheEnd(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("one", 0)
		s.model.says("two", 0)
		log := &slow{Log: s.log, kind: "agent.TurnEnded"}
		s.log = log
		log.during = func() {
			_, err := s.agent.Say(context.WithoutCancel(t.Context()), thread, "m2", agent.UserSaid{By: bob, Text: "and?"})
			if err != nil {
				panic(err)
			}
		}
		s.start()
		s.say("m1", "hi")
		time.Sleep(20 * time.Millisecond) // less than the agent takes to look for what was left
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed, agent.Completed}, s.ended())
	})
}

// TestFullDiskCostsNothing keeps the disk full for an hour in the middle of a turn.
func TestFullDiskCostsNothing(t *testing.T) {
	play(t, func(s *stage) {
		log := &flaky{Log: s.log}
		s.log = log
		s.settings.Limits.Time = 2 * time.Hour
		s.model.then(func(context.Context, func(llm.Delta)) (*llm.Reply, error) {
			log.down.Store(true)
			return &llm.Reply{Text: "lost", Stop: llm.EndTurn}, nil
		})
		s.model.says("kept", 0)
		s.start()
		s.say("m1", "hi")
		time.Sleep(time.Hour)
		require.Len(t, s.model.asked, 1)
		log.down.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.Len(t, s.model.asked, 2)
	})
}

func TestModelsWordsAreMasked(t *testing.T) {
	play(t, func(s *stage) {
		const secret = "sk-very-secret"
		s.model.then(func(context.Context, func(llm.Delta)) (*llm.Reply, error) {
			return &llm.Reply{
				Text: "I know " + secret, Reasoning: secret, Stop: llm.ToolUse, Raw: args(`{"x":"` + secret + `"}`),
				Calls: []llm.Call{{ID: "p", Name: "look", Args: args(`{"arg":"` + secret + `"}`)}},
			}, nil
		})
		s.model.says("it is "+secret, 0)
		s.start(func(c *agent.Config) {
			c.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "***") }
		})
		s.say("m1", "hi")
		for _, m := range s.model.asked[1].Messages {
			require.NotContains(t, fmt.Sprint(m.Text, m.Reasoning, string(m.Raw)), secret)
			for _, c := range m.Calls {
				require.JSONEq(t, `{"arg":"***"}`, string(c.Args))
			}
		}
		require.Equal(t, "it is ***", events[agent.TurnEnded](s)[0].Text)
		require.Equal(t, []string{"1.1.1 invalid"}, s.statuses(), "what is shown would not be what runs")
		for e, err := range s.log.Read(t.Context(), thread, 0) {
			require.NoError(t, err)
			for _, v := range e.Events {
				require.NotContains(t, string(v.Data), secret)
			}
		}
	})
}

// TestToolsCanMask lets a tool cut its output in the middle of a secret, and keep the whole.
func TestToolsCanMask(t *testing.T) {
	play(t, func(s *stage) {
		const secret = "sk-very-secret"
		s.tool("tell", tools.Query, func(_ context.Context, c tools.Call, _ string) (tools.Result, error) {
			return tools.Result{Text: c.Masked("it is " + secret)[:10]}, nil
		})
		s.model.calls("tell x")
		s.model.says("done", 0)
		s.start(func(c *agent.Config) {
			c.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "********") }
		})
		s.say("m1", "hi")
		require.Equal(t, "it is ****", events[agent.ToolFinished](s)[0].Text)
	})
}

func TestTimeInLineIsNoWork(t *testing.T) {
	play(t, func(s *stage) {
		s.settings.Limits.Time = 10 * time.Minute
		s.model.says("one", 9*time.Minute)
		s.model.says("two", 9*time.Minute)
		s.model.says("three", 9*time.Minute)
		s.start(func(c *agent.Config) { c.Turns = 1 })
		s.say("m1", "first")
		for _, id := range []string{"test/T1/C1/2", "test/T1/C1/3"} {
			_, err := s.agent.Say(t.Context(), id, "m", agent.UserSaid{By: bob, Text: "next"})
			require.NoError(t, err)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		require.Len(t, s.model.asked, 3)
		require.Empty(t, s.open())
	})
}

func TestLargePreview(t *testing.T) {
	play(t, func(s *stage) {
		s.acting()
		s.tools[1].Preview = func(context.Context, tools.Call) (tools.Preview, error) {
			return tools.Preview{Kind: tools.Diff, Text: strings.Repeat("+ line\n", 10_000), Digest: "d"}, nil
		}
		s.model.calls("act now")
		s.model.says("in parts, then", 0)
		s.start()
		s.say("m1", "act")
		require.Empty(t, events[agent.ApprovalAsked](s), "nobody is asked about what cannot be shown")
		require.Contains(t, s.model.last(2), "smaller parts")
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

// TestPromptAfterRestart is R-037: a turn goes on under the prompt of now.
func TestPromptAfterRestart(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("never heard", time.Hour)
		s.model.says("hello", 0)
		s.start()
		s.say("m1", "hi")
		require.NoError(t, os.WriteFile(filepath.Join(s.settings.Dir, "AGENTS.md"), []byte("Use tabs."), 0o600))
		s.settings.ModelID = "acme-2"
		s.start()
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		system := s.model.asked[1].System
		require.Contains(t, system, "Use tabs.")
		require.Contains(t, system, "acme-2")
		require.Len(t, events[agent.Prompted](s), 2)
	})
}

func TestBudgetWithoutUsage(t *testing.T) {
	play(t, func(s *stage) {
		s.settings.Limits = agent.Limits{Tokens: 5000, Steps: 100}
		for i := range 100 {
			s.model.then(func(context.Context, func(llm.Delta)) (*llm.Reply, error) {
				c := llm.Call{ID: "p", Name: "look", Args: args(fmt.Sprintf(`{"arg":"%d"}`, i))}
				return &llm.Reply{Stop: llm.ToolUse, Calls: []llm.Call{c}}, nil
			})
		}
		s.start()
		s.say("m1", "go")
		require.Equal(t, []agent.Reason{agent.BudgetExhausted}, s.ended())
	})
}

// TestQuietWhileWaiting shows that a broken configuration does not keep a session busy that waits for
// a person.
func TestQuietWhileWaiting(t *testing.T) {
	play(t, func(s *stage) {
		s.acting()
		s.model.calls("act now")
		fault := false
		s.start(func(c *agent.Config) {
			c.Settings = func(string) (agent.Settings, error) {
				if fault {
					return agent.Settings{}, errors.New("no such channel")
				}
				return s.settings, nil
			}
		})
		s.say("m1", "act")
		fault = true
		changes := 0
		defer s.agent.Watch(func(string) { changes++ })()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Zero(t, changes)
	})
}

// TestStopNamesTheTurn shows that a late press on a turn's button does not stop the next.
func TestStopNamesTheTurn(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("one", 0)
		s.model.says("two", time.Minute)
		s.start()
		s.say("m1", "hi")
		s.say("m2", "again")
		require.ErrorIs(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob, Turn: 1}), agent.ErrOver)
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s2", agent.StopAsked{By: bob, Turn: 2}))
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed, agent.Cancelled}, s.ended())
	})
}

func args(s string) []byte { return []byte(s) }

// TestStrangeInstructions lets a checkout bring an AGENTS.md that cannot be used: the work goes on without.
func TestStrangeInstructions(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"leads out": func(path string) error { return os.Symlink("/etc/passwd", path) },
		"circles":   func(path string) error { return os.Symlink("AGENTS.md", path) },
		"no text":   func(path string) error { return os.WriteFile(path, []byte("a\x00b"), 0o600) },
	} {
		play(t, func(s *stage) {
			require.NoError(t, make(filepath.Join(s.settings.Dir, "AGENTS.md")))
			s.model.says("hello", 0)
			s.start()
			s.say("m1", "hi")
			require.Equal(t, []agent.Reason{agent.Completed}, s.ended(), name)
			require.NotContains(t, s.model.asked[0].System, "root:")
		})
	}
}
