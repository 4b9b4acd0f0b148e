package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/tour"
	"github.com/heddle-bot/heddle/tools"
)

// Whatever people ask the tour for, it calls tools that there are, with arguments that fit them. What it
// says in a thread is in testdata/tour.txt.
func TestTourCallsFit(t *testing.T) {
	cfg := defaults()
	registry, err := newRegistry(&cfg)
	require.NoError(t, err)
	ok := func() string { return "ok\n1|text" }
	for said, want := range map[string][]string{
		"what is in here?":       {"glob"},
		"read a.txt":             {"read"},
		"find a in b":            {"grep"},
		"replace a with b in c":  {"read", "edit"},
		"replace a with '' in c": {"read", "edit"},
		"write a to b":           {"write"},
		"run date":               {"shell"},
		"make me a sandwich":     nil,
	} {
		require.Equal(t, want, toured(t, registry, said, ok), said)
	}

	forms := []string{"", "read %", "ls %", "find %", "find % in %", "replace % with % in %", "in % replace % with %", "write % to %", "create % with %", "run %", "$ %"}
	words := []string{"", " ", "a", "''", "a b.txt", "`x y`", "\"\"", ".", "..", "?", "\x00", "\xff", "\n", "漢字", "```sh\nls\n```", "with", "in"}
	results := []string{"ok\n1|text", "failed\nx has changed since it was read", "failed\nx exists, but has not been read in this session", "failed\nno, did you mean y?"}
	rapid.Check(t, func(t *rapid.T) {
		said := ""
		for _, c := range rapid.SampledFrom(forms).Draw(t, "form") {
			if c == '%' {
				said += rapid.OneOf(rapid.SampledFrom(words), rapid.String()).Draw(t, "words")
				continue
			}
			said += string(c)
		}
		toured(t, registry, said, func() string { return rapid.SampledFrom(results).Draw(t, "result") })
	})
}

// toured asks the tour for something, gives its calls the results, and returns the names of what it called.
func toured(t require.TestingT, registry *tools.Registry, said string, result func() string) (called []string) {
	r := &llm.Request{Messages: []*llm.Message{{Role: llm.User, Text: "alice: " + said}}}
	for reply := tour.Reply(r); len(reply.Calls) > 0; reply = tour.Reply(r) {
		require.Len(t, reply.Calls, 1)
		call := reply.Calls[0]
		_, _, err := registry.Check(call.Name, call.Args)
		require.NoError(t, err, "%q", said)
		called = append(called, call.Name)
		r.Messages = append(r.Messages,
			&llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls},
			&llm.Message{Role: llm.ToolRole, CallID: call.ID, Text: call.Name + ": " + result()})
	}
	return called
}
