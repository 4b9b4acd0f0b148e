package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// apis are the two ways to ask; most tests hold for both.
var apis = []string{"chat", "responses"}

// newModel returns a model that asks srv.
func newModel(t testing.TB, srv *llmtest.Server, c openai.Config) llm.Model {
	t.Helper()
	c.BaseURL, c.Transport = srv.URL, srv.Transport
	if c.Model == "" {
		c.Model = "test-model"
	}
	m, err := openai.New(c)
	require.NoError(t, err)
	return m
}

func TestConforms(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			llmtest.Conform(t, func(t *testing.T, replies ...llmtest.Reply) llm.Model {
				srv, err := llmtest.NewServer(replies...)
				require.NoError(t, err)
				t.Cleanup(srv.Close)
				return newModel(t, srv, openai.Config{API: api})
			})
		})
	}
}
