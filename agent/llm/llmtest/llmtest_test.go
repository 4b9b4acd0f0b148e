package llmtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestModelConforms(t *testing.T) {
	llmtest.Conform(t, func(t *testing.T, replies ...llmtest.Reply) llm.Model {
		return llmtest.NewModel(replies...)
	})
}

func TestModelWaitsUnderTheTestsControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wait := make(chan struct{})
		m := llmtest.NewModel(llmtest.Reply{Text: "late answer", Wait: wait})
		var text string
		done := make(chan *llm.Reply)
		go func() {
			reply, err := m.Generate(t.Context(), &llm.Request{}, func(d llm.Delta) { text += d.Text })
			require.NoError(t, err)
			done <- reply
		}()
		time.Sleep(time.Hour) // the bubble's
		synctest.Wait()
		require.Equal(t, "late answer", text, "the text is out, the reply is not")
		close(wait)
		require.Equal(t, llm.EndTurn, (<-done).Stop)
	})
}

func TestModelRecordsAndRunsOut(t *testing.T) {
	m := llmtest.NewModel(llmtest.Fail(llm.RateLimit))
	m.Add(llmtest.Call("clock", "{}"))
	_, err := m.Generate(t.Context(), &llm.Request{Session: "a"}, nil)
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.RateLimit, e.Kind)
	reply, err := m.Generate(t.Context(), &llm.Request{Session: "b"}, nil)
	require.NoError(t, err)
	require.Equal(t, "clock", reply.Calls[0].Name)

	_, err = m.Generate(t.Context(), &llm.Request{Messages: []*llm.Message{{Role: llm.User, Text: "more?"}}}, nil)
	require.ErrorAs(t, err, &e)
	require.False(t, e.Kind.Temporary())
	require.ErrorContains(t, err, `request 3 came, and there are no more replies: its last message is of the user: "more?"`)
	require.Len(t, m.Requests(), 3)
	require.Equal(t, "b", m.Requests()[1].Session)
}

func TestNextEnds(t *testing.T) {
	srv, err := llmtest.NewServer()
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = srv.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
	srv.Close()
	_, err = srv.Next(t.Context())
	require.ErrorContains(t, err, "closed")
}
