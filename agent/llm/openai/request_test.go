package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// sent returns the body of what a model sends for r, and checks that its length was announced.
func sent(t *testing.T, c openai.Config, r *llm.Request) map[string]any {
	t.Helper()
	var body map[string]any
	c.Tries = 1
	c.Transport = roundTripper(func(req *http.Request) (*http.Response, error) {
		data, err := io.ReadAll(req.Body)
		require.NoError(t, err)
		require.EqualValues(t, len(data), req.ContentLength)
		again, err := req.GetBody()
		require.NoError(t, err)
		copied, err := io.ReadAll(again)
		require.NoError(t, err)
		require.Equal(t, data, copied)
		require.NoError(t, json.Unmarshal(data, &body), "%s", data)
		return answer(), nil
	})
	m, err := openai.New(c)
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), r, nil)
	require.NoError(t, err)
	return body
}

// answer is one that both APIs understand.
func answer() *http.Response {
	text := lines(`{"type":"response.completed","response":{"output":[{"type":"message","content":[{"text":"hello"}]}]},` +
		`"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}`)
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(text))}
}

// asJSON is v as JSON for comparison.
func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

// history has what servers are choosy about.
func history() *llm.Request {
	return &llm.Request{Session: "slack/T/C/1", System: "Be <good>.", Messages: []*llm.Message{
		{Role: llm.User, Text: "go"},
		{Role: llm.Assistant, Reasoning: "hm", Calls: []llm.Call{
			{ID: "1", Name: "shell", Args: json.RawMessage(`{"command":"a && b"}`)},
			{ID: "2", Name: "functions.shell é", Args: json.RawMessage(`"{oops"`)},
			{ID: "3", Name: "", Args: nil},
		}},
		{Role: llm.ToolRole, CallID: "1", Text: "done"},
		{Role: llm.ToolRole, CallID: "2", Text: ""},
		{Role: llm.ToolRole, CallID: "3", Text: "no"},
		{Role: llm.Assistant, Text: "ok"},
		{Role: llm.User, Text: "thanks"},
	}}
}

func TestChatMessagesAsSent(t *testing.T) {
	body := sent(t, openai.Config{Model: "m", BaseURL: "http://127.0.0.1:1"}, history())
	require.JSONEq(t, `[
		{"role":"system","content":"Be <good>."},
		{"role":"user","content":"go"},
		{"role":"assistant","content":null,"tool_calls":[
			{"id":"1","type":"function","function":{"name":"shell","arguments":"{\"command\":\"a && b\"}"}},
			{"id":"2","type":"function","function":{"name":"functions_shell__","arguments":"{\"malformed\":\"{oops\"}"}},
			{"id":"3","type":"function","function":{"name":"_","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"1","content":"done"},
		{"role":"tool","tool_call_id":"2","content":""},
		{"role":"tool","tool_call_id":"3","content":"no"},
		{"role":"assistant","content":"ok"},
		{"role":"user","content":"thanks"}]`, asJSON(t, body["messages"]))
	require.Equal(t, true, body["stream"])
	require.NotContains(t, body, "temperature")
	require.NotContains(t, body, "prompt_cache_key", "only OpenAI knows it")
	require.Len(t, body, 4, "model, messages, stream, stream_options: strict servers refuse others")
}

func TestResponsesItemsAsSent(t *testing.T) {
	body := sent(t, openai.Config{Model: "m", API: "responses"}, history())
	require.JSONEq(t, `[
		{"role":"user","content":"go"},
		{"type":"function_call","call_id":"1","name":"shell","arguments":"{\"command\":\"a && b\"}"},
		{"type":"function_call","call_id":"2","name":"functions_shell__","arguments":"{\"malformed\":\"{oops\"}"},
		{"type":"function_call","call_id":"3","name":"_","arguments":"{}"},
		{"type":"function_call_output","call_id":"1","output":"done"},
		{"type":"function_call_output","call_id":"2","output":""},
		{"type":"function_call_output","call_id":"3","output":"no"},
		{"role":"assistant","content":"ok"},
		{"role":"user","content":"thanks"}]`, asJSON(t, body["input"]))
	require.Equal(t, "Be <good>.", body["instructions"])
	require.Equal(t, false, body["store"])
	require.Equal(t, "slack/T/C/1", body["prompt_cache_key"])
	require.Equal(t, []any{"reasoning.encrypted_content"}, body["include"])
}

func TestSettingsAsSent(t *testing.T) {
	zero, half := 0.0, 0.5
	for _, c := range []struct {
		cfg  openai.Config
		want map[string]any
		not  []string
	}{
		{openai.Config{Temperature: &zero, MaxOutputTokens: 9}, map[string]any{"temperature": 0.0, "max_tokens": 9.0}, []string{"max_completion_tokens"}},
		{openai.Config{Temperature: &half}, map[string]any{"temperature": 0.5}, []string{"max_tokens"}},
		{openai.Config{Model: "gpt-5-mini", MaxOutputTokens: 9}, map[string]any{"max_completion_tokens": 9.0}, []string{"max_tokens"}},
		{openai.Config{Model: "openai/o4-mini", MaxOutputTokens: 9}, map[string]any{"max_completion_tokens": 9.0}, []string{"max_tokens"}},
		{openai.Config{BaseURL: "https://api.openai.com/v1", MaxOutputTokens: 9}, map[string]any{"max_completion_tokens": 9.0, "prompt_cache_key": "s1"}, []string{"max_tokens"}},
		{openai.Config{API: "responses", Temperature: &zero, MaxOutputTokens: 9}, map[string]any{"temperature": 0.0, "max_output_tokens": 9.0}, nil},
		{openai.Config{Extra: map[string]any{"top_k": 5, "stream_options": nil, "model": "other"}}, map[string]any{"top_k": 5.0, "model": "other"}, []string{"stream_options"}},
		{openai.Config{API: "responses", Extra: map[string]any{"reasoning": map[string]any{"effort": "low"}}}, map[string]any{"reasoning": map[string]any{"effort": "low"}}, nil},
	} {
		if c.cfg.BaseURL == "" {
			c.cfg.BaseURL = "http://127.0.0.1:1/v1"
		}
		if c.cfg.Model == "" {
			c.cfg.Model = "m"
		}
		body := sent(t, c.cfg, hello())
		for name, value := range c.want {
			require.Equal(t, value, body[name], "%s of %+v", name, c.cfg)
		}
		for _, name := range c.not {
			require.NotContains(t, body, name)
		}
		require.Len(t, body["tools"], 1)
	}
}

func TestToolsAsSent(t *testing.T) {
	r := hello()
	r.Tools = append(r.Tools, llm.Tool{Name: "none"})
	body := sent(t, openai.Config{Model: "m"}, r)
	require.JSONEq(t, `[{"type":"function","function":{"name":"clock","description":"Tells the time.","parameters":{"type":"object"}}},
		{"type":"function","function":{"name":"none","parameters":{"type":"object","properties":{}}}}]`, asJSON(t, body["tools"]))
	body = sent(t, openai.Config{Model: "m", API: "responses"}, r)
	require.JSONEq(t, `[{"type":"function","name":"clock","description":"Tells the time.","parameters":{"type":"object"},"strict":false},
		{"type":"function","name":"none","description":"","parameters":{"type":"object","properties":{}},"strict":false}]`, asJSON(t, body["tools"]))

	r.Tools[1].Input = json.RawMessage(`{"type":`)
	for _, api := range apis {
		m, err := openai.New(openai.Config{Model: "m", API: api})
		require.NoError(t, err)
		_, err = m.Generate(t.Context(), r, nil)
		requireKind(t, llm.BadRequest, err)
	}
}

// TestNoCalls declares the tools all the same, for the provider's cache; servers refuse a choice without.
func TestNoCalls(t *testing.T) {
	for _, api := range apis {
		r := hello()
		r.NoCalls = true
		body := sent(t, openai.Config{Model: "m", API: api}, r)
		require.Equal(t, "none", body["tool_choice"])
		require.NotEmpty(t, body["tools"])
		r.Tools = nil
		require.NotContains(t, sent(t, openai.Config{Model: "m", API: api}, r), "tool_choice")
		require.NotContains(t, sent(t, openai.Config{Model: "m", API: api}, hello()), "tool_choice")
	}
}

func TestNoSystemPromptAndNoMessages(t *testing.T) {
	for _, api := range apis {
		body := sent(t, openai.Config{Model: `"messages":null`, API: api}, &llm.Request{Messages: []*llm.Message{
			{Role: llm.Assistant}, {Role: llm.User, Text: "x"},
		}})
		list, _ := body[map[string]string{"chat": "messages", "responses": "input"}[api]].([]any)
		require.Equal(t, "x", list[len(list)-1].(map[string]any)["content"])
		body = sent(t, openai.Config{Model: "m", API: api}, &llm.Request{})
		require.Equal(t, []any{}, body[map[string]string{"chat": "messages", "responses": "input"}[api]])
	}
}

// kept plays an answer and returns the message that an agent would make of it.
func kept(t *testing.T, c openai.Config, payloads ...string) *llm.Message {
	t.Helper()
	reply, err := stream(t, c, func(ex *llmtest.Exchange) {
		ex.Raw(lines(payloads...))
		ex.End()
	})
	require.NoError(t, err)
	return &llm.Message{Role: llm.Assistant, Text: reply.Text, Reasoning: reply.Reasoning, Calls: reply.Calls, Raw: reply.Raw}
}

func TestReasoningIsSentBackToItsModelOnly(t *testing.T) {
	const call = `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},"finish_reason":"tool_calls"}]}`
	here := openai.Config{BaseURL: "http://llmtest.invalid/v1", Model: "test-model"}
	m := kept(t, openai.Config{},
		`{"choices":[{"delta":{"reasoning_content":"I th","reasoning_details":[{"type":"reasoning.text","index":0,"text":"I th"}]}}]}`,
		`{"choices":[{"delta":{"reasoning_content":"ink","reasoning_details":[{"type":"reasoning.text","index":0,"text":"ink","signature":"x"}]}}]}`,
		call)
	result := &llm.Message{Role: llm.ToolRole, CallID: "a", Text: "ok"}
	body := sent(t, here, &llm.Request{Messages: []*llm.Message{m, result}})
	require.JSONEq(t, `{"role":"assistant","content":null,"reasoning_content":"I think",
		"reasoning_details":[{"type":"reasoning.text","index":0,"text":"I think","signature":"x"}],
		"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}`,
		asJSON(t, body["messages"].([]any)[0]))

	withUser := openai.Config{BaseURL: "http://user:secret@llmtest.invalid/v1/", Model: "test-model"}
	require.Contains(t, asJSON(t, sent(t, withUser, &llm.Request{Messages: []*llm.Message{m, result}})), "I think", "it is the same place")

	for _, elsewhere := range []openai.Config{
		{BaseURL: here.BaseURL, Model: "another"}, {BaseURL: "http://other.invalid/v1", Model: here.Model},
		{BaseURL: here.BaseURL, Model: here.Model, API: "responses"},
	} {
		body := sent(t, elsewhere, &llm.Request{Messages: []*llm.Message{m, result}})
		require.NotContains(t, asJSON(t, body), "think", "the thoughts of one model are not for another")
		require.NotContains(t, asJSON(t, body), "signature")
		require.Contains(t, asJSON(t, body), `"f"`, "but its calls are")
	}
	plain := kept(t, openai.Config{}, `{"choices":[{"delta":{"reasoning_content":"hm","content":"x"},"finish_reason":"stop"}]}`)
	body = sent(t, here, &llm.Request{Messages: []*llm.Message{plain}})
	require.NotContains(t, asJSON(t, body), "hm", "DeepSeek refuses thoughts without calls")
}

func TestResponsesItemsAreSentBack(t *testing.T) {
	here := openai.Config{BaseURL: "http://llmtest.invalid/v1", Model: "test-model", API: "responses"}
	const output = `[{"type":"reasoning","id":"rs_0","summary":[]},` + // the server has forgotten this one
		`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"sealed"},` +
		`{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look."}]},` +
		`{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"},` +
		`{"type":"function_call","id":"fc_2","call_id":"a","name":"g","arguments":"{}"}]`
	m := kept(t, openai.Config{API: "responses"}, `{"type":"response.completed","response":{"status":"completed","output":`+output+`}}`)
	require.Equal(t, "hm", m.Reasoning)
	require.Equal(t, "call00002", m.Calls[1].ID)
	m.Calls = append(m.Calls, llm.Call{ID: "z", Name: "h", Args: json.RawMessage("{}")})
	body := sent(t, here, &llm.Request{Messages: []*llm.Message{m}})
	require.JSONEq(t, `[{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"sealed"},
		{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
		{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{}"},
		{"type":"function_call","call_id":"call00002","name":"g","arguments":"{}"},
		{"type":"function_call","call_id":"z","name":"h","arguments":"{}"}]`, asJSON(t, body["input"]))

	cut := kept(t, openai.Config{API: "responses"}, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":`+output+`}}`)
	require.Nil(t, cut.Raw, "what is cut off is not taken back")
	m.Calls = m.Calls[:1] // the agent left the others out: no call without a result may be sent
	m2 := &llm.Message{Role: m.Role, Text: m.Text, Calls: m.Calls, Raw: m.Raw}
	require.NotContains(t, asJSON(t, sent(t, here, &llm.Request{Messages: []*llm.Message{m2}})["input"]), "fc_2")
}

func TestLongSessionIsAShortCacheKey(t *testing.T) {
	r := hello()
	r.Session = strings.Repeat("s", 65)
	for _, c := range []openai.Config{{Model: "m"}, {Model: "m", API: "responses"}} {
		require.Len(t, sent(t, c, r)["prompt_cache_key"], 64)
	}
}

func TestKeyIsSent(t *testing.T) {
	var got string
	_, err := stream(t, openai.Config{Key: "sk-1"}, func(ex *llmtest.Exchange) {
		got = ex.Request.Header.Get("Authorization")
		ex.Answer(llmtest.Say("ok"))
	})
	require.NoError(t, err)
	require.Equal(t, "Bearer sk-1", got)
}

// BenchmarkGenerate is our own time per request, with a history that was sent before but for one message.
func BenchmarkGenerate(b *testing.B) {
	for _, api := range apis {
		for _, n := range []int{10, 1000, 10000} {
			b.Run(fmt.Sprintf("%s/messages=%d", api, n), func(b *testing.B) {
				r := &llm.Request{System: strings.Repeat("Be good. ", 500)}
				for i := range n / 2 {
					id := fmt.Sprint(i)
					r.Messages = append(r.Messages,
						&llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: id, Name: "shell", Args: json.RawMessage(`{"command":"ls -l"}`)}}},
						&llm.Message{Role: llm.ToolRole, CallID: id, Text: strings.Repeat("some output of a command\n", 20)})
				}
				for i := range 20 {
					r.Tools = append(r.Tools, llm.Tool{Name: fmt.Sprint("tool", i), Description: strings.Repeat("What it does. ", 20),
						Input: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"a path"}},"required":["path"]}`)})
				}
				m, err := openai.New(openai.Config{Model: "m", API: api, Transport: roundTripper(func(req *http.Request) (*http.Response, error) {
					_, err := io.Copy(io.Discard, struct{ io.Reader }{req.Body})
					return answer(), err
				})})
				require.NoError(b, err)
				_, err = m.Generate(b.Context(), r, nil)
				require.NoError(b, err)
				b.ReportAllocs()
				for b.Loop() {
					next := &llm.Request{System: r.System, Tools: r.Tools,
						Messages: append(r.Messages[:n:n], &llm.Message{Role: llm.User, Text: "and now?"})}
					if _, err := m.Generate(b.Context(), next, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStream is the time per chunk of an answer.
func BenchmarkStream(b *testing.B) {
	const chunks = 1000
	text := bytes.Repeat([]byte(lines(`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`)), chunks)
	text = append(text, lines(stopChunk, "[DONE]")...)
	m, err := openai.New(openai.Config{Model: "m", Transport: roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(text))}, nil
	})})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Generate(b.Context(), &llm.Request{}, func(llm.Delta) {}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*chunks), "ns/chunk")
}
