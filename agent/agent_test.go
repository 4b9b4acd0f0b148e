package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
	"github.com/heddle-bot/heddle/tools"
)

const thread = "test/T1/C1/1"

var (
	alice = agent.User{ID: "U1", Name: "Alice"}
	bob   = agent.User{ID: "U2", Name: "Bob"}
)

// A stage is an agent with a scripted model and a few tools, in a synctest bubble.
type stage struct {
	t        *testing.T
	log      store.Log
	agent    *agent.Agent
	settings agent.Settings
	model    model
	tools    []tools.Tool
	starts   int
	halt     func()
}

// A model answers each request with the next of its replies.
type model struct {
	mu      sync.Mutex
	replies []func(ctx context.Context, emit func(llm.Delta)) (*llm.Reply, error)
	asked   []*llm.Request
}

func (m *model) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	m.mu.Lock()
	if len(m.asked) >= len(m.replies) {
		m.mu.Unlock()
		return nil, fmt.Errorf("request %d has no reply in the script", len(m.asked)+1)
	}
	next := m.replies[len(m.asked)]
	m.asked = append(m.asked, r)
	m.mu.Unlock()
	if emit == nil {
		emit = func(llm.Delta) {}
	}
	return next(ctx, emit)
}

// last returns the newest message of the n-th request, counted from 1.
func (m *model) last(n int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.asked[n-1]
	return r.Messages[len(r.Messages)-1].Text
}

func (m *model) then(f func(ctx context.Context, emit func(llm.Delta)) (*llm.Reply, error)) {
	m.replies = append(m.replies, f)
}

// says has the model answer with text, after the given time.
func (m *model) says(text string, after time.Duration) {
	m.then(func(ctx context.Context, emit func(llm.Delta)) (*llm.Reply, error) {
		half := len(text) / 2
		emit(llm.Delta{Text: text[:half]})
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(after):
		}
		emit(llm.Delta{Text: text[half:]})
		return &llm.Reply{Text: text, Stop: llm.EndTurn, Usage: llm.Usage{Input: 10, Output: 1}}, nil
	})
}

// calls has the model ask for tools, written "name argument".
func (m *model) calls(calls ...string) {
	m.then(func(context.Context, func(llm.Delta)) (*llm.Reply, error) {
		r := &llm.Reply{Stop: llm.ToolUse, Usage: llm.Usage{Input: 10, Output: 1}}
		for i, c := range calls {
			name, arg, _ := strings.Cut(c, " ")
			data, err := json.Marshal(map[string]string{"arg": arg})
			if err != nil {
				return nil, err
			}
			r.Calls = append(r.Calls, llm.Call{ID: fmt.Sprint("p", i), Name: name, Args: data})
		}
		return r, nil
	})
}

func (m *model) fails(err error) {
	m.then(func(context.Context, func(llm.Delta)) (*llm.Reply, error) { return nil, err })
}

// tool adds a tool with one string argument.
func (s *stage) tool(name string, e tools.Effect, run func(ctx context.Context, c tools.Call, arg string) (tools.Result, error)) {
	arg := func(data json.RawMessage) string {
		var v struct{ Arg string }
		require.NoError(s.t, json.Unmarshal(data, &v))
		return v.Arg
	}
	t := tools.Tool{
		Name: name, Description: name + " is a tool of this test.", Effect: e, Timeout: time.Minute,
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["arg"],
			"properties":{"arg":{"type":"string","description":"what it is about"}}}`),
		Title: func(data json.RawMessage) string { return name + " " + arg(data) },
		Run: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			return run(ctx, c, arg(c.Args))
		},
	}
	if e == tools.Action {
		t.Preview = func(_ context.Context, c tools.Call) (tools.Preview, error) {
			return tools.Preview{Kind: tools.Text, Text: "would " + arg(c.Args), Digest: "digest of " + arg(c.Args)}, nil
		}
	}
	s.tools = append(s.tools, t)
}

// play runs a story in a bubble. The story sets the stage up and calls start.
func play(t *testing.T, story func(s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{t: t, log: newLog(), halt: func() {}}
		s.settings = agent.Settings{Workspace: "shop", Dir: t.TempDir(), ModelName: "fast", Model: &s.model}
		s.tool("look", tools.Query, func(_ context.Context, _ tools.Call, arg string) (tools.Result, error) {
			return tools.Result{Text: "seen " + arg}, nil
		})
		defer func() { s.halt() }()
		story(s)
	})
}

// start starts an agent on the stage's log, as a new process would.
func (s *stage) start(change ...func(*agent.Config)) {
	s.halt()
	registry, err := tools.NewRegistry(s.tools...)
	require.NoError(s.t, err)
	s.starts++
	c := agent.Config{
		Log: s.log, Tools: registry, Replica: fmt.Sprint("r", s.starts),
		Settings: func(string) (agent.Settings, error) { return s.settings, nil },
	}
	for _, f := range change {
		f(&c)
	}
	s.agent, err = agent.New(c)
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error)
	go func() { ended <- s.agent.Run(ctx) }()
	s.halt = sync.OnceFunc(func() {
		cancel()
		require.NoError(s.t, <-ended)
	})
	synctest.Wait()
}

func (s *stage) say(id, text string, busy ...agent.Busy) agent.Said {
	said := agent.UserSaid{By: alice, Text: text}
	if len(busy) > 0 {
		said.Busy = busy[0]
	}
	r, err := s.agent.Say(s.t.Context(), thread, id, said)
	require.NoError(s.t, err)
	synctest.Wait()
	return r
}

// events returns all events of the session of type T, in order.
func events[T any](s *stage) []T {
	var all []T
	for e, err := range s.log.Read(context.Background(), thread, 0) {
		require.NoError(s.t, err)
		for _, v := range e.Events {
			d, err := agent.Decode(v)
			require.NoError(s.t, err)
			if p, ok := d.(*T); ok {
				all = append(all, *p)
			}
		}
	}
	return all
}

// ended returns why the turns have ended so far.
func (s *stage) ended() (reasons []agent.Reason) {
	for _, e := range events[agent.TurnEnded](s) {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

func (s *stage) statuses() (all []string) {
	for _, f := range events[agent.ToolFinished](s) {
		all = append(all, f.Call+" "+string(f.Status))
	}
	return all
}

// open returns the sessions that the log holds to be open.
func (s *stage) open() (ids []string) {
	for id, err := range s.log.Open(context.Background(), time.Now()) {
		require.NoError(s.t, err)
		ids = append(ids, id)
	}
	return ids
}

func TestModelDecides(t *testing.T) {
	play(t, func(s *stage) {
		s.model.calls("look here")
		s.model.calls("look there")
		s.model.says("it is there", 0)
		s.start()
		s.say("m1", "where is it?")
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
		require.Equal(t, "Alice: where is it?", s.model.last(1))
		require.Equal(t, "look: ok\nseen here", s.model.last(2))
		require.Equal(t, "look: ok\nseen there", s.model.last(3))
		end := events[agent.TurnEnded](s)[0]
		require.Equal(t, "it is there", end.Text)
		require.Equal(t, 3, end.Steps)
		require.Equal(t, llm.Usage{Input: 30, Output: 3}, end.Usage)
		require.Empty(t, s.open(), "an idle session costs only rows")

		require.True(t, s.say("m1", "where is it?").Duplicate)
		require.Len(t, s.ended(), 1, "a message delivered twice is one")
	})
}

func TestWordsDuringATurn(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("first", time.Minute)
		s.model.says("second", time.Minute)
		s.model.says("third", time.Minute)
		s.start()
		require.False(t, s.say("m1", "do this").Running)
		require.True(t, s.say("m2", "later that", agent.Queue).Running)
		require.True(t, s.say("m3", "and this", agent.Steer).Running)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, s.ended(), "a steering word has come in, so the answer is not the last")
		require.Equal(t, "Alice: and this", s.model.last(2))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.Equal(t, []agent.Reason{agent.Completed, agent.Completed}, s.ended())
		require.Equal(t, "Alice: later that", s.model.last(3), "a queued word begins a turn of its own")
	})
}

func TestInterrupt(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("once upon a time", time.Minute)
		s.model.says("short", 0)
		s.start()
		s.say("m1", "tell me a story")
		require.Equal(t, "once upo", s.agent.Live(thread).Text)
		s.say("m2", "no, be brief", agent.Interrupt)
		said := events[agent.ModelSaid](s)
		require.Equal(t, "once upo", said[0].Text)
		require.True(t, said[0].Partial)
		require.Equal(t, "Alice: no, be brief", s.model.last(2))
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestFailuresAreResults(t *testing.T) {
	play(t, func(s *stage) {
		s.tool("crash", tools.Query, func(context.Context, tools.Call, string) (tools.Result, error) { panic("boom") })
		s.tool("fail", tools.Query, func(context.Context, tools.Call, string) (tools.Result, error) {
			return tools.Result{}, errors.New("network timeout")
		})
		s.model.calls("crash a", "fail b", "lok c")
		s.model.says("sorry", 0)
		s.start()
		s.say("m1", "go")
		require.Equal(t, []string{"1.1.1 failed", "1.1.2 failed", "1.1.3 invalid"}, s.statuses())
		require.Contains(t, s.model.last(2), "look", "it is told the nearest name")
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestModelFailures(t *testing.T) {
	for kind, want := range map[llm.Kind]agent.Reason{
		llm.Auth: agent.ModelFailed, llm.ContextSize: agent.ModelFailed, llm.Empty: agent.NoResponse, llm.Content: agent.ContentFiltered,
	} {
		play(t, func(s *stage) {
			s.model.fails(&llm.Error{Kind: kind, Message: "what it said"})
			s.model.says("hello again", 0)
			s.start()
			s.say("m1", "hi")
			require.Equal(t, []agent.Reason{want}, s.ended())
			require.Equal(t, kind, events[agent.TurnEnded](s)[0].Kind)
			require.Contains(t, events[agent.TurnEnded](s)[0].Detail, "what it said")
			s.say("m2", "again")
			require.Equal(t, []agent.Reason{want, agent.Completed}, s.ended(), "the thread lives on")
		})
	}
}

func newLog() store.Log { return storetest.NewMemory() }
