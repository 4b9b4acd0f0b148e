// Package meter counts what the agent does, for Prometheus.
//
// Nearly all of it is counted from the frames that are appended to the log: a Meter wraps the log, so nothing
// else has to remember to count, and what is counted is what happened. Labels are few and bounded: models and
// tools by the names that the configuration and the program give them, never sessions, people or what a model
// makes up. Counters begin anew with the program, as Prometheus expects; the approvals that are open are
// read from the log at the start.
//
// A metric's name and labels are in people's dashboards, and are for ever.
package meter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
)

// A Meter counts. Its methods may be called concurrently.
type Meter struct {
	registry *prometheus.Registry
	counters
	tools map[string]bool // that have a label of their own

	mu     sync.Mutex
	models map[string]string               // that answer, by session
	called map[string]map[string]time.Time // open approvals: when they were asked, by session and call
}

type counters struct {
	turns, steps, tokens, calls, decisions, failures *prometheus.CounterVec
	asked                                            prometheus.Counter
	took                                             *prometheus.HistogramVec
	appends                                          prometheus.Histogram
}

// New returns a Meter. tools are the names that have a label of their own; others are counted as "unknown".
func New(tools ...string) *Meter {
	m := &Meter{registry: prometheus.NewRegistry(), tools: map[string]bool{}, models: map[string]string{}, called: map[string]map[string]time.Time{}}
	for _, name := range tools {
		m.tools[name] = true
	}
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "heddle_" + name, Help: help}, labels)
	}
	seconds := prometheus.ExponentialBuckets(0.001, 4, 10) // to some 4 min
	m.counters = counters{
		turns:     count("turns_total", "Turns that ended, by reason.", "reason"),
		steps:     count("steps_total", "Replies of models, by the model's name in the configuration.", "model"),
		tokens:    count("tokens_total", "Tokens of requests and replies; cached ones are among the input.", "model", "kind"),
		calls:     count("tool_calls_total", "Tool calls that ended, by tool and status.", "tool", "status"),
		decisions: count("approvals_decided_total", "Approvals that were answered, or not in time.", "answer"),
		failures:  count("append_failures_total", "Appends to the log that failed; conflicts and duplicates are everyday.", "kind"),
		asked:     prometheus.NewCounter(prometheus.CounterOpts{Name: "heddle_approvals_asked_total", Help: "Approvals that were asked for."}),
		took:      prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "heddle_tool_seconds", Help: "How long tool calls ran.", Buckets: seconds}, []string{"tool"}),
		appends:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "heddle_append_seconds", Help: "How long an append to the log took until it was durable.", Buckets: prometheus.ExponentialBuckets(0.0001, 4, 8)}),
	}
	c := m.counters
	m.registry.MustRegister(c.turns, c.steps, c.tokens, c.calls, c.decisions, c.failures, c.asked, c.took, c.appends,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "heddle_approvals_open", Help: "Approvals that wait for a person."}, func() float64 { n, _ := m.open(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "heddle_approval_oldest_seconds", Help: "How long the oldest of them has waited; 0 without one."}, func() float64 { _, age := m.open(); return age.Seconds() }))
	return m
}

// A Network is how the connection to a network is.
type Network struct {
	Connected  bool
	Reconnects int
	LastEvent  time.Time // zero: none yet
}

// Watch has the connection of a network told. It is called once for each, before Handler answers.
func (m *Meter) Watch(name string, now func() Network) {
	gauge := func(metric, help string, value func(Network) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "heddle_network_" + metric, Help: help, ConstLabels: prometheus.Labels{"network": name}}, func() float64 { return value(now()) })
	}
	m.registry.MustRegister(
		gauge("connected", "1 if events can come in.", func(n Network) float64 {
			if n.Connected {
				return 1
			}
			return 0
		}),
		gauge("reconnects", "Connections that had to be replaced since the start.", func(n Network) float64 { return float64(n.Reconnects) }),
		gauge("last_event_timestamp_seconds", "When the latest event came in; 0 if none has.", func(n Network) float64 {
			if n.LastEvent.IsZero() {
				return 0
			}
			return float64(n.LastEvent.UnixMilli()) / 1000
		}))
}

// Handler answers with all of it.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// open returns how many approvals wait, and since when the oldest does.
func (m *Meter) open() (n int, age time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, calls := range m.called {
		for _, at := range calls {
			n, age = n+1, max(age, time.Since(at))
		}
	}
	return n, age
}

// Begin reads the approvals that are open from the log.
func (m *Meter) Begin(ctx context.Context, log store.Log) error {
	for s, err := range log.Sessions(ctx, store.Query{}) {
		if err != nil {
			return fmt.Errorf("counting open approvals: %w", err)
		}
		if s.Free && s.Due.IsZero() {
			continue // nothing waits there
		}
		for e, err := range log.Read(ctx, s.Session, 0) {
			if err != nil {
				return fmt.Errorf("counting open approvals: %w", err)
			}
			for _, ev := range e.Events {
				if v, err := agent.Decode(ev); err == nil && v != nil { // what is not understood is told elsewhere
					m.follow(s.Session, e.Time, v)
				}
			}
		}
	}
	return nil
}

// follow keeps track of what the counts of later events need.
func (m *Meter) follow(session string, at time.Time, v any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	done := func(call string) { delete(m.called[session], call) }
	switch v := v.(type) {
	case *agent.TurnStarted:
		m.models[session] = v.Model
	case *agent.ApprovalAsked:
		if m.called[session] == nil {
			m.called[session] = map[string]time.Time{}
		}
		m.called[session][v.Call] = at
	case *agent.Decided:
		done(v.Call)
	case *agent.ApprovalExpired:
		done(v.Call)
	case *agent.ToolFinished:
		done(v.Call)
	case *agent.TurnEnded:
		delete(m.called, session)
		delete(m.models, session)
	}
}

// count counts one event that was appended.
func (m *Meter) count(session string, v any) {
	switch v := v.(type) {
	case *agent.ModelSaid:
		model := m.model(session)
		m.steps.WithLabelValues(model).Inc()
		m.used(model, v.Usage)
	case *agent.Compacted:
		m.used(m.model(session), v.Usage)
	case *agent.CompactFailed:
		m.used(m.model(session), v.Usage)
	case *agent.ApprovalAsked:
		m.asked.Inc()
	case *agent.Decided:
		answer := "denied"
		if v.Yes {
			answer = "approved"
		}
		m.decisions.WithLabelValues(answer).Inc()
	case *agent.ApprovalExpired:
		m.decisions.WithLabelValues("expired").Inc()
	case *agent.ToolFinished:
		tool := "unknown"
		if m.tools[v.Tool] {
			tool = v.Tool
		}
		m.calls.WithLabelValues(tool, string(v.Status)).Inc()
		if v.Took > 0 {
			m.took.WithLabelValues(tool).Observe(v.Took.Seconds())
		}
	case *agent.TurnEnded:
		m.turns.WithLabelValues(string(v.Reason)).Inc()
	}
}

func (m *Meter) model(session string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name := m.models[session]; name != "" {
		return name
	}
	return "unknown"
}

func (m *Meter) used(model string, u llm.Usage) {
	m.tokens.WithLabelValues(model, "input").Add(float64(u.Input))
	m.tokens.WithLabelValues(model, "cached").Add(float64(u.Cached))
	m.tokens.WithLabelValues(model, "output").Add(float64(u.Output))
}

// Log returns a log of which the appends are counted.
func (m *Meter) Log(log store.Log) store.Log { return counted{log, m} }

type counted struct {
	store.Log
	m *Meter
}

// Append implements store.Log.
func (c counted) Append(ctx context.Context, session string, after store.Pos, f store.Frame) (store.Pos, error) {
	begin := time.Now()
	pos, err := c.Log.Append(ctx, session, after, f)
	switch {
	case errors.Is(err, store.ErrConflict):
		c.m.failures.WithLabelValues("conflict").Inc()
	case errors.Is(err, store.ErrDuplicate):
		c.m.failures.WithLabelValues("duplicate").Inc()
	case err != nil:
		c.m.failures.WithLabelValues("error").Inc()
	default:
		c.m.appends.Observe(time.Since(begin).Seconds())
		for _, ev := range f.Events {
			if v, err := agent.Decode(ev); err == nil && v != nil {
				c.m.count(session, v)
				c.m.follow(session, f.Time, v)
			}
		}
	}
	return pos, err
}
