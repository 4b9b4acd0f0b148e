package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// What most of the rows below mean: two calls, with ids of their own and without.
var (
	two     = []llm.Call{{ID: "a", Name: "f", Args: []byte(`{"x":1}`)}, {ID: "b", Name: "g", Args: []byte(`{"y":2}`)}}
	unnamed = []llm.Call{{ID: "call00001", Name: "f", Args: []byte(`{"x":1}`)}, {ID: "call00002", Name: "g", Args: []byte(`{"y":2}`)}}
)

// callPieces holds each way to number, name and cut calls that a server has been seen with.
var callPieces = map[string]struct {
	pieces []string // of tool_calls, one chunk each
	want   []llm.Call
}{
	"in form": {[]string{
		`{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}`,
		`{"index":0,"function":{"arguments":"{\"x\""}}`, `{"index":0,"function":{"arguments":":1}"}}`,
		`{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{\"y\":2}"}}`,
	}, two},
	"interleaved": {[]string{
		`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}`,
		`{"index":1,"function":{"arguments":":2}"}},{"index":0,"function":{"arguments":":1}"}}`,
	}, two},
	"no index, ids": {[]string{
		`{"id":"a","function":{"name":"f","arguments":"{\"x\""}},{"id":"b","function":{"name":"g","arguments":"{\"y\""}}`,
		`{"id":"a","function":{"arguments":":1}"}}`, `{"id":"b","function":{"arguments":":2}"}}`,
	}, two},
	"no index, no ids afterwards": {[]string{
		`{"id":"a","function":{"name":"f","arguments":"{\"x\""}}`, `{"function":{"arguments":":1}"}}`,
		`{"id":"b","function":{"name":"g","arguments":""}}`, `{"function":{"arguments":"{\"y\":2}"}}`,
	}, two},
	"no index, pieces in order": {[]string{
		`{"function":{"name":"f","arguments":"{\"x\""}},{"function":{"name":"g","arguments":"{\"y\""}}`,
		`{"function":{"arguments":":1}"}},{"function":{"arguments":":2}"}}`,
	}, unnamed},
	"index 0 for all, ids": {[]string{
		`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`,
		`{"index":0,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}`,
	}, two},
	"index 0 for all, no ids": {[]string{
		`{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}`,
		`{"index":0,"function":{"name":"g","arguments":"{\"y\":2}"}}`,
	}, unnamed},
	"an id of its own for each piece": {[]string{
		`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`, `{"index":0,"id":"zz","function":{"arguments":":1}"}}`,
		`{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\""}}`, `{"index":1,"id":"yy","function":{"name":"","arguments":":2}"}}`,
	}, two},
	"name and id in each piece": {[]string{
		`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`, `{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}`,
		`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`,
		`{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}`,
	}, two},
	"the same id twice": {[]string{
		`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`,
		`{"index":1,"id":"a","function":{"name":"g","arguments":"{\"y\":2}"}}`,
	}, []llm.Call{two[0], {ID: "call00002", Name: "g", Args: two[1].Args}}},
	"name in pieces":           {[]string{`{"index":0,"id":"a","function":{"name":"clo"}}`, `{"index":0,"function":{"name":"ck"}}`}, []llm.Call{{ID: "a", Name: "clock", Args: []byte("{}")}}},
	"no arguments":             {[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`}, []llm.Call{{ID: "a", Name: "f", Args: []byte("{}")}}},
	"null as arguments":        {[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":null}}`}, []llm.Call{{ID: "a", Name: "f", Args: []byte("{}")}}},
	"arguments are an object":  {[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}`}, two[:1]},
	"encoded twice":            {[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"\"{\\\"x\\\":1}\""}}`}, two[:1]},
	"an empty object before":   {[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"{\"x\":1}"}}`}, two[:1]},
	"malformed arguments stay": {[]string{`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\": <1>"}}`}, []llm.Call{{ID: "a", Name: "f", Args: []byte(`"{\"x\": <1>"`)}}},
	"an empty one is none":     {[]string{`{"index":0}`, `{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`}, two[:1]},
}

func TestCallsOfManyServers(t *testing.T) {
	for name, c := range callPieces {
		t.Run(name, func(t *testing.T) {
			reply, err := stream(t, openai.Config{}, func(ex *llmtest.Exchange) {
				for _, p := range c.pieces {
					ex.Raw(lines(`{"choices":[{"index":0,"delta":{"tool_calls":[` + p + `]}}]}`))
				}
				ex.Raw(lines(`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"))
				ex.End()
			})
			require.NoError(t, err)
			require.Equal(t, c.want, reply.Calls)
			require.Equal(t, llm.ToolUse, reply.Stop)
		})
	}
}
