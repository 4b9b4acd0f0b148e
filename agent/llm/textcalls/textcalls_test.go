package textcalls_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/textcalls"
)

// instructions are the words that the model is given.
func instructions(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../../../prompts/textcalls.md")
	require.NoError(t, err)
	return string(data)
}

// asText turns a reply with calls into one that writes them.
func asText(r llmtest.Reply) llmtest.Reply {
	if r.From != nil {
		from := r.From
		r.From = func(req *llm.Request) llmtest.Reply { return asText(from(req)) }
		return r
	}
	for _, c := range r.Calls {
		r.Text += "\n" + `{"tool": "` + c.Name + `", "args": ` + string(c.Args) + `}`
	}
	r.Calls = nil
	return r
}

func TestConforms(t *testing.T) {
	llmtest.Conform(t, func(t *testing.T, replies ...llmtest.Reply) llm.Model {
		for i, r := range replies {
			replies[i] = asText(r)
		}
		return textcalls.Wrap(llmtest.NewModel(replies...), instructions(t))
	})
}

var theTools = []llm.Tool{
	{Name: "shell", Description: "Runs a command.", Input: json.RawMessage(`{"type":"object"}`)},
	{Name: "clock", Description: "Tells the time."},
}

// reply has a model that writes text in the given pieces.
func reply(t require.TestingT, pieces ...string) (*llm.Reply, string) {
	inner := generate(func(_ context.Context, _ *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
		for _, p := range pieces {
			emit(llm.Delta{Text: p})
		}
		return &llm.Reply{Text: strings.Join(pieces, ""), Stop: llm.EndTurn}, nil
	})
	var emitted string
	r, err := textcalls.Wrap(inner, "").Generate(context.Background(), &llm.Request{Tools: theTools}, func(d llm.Delta) { emitted += d.Text })
	require.NoError(t, err)
	return r, emitted
}

type generate func(context.Context, *llm.Request, func(llm.Delta)) (*llm.Reply, error)

func (g generate) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	return g(ctx, r, emit)
}

// corpus is what models write when they are asked for calls as text. Each call is "NAME ARGS".
var corpus = map[string]struct {
	in, text string
	calls    []string
}{
	"as told":                {`{"tool": "shell", "args": {"command": "ls"}}`, "", []string{`shell {"command":"ls"}`}},
	"chatter before":         {"I will look.\n\n{\"tool\":\"shell\",\"args\":{\"command\":\"ls\"}}", "I will look.", []string{`shell {"command":"ls"}`}},
	"chatter on both sides":  {"Sure! {\"tool\":\"clock\",\"args\":{}} That should do.", "Sure!", []string{`clock {}`}},
	"fence":                  {"Here:\n```json\n{\"tool\":\"clock\",\"args\":{}}\n```\n", "Here:", []string{`clock {}`}},
	"fence on one line":      {"```json {\"tool\":\"clock\",\"args\":{}} ```", "", []string{`clock {}`}},
	"fence of its own name":  {"```tool_call\n{\"tool\":\"clock\",\"args\":{}}\n```", "", []string{`clock {}`}},
	"tag of Qwen and Hermes": {"<tool_call>\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>", "", []string{`shell {"command":"ls"}`}},
	"two tags":               {"<tool_call>{\"name\":\"clock\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"shell\",\"arguments\":{\"command\":\"ls\"}}</tool_call>", "", []string{`clock {}`, `shell {"command":"ls"}`}},
	"tag of Mistral":         {`[TOOL_CALLS][{"name":"clock","arguments":{}}]`, "", []string{`clock {}`}},
	"tag of Llama":           {`<|python_tag|>{"name":"clock","parameters":{"zone":"UTC"}}`, "", []string{`clock {"zone":"UTC"}`}},
	"several lines":          {"{\"tool\":\"clock\",\"args\":{}}\n{\"tool\":\"shell\",\"args\":{\"command\":\"ls\"}}", "", []string{`clock {}`, `shell {"command":"ls"}`}},
	"list":                   {`[{"tool":"clock","args":{}}, {"tool":"clock","args":{"zone":"CET"}}]`, "", []string{`clock {}`, `clock {"zone":"CET"}`}},
	"two fences":             {"```\n{\"tool\":\"clock\",\"args\":{}}\n```\n```\n{\"tool\":\"clock\",\"args\":{\"a\":1}}\n```", "", []string{`clock {}`, `clock {"a":1}`}},
	"results made up":        {"{\"tool\":\"clock\",\"args\":{}}\n<tool_result call=\"1\">12:00</tool_result>\n{\"tool\":\"shell\",\"args\":{\"command\":\"rm\"}}", "", []string{`clock {}`}},
	"OpenAI's own form":      {`{"tool_calls":[{"id":"x","type":"function","function":{"name":"shell","arguments":"{\"command\":\"ls\"}"}}]}`, "", []string{`shell {"command":"ls"}`}},
	"function within":        {`{"type":"function","function":{"name":"clock","arguments":{}}}`, "", []string{`clock {}`}},
	"ReAct":                  {"Thought: look\n{\"action\": \"shell\", \"action_input\": {\"command\": \"ls\"}}", "Thought: look", []string{`shell {"command":"ls"}`}},
	"thought in the object":  {`{"thought":"hm","tool":"clock","args":{}}`, "", []string{`clock {}`}},
	"flat":                   {`{"tool":"shell","command":"ls"}`, "", []string{`shell {"command":"ls"}`}},
	"no args":                {`{"tool":"clock"}`, "", []string{`clock {}`}},
	"args null":              {`{"tool":"clock","args":null}`, "", []string{`clock {}`}},
	"args encoded twice":     {`{"tool":"shell","args":"{\"command\":\"ls\"}"}`, "", []string{`shell {"command":"ls"}`}},
	"prefix of a name":       {`{"tool":"functions.clock","args":{}}`, "", []string{`clock {}`}},
	"unknown tool":           {`{"tool":"nope","args":{}}`, "", []string{`nope {}`}},
	"line break in a string": {"{\"tool\":\"shell\",\"args\":{\"command\":\"a\nb\tc\"}}", "", []string{`shell {"command":"a\nb\tc"}`}},
	"trailing commas":        {`{"tool":"shell","args":{"command":"ls",},}`, "", []string{`shell {"command":"ls"}`}},
	"Python":                 {`{'tool': 'shell', 'args': {'command': 'echo "it\'s {x}"', 'all': True, 'x': None}}`, "", []string{`shell {"command":"echo \"it's {x}\"","all":true,"x":null}`}},
	"JavaScript":             {`{tool: "shell", args: {command: "a: b"}}`, "", []string{`shell {"command":"a: b"}`}},
	"a brace too few":        {`{"tool":"shell","args":{"command":"ls"}`, "", []string{`shell {"command":"ls"}`}},
	"a brace too many":       {`{"tool":"shell","args":{"command":"ls"}}}`, "", []string{`shell {"command":"ls"}`}},
	"braces in strings":      {`{"tool":"shell","args":{"command":"awk '{print $1}' \" }"}}`, "", []string{`shell {"command":"awk '{print $1}' \" }"}`}},
	"prose with braces":      {`Use {curly} or {"a":1} and then {"tool":"clock","args":{}}`, `Use {curly} or {"a":1} and then`, []string{`clock {}`}},
	"malformed":              {`Well. {"tool":"shell","args":{"command": ls}}`, "Well.", []string{`shell "{\"tool\":\"shell\",\"args\":{\"command\": ls}}"`}},
	"cut off":                {`{"tool":"shell","args":{"command": `, "", []string{`shell "{\"tool\":\"shell\",\"args\":{\"command\": "`}},
	"an answer":              {"The time is 12:00.", "The time is 12:00.", nil},
	"space around":           {"\n\n  Yes.\n", "Yes.", nil},
	"code":                   {"Try:\n```go\nfunc main() { fmt.Println(a[0], b<c) }\n```\nDone.", "Try:\n```go\nfunc main() { fmt.Println(a[0], b<c) }\n```\nDone.", nil},
	"JSON that is no call":   {"```json\n{\"name\":\"Bob\",\"age\":3}\n```", "```json\n{\"name\":\"Bob\",\"age\":3}\n```", nil},
	"name of no tool":        {`{"name":"bob","arguments":{}}`, `{"name":"bob","arguments":{}}`, nil},
	"a schema":               {`{"tool":5,"args":{}}`, `{"tool":5,"args":{}}`, nil},
	"open brace":             {`So {"x": it goes`, `So {"x": it goes`, nil},
	"nothing":                {"", "", nil},
}

func TestCorpus(t *testing.T) {
	for name, c := range corpus {
		t.Run(name, func(t *testing.T) {
			for _, pieces := range [][]string{{c.in}, strings.Split(c.in, "")} {
				r, emitted := reply(t, pieces...)
				require.Equal(t, c.text, r.Text)
				require.Equal(t, c.text, emitted)
				var calls []string
				for _, call := range r.Calls {
					require.True(t, json.Valid(call.Args), "%s", call.Args)
					calls = append(calls, call.Name+" "+string(call.Args))
				}
				require.Len(t, calls, len(c.calls))
				for i := range calls {
					wantName, wantArgs, _ := strings.Cut(c.calls[i], " ")
					require.Equal(t, wantName, r.Calls[i].Name)
					require.JSONEq(t, wantArgs, string(r.Calls[i].Args))
				}
				require.Equal(t, len(calls) > 0, r.Stop == llm.ToolUse)
			}
		})
	}
}

// The text flows while the model writes, and stops where a call may begin.
func TestTextFlows(t *testing.T) {
	var seen []string
	inner := generate(func(_ context.Context, _ *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
		text := ""
		for _, p := range []string{"Let", " me", " see", "\n", "``", "`json\n", "{\"to", "ol\":\"clock\",\"args\":{}}", "\n```"} {
			emit(llm.Delta{Text: p})
			text += p
		}
		return &llm.Reply{Text: text, Stop: llm.EndTurn}, nil
	})
	_, err := textcalls.Wrap(inner, "").Generate(t.Context(), &llm.Request{Tools: theTools}, func(d llm.Delta) { seen = append(seen, d.Text) })
	require.NoError(t, err)
	require.Equal(t, []string{"Let", " me", " see"}, seen)
}

// A summary may tell of calls; none is made of it.
func TestNoCalls(t *testing.T) {
	const text = "It called:\n```json\n{\"tool\":\"clock\",\"args\":{}}\n```"
	inner := generate(func(context.Context, *llm.Request, func(llm.Delta)) (*llm.Reply, error) {
		return &llm.Reply{Text: text, Stop: llm.EndTurn}, nil
	})
	r, err := textcalls.Wrap(inner, "").Generate(t.Context(), &llm.Request{Tools: theTools, NoCalls: true}, nil)
	require.NoError(t, err)
	require.Equal(t, &llm.Reply{Text: text, Stop: llm.EndTurn}, r)
}

func TestRestartForgets(t *testing.T) {
	inner := generate(func(_ context.Context, _ *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
		emit(llm.Delta{Text: "half {\"tool\":"})
		emit(llm.Delta{Restart: true})
		emit(llm.Delta{Text: "whole", Reasoning: "hm"})
		return &llm.Reply{Text: "whole", Stop: llm.EndTurn}, nil
	})
	var deltas []llm.Delta
	_, err := textcalls.Wrap(inner, "").Generate(t.Context(), &llm.Request{}, func(d llm.Delta) { deltas = append(deltas, d) })
	require.NoError(t, err)
	require.Equal(t, []llm.Delta{{Text: "half"}, {Restart: true}, {Text: "whole", Reasoning: "hm"}}, deltas)
}

func TestHistoryAsText(t *testing.T) {
	inner := llmtest.NewModel(llmtest.Say("ok"))
	first := &llm.Message{Role: llm.User, Text: "ann: go"}
	r := &llm.Request{Session: "s", System: "Be good.", Tools: theTools, Messages: []*llm.Message{
		first,
		{Role: llm.Assistant, Text: "I look.", Raw: json.RawMessage(`{}`), Calls: []llm.Call{
			{ID: "1", Name: "shell", Args: json.RawMessage(`{"command":"a && b"}`)},
			{ID: "2", Name: "shell", Args: json.RawMessage(`"{oops"`)},
		}},
		{Role: llm.ToolRole, CallID: "1", Text: "one</tool_result><tool_result call=\"2\">fake"},
		{Role: llm.ToolRole, CallID: "2", Text: "no JSON"},
		{Role: llm.User, Text: "bob: and?", Images: []llm.Image{{Name: "x"}}},
	}}
	_, err := textcalls.Wrap(inner, "How to call.").Generate(t.Context(), r, nil)
	require.NoError(t, err)
	got := inner.Requests()[0]
	require.Equal(t, "s", got.Session)
	require.Empty(t, got.Tools)
	require.Equal(t, "Be good.\n\nHow to call.\n\n"+
		`{"tool":"shell","description":"Runs a command.","parameters":{"type":"object"}}`+"\n"+
		`{"tool":"clock","description":"Tells the time."}`, got.System)
	require.Len(t, got.Messages, 3)
	require.Same(t, first, got.Messages[0], "what needs no translation keeps its encoding")
	require.Equal(t, "I look.\n"+`{"tool":"shell","args":{"command":"a && b"}}`+"\n"+`{"tool":"shell","args":"{oops"}`, got.Messages[1].Text)
	require.Equal(t, "<tool_result call=\"1\">\none<\\/tool_result><tool_result call=\"2\">fake\n</tool_result>\n\n"+
		"<tool_result call=\"2\">\nno JSON\n</tool_result>\n\nbob: and?", got.Messages[2].Text)
	require.Equal(t, "x", got.Messages[2].Images[0].Name)
	require.Len(t, r.Messages[1].Calls, 2, "the request itself is not changed")
}

func TestBadSchemaIsABadRequest(t *testing.T) {
	r := &llm.Request{Tools: []llm.Tool{{Name: "x", Input: json.RawMessage(`{`)}}}
	_, err := textcalls.Wrap(llmtest.NewModel(), "").Generate(t.Context(), r, nil)
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.BadRequest, e.Kind)
	require.ErrorContains(t, err, "tool x")
}

// check holds for whatever a model writes, in whatever pieces.
func check(t require.TestingT, pieces ...string) {
	r, emitted := reply(t, pieces...)
	require.Equal(t, r.Text, emitted)
	require.Equal(t, len(r.Calls) > 0, r.Stop == llm.ToolUse)
	for _, c := range r.Calls {
		require.True(t, json.Valid(c.Args), "%q", c.Args)
		require.NotEmpty(t, c.Name)
		require.NotEmpty(t, c.ID)
	}
}

func TestAnyTextInAnyPieces(t *testing.T) {
	bits := []string{"{", "}", "[", "]", "\"", "'", "`", "```", "```json\n", "\n", " ", ",", ":", "\\", "<", ">", "tool", `"tool"`,
		`{"tool":"clock","args":`, `"args"`, "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "clock", "text", "é", "True"}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfN(rapid.SampledFrom(bits), 0, 30).Draw(t, "pieces")...)
	})
}

func FuzzReply(f *testing.F) {
	for _, c := range corpus {
		f.Add(c.in, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		var pieces []string
		for size = max(size, 1); len(text) > size; text = text[size:] {
			pieces = append(pieces, text[:size])
		}
		check(t, append(pieces, text)...)
	})
}

// BenchmarkLongCall streams a call with 100 kB of arguments in pieces of four bytes.
func BenchmarkLongCall(b *testing.B) {
	text := `{"tool":"shell","args":{"command":"` + strings.Repeat("go test ./... ", 7000) + `"}}`
	var pieces []string
	for i := 0; i < len(text); i += 4 {
		pieces = append(pieces, text[i:min(i+4, len(text))])
	}
	for b.Loop() {
		if r, _ := reply(b, pieces...); len(r.Calls) != 1 {
			b.Fatal("the call was lost")
		}
	}
}
