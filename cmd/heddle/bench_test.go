package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/openai"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
	"github.com/heddle-bot/heddle/tools"
	"github.com/heddle-bot/heddle/tools/calc"
)

// These benchmarks measure what the program itself costs around a model that answers at once: with
// the real log on the real disk, and where it says so with the real client.

var boss = agent.User{ID: "U1", Name: "Alice"}

// A rig is an agent on a log on disk.
type rig struct {
	log   *bolt.Store
	agent *agent.Agent
	stop  func()
}

func newRig(b *testing.B, m llm.Model, prepare func(store.Log)) *rig {
	b.Helper()
	log, err := bolt.Open(filepath.Join(b.TempDir(), "heddle.db"), bolt.Config{})
	require.NoError(b, err)
	if prepare != nil {
		prepare(log)
	}
	sum, err := calc.New()
	require.NoError(b, err)
	registry, err := tools.NewRegistry(sum)
	require.NoError(b, err)
	settings := agent.Settings{
		Workspace: "main", Dir: b.TempDir(), Model: m, ModelName: "m",
		Limits: agent.Limits{Steps: 1 << 30, Tokens: 1 << 40, Time: time.Hour},
	}
	r := &rig{log: log}
	r.agent, err = agent.New(agent.Config{
		Log: log, Tools: registry, Replica: "bench", Turns: 1024,
		Settings: func(string) (agent.Settings, error) { return settings, nil },
	})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = r.agent.Run(ctx) })
	r.stop = sync.OnceFunc(func() {
		cancel()
		wg.Wait()
		require.NoError(b, log.Close())
	})
	b.Cleanup(r.stop)
	return r
}

func (r *rig) say(b *testing.B, session, id string) {
	_, err := r.agent.Say(context.Background(), session, id, agent.UserSaid{By: boss, Text: "go"})
	require.NoError(b, err)
}

// A calculator is a model that asks for steps sums and then answers.
type calculator struct {
	steps   int
	reached func(session string, step int)
}

func (c calculator) Generate(_ context.Context, r *llm.Request, _ func(llm.Delta)) (*llm.Reply, error) {
	step := 0
	for _, m := range r.Messages {
		if step++; m.Role == llm.User {
			step = 0
		}
	}
	step /= 2
	c.reached(r.Session, step)
	if step == c.steps {
		return &llm.Reply{Text: "done", Stop: llm.EndTurn}, nil
	}
	return &llm.Reply{Stop: llm.ToolUse, Calls: []llm.Call{sum(step)}}, nil
}

func sum(step int) llm.Call {
	return llm.Call{ID: fmt.Sprint("c", step), Name: "calc", Args: fmt.Appendf(nil, `{"expression":"1+%d"}`, step)}
}

// history appends a conversation of n messages to the session.
func history(b *testing.B, log store.Log, session string, n int) {
	b.Helper()
	var pos store.Pos
	add := func(events ...any) {
		f := store.Frame{Free: true, Time: time.Now()}
		for _, v := range events {
			e, err := agent.Encode(v)
			require.NoError(b, err)
			f.Events = append(f.Events, e)
		}
		var err error
		pos, err = log.Append(context.Background(), session, pos, f)
		require.NoError(b, err)
	}
	add(agent.Opened{Format: agent.Format, Workspace: "main"})
	text := strings.Repeat("some words of a conversation ", 10)
	for turn := 1; turn <= n/4; turn++ {
		call := agent.Call{ID: fmt.Sprintf("%d.1.1", turn), Provider: "c", Tool: "calc", Args: json.RawMessage(`{"expression":"1+1"}`)}
		add(agent.UserSaid{By: boss, Text: text})
		add(agent.TurnStarted{Turn: turn, Saw: pos, Model: "m"},
			agent.ModelSaid{Turn: turn, Step: 1, Saw: pos, Calls: []agent.Call{call}, Stop: llm.ToolUse},
			agent.ToolStarted{Call: call.ID},
			agent.ToolFinished{Call: call.ID, Status: agent.OK, Text: text},
			agent.ModelSaid{Turn: turn, Step: 2, Saw: pos, Text: text, Stop: llm.EndTurn},
			agent.TurnEnded{Turn: turn, Reason: agent.Completed, Text: text})
	}
}

// roundTripper answers each request for a chat completion with the next sum, as a stream.
type roundTripper struct{ step func() int }

func (t roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	delta := `{"content":"done"}`
	reason := "stop"
	if n := t.step(); n >= 0 {
		c := sum(n)
		args, err := json.Marshal(string(c.Args))
		if err != nil {
			return nil, err
		}
		delta = fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"function":{"name":"calc","arguments":%s}}]}`, c.ID, args)
		reason = "tool_calls"
	}
	body := fmt.Sprintf("data: {\"choices\":[{\"delta\":%s,\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", delta, reason)
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Content-Type": {"text/event-stream"}},
	}, nil
}

// BenchmarkStep is one step of a turn behind a history of so many messages: the request through the
// real client, a call, and its three durable frames. Each makes the history longer by two messages, so
// -benchtime=200x keeps it about as long as its name says.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			const session = "bench/T/C/1"
			step := -1
			done := make(chan struct{})
			m, err := openai.New(openai.Config{Model: "m", BaseURL: "http://127.0.0.1:1/v1", Transport: roundTripper{func() int {
				if step++; step == 1 {
					b.ResetTimer() // the first request encodes the history, once
				}
				if step <= b.N {
					return step
				}
				b.StopTimer()
				close(done)
				return -1
			}}})
			require.NoError(b, err)
			r := newRig(b, m, func(log store.Log) { history(b, log, session, n) })
			r.say(b, session, "m1")
			<-done
		})
	}
}

// BenchmarkFirstRequest is the time from a person's word to the model's request.
func BenchmarkFirstRequest(b *testing.B) {
	asked := make(chan struct{})
	r := newRig(b, calculator{0, func(string, int) { asked <- struct{}{} }}, nil)
	changed := make(chan struct{}, 1)
	defer r.agent.Watch(func(string) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for i := 0; b.Loop(); i++ {
		session := fmt.Sprint("bench/T/C/", i)
		r.say(b, session, "m1")
		<-asked
		b.StopTimer()
		for !r.over(b, session) { // or its end would be in the way of the next
			<-changed
		}
		b.StartTimer()
	}
}

// over reports whether the turn of a session has ended.
func (r *rig) over(b *testing.B, session string) bool {
	var last store.Event
	for e, err := range r.log.Read(b.Context(), session, 0) {
		require.NoError(b, err)
		for _, last = range e.Events { // there may be none
		}
	}
	return last.Kind == "agent.TurnEnded"
}

// BenchmarkTurns is turns of four calls each, in 256 sessions at once.
func BenchmarkTurns(b *testing.B) {
	const sessions, calls = 256, 4
	answered := make(chan string, sessions)
	m := calculator{calls, func(session string, step int) {
		if step == calls {
			answered <- session
		}
	}}
	r := newRig(b, m, nil)
	b.ResetTimer()
	said := 0
	for ; said < min(sessions, b.N); said++ {
		r.say(b, fmt.Sprint("bench/T/C/", said), "m1")
	}
	for range b.N {
		session := <-answered
		if said < b.N {
			go r.say(b, session, fmt.Sprint("m", said))
			said++
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// BenchmarkWaiting is the memory of turns that wait for the model.
func BenchmarkWaiting(b *testing.B) {
	const sessions = 512
	for b.Loop() {
		var waiting sync.WaitGroup
		waiting.Add(sessions)
		release := make(chan struct{})
		r := newRig(b, calculator{0, func(string, int) {
			waiting.Done()
			<-release
		}}, nil)
		before := inUse()
		for i := range sessions {
			r.say(b, fmt.Sprint("bench/T/C/", i), "m1")
		}
		waiting.Wait()
		b.ReportMetric(float64(inUse()-before)/sessions/1024, "KiB/turn")
		close(release)
		r.stop() // or its end would be measured with the next
	}
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// BenchmarkLoad is the fold of a session of 10,000 events from disk.
func BenchmarkLoad(b *testing.B) {
	const session = "bench/T/C/1"
	log, err := bolt.Open(filepath.Join(b.TempDir(), "heddle.db"), bolt.Config{})
	require.NoError(b, err)
	defer log.Close()
	history(b, log, session, 4*10_000/7)
	b.ResetTimer()
	for b.Loop() {
		s := agent.Session{ID: session}
		for e, err := range log.Read(b.Context(), session, 0) {
			require.NoError(b, err)
			require.NoError(b, s.Apply(e.Pos, e.Frame))
		}
	}
}

// BenchmarkStart is the time from the start of the program to its connection to Slack, with what it
// holds in memory when it is idle then, and the size of its file.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "heddle")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, ".") // as in Makefile
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(b, err, string(out))
	info, err := os.Stat(binary)
	require.NoError(b, err)
	w, err := newWorld(b.TempDir())
	require.NoError(b, err)
	defer w.close()
	require.NoError(b, w.configure())
	ready := func() int { return w.slack.Socket.Stats().Opened }

	var resident float64
	for b.Loop() {
		before := ready()
		p := exec.Command(binary, "serve")
		p.Dir, p.Env = w.dir, w.env
		require.NoError(b, p.Start())
		require.NoError(b, w.wait(func() bool { return ready() > before }))
		b.StopTimer()
		time.Sleep(200 * time.Millisecond) // until it is idle
		resident = max(resident, residentMiB(b, p.Process.Pid))
		require.NoError(b, p.Process.Signal(syscall.SIGTERM))
		require.NoError(b, p.Wait())
		b.StartTimer()
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/start")
	b.ReportMetric(resident, "MiB-resident")
	b.ReportMetric(float64(info.Size())/1e6, "MB-binary")
}

// residentMiB is the memory of a process that is in RAM, from Linux's /proc.
func residentMiB(b *testing.B, pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	_, rest, found := strings.Cut(string(data), "VmRSS:")
	require.True(b, found)
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(b, err)
	return float64(kib) / 1024
}
