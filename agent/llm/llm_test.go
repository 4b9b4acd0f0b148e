package llm_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
)

func TestEncodedOncePerEncoder(t *testing.T) {
	m := &llm.Message{Role: llm.User, Text: "hello"}
	count := 0
	encode := func(m *llm.Message) ([]byte, error) {
		count++
		return []byte(m.Text), nil
	}
	for range 3 {
		data, err := m.Encoded("a", encode)
		require.NoError(t, err)
		require.Equal(t, "hello", string(data))
	}
	require.Equal(t, 1, count)
	_, err := m.Encoded("b", encode)
	require.NoError(t, err)
	require.Equal(t, 2, count, "another encoder does not get the first one's bytes")

	broken := errors.New("broken")
	_, err = m.Encoded("c", func(*llm.Message) ([]byte, error) { return nil, broken })
	require.ErrorIs(t, err, broken)
	_, err = m.Encoded("b", encode)
	require.NoError(t, err)
	require.Equal(t, 2, count, "a failure is not kept")
}

func TestWhichFailuresAreTemporary(t *testing.T) {
	for kind, want := range map[llm.Kind]bool{
		llm.Auth: false, llm.Quota: false, llm.ContextSize: false, llm.BadRequest: false, llm.Content: false, "new": false,
		llm.RateLimit: true, llm.Server: true, llm.Timeout: true, llm.Truncated: true, llm.Empty: true, llm.Network: true,
	} {
		require.Equal(t, want, kind.Temporary(), kind)
	}
}

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*llm.Error{
		"model: server (HTTP 503): down": {Kind: llm.Server, Status: 503, Message: "down", Err: io.EOF},
		"model: truncated: EOF":          {Kind: llm.Truncated, Err: io.EOF},
		"model: empty":                   {Kind: llm.Empty},
	} {
		require.EqualError(t, e, want)
	}
	require.ErrorIs(t, &llm.Error{Err: io.EOF}, io.EOF)
}

func TestUsageAdds(t *testing.T) {
	u := llm.Usage{Input: 1, Output: 2, Cached: 3, Reasoning: 4}
	require.Equal(t, llm.Usage{Input: 2, Output: 4, Cached: 6, Reasoning: 8}, u.Add(u))
	require.Equal(t, 3, u.Total())
}
