package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// stream plays one answer to a model that tries once.
func stream(t *testing.T, c openai.Config, play func(ex *llmtest.Exchange)) (*llm.Reply, error) {
	t.Helper()
	srv := llmtest.NewMemory()
	defer srv.Close()
	c.Tries = 1
	m := newModel(t, srv, c)
	done := make(chan struct{})
	var reply *llm.Reply
	var err error
	go func() {
		defer close(done)
		reply, err = m.Generate(t.Context(), hello(), nil)
	}()
	play(next(t, srv))
	<-done
	return reply, err
}

// lines are SSE events of the given payloads.
func lines(payloads ...string) string {
	var b strings.Builder
	for _, p := range payloads {
		b.WriteString("data: " + p + "\n\n")
	}
	return b.String()
}

const (
	helloChunk = `{"choices":[{"index":0,"delta":{"content":"hello"}}]}`
	stopChunk  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
)

func TestSpellingsOfAStream(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                       lines(helloChunk, stopChunk, "[DONE]"),
		"no [DONE]":                   lines(helloChunk, stopChunk),
		"no reason":                   lines(helloChunk, "[DONE]"),
		"usage null, choices null":    lines(helloChunk, `{"choices":null,"usage":null}`, stopChunk, "[DONE]"),
		"carriage returns":            strings.ReplaceAll(lines(helloChunk, stopChunk, "[DONE]"), "\n", "\r\n"),
		"no space, no empty lines":    strings.NewReplacer("data: ", "data:", "\n\n", "\n").Replace(lines(helloChunk, stopChunk, "[DONE]")),
		"no end of the last line":     strings.TrimSpace(lines(helloChunk, stopChunk)),
		"[DONE] without end":          strings.TrimSpace(lines(helloChunk, "[DONE]")),
		"byte order mark":             "\ufeff" + lines(helloChunk, stopChunk),
		"ids, events, retries":        "retry: 5\nid: 1\nevent: message\n" + lines(helloChunk, stopChunk),
		"one event on several lines":  "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"hello\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n",
		"keep-alives without end":     strings.Repeat(": OPENROUTER PROCESSING\n\n\n", 2000) + lines(helloChunk) + strings.Repeat("\n", 5000) + lines(stopChunk),
		"another choice":              lines(helloChunk, `{"choices":[{"index":1,"delta":{"content":"no"}}]}`, stopChunk),
		"refusal":                     lines(`{"choices":[{"delta":{"refusal":"hello"}}]}`, stopChunk),
		"a field of another type":     lines(`{"choices":[{"index":0,"delta":{"content":"hello","reasoning":{"x":1}}}],"usage":"none"}`, stopChunk),
		"parts":                       lines(`{"choices":[{"delta":{"content":[{"type":"text","text":"hel"},{"type":"text","text":"lo"}]}}]}`, stopChunk),
		"JSON instead of a stream":    `{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`,
		"JSON over several lines":     "\n{\n  \"choices\": [{\"message\":\n {\"content\": \"hello\"}, \"finish_reason\": \"stop\"}]\n}\n",
		"error null beside the chunk": lines(`{"error":null,"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
				ex.Raw(text)
				ex.End()
			})
			require.NoError(t, err)
			require.Equal(t, "hello", reply.Text)
			require.Equal(t, llm.EndTurn, reply.Stop)
			require.Nil(t, reply.Raw)
		})
	}
}

func TestBrokenStreams(t *testing.T) {
	for name, c := range map[string]struct {
		kind llm.Kind
		text string
		says string
	}{
		"nothing":                  {llm.Truncated, "", "sent no answer"},
		"only a text":              {llm.Truncated, lines(helloChunk), "broke off"},
		"half a line":              {llm.Truncated, lines(helloChunk) + `data: {"choi`, "broke off"},
		"half of plain JSON":       {llm.Truncated, `{"choices":[{"mess`, "sent no answer"},
		"no JSON":                  {llm.Server, "data: <oops>\n\n", "no JSON"},
		"error":                    {llm.Server, lines(helloChunk, `{"error":{"message":"melted","type":"server_error"}}`), "melted"},
		"error with spaces":        {llm.Server, lines(helloChunk, `{ "error" : { "message" : "melted" } }`), "melted"},
		"error, no space at all":   {llm.Server, `data:{"error":{"message":"melted"}}` + "\n\n", "melted"},
		"error as a text":          {llm.Server, lines(`{"error":"melted"}`), "melted"},
		"error event":              {llm.Server, "event: error\ndata: {\"message\":\"melted\",\"code\":\"x\"}\n\n", "melted"},
		"error event, Anthropic":   {llm.Server, "event: error\n" + lines(`{"type":"error","error":{"type":"overloaded_error","message":"melted"}}`), "melted"},
		"error object":             {llm.ContextSize, lines(`{"object":"error","message":"maximum context length is 10","code":400}`), "is 10"},
		"error with a status":      {llm.RateLimit, lines(`{"error":{"code":429,"message":"melted"}}`), "HTTP 429"},
		"error beside choices":     {llm.Server, lines(`{"error":{"code":502,"message":"melted"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`), "melted"},
		"error within a choice":    {llm.Server, lines(`{"choices":[{"delta":{},"error":{"code":502,"message":"melted"},"finish_reason":"error"}]}`), "melted"},
		"reason of failure":        {llm.Server, lines(helloChunk, `{"choices":[{"delta":{},"finish_reason":"error"}]}`), "broke off"},
		"error instead of a reply": {llm.Quota, `{"error":{"message":"pay","code":"insufficient_quota"}}`, "pay"},
		"detail":                   {llm.Server, `{"detail":"melted"}`, "melted"},
		"bad request inside":       {llm.BadRequest, lines(`{"error":{"message":"no such thing","type":"invalid_request_error"}}`), "no such thing"},
	} {
		t.Run(name, func(t *testing.T) {
			reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
				ex.Raw(c.text)
				ex.End()
			})
			require.Nil(t, reply)
			requireKind(t, c.kind, err)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestErrorEventEndsAStreamThatStaysOpen(t *testing.T) {
	_, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
		ex.Raw(lines(`{"error":{"message":"melted"}}`))
		<-ex.Gone()
	})
	requireKind(t, llm.Server, err)
}

func TestBytesOneByOne(t *testing.T) {
	for _, api := range apis {
		reply, err := stream(t, openai.Config{API: api}, func(ex *llmtest.Exchange) {
			text := lines(helloChunk, stopChunk, "[DONE]")
			if api == "responses" {
				text = lines(`{"type":"response.output_text.delta","delta":"hello"}`,
					`{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"hello"}]}]}}`)
			}
			for i := range len(text) {
				ex.Raw(text[i : i+1])
			}
			ex.End()
		})
		require.NoError(t, err)
		require.Equal(t, "hello", reply.Text)
	}
}

func TestReasonsToStop(t *testing.T) {
	call := `,"tool_calls":[{"index":0,"id":"a","function":{"name":"clock","arguments":"{}"}}]`
	for _, c := range []struct {
		reason, more string
		want         llm.Stop
	}{
		{"stop", "", llm.EndTurn},
		{"stop", call, llm.ToolUse}, // some servers say so beside calls
		{"tool_calls", call, llm.ToolUse},
		{"function_call", call, llm.ToolUse},
		{"tool_calls", "", llm.EndTurn}, // and some say that without any
		{"length", "", llm.MaxTokens},
		{"length", call, llm.MaxTokens},
		{"model_length", "", llm.MaxTokens},
		{"content_filter", "", llm.Filtered},
		{"content_filter", call, llm.Filtered},
		{"something_new", "", llm.EndTurn},
	} {
		reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
			ex.Raw(lines(fmt.Sprintf(`{"choices":[{"delta":{"content":"x"%s},"finish_reason":%q}]}`, c.more, c.reason)))
			ex.End()
		})
		require.NoError(t, err)
		require.Equal(t, c.want, reply.Stop, "%+v", c)
	}
	for _, reason := range []string{"content_filter", "length"} { // not Empty: trying again would not help
		reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
			ex.Raw(lines(fmt.Sprintf(`{"choices":[{"delta":{},"finish_reason":%q}]}`, reason)))
			ex.End()
		})
		require.NoError(t, err)
		require.Empty(t, reply.Text)
	}
}

func TestUsage(t *testing.T) {
	for text, want := range map[string]llm.Usage{
		`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}}`: {Input: 10, Output: 5, Cached: 8, Reasoning: 3},
		`"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null,"reasoning_tokens":3,"prompt_cache_hit_tokens":4}`:                                    {Input: 10, Output: 5, Cached: 4, Reasoning: 3},
		`"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":3}}`:                                             {Input: 10, Output: 8, Reasoning: 3},
		`"x_groq":{"usage":{"prompt_tokens":10,"completion_tokens":5}}`:                                                                                                       {Input: 10, Output: 5},
		`"usage":null`: {},
	} {
		reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
			ex.Raw(lines(helloChunk, stopChunk, `{"choices":[],`+text+`}`, "[DONE]"))
			ex.End()
		})
		require.NoError(t, err)
		require.Equal(t, want, reply.Usage, text)
	}
}

func TestReasoningUnderEitherName(t *testing.T) {
	for _, delta := range []string{
		`{"reasoning_content":"hm"}`, `{"reasoning":"hm"}`, `{"reasoning":"hm","reasoning_content":"hm"}`,
		`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`,
	} {
		reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
			ex.Raw(lines(`{"choices":[{"delta":`+delta+`}]}`, helloChunk, stopChunk))
			ex.End()
		})
		require.NoError(t, err)
		require.Equal(t, "hm", reply.Reasoning)
		require.Equal(t, "hello", reply.Text)
	}
}

// A server that never ends is left, and not asked again.
func TestEndlessAnswer(t *testing.T) {
	payload := fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, strings.Repeat("x", 60_000))
	_, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
		for range 100 {
			ex.Raw(lines(payload))
		}
	})
	requireKind(t, llm.Endless, err)
	require.False(t, llm.Endless.Temporary())
}
