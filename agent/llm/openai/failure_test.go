package openai_test

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// TestKindsOfFailure has the words of real providers.
func TestKindsOfFailure(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   llm.Kind
		says   string
	}{
		{401, `{"error":{"message":"Incorrect API key provided: sk-***.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, llm.Auth, "Incorrect API key"},
		{401, `{"error":{"message":"You didn't provide an API key.","type":"invalid_request_error","code":null}}`, llm.Auth, "provide an API key"},
		{403, `forbidden`, llm.Auth, "forbidden"},
		{429, `{"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.Quota, "exceeded"},
		{402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, llm.Quota, "Balance"},
		{402, `{"error":{"code":402,"message":"This request requires more credits"}}`, llm.Quota, "credits"},
		{400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, llm.Quota, "too low"},
		{429, `{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.","type":"tokens","code":"rate_limit_exceeded"}}`, llm.RateLimit, "Limit 30000"},
		{429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 90000.","code":"rate_limit_exceeded"}}`, llm.ContextSize, "too large"},
		{429, ``, llm.RateLimit, "Too Many Requests"},
		{429, `[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]`, llm.RateLimit, "exhausted"},
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","code":"context_length_exceeded"}}`, llm.ContextSize, "128000"},
		{400, `{"error":{"message":"Your input exceeds the context window of this model.","code":null}}`, llm.ContextSize, "window"},
		{400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.ContextSize, "too long"},
		{400, `{"object":"error","message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}`, llm.ContextSize, "40000"},
		{400, `[{"error":{"code":400,"message":"The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`, llm.ContextSize, "1048576"},
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size.","type":"exceed_context_size_error","n_ctx":4096}}`, llm.ContextSize, "available"},
		{400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":\"maximum context length is 8192\"}","provider_name":"X"}}}`, llm.ContextSize, "8192"},
		{422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096\"}", llm.ContextSize, "4096"},
		{413, `<html>Request Entity Too Large</html>`, llm.ContextSize, "Too Large"},
		{500, `{"error":"context size exceeded"}`, llm.ContextSize, "exceeded"},
		{400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, llm.Content, "filtered"},
		{400, `{"error":{"message":"Invalid schema for function 'f'","type":"invalid_request_error","param":"tools[0]","code":"invalid_function_parameters"}}`, llm.BadRequest, "Invalid schema"},
		{404, `{"error":{"message":"The model 'x' does not exist","code":"model_not_found"}}`, llm.BadRequest, "does not exist"},
		{404, `404 page not found`, llm.BadRequest, "page not found"},
		{422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, llm.BadRequest, "field required"},
		{500, `{"error":{"message":"The server had an error","type":"server_error"}}`, llm.Server, "had an error"},
		{502, `<html>Bad Gateway</html>`, llm.Server, "Bad Gateway"},
		{503, `{"error":"text"}`, llm.Server, "text"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Server, "Overloaded"},
		{408, ``, llm.Server, "Timeout"},
	} {
		_, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) { ex.FailWith(c.status, c.body) })
		e := requireKind(t, c.want, err)
		require.Equal(t, c.status, e.Status)
		require.Contains(t, e.Message, c.says)
	}
}

func TestResponsesThatFailInTheStream(t *testing.T) {
	for text, want := range map[string]llm.Kind{
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"melted"}}}`:            llm.Server,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"melted"}}}`:     llm.RateLimit,
		`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"melted"}}}`: llm.ContextSize,
		`{"type":"response.failed","response":{"status":"failed","error":null}}`:                                                  llm.Server,
		`{"type":"error","code":"server_error","message":"melted","param":null}`:                                                  llm.Server,
		`{"type":"error","error":{"type":"invalid_request_error","code":"x","message":"melted"}}`:                                 llm.BadRequest,
		`{"error":{"message":"melted"}}`:                                                               llm.Server,
		`{"type":"response.output_text.delta","delta":"half"}`:                                         llm.Truncated,
		`{"object":"response","status":"failed","error":{"code":"invalid_prompt","message":"melted"}}`: llm.Content,
	} {
		_, err := stream(t, openai.Config{API: "responses"}, func(ex *llmtest.Exchange) {
			ex.Raw(lines(text))
			ex.End()
		})
		requireKind(t, want, err)
	}
}

func TestWebPageInsteadOfAModel(t *testing.T) {
	_, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
		ex.FailWith(200, "<html>Welcome</html>", "Content-Type", "text/html; charset=utf-8")
	})
	requireKind(t, llm.BadRequest, err)
	require.ErrorContains(t, err, "base_url")
}

// A roundTripper is a transport as a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestNoSecretInAnyError(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	echo := func(ex *llmtest.Exchange) {
		ex.FailWith(400, `{"error":{"message":"what is `+strings.TrimPrefix(ex.Request.Header.Get("Authorization"), "Bearer ")+`"}}`)
	}
	_, err := stream(t, openai.Config{Key: key}, echo)
	require.ErrorContains(t, err, "what is [key]")

	m, err := openai.New(openai.Config{Key: key, Model: "m", Tries: 1, BaseURL: "http://user:" + key + "@127.0.0.1:1/" + key,
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused by " + r.Header.Get("Authorization"))}
		})})
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), hello(), nil)
	requireKind(t, llm.Network, err)
	for e := err; e != nil; e = errors.Unwrap(e) {
		require.NotContains(t, e.Error(), key)
	}
}

func TestUnreachableServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close()) // nobody listens there now
	m, err := openai.New(openai.Config{BaseURL: "http://" + l.Addr().String(), Model: "m", Tries: 1})
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), hello(), nil)
	requireKind(t, llm.Network, err)
}

func TestConfigIsChecked(t *testing.T) {
	hot, nan := 2.1, -1.0
	for says, c := range map[string]openai.Config{
		"base URL":    {BaseURL: "localhost:8080", Model: "m"},
		"the model":   {},
		`"chat"`:      {Model: "m", API: "completions"},
		"line break":  {Model: "m", Key: "sk-secret\n"},
		"not 2.1":     {Model: "m", Temperature: &hot},
		"not -1":      {Model: "m", Temperature: &nan},
		"negative":    {Model: "m", Tries: -1},
		"extra field": {Model: "m", Extra: map[string]any{"f": func() {}}},
	} {
		_, err := openai.New(c)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "sk-secret")
	}
}

// go-openai refuses some requests before they are sent. The error says what to change.
func TestRefusalsOfTheClient(t *testing.T) {
	warm := 0.5
	for _, c := range []struct {
		cfg  openai.Config
		says string
	}{
		{openai.Config{Model: "gpt-6-sol"}, `set api = "responses"`},
		{openai.Config{Model: "gpt-5", Temperature: &warm}, "has no temperature"},
		{openai.Config{Model: "text-davinci-003"}, "cannot be sent"},
	} {
		c.cfg.Transport = roundTripper(func(*http.Request) (*http.Response, error) { panic("it was sent") })
		m, err := openai.New(c.cfg)
		require.NoError(t, err)
		_, err = m.Generate(t.Context(), hello(), nil)
		requireKind(t, llm.BadRequest, err)
		require.ErrorContains(t, err, c.says)
	}
}
