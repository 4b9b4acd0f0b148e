package llmtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
)

// post sends body to the server and returns the status and what it answers.
func post(t *testing.T, srv *llmtest.Server, path, body string) (int, string) {
	t.Helper()
	client := http.Client{Transport: srv.Transport}
	resp, err := client.Post(srv.URL+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

const plain = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`

// The server is as strict as the strictest provider, so that tests find what providers would refuse.
func TestServerRefusesBadRequests(t *testing.T) {
	srv, err := llmtest.NewServer(llmtest.Reply{Text: "ok", Repeat: true})
	require.NoError(t, err)
	defer srv.Close()
	history := func(messages string) string { return `{"model":"m","stream":true,"messages":[` + messages + `]}` }
	const call = `{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for _, c := range []struct{ path, body, says string }{
		{"/chat/completions", `{`, "not understood"},
		{"/completions", plain, "nothing is served"},
		{"/chat/completions", `{"model":"m","messages":[]}`, "needs stream"},
		{"/responses", plain, "needs stream, a model and messages"},
		{"/chat/completions", history(call), "has no result"},
		{"/chat/completions", history(call + `,{"role":"user","content":"x"}`), "before message 1 a call has no result"},
		{"/chat/completions", history(`{"role":"tool","tool_call_id":"1","content":"x"}`), "not open"},
		{"/chat/completions", history(call + `,{"role":"tool","tool_call_id":"1"}`), "no content"},
		{"/chat/completions", history(strings.Replace(call, `"function",`, `"",`, 1)), "type of a call"},
		{"/chat/completions", history(strings.Replace(call, `"{}"`, `"{"`, 1)), "malformed call"},
	} {
		status, answer := post(t, srv, c.path, c.body)
		require.Equal(t, 400, status, c.body)
		require.Contains(t, answer, c.says)
	}
	status, answer := post(t, srv, "/chat/completions", plain)
	require.Equal(t, 200, status)
	require.True(t, strings.HasSuffix(answer, "data: [DONE]\n\n"), answer)
	require.Equal(t, 11, srv.Count())
}

// A program may serve the handler by itself.
func TestHandlerWithoutAListener(t *testing.T) {
	h := llmtest.NewHandler(llmtest.Reply{From: func(r *llm.Request) llmtest.Reply {
		return llmtest.Say(r.System + "|" + r.Messages[0].Text + "|" + r.Tools[0].Name)
	}})
	defer h.Close()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/v1/responses", strings.NewReader(
		`{"model":"m","stream":true,"instructions":"sys","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}],"tools":[{"type":"function","name":"f"}]}`)))
	require.Equal(t, 200, w.Code)
	require.Contains(t, w.Body.String(), `"text":"sys|hi|f"`)
}

// Closing the server ends what is open, and whoever still writes does no harm.
func TestCloseEndsWhatIsOpen(t *testing.T) {
	srv, err := llmtest.NewServer()
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		client := http.Client{Transport: srv.Transport}
		resp, err := client.Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(plain))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		done <- err
	}()
	ex, err := srv.Next(t.Context())
	require.NoError(t, err)
	ex.Say("half")
	srv.Close()
	srv.Close()
	require.Error(t, <-done)
	<-ex.Gone()
	ex.Say("to nobody")
	ex.Finish()
}

func ExampleServer() {
	srv, err := llmtest.NewServer()
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	answer := make(chan string)
	go func() { // the program under test
		client := http.Client{Transport: srv.Transport}
		resp, err := client.Post(srv.URL+"/chat/completions", "application/json", strings.NewReader(plain))
		if err != nil {
			panic(err)
		}
		defer resp.Body.Close()
		data, _ := io.ReadAll(resp.Body)
		answer <- strings.SplitN(string(data), "\n", 2)[0]
	}()

	ex, err := srv.Next(context.Background())
	if err != nil {
		panic(err)
	}
	fmt.Println("the model is told:", ex.Request.Last().Text)
	ex.Say("Hello")
	ex.KeepAlive(3)
	ex.Call("clock", `{"zone":"UTC"}`)
	ex.Finish()
	fmt.Println("it answers:", <-answer)
	// Output:
	// the model is told: hi
	// it answers: data: {"choices":[{"delta":{"content":"Hello"},"finish_reason":null,"index":0}],"id":"chatcmpl-1","model":"m","object":"chat.completion.chunk"}
}
