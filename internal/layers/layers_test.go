package layers

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// files parses a small module: path and text by turns.
func files(t *testing.T, pairs ...string) []*source {
	t.Helper()
	tree := fstest.MapFS{
		"testdata/broken.go":     {Data: []byte("not Go")},
		".hidden/broken.go":      {Data: []byte("not Go")},
		"doc/text.md":            {Data: []byte("not Go")},
		"agent/testdata/more.go": {Data: []byte("not Go")},
	}
	for i := 0; i < len(pairs); i += 2 {
		tree[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	sources, err := load(tree)
	require.NoError(t, err)
	return sources
}

func TestLoadReportsBrokenFiles(t *testing.T) {
	_, err := load(fstest.MapFS{"a/a.go": {Data: []byte("package a; func {")}})
	require.ErrorContains(t, err, "a/a.go:1")
}

func TestMayImport(t *testing.T) {
	const inTest, inCode = true, false
	for _, c := range []struct {
		from, to string
		test     bool
		want     bool
	}{
		{"cmd/heddle", "bots/slack", inCode, true},
		{"cmd/heddle", "bots/slack/slacktest", inCode, false},
		{"cmd/heddle", "bots/slack/slacktest", inTest, true},
		{"bots", "agent", inCode, true},
		{"bots", "store", inCode, true},
		{"bots", "tools", inCode, false},
		{"bots", "tools", inTest, true},
		{"bots", "tools/files", inTest, false},
		{"bots", "cmd/heddle", inTest, false},
		{"bots/slack", "bots", inCode, true},
		{"bots/slack", "agent", inCode, false},
		{"bots/slack", "bots/slack/slacktest", inTest, true},
		{"bots/slack", "bots/discord", inTest, false},
		{"bots/slack/slacktest", "bots/slack", inCode, true},
		{"bots/slack/slacktest", "bots", inCode, true},
		{"bots/slack/slacktest", "agent", inCode, false},
		{"agent", "agent/llm", inCode, true},
		{"agent", "agent/llm/openai", inCode, false},
		{"agent", "bots", inCode, false},
		{"agent", "store/bolt", inCode, false},
		{"agent", "store/bolt", inTest, true},
		{"agent", "agent/llm/llmtest", inTest, true},
		{"agent/llm", "agent", inTest, false},
		{"agent/llm", "store", inCode, false},
		{"agent/llm/openai", "agent/llm", inCode, true},
		{"agent/llm/llmtest", "agent/llm", inCode, true},
		{"agent/llm/llmtest", "store", inCode, false},
		{"tools", "prompts", inCode, true},
		{"tools/files", "tools", inCode, true},
		{"tools/files", "prompts", inCode, false},
		{"tools/files", "tools/shell", inCode, false},
		{"store/bolt", "store", inCode, true},
		{"store/bolt", "store/storetest", inTest, true},
		{"store", "prompts", inCode, false},
		{"prompts", "tools", inCode, false},
		{"tools/files", "internal/redact", inCode, true},
		{"internal/layers", "internal/redact", inCode, false},
		{"internal/layers", "store", inCode, false},
		{"agent", "agent", inTest, true},
		{"internal/redact", "internal/redact", inTest, true},
	} {
		require.Equal(t, c.want, mayImport(c.from, c.to, c.test), "%s imports %s, in a test: %v", c.from, c.to, c.test)
	}
}

func TestCheckLayers(t *testing.T) {
	bad := checkLayers("m", files(t,
		"store/store.go", "package store\nimport _ \"m/agent\"\n",
		"agent/a.go", "package agent\nimport (\n_ \"fmt\"\n_ \"m/store\"\n_ \"example.com/x\"\n)\n",
		"agent/a_test.go", "package agent_test\nimport _ \"m/store/bolt\"\n",
		"agent/b.go", "package agent\nimport _ \"m/store/bolt\"\n",
		"util/util.go", "package util\n",
	))
	slices.Sort(bad)
	require.Equal(t, []string{
		"agent/b.go:2: agent may not import store/bolt",
		"store/store.go:2: store may not import agent",
		"util/util.go:1: util has no row in layers: say what it may import",
	}, bad)
}

const someMod = `module m

go 1.26

require example.com/single v1.0.0

require (
	example.com/a v1.0.0
	example.com/a/sub v1.0.0
	example.com/gone v1.2.3
	example.com/check v1.0.0 // indirect
)

tool example.com/check/cmd/check

tool (
	example.com/other/cmd
)
`

func TestParseGoMod(t *testing.T) {
	require.Equal(t, goMod{
		module: "m",
		direct: []string{"example.com/single", "example.com/a", "example.com/a/sub", "example.com/gone"},
		tools:  []string{"example.com/check/cmd/check", "example.com/other/cmd"},
	}, parseGoMod(someMod))
}

func TestCheckModules(t *testing.T) {
	table := []module{
		{path: "example.com/a", dirs: []string{"agent", "store"}, why: "for a"},
		{path: "example.com/a/sub", tests: true, why: "for tests"},
		{path: "example.com/single", dirs: []string{"bots"}, why: "idle"},
		{path: "example.com/check", tool: true, why: "a tool"},
		{path: "example.com/gone", dirs: []string{"bots"}},
	}
	bad := checkModules(parseGoMod(someMod), table, files(t,
		"agent/a.go", "package agent\nimport _ \"example.com/a/deep\"\n",
		"agent/a_test.go", "package agent\nimport _ \"example.com/a/sub/x\"\n",
		"bots/b.go", "package bots\nimport _ \"example.com/a\"\n",
		"bots/c.go", "package bots\nimport _ \"example.com/a/sub\"\n",
		"bots/d.go", "package bots\nimport _ \"example.com/unknown\"\n",
		"bots/e.go", "package bots\nimport _ \"example.com/check\"\n",
		"bots/bottest/f.go", "package bottest\nimport _ \"example.com/a/sub\"\n",
	))
	slices.Sort(bad)
	require.Equal(t, []string{
		"bots/b.go:2: example.com/a is not imported here: see the table in internal/layers/modules.go",
		"bots/c.go:2: example.com/a/sub is not imported here: see the table in internal/layers/modules.go",
		"bots/d.go:2: example.com/unknown is not imported here: see the table in internal/layers/modules.go",
		"bots/e.go:2: example.com/check is not imported here: see the table in internal/layers/modules.go",
		"go.mod: tool example.com/other/cmd has no row in modules",
		"modules: example.com/gone has no reason",
		"modules: nothing uses example.com/gone: delete the row and the requirement",
		"modules: nothing uses example.com/single: delete the row and the requirement",
		"modules: store does not use example.com/a: delete it from the row",
	}, bad)
	bad = checkModules(goMod{module: "m", direct: []string{"example.com/new"}}, nil, nil)
	require.Equal(t, []string{"go.mod: example.com/new has no row in modules: say where it is used and why"}, bad)
}

func TestCheckSizes(t *testing.T) {
	text := func(head string, line string, n int, tail string) string {
		return "package a\n" + head + "\n" + strings.Repeat(line+"\n", n) + tail + "\n"
	}
	for _, c := range []struct{ name, fits, over, want string }{
		{"file", strings.Repeat("//\n", 399) + "package a", strings.Repeat("//\n", 400) + "package a",
			"a/a.go: a/a.go has 401 lines, the budget is 400"},
		{"function", text("func F() {", "_ = 1", 58, "}"), text("func F() {", "_ = 1", 59, "}"),
			"a/a.go: func a.F has 61 lines, the budget is 60"},
		{"method", text("func (t *T) F() {", "_ = 1", 58, "}"), text("func (t *T) F() {", "_ = 1", 59, "}"),
			"a/a.go: func a.T.F has 61 lines, the budget is 60"},
		{"struct", text("type T struct {", "_, _ int", 6, "}"), text("type T struct { E", "_, _ int", 6, "}"),
			"a/a.go: struct a.T has 13 fields, the budget is 12"},
		{"anonymous struct", text("func F() { var _ struct {", "_, _ int", 6, "}}"), text("func F() { var _ struct { E", "_, _ int", 6, "}}"),
			"a/a.go: struct a.F has 13 fields, the budget is 12"},
		{"interface", text("type T interface {", "m()", 4, "}"), text("type T interface { E", "m()", 4, "}"),
			"a/a.go: interface a.T has 5 methods, the budget is 4"},
		{"methods", text("", "func (t *T[A]) m() {}", 15, ""), text("", "func (t T[A]) m() {}", 16, ""),
			"a: methods of a.T has 16 methods, the budget is 15"},
		{"parameters", "package a; func F(a, b, c, d int, _ ...int) {}", "package a; func F(a, b, c, d, e int, _ ...int) {}",
			"a/a.go: parameters of a.F has 6 parameters, the budget is 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Empty(t, checkSizes(files(t, "a/a.go", c.fits), nil))
			over := files(t, "a/a.go", c.over)
			require.Equal(t, []string{c.want}, checkSizes(over, nil))
			_, rest, _ := strings.Cut(c.want, ": ")
			what, _, _ := strings.Cut(rest, " has ")
			require.Empty(t, checkSizes(over, []exception{{what, "a reason"}}))
			require.Equal(t, []string{"exceptions: " + what + " has no reason"}, checkSizes(over, []exception{{what, ""}}))
		})
	}
	require.Equal(t, []string{"exceptions: func a.F is within its budget: delete the row"},
		checkSizes(files(t, "a/a.go", "package a; func F() {}"), []exception{{"func a.F", "long ago"}}))
}

func TestCheckComments(t *testing.T) {
	require.Equal(t, []string{"b/b.go:1: package b has no package comment"}, checkComments(files(t,
		"a/a.go", "package a",
		"a/doc.go", "// Package a is documented.\npackage a",
		"b/b.go", "package b",
		"b/b_test.go", "// Package b in a test does not count.\npackage b",
		"c/c_test.go", "package c",
	)))
}

func TestCheckCalls(t *testing.T) {
	bad := checkCalls(files(t,
		"a/a.go", "package a\nfunc init() {}\nfunc (t T) init() {}\n",
		"a/a_test.go", "package a\nfunc f(t T) {\nt.Skip()\nt.SkipNow()\nt.Skip(\" \")\nt.Skipf(\"\")\nt.Skip(\"why\")\nt.Skip(why)\nskip()\n}",
		"b/b.go", "package b\nfunc f() { list.Skip() }\n",
	))
	slices.Sort(bad)
	const silent = "this skips a test without saying why and what to do"
	require.Equal(t, []string{
		"a/a.go:2: init functions are not used here",
		"a/a_test.go:3: " + silent,
		"a/a_test.go:4: " + silent,
		"a/a_test.go:5: " + silent,
		"a/a_test.go:6: " + silent,
	}, bad)
}

func TestCheckPrompts(t *testing.T) {
	names, err := promptFiles(fstest.MapFS{"system.md": {}, "old.md": {}, "p.go": {}, "tools/clock.md": {}, "tools/gone.md": {}})
	require.NoError(t, err)
	bad := checkPrompts(names, files(t,
		"agent/a.go", `package agent; var _ = Text("system.md"); var _ = "gone"`,
		"agent/a_test.go", `package agent; var _ = Text("old.md")`,
		"tools/clock/c.go", "package clock; var _ = Define(`clock`)",
	))
	require.Equal(t, []string{
		"prompts/old.md: nothing asks for this file",
		"prompts/tools/gone.md: nothing asks for this file",
	}, bad)
}
