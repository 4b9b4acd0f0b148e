package meter_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/meter"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

// A sheet is a log that is counted.
type sheet struct {
	t   *testing.T
	m   *meter.Meter
	log store.Log
	pos map[string]store.Pos
}

func newSheet(t *testing.T, log store.Log) *sheet {
	m := meter.New("shell", "read")
	require.NoError(t, m.Begin(t.Context(), log))
	return &sheet{t, m, m.Log(log), map[string]store.Pos{}}
}

// append appends the events as one frame, made that long ago.
func (s *sheet) append(session string, ago time.Duration, events ...any) {
	f := store.Frame{Time: time.Now().Add(-ago), Due: time.Now().Add(time.Hour), Free: true}
	for _, v := range events {
		ev, err := agent.Encode(v)
		require.NoError(s.t, err)
		f.Events = append(f.Events, ev)
	}
	pos, err := s.log.Append(s.t.Context(), session, s.pos[session], f)
	require.NoError(s.t, err)
	s.pos[session] = pos
}

// tells returns what is told of the metrics whose names begin so, without help.
func (s *sheet) tells(prefix string) string {
	rec := httptest.NewRecorder()
	s.m.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	var lines []string
	for line := range strings.Lines(rec.Body.String()) {
		if strings.HasPrefix(line, prefix) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func openLog(t *testing.T) *bolt.Store {
	log, err := bolt.Open(filepath.Join(t.TempDir(), "log.db"), bolt.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	return log
}

func TestCounts(t *testing.T) {
	s := newSheet(t, openLog(t))
	const a, b = "slack/T/C/1", "web/local/page/2"
	s.append(a, 0, agent.Opened{Format: agent.Format}, agent.UserSaid{Text: "do it"}, agent.TurnStarted{Turn: 1, Model: "fast"})
	s.append(a, 0, agent.ModelSaid{Usage: llm.Usage{Input: 100, Cached: 60, Output: 7}, Model: "vendor-fast-2026", Calls: []agent.Call{{ID: "1.1.1", Tool: "shell"}}})
	s.append(a, 90*time.Second, agent.ApprovalAsked{Call: "1.1.1", Tool: "shell"})
	s.append(b, 0, agent.TurnStarted{Turn: 1, Model: "fast"})
	s.append(b, 30*time.Second, agent.ApprovalAsked{Call: "1.1.1", Tool: "shell"})
	require.Contains(t, s.tells("heddle_approvals_open"), "heddle_approvals_open 2\n")
	require.Regexp(t, `heddle_approval_oldest_seconds 9[0-9]\.`, s.tells("heddle_approval_oldest"))
	s.append(a, 0, agent.Decided{Call: "1.1.1", Yes: true})
	s.append(a, 0, agent.ToolFinished{Call: "1.1.1", Tool: "shell", Status: agent.OK, Took: 2 * time.Second})
	s.append(a, 0, agent.ToolFinished{Call: "1.1.2", Tool: "rm -rf made up by a model", Status: agent.Invalid})
	s.append(a, 0, agent.TurnEnded{Turn: 1, Reason: agent.Completed})
	s.append(b, 0, agent.ApprovalExpired{Call: "1.1.1"}, agent.TurnEnded{Turn: 1, Reason: agent.Cancelled})

	require.Equal(t, "heddle_turns_total{reason=\"completed\"} 1\nheddle_turns_total{reason=\"stopped\"} 1\n", s.tells("heddle_turns_total"))
	require.Equal(t, "heddle_steps_total{model=\"fast\"} 1\n", s.tells("heddle_steps_total"))
	require.Equal(t, "heddle_tokens_total{kind=\"cached\",model=\"fast\"} 60\nheddle_tokens_total{kind=\"input\",model=\"fast\"} 100\nheddle_tokens_total{kind=\"output\",model=\"fast\"} 7\n", s.tells("heddle_tokens_total"))
	require.Equal(t, "heddle_tool_calls_total{status=\"invalid\",tool=\"unknown\"} 1\nheddle_tool_calls_total{status=\"ok\",tool=\"shell\"} 1\n", s.tells("heddle_tool_calls_total"))
	require.Equal(t, "heddle_approvals_asked_total 2\n", s.tells("heddle_approvals_asked"))
	require.Equal(t, "heddle_approvals_decided_total{answer=\"approved\"} 1\nheddle_approvals_decided_total{answer=\"expired\"} 1\n", s.tells("heddle_approvals_decided"))
	require.Equal(t, "heddle_tool_seconds_sum{tool=\"shell\"} 2\n", s.tells("heddle_tool_seconds_sum"))
	require.Contains(t, s.tells("heddle_approvals_open"), " 0\n")
	require.Contains(t, s.tells("heddle_approval_oldest"), " 0\n")
	require.Contains(t, s.tells("heddle_append_seconds_count"), " 10\n")
	require.NotRegexp(t, regexp.MustCompile(`slack/T|vendor|rm -rf`), s.tells(""))
}

// Approvals that were open before the program was started are counted.
func TestOpenApprovalsOutliveTheProgram(t *testing.T) {
	log := openLog(t)
	s := newSheet(t, log)
	s.append("slack/T/C/1", time.Hour, agent.TurnStarted{Turn: 1, Model: "fast"}, agent.ApprovalAsked{Call: "1.1.1"}, agent.ApprovalAsked{Call: "1.1.2"}, agent.Decided{Call: "1.1.2"})
	again := newSheet(t, log)
	require.Contains(t, again.tells("heddle_approvals_open"), " 1\n")
	require.Regexp(t, `heddle_approval_oldest_seconds 36[0-9][0-9]\.`, again.tells("heddle_approval_oldest"))
	require.Contains(t, again.tells("heddle_approvals_asked"), " 0\n")
}

func TestFailuresAndNetworks(t *testing.T) {
	s := newSheet(t, openLog(t))
	s.append("slack/T/C/1", 0, agent.TurnStarted{Turn: 1})
	_, err := s.log.Append(t.Context(), "slack/T/C/1", 0, store.Frame{})
	require.ErrorIs(t, err, store.ErrConflict)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gone"))
	_, err = s.log.Append(ctx, "slack/T/C/1", s.pos["slack/T/C/1"], store.Frame{})
	require.Error(t, err)
	require.Contains(t, s.tells("heddle_append_failures"), "{kind=\"conflict\"} 1\n")
	s.m.Watch("slack", func() meter.Network { return meter.Network{Connected: true, Reconnects: 3, LastEvent: time.Unix(5, 0)} })
	s.m.Watch("discord", func() meter.Network { return meter.Network{} })
	require.Equal(t, "heddle_network_connected{network=\"discord\"} 0\nheddle_network_connected{network=\"slack\"} 1\n"+
		"heddle_network_last_event_timestamp_seconds{network=\"discord\"} 0\nheddle_network_last_event_timestamp_seconds{network=\"slack\"} 5\n"+
		"heddle_network_reconnects{network=\"discord\"} 0\nheddle_network_reconnects{network=\"slack\"} 3\n", s.tells("heddle_network"))
}
