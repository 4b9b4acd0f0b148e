package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

func TestShutdownWhileTheModelWrites(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("never heard", time.Hour)
		s.model.says("hello", 0)
		s.start()
		s.say("m1", "hi")
		s.halt()
		require.Empty(t, events[agent.ModelSaid](s))
		require.Equal(t, []string{thread}, s.open())
		s.start()
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended(), "it is asked again")
	})
}

func TestShutdownLetsToolsEnd(t *testing.T) {
	for grace, want := range map[time.Duration]agent.Status{time.Minute: agent.OK, time.Second: agent.Interrupted} {
		play(t, func(s *stage) {
			s.tool("slow", tools.Query, func(ctx context.Context, _ tools.Call, _ string) (tools.Result, error) {
				select {
				case <-time.After(10 * time.Second):
					return tools.Result{Text: "whole"}, nil
				case <-ctx.Done():
					return tools.Result{Text: "half"}, ctx.Err()
				}
			})
			s.model.calls("slow a")
			s.model.says("thanks", 0)
			s.start(func(c *agent.Config) { c.Grace = grace })
			s.say("m1", "go")
			s.halt()
			require.Equal(t, []string{"1.1.1 " + string(want)}, s.statuses())
			require.Empty(t, s.ended())
			s.start()
			require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		})
	}
}

// TestReadsOverlap is R-140: what only reads runs together, what acts alone, and results stand in
// the model's order.
func TestReadsOverlap(t *testing.T) {
	play(t, func(s *stage) {
		var now, most atomic.Int32
		wait := func(d time.Duration) func(context.Context, tools.Call, string) (tools.Result, error) {
			return func(context.Context, tools.Call, string) (tools.Result, error) {
				n := now.Add(1)
				defer now.Add(-1)
				most.Store(max(n, most.Load()))
				time.Sleep(d)
				return tools.Result{}, nil
			}
		}
		s.tool("read", tools.Query, wait(time.Second))
		s.tool("slowread", tools.Query, wait(2*time.Second))
		s.tool("write", tools.Action, wait(time.Second))
		s.model.calls("slowread a", "read b", "write a", "read c")
		s.model.says("done", 0)
		s.start()
		s.say("m1", "go")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 2, most.Swap(0))
		require.Equal(t, []string{"1.1.1 ok", "1.1.2 ok"}, s.statuses())
		require.NoError(t, s.agent.Decide(t.Context(), thread, agent.Decided{Call: "1.1.3", Yes: true, By: bob}))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 1, most.Load())
		require.Equal(t, []string{"1.1.1 ok", "1.1.2 ok", "1.1.3 ok", "1.1.4 ok"}, s.statuses())
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestTimeLimits(t *testing.T) {
	play(t, func(s *stage) {
		s.settings.Limits.Time = time.Minute
		s.model.says("once upon a time", time.Hour)
		s.start()
		s.say("m1", "a story")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.TimeUp}, s.ended())
		require.Equal(t, "once upo", events[agent.TurnEnded](s)[0].Text)
	})
	play(t, func(s *stage) {
		s.settings.Limits.Time = 30 * time.Second
		s.tool("long", tools.Query, func(ctx context.Context, _ tools.Call, _ string) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		})
		s.model.calls("long a")
		s.start()
		s.say("m1", "go")
		time.Sleep(30 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"1.1.1 timed_out"}, s.statuses())
		require.Equal(t, []agent.Reason{agent.TimeUp}, s.ended())
	})
}

func TestLoopsEnd(t *testing.T) {
	play(t, func(s *stage) {
		for range 5 {
			s.model.calls("look here")
		}
		s.start()
		s.say("m1", "go")
		require.Equal(t, []agent.Reason{agent.Repeated}, s.ended())
		require.Len(t, s.model.asked, 3)
		require.Contains(t, s.model.last(3), "change your approach")
		require.Equal(t, []string{"1.1.1 ok", "1.2.1 ok", "1.3.1 not_started"}, s.statuses())
	})
	play(t, func(s *stage) {
		for i := range 20 {
			s.model.calls(fmt.Sprint("look ", i))
		}
		s.settings.Limits.Steps = 7
		s.start()
		s.say("m1", "go")
		require.Equal(t, []agent.Reason{agent.MaxSteps}, s.ended())
		require.Len(t, s.model.asked, 7)
	})
}

func TestTurnsWaitInLine(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("one", time.Minute)
		s.model.says("two", time.Minute)
		s.start(func(c *agent.Config) { c.Turns = 1 })
		s.say("m1", "first")
		const other = "test/T1/C1/2"
		_, err := s.agent.Say(t.Context(), other, "m2", agent.UserSaid{By: bob, Text: "second"})
		require.NoError(t, err)
		synctest.Wait()
		require.True(t, s.agent.Live(other).Queued)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.False(t, s.agent.Live(other).Queued)
		require.Len(t, s.model.asked, 2)

		_, err = s.agent.Say(t.Context(), thread, "m3", agent.UserSaid{By: bob, Text: "third"})
		require.NoError(t, err)
		synctest.Wait()
		require.True(t, s.agent.Live(thread).Queued)
		require.NoError(t, s.agent.Stop(t.Context(), thread, "s1", agent.StopAsked{By: bob}), "who waits in line can be stopped at once")
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed, agent.Cancelled}, s.ended())
	})
}

func TestManySessions(t *testing.T) {
	play(t, func(s *stage) {
		const n = 100
		s.settings.Model = echo{}
		s.start()
		for i := range n {
			go func() {
				for j := range 3 {
					id := fmt.Sprint("test/T/C/", i)
					_, err := s.agent.Say(context.WithoutCancel(t.Context()), id, fmt.Sprint(j), agent.UserSaid{By: alice, Text: id})
					if err != nil {
						panic(err)
					}
					time.Sleep(time.Minute)
				}
			}()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		for i := range n {
			id := fmt.Sprint("test/T/C/", i)
			answers := 0
			for e, err := range s.log.Read(t.Context(), id, 0) {
				require.NoError(t, err)
				for _, v := range e.Events {
					if d, _ := agent.Decode(v); d != nil {
						if end, ok := d.(*agent.TurnEnded); ok {
							require.Equal(t, strings.Repeat("Alice: "+id+"\n", answers+1), end.Text)
							answers++
						}
					}
				}
			}
			require.Equal(t, 3, answers)
		}
	})
}

// echo answers with all that people have said.
type echo struct{}

func (echo) Generate(_ context.Context, r *llm.Request, _ func(llm.Delta)) (*llm.Reply, error) {
	var b strings.Builder
	for _, m := range r.Messages {
		if m.Role == llm.User {
			b.WriteString(m.Text + "\n")
		}
	}
	return &llm.Reply{Text: b.String(), Stop: llm.EndTurn}, nil
}

type artefacts map[string][]byte

func (a artefacts) PutArtefact(_ context.Context, data []byte) (string, error) {
	name := fmt.Sprint("a", len(data))
	a[name] = data
	return name, nil
}

func (a artefacts) Artefact(_ context.Context, name string) ([]byte, error) {
	if data, ok := a[name]; ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

func TestLongOutput(t *testing.T) {
	play(t, func(s *stage) {
		kept := artefacts{"foreign": []byte("another session's")}
		s.tool("long", tools.Query, func(context.Context, tools.Call, string) (tools.Result, error) {
			return tools.Result{Text: strings.Repeat("line\n", 10_000)}, nil
		})
		s.tool("page", tools.Query, func(_ context.Context, c tools.Call, name string) (tools.Result, error) {
			data, err := c.Artefact(name)
			return tools.Result{Text: fmt.Sprint(len(data))}, err
		})
		s.settings.Limits.Output = 1000
		s.model.calls("long a")
		s.model.calls("page a50000", "page foreign")
		s.model.says("done", 0)
		s.start(func(c *agent.Config) { c.Artefacts = kept })
		s.say("m1", "go")
		f := events[agent.ToolFinished](s)
		require.LessOrEqual(t, len(f[0].Text), 1000)
		require.Equal(t, "a50000", f[0].Artefact)
		require.Contains(t, f[0].Text, "artefact:a50000")
		require.Equal(t, "50000", f[1].Text)
		require.Equal(t, agent.Failed, f[2].Status, "a session reads its own artefacts only")
	})
}

func TestSecretsDoNotEnter(t *testing.T) {
	play(t, func(s *stage) {
		const secret = "xoxb-very-secret"
		s.tool("leak", tools.Query, func(context.Context, tools.Call, string) (tools.Result, error) {
			return tools.Result{Text: "it is " + secret, Note: secret}, errors.New(secret)
		})
		s.model.calls("leak a")
		s.model.fails(errors.New("bad key " + secret))
		s.start(func(c *agent.Config) {
			c.Redact = func(s string) string { return strings.ReplaceAll(s, secret, "***") }
		})
		s.say("m1", "use "+secret)
		require.Equal(t, []agent.Reason{agent.ModelFailed}, s.ended())
		for e, err := range s.log.Read(t.Context(), thread, 0) {
			require.NoError(t, err)
			for _, v := range e.Events {
				require.NotContains(t, string(v.Data), secret)
			}
		}
	})
}

func TestFaultsAreTold(t *testing.T) {
	play(t, func(s *stage) {
		s.model.then(func(context.Context, func(llm.Delta)) (*llm.Reply, error) { panic("boom") })
		s.model.says("fine", 0)
		s.start()
		s.say("m1", "hi")
		require.Equal(t, []agent.Reason{agent.Broken}, s.ended())
		s.say("m2", "still there?")
		require.Equal(t, []agent.Reason{agent.Broken, agent.Completed}, s.ended())
	})
	play(t, func(s *stage) {
		s.settings.Dir = "/nowhere/at/all"
		s.start()
		s.say("m1", "hi")
		require.Equal(t, []agent.Reason{agent.Broken}, s.ended())
		require.Contains(t, events[agent.TurnEnded](s)[0].Detail, "workspace")
	})
}

// TestRecord shows that a session with an audience stays open until all of it is shown.
func TestRecord(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("hello", 0)
		s.start(func(c *agent.Config) { c.Audience = true })
		seen := make(chan string, 100)
		defer s.agent.Watch(func(id string) { seen <- id })()
		s.say("m1", "hi")
		require.Equal(t, thread, <-seen)
		require.Equal(t, []string{thread}, s.open())
		last := func() (pos store.Pos) {
			for e, err := range s.log.Read(t.Context(), thread, 0) {
				require.NoError(t, err)
				pos = e.Pos
			}
			return pos
		}
		posted := store.Event{Kind: "bots.Posted", Data: []byte(`{}`)}
		require.NoError(t, s.agent.Record(t.Context(), thread, "k", last()-1, posted))
		require.Equal(t, []string{thread}, s.open(), "not all of it was shown")
		at := last()
		require.NoError(t, s.agent.Record(t.Context(), thread, "k", at, posted))
		require.Equal(t, at, last(), "the same key is recorded once")
		require.NoError(t, s.agent.Record(t.Context(), thread, "", at))
		require.Empty(t, s.open())
		at = last()
		require.NoError(t, s.agent.Record(t.Context(), thread, "", at))
		require.Equal(t, at, last(), "a free session is not freed again")
	})
}

// TestTakeover lets a second agent take a session from a first that still works on it.
func TestTakeover(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("from the first", time.Minute)
		s.model.says("from the second", 0)
		s.start()
		s.say("m1", "hi")
		first := s.halt
		s.halt = func() {}
		s.start()
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, events[agent.ModelSaid](s), 1, "the first is fenced")
		first()
	})
}
