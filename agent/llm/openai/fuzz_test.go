package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// play has a model of that API read text as the answer, in the pieces that r makes of it.
func play(t *testing.T, api, text string, cut func(io.Reader) io.Reader) (*llm.Reply, error) {
	t.Helper()
	m, err := openai.New(openai.Config{Model: "m", API: api, Tries: 1, Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(cut(strings.NewReader(text)))}, nil
	})})
	require.NoError(t, err)
	var emitted string
	reply, err := m.Generate(t.Context(), hello(), func(d llm.Delta) { emitted += d.Text })
	if err == nil && api == "chat" {
		require.Equal(t, reply.Text, emitted)
	}
	return reply, err
}

// FuzzAnswer has servers answer anything, in any pieces. What comes of it is the same in all of them,
// and either a reply that keeps the contract or an *llm.Error.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		"", lines(helloChunk, stopChunk, "[DONE]"), lines(`{"error":{"message":"x"}}`), `{"choices":[]}`, "{", "[]",
		"event: error\ndata: x\n\n", "data: {\ndata: }\n\n", lines(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}}]}}]}`, "[DONE]"),
		lines(`{"type":"response.output_text.delta","delta":"a"}`, `{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"a"}]}]}}`),
		lines(`{"type":"response.output_item.done","item":{"type":"function_call","call_id":"1","name":"f","arguments":"{}"}}`, "[DONE]"),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, api := range apis {
			reply, err := play(t, api, text, func(r io.Reader) io.Reader { return r })
			again, errAgain := play(t, api, text, iotest.OneByteReader)
			require.Equal(t, reply, again)
			require.Equal(t, err, errAgain)
			if err != nil {
				var e *llm.Error
				require.ErrorAs(t, err, &e)
				continue
			}
			require.NotEmpty(t, reply.Stop)
			ids := map[string]bool{}
			for _, c := range reply.Calls {
				require.True(t, json.Valid(c.Args))
				require.NotEmpty(t, c.ID)
				require.False(t, ids[c.ID])
				ids[c.ID] = true
			}
		}
	})
}

func TestPlainJSONFromTheServer(t *testing.T) {
	want := llmtest.Reply{Text: "hello", Reasoning: "hm", Calls: []llm.Call{{ID: "1", Name: "f", Args: json.RawMessage(`{"a":1}`)}}}
	for _, api := range apis {
		reply, err := stream(t, openai.Config{API: api}, func(ex *llmtest.Exchange) { ex.JSON(want) })
		require.NoError(t, err)
		require.Equal(t, "hello", reply.Text)
		require.Equal(t, "hm", reply.Reasoning)
		require.Equal(t, want.Calls, reply.Calls)
		require.Equal(t, llm.ToolUse, reply.Stop)
	}
}

// A connection that dies within the stream is a break, not an end.
func TestConnectionDiesInTheStream(t *testing.T) {
	text := lines(helloChunk)
	_, err := play(t, "chat", text, func(r io.Reader) io.Reader {
		return io.MultiReader(r, iotest.ErrReader(os.ErrDeadlineExceeded))
	})
	requireKind(t, llm.Truncated, err)
	reply, err := play(t, "chat", lines(helloChunk, stopChunk), func(r io.Reader) io.Reader {
		return io.MultiReader(r, iotest.ErrReader(os.ErrDeadlineExceeded))
	})
	require.NoError(t, err, "after the reason nothing of value is missing")
	require.Equal(t, "hello", reply.Text)
}
