package tools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// search is the arguments of a tool that has one of everything.
type search struct {
	Pattern string   `json:"pattern" schema:"minLength=1"`
	Mode    string   `json:"mode,omitempty" schema:"enum=text|regexp,default=text"`
	Limit   int      `json:"limit,omitempty" schema:"minimum=1,maximum=100,default=20"`
	Ratio   float64  `json:"ratio,omitempty"`
	Hidden  bool     `json:"hidden,omitempty"`
	Paths   []string `json:"paths,omitempty" schema:"maxItems=3"`
	Edits   []edit   `json:"edits,omitempty"`
}

type edit struct {
	Old   string `json:"old"`
	Count *int   `json:"count,omitempty" schema:"minimum=1,default=1"`
}

func words() map[string]string {
	return map[string]string{
		"pattern": "What to look for.", "mode": "How.", "limit": "How many.", "ratio": "A ratio.", "hidden": "Hidden ones too.",
		"paths": "Where.", "edits": "What to change.", "edits.old": "The old text.", "edits.count": "How often.",
	}
}

func tool(t testing.TB, name string) Tool {
	t.Helper()
	input, err := Schema[search](words())
	require.NoError(t, err)
	return Tool{
		Name:        name,
		Description: "Searches.",
		Effect:      Query,
		Input:       input,
		Title:       func(json.RawMessage) string { return "search" },
		Run:         func(context.Context, Call) (Result, error) { return Result{}, nil },
	}
}

func question(json.RawMessage) (Question, error) { return Question{Text: "Why?", Free: true}, nil }

func registry(t testing.TB, names ...string) *Registry {
	t.Helper()
	var all []Tool
	for _, name := range names {
		all = append(all, tool(t, name))
	}
	r, err := NewRegistry(all...)
	require.NoError(t, err)
	return r
}

func TestNewRegistryRefusesWhatIsNotWhole(t *testing.T) {
	schema := func(s string) func(*Tool) {
		return func(t *Tool) { t.Input = json.RawMessage(s) }
	}
	for _, test := range []struct {
		name  string
		spoil func(*Tool)
		want  string
	}{
		{"nothing", func(*Tool) {}, ""},
		{"effect", func(t *Tool) { t.Effect = 0 }, "no Effect"},
		{"unknown effect", func(t *Tool) { t.Effect = 9 }, "no Effect"},
		{"description", func(t *Tool) { t.Description = " " }, "no Description"},
		{"title", func(t *Tool) { t.Title = nil }, "Title and Run"},
		{"run", func(t *Tool) { t.Run = nil }, "Title and Run"},
		{"a question of a query", func(t *Tool) { t.Question = question }, "no Question"},
		{"inquiry", func(t *Tool) { t.Effect, t.Run, t.Question = Inquiry, nil, question }, ""},
		{"an inquiry that asks nothing", func(t *Tool) { t.Effect, t.Run = Inquiry, nil }, "needs Title and Question"},
		{"an inquiry that runs", func(t *Tool) { t.Effect, t.Question = Inquiry, question }, "no Run"},
		{"preview", func(t *Tool) { t.Effect = Action }, "needs a Preview"},
		{"timeout", func(t *Tool) { t.Timeout = -1 }, "negative"},
		{"empty name", func(t *Tool) { t.Name = "" }, "must match"},
		{"upper case", func(t *Tool) { t.Name = "Search" }, "must match"},
		{"long name", func(t *Tool) { t.Name = strings.Repeat("a", 65) }, "must match"},
		{"no schema", schema(""), "not JSON"},
		{"broken schema", schema("{"), "not JSON"},
		{"no object", schema(`{"type":"string"}`), `"type": "object"`},
		{"no type", schema(`{"additionalProperties":false}`), `"type": "object"`},
		{"open", schema(`{"type":"object"}`), "additionalProperties"},
		{"bad keyword", schema(`{"type":"object","additionalProperties":false,"properties":{"a":{"minLength":"x"}}}`), "no valid JSON Schema"},
		{"file reference", schema(`{"type":"object","additionalProperties":false,"properties":{"a":{"$ref":"file:///etc/passwd"}}}`), "no valid JSON Schema"},
		{"bad default", schema(`{"type":"object","additionalProperties":false,"properties":{"a":{"type":"integer","default":"x"}}}`),
			`the default of "a" does not fit: "a" must be an integer, not a string`},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := tool(t, "search")
			test.spoil(&bad)
			_, err := NewRegistry(bad)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
		})
	}
	_, err := NewRegistry(tool(t, "one"), tool(t, "two"), tool(t, "one"))
	require.EqualError(t, err, `tool "one": the name is taken by another tool`)
}

func TestToolsAreSorted(t *testing.T) {
	var names []string
	for _, tool := range registry(t, "c", "a", "b").Tools() {
		names = append(names, tool.Name)
	}
	require.Equal(t, []string{"a", "b", "c"}, names)
}

const filled = `"limit":20,"mode":"text","pattern":"x"`

func TestCheckAccepts(t *testing.T) {
	r := registry(t, "search")
	for _, test := range []struct{ name, args, want string }{
		{"plain", `{"pattern":"x"}`, `{` + filled + `}`},
		{"order and space", "{ \"pattern\" : \"x\",\n\"limit\":5, \"mode\":\"regexp\"}", `{"limit":5,"mode":"regexp","pattern":"x"}`},
		{"readable", `{"pattern":"\u4f60\u597d <&> é"}`, `{"limit":20,"mode":"text","pattern":"你好 <&> é"}`},
		{"string for integer", `{"pattern":"x","limit":" 5 "}`, `{"limit":5,"mode":"text","pattern":"x"}`},
		{"whole fraction for integer", `{"pattern":"x","limit":5.0}`, `{"limit":5,"mode":"text","pattern":"x"}`},
		{"exponent for integer", `{"pattern":"x","limit":5e1}`, `{"limit":50,"mode":"text","pattern":"x"}`},
		{"fraction in a string", `{"pattern":"x","limit":"5.0"}`, `{"limit":5,"mode":"text","pattern":"x"}`},
		{"string for number", `{"pattern":"x","ratio":"0.50"}`, `{` + filled + `,"ratio":0.5}`},
		{"string for boolean", `{"pattern":"x","hidden":"True"}`, `{"hidden":true,` + filled + `}`},
		{"number for string", `{"pattern":12}`, `{"limit":20,"mode":"text","pattern":"12"}`},
		{"boolean for string", `{"pattern":false}`, `{"limit":20,"mode":"text","pattern":"false"}`},
		{"one for a list", `{"pattern":"x","paths":"a"}`, `{"limit":20,"mode":"text","paths":["a"],"pattern":"x"}`},
		{"list in a string", `{"pattern":"x","paths":"[\"A\",\"b\"]"}`, `{"limit":20,"mode":"text","paths":["A","b"],"pattern":"x"}`},
		{"object in a string in a list", `{"pattern":"x","edits":["{\"old\":\"O\"}"]}`, `{"edits":[{"count":1,"old":"O"}],` + filled + `}`},
		{"one object for a list", `{"pattern":"x","edits":{"old":1,"count":"2"}}`, `{"edits":[{"count":2,"old":"1"}],` + filled + `}`},
		{"null for optional", `{"pattern":"x","limit":null,"paths":null}`, `{` + filled + `}`},
		{"a string stays one", `{"pattern":"5","paths":["true"]}`, `{"limit":20,"mode":"text","paths":["true"],"pattern":"5"}`},
		{"all in a string", `"{\"pattern\":\"x\"}"`, `{` + filled + `}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool, args, err := r.Check("search", json.RawMessage(test.args))
			require.NoError(t, err)
			require.Equal(t, "search", tool.Name)
			require.Equal(t, test.want, string(args))
			_, again, err := r.Check("search", args)
			require.NoError(t, err)
			require.Equal(t, test.want, string(again), "checking twice is checking once")
			_, err = Decode[search](args)
			require.NoError(t, err)
		})
	}
}

// The texts are what a model has to go by.
func TestCheckRefuses(t *testing.T) {
	pick := tool(t, "pick") // as another program may describe its tool
	pick.Input = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{
		"a":{"type":"integer","multipleOf":2}, "b":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`)
	r, err := NewRegistry(pick, tool(t, "read"), tool(t, "search"), tool(t, "write"))
	require.NoError(t, err)
	const not = "the arguments do not fit search, so it did not run:\n- "
	const how = ": write exactly one JSON object, with quotes and line breaks inside strings escaped; it did not run"
	for _, test := range []struct{ tool, args, want string }{
		{"raed", `{}`, `there is no tool "raed", did you mean read?; the tools are: pick, read, search, write`},
		{"zzz", `{}`, `there is no tool "zzz"; the tools are: pick, read, search, write`},
		{"search", `{}`, not + `"pattern" is missing`},
		{"search", ``, not + `"pattern" is missing`},
		{"search", `null`, not + `"pattern" is missing`},
		{"search", `{"pattern":""}`, not + `"pattern" must not be empty`},
		{"search", `{"pattern":null}`, not + `"pattern" must be a string, not null`},
		{"search", `{"pattern":{}}`, not + `"pattern" must be a string, not an object`},
		{"search", `{"pattern":"x","limit":"twelve"}`, not + `"limit" must be an integer, not a string`},
		{"search", `{"pattern":"x","limit":1.5}`, not + `"limit" must be an integer, not a number`},
		{"search", `{"pattern":"x","limit":"101"}`, not + `"limit" must be at most 100, not 101`},
		{"search", `{"pattern":"x","mode":"regex"}`, not + `"mode" must be one of "text", "regexp", did you mean "regexp"?`},
		{"search", `{"pattern":"x","paths":["a","b","c","d"]}`, not + `"paths" must have at most 3 items, not 4`},
		{"search", `{"patern":"x","limit":0,"colour":1,"edits":[{"old":"a"},{"count":0}]}`, not + strings.Join([]string{
			`"colour" is unknown: there are edits, hidden, limit, mode, paths, pattern, ratio`,
			`"edits[1].count" must be at least 1, not 0`,
			`"edits[1].old" is missing`,
			`"limit" must be at least 1, not 0`,
			`"patern" is unknown, did you mean pattern?`,
			`"pattern" is missing`,
		}, "\n- ")},
		{"search", `{"pattern":"x","edits":[{"old":"a","cuont":1}]}`, not + `"edits[0].cuont" is unknown, did you mean count?`},
		{"pick", `{"a":7}`, `the arguments do not fit pick, so it did not run:
- "a" does not fit: multipleOf: got 7, want 2`},
		{"pick", `{"b":7}`, `the arguments do not fit pick, so it did not run:
- "b" must be a string, not a number
- "b" must be null, not a number`},
		{"search", `[]`, not + `the arguments must be an object, not an array`},
		{"search", `7`, not + `the arguments must be an object, not a number`},
		{"search", `"{\"pattern\": \"x"`, `the arguments of search are not JSON (they end too early)` + how},
		{"search", `"call it with x"`, `the arguments of search are not JSON (invalid character 'c' looking for beginning of value after 1 bytes)` + how},
		{"search", `"{\"pattern\":\"x\"} {}"`, `the arguments of search are not JSON (there is more after the first value)` + how},
	} {
		t.Run(test.tool+test.args, func(t *testing.T) {
			_, _, err := r.Check(test.tool, json.RawMessage(test.args))
			require.EqualError(t, err, test.want)
		})
	}
	empty, err := NewRegistry()
	require.NoError(t, err)
	_, _, err = empty.Check("x", nil)
	require.EqualError(t, err, `there is no tool "x": there are no tools`)
}

// Whatever a model writes, Check answers, and what it lets pass is stable and can be decoded.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `{"pattern":"x"}`, `"{\"pattern\":1}"`, `{"pattern":"x","limit":1e2,"paths":"a"}`, `{"pattern":"x","limit":1e999999}`,
		`{"pattern":"x","edits":{"old":"\ud800"}}`, `[[[[`, "\"\\u0000\"", `{"pattern":"x","ratio":1e400}`, `{"pattern":-0.0}`,
	} {
		f.Add(seed)
	}
	r := registry(f, "search")
	f.Fuzz(func(t *testing.T, args string) {
		_, checked, err := r.Check("search", json.RawMessage(args))
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.Equal(t, string(checked), Canonical(checked))
		_, again, err := r.Check("search", checked)
		require.NoError(t, err)
		require.Equal(t, string(checked), string(again))
	})
}

func BenchmarkCheck(b *testing.B) {
	r := registry(b, "search")
	args := json.RawMessage(`{"pattern":"x","limit":5,"paths":["a","b"],"edits":[{"old":"a"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Check("search", args); err != nil {
			b.Fatal(err)
		}
	}
}
