package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
)

// Conform checks that a llm.Model keeps its contract. newModel returns one that answers with the
// given replies, in order; it may use t.Cleanup.
func Conform(t *testing.T, newModel func(t *testing.T, replies ...Reply) llm.Model) {
	for _, check := range []struct {
		name string
		run  func(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model)
	}{
		{"replies", conformReplies},
		{"several calls", conformCalls},
		{"a conversation", conformConversation},
		{"failure", conformFailure},
		{"cancellation", conformCancel},
		{"concurrency", conformConcurrency},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(t, newModel) })
	}
}

// conformTool is a tool for requests of the checks.
var conformTool = llm.Tool{
	Name: "clock", Description: "Tells the time.",
	Input: json.RawMessage(`{"type":"object","properties":{"zone":{"type":"string"}}}`),
}

func conformRequest(texts ...string) *llm.Request {
	r := &llm.Request{Session: "s1", System: "You are a test.", Tools: []llm.Tool{conformTool}}
	for _, text := range texts {
		r.Messages = append(r.Messages, &llm.Message{Role: llm.User, Text: text})
	}
	return r
}

// collect returns an emit that puts the text together, as a reader of it would.
func collect(text *string) func(llm.Delta) {
	return func(d llm.Delta) {
		if d.Restart {
			*text = ""
		}
		*text += d.Text
	}
}

func conformReplies(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model) {
	usage := llm.Usage{Input: 100, Output: 20, Cached: 80, Reasoning: 5}
	for _, reply := range []Reply{
		{Text: "Good morning.", Usage: usage},
		{Text: "漢字, \"quotes\", <tags> & {braces}\n\n```go\nfunc main() {}\n```", Usage: usage},
		{Text: "Let me look.", Calls: []llm.Call{{Name: "clock", Args: json.RawMessage(`{"zone":"UTC"}`)}}, Usage: usage},
		{Calls: []llm.Call{{Name: "clock", Args: json.RawMessage(`{}`)}}, Usage: usage},
		{Text: "cut off in the mid", Stop: llm.MaxTokens, Usage: usage},
		{Text: "I would", Stop: llm.Filtered, Usage: usage},
	} {
		m := newModel(t, reply, reply)
		want := reply.complete()
		var emitted string
		got, err := m.Generate(t.Context(), conformRequest("hello"), collect(&emitted))
		require.NoError(t, err)
		require.Equal(t, want.Text, got.Text)
		require.Equal(t, got.Text, emitted)
		require.Equal(t, want.Stop, got.Stop)
		require.Equal(t, usage, got.Usage)
		require.NotEmpty(t, got.Model)
		requireCalls(t, want.Calls, got.Calls)

		_, err = m.Generate(t.Context(), conformRequest("hello"), nil)
		require.NoError(t, err, "emit may be nil")
	}
}

// requireCalls compares calls but for their ids, which must be there and differ.
func requireCalls(t *testing.T, want, got []llm.Call) {
	t.Helper()
	require.Len(t, got, len(want))
	ids := map[string]bool{}
	for i, c := range got {
		require.Equal(t, want[i].Name, c.Name)
		require.JSONEq(t, string(want[i].Args), string(c.Args))
		require.NotEmpty(t, c.ID)
		require.False(t, ids[c.ID], "the id %s repeats", c.ID)
		ids[c.ID] = true
	}
}

func conformCalls(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model) {
	reply := Reply{Calls: []llm.Call{
		{Name: "clock", Args: json.RawMessage(`{"zone":"UTC"}`)},
		{Name: "clock", Args: json.RawMessage(`{"zone":"a \"b\" {c} \\ \n"}`)},
		{Name: "nope", Args: json.RawMessage(`{"list":[1,{"deep":null}]}`)},
	}}
	got, err := newModel(t, reply).Generate(t.Context(), conformRequest("hello"), nil)
	require.NoError(t, err)
	require.Equal(t, llm.ToolUse, got.Stop)
	requireCalls(t, reply.Calls, got.Calls)
}

// conformConversation feeds each reply back, as an agent does.
func conformConversation(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model) {
	m := newModel(t,
		Reply{Text: "I look.", Reasoning: "A clock knows.", Calls: []llm.Call{
			{Name: "clock", Args: json.RawMessage(`{"zone":"UTC"}`)},
			{Name: "clock", Args: json.RawMessage(`{"zone":"CET"}`)},
		}},
		Reply{From: func(r *llm.Request) Reply {
			if all := said(r); !strings.Contains(all, "it is twelve") || !strings.Contains(all, "it is thirteen") {
				return Reply{Err: &llm.Error{Kind: llm.BadRequest, Status: 400, Message: "the results are missing: " + all}}
			}
			return Say("It is noon.")
		}},
		Say("You are welcome."),
	)
	r := conformRequest("What time is it?")
	reply, err := m.Generate(t.Context(), r, nil)
	require.NoError(t, err)
	r.Messages = append(r.Messages, messageOf(reply))
	for i, c := range reply.Calls {
		r.Messages = append(r.Messages, &llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: []string{"it is twelve", "it is thirteen"}[i]})
	}
	reply, err = m.Generate(t.Context(), r, nil)
	require.NoError(t, err)
	require.Equal(t, "It is noon.", reply.Text)
	r.Messages = append(r.Messages, messageOf(reply), &llm.Message{Role: llm.User, Text: "Thanks"})
	reply, err = m.Generate(t.Context(), r, nil)
	require.NoError(t, err)
	require.Equal(t, llm.EndTurn, reply.Stop)
}

func messageOf(r *llm.Reply) *llm.Message {
	return &llm.Message{Role: llm.Assistant, Text: r.Text, Reasoning: r.Reasoning, Calls: r.Calls, Raw: r.Raw}
}

func said(r *llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Text)
	}
	return b.String()
}

func conformFailure(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model) {
	m := newModel(t, Reply{Err: &llm.Error{Kind: llm.Auth, Status: 401, Message: "who are you"}})
	reply, err := m.Generate(t.Context(), conformRequest("hello"), nil)
	require.Nil(t, reply)
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.Auth, e.Kind)
	require.Contains(t, e.Error(), "who are you")
}

func conformCancel(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model) {
	m := newModel(t, Reply{Text: "never", Wait: make(chan struct{})})
	cause := errors.New("a person pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := m.Generate(ctx, conformRequest("hello"), nil)
		done <- err
	}()
	cancel(cause)
	require.ErrorIs(t, <-done, cause)

	reply, err := m.Generate(ctx, conformRequest("hello"), nil)
	require.Nil(t, reply)
	require.ErrorIs(t, err, cause, "a context that has ended already")
}

func conformConcurrency(t *testing.T, newModel func(*testing.T, ...Reply) llm.Model) {
	m := newModel(t, Reply{Repeat: true, Text: "one of many"})
	r := conformRequest("shared by all", "and not changed")
	var wg sync.WaitGroup
	errs := make(chan error, 16)
	for range cap(errs) {
		wg.Go(func() {
			var emitted string
			reply, err := m.Generate(t.Context(), r, collect(&emitted))
			if err == nil && reply.Text != emitted {
				err = fmt.Errorf("emitted %q of %q", emitted, reply.Text)
			}
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
}
