package openai_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// streams holds recordings of providers, one chunk a line. They are not part of the repository.
const streams = "../../../../shared/streams"

// TestRecordedStreams plays what providers have really sent, cut anywhere.
func TestRecordedStreams(t *testing.T) {
	files, err := filepath.Glob(streams + "/*.chunks.txt")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("the recorded streams are missing: there is no %s", streams)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".chunks.txt")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for n, answer := range answers(string(data)) {
				want := expected(t, answer)
				api := "chat"
				if strings.HasPrefix(answer[0], `{"type":"response.`) {
					api = "responses"
				}
				reply, err := stream(t, openai.Config{API: api}, func(ex *llmtest.Exchange) {
					text := lines(answer...)
					random := rand.New(rand.NewPCG(1, uint64(n)))
					for len(text) > 0 {
						k := 1 + random.IntN(min(len(text), 4000))
						ex.Raw(text[:k])
						text = text[k:]
					}
					ex.End()
				})
				require.NoError(t, err)
				require.Equal(t, want.Text, reply.Text)
				require.Equal(t, want.Reasoning, reply.Reasoning)
				require.Equal(t, want.Stop, reply.Stop)
				require.Len(t, reply.Calls, len(want.Calls))
				for i, c := range reply.Calls {
					require.Equal(t, want.Calls[i].Name, c.Name)
					require.JSONEq(t, string(want.Calls[i].Args), string(c.Args))
					require.NotEmpty(t, c.ID)
				}
				require.Positive(t, reply.Usage.Input)
				require.Positive(t, reply.Usage.Output)
				require.NotEmpty(t, reply.Model)
			}
		})
	}
}

// answers splits a recording, which may hold several answers of the Responses API.
func answers(data string) (all [][]string) {
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case len(all) == 0 || strings.HasPrefix(line, `{"type":"response.created"`):
			all = append(all, []string{line})
		default:
			all[len(all)-1] = append(all[len(all)-1], line)
		}
	}
	return all
}

// expected puts an answer together in the plainest way, from generic JSON and for well-formed streams only.
func expected(t *testing.T, answer []string) *llm.Reply {
	t.Helper()
	r := &llm.Reply{Stop: llm.EndTurn}
	calls := map[float64]*llm.Call{}
	for _, line := range answer {
		var o map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &o))
		switch o["type"] {
		case "response.output_text.delta":
			r.Text += o["delta"].(string)
		case "response.reasoning_summary_text.delta":
			r.Reasoning += o["delta"].(string)
		case "response.output_item.done":
			if item := o["item"].(map[string]any); item["type"] == "function_call" {
				r.Calls = append(r.Calls, llm.Call{Name: item["name"].(string), Args: []byte(item["arguments"].(string))})
			}
		case nil:
			for _, c := range o["choices"].([]any) {
				expectChoice(r, calls, c.(map[string]any))
			}
		}
	}
	for i := range len(calls) {
		r.Calls = append(r.Calls, *calls[float64(i)])
	}
	if len(r.Calls) > 0 {
		r.Stop = llm.ToolUse
	}
	return r
}

func expectChoice(r *llm.Reply, calls map[float64]*llm.Call, c map[string]any) {
	if c["finish_reason"] == "length" {
		r.Stop = llm.MaxTokens
	}
	delta := c["delta"].(map[string]any)
	for _, name := range []string{"reasoning_content", "reasoning"} {
		text, _ := delta[name].(string)
		r.Reasoning += text
	}
	switch content := delta["content"].(type) {
	case string:
		r.Text += content
	case []any:
		for _, p := range content {
			part := p.(map[string]any)
			text, _ := part["text"].(string)
			r.Text += text
			if thinking, ok := part["thinking"].([]any); ok {
				r.Reasoning += thinking[0].(map[string]any)["text"].(string)
			}
		}
	}
	list, _ := delta["tool_calls"].([]any)
	for _, piece := range list {
		index, _ := piece.(map[string]any)["index"].(float64) // one recording has none
		f := piece.(map[string]any)["function"].(map[string]any)
		if calls[index] == nil {
			calls[index] = &llm.Call{}
		}
		name, _ := f["name"].(string)
		calls[index].Name += name
		calls[index].Args = append(calls[index].Args, f["arguments"].(string)...)
	}
}

// TestRecordedAnswers plays the recordings that are no streams.
func TestRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(streams + "/*.json")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skipf("the recorded answers are missing: there is no %s", streams)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var o struct {
				Object string
				Output []any
			}
			require.NoError(t, json.Unmarshal(data, &o))
			api := "chat"
			if o.Output != nil {
				api = "responses"
			}
			reply, err := stream(t, openai.Config{API: api}, func(ex *llmtest.Exchange) {
				ex.FailWith(200, string(data), "Content-Type", "application/json")
			})
			require.NoError(t, err)
			require.True(t, reply.Text != "" || len(reply.Calls) > 0)
			for _, c := range reply.Calls {
				require.Equal(t, "weather", c.Name)
			}
			require.Positive(t, reply.Usage.Output)
		})
	}
}
