package layers

import (
	"fmt"
	"slices"
	"strings"
)

// A module of others, where it is used, and why we do not do without it.
type module struct {
	path  string
	dirs  []string // whose packages import it
	tests bool     // any test imports it, and packages for tests
	tool  bool     // run by "go tool", not imported
	why   string
}

// modules has a row for each direct dependency in go.mod.
var modules = []module{
	{path: "github.com/alecthomas/kong", dirs: []string{"cmd/heddle"},
		why: "the command line, declared as structs"},
	{path: "github.com/aymanbagabas/go-udiff", dirs: []string{"tools/files"},
		why: "unified diffs for approval cards; the algorithm of gopls"},
	{path: "github.com/bmatcuk/doublestar/v4", dirs: []string{"tools/files"},
		why: "globs with **, which path.Match lacks"},
	{path: "github.com/bwmarrin/discordgo", dirs: []string{"bots/discord"},
		why: "Discord's vocabulary: addresses, codes, permissions, components; its session and its client have faults that show"},
	{path: "github.com/chromedp/cdproto", tests: true,
		why: "what chromedp says to the browser, where it has no word of its own"},
	{path: "github.com/chromedp/chromedp", tests: true,
		why: "a real browser goes through the page"},
	{path: "github.com/cenkalti/backoff/v5", dirs: []string{"bots/discord", "bots/slack", "cmd/heddle"},
		why: "exponential waits with jitter between attempts"},
	{path: "github.com/expr-lang/expr", dirs: []string{"tools/calc"},
		why: "a real parser for arithmetic: what a model writes is never evaluated by anything stronger"},
	{path: "github.com/google/jsonschema-go", dirs: []string{"tools"},
		why: "JSON Schemas of tool arguments from Go structs"},
	{path: "github.com/gorilla/websocket", dirs: []string{"bots/discord", "bots/slack"}, tests: true,
		why: "both sides of Socket Mode and of the Gateway: slack-go and discordgo bring it along, and their own clients lose events"},
	{path: "github.com/pelletier/go-toml/v2", dirs: []string{"cmd/heddle"},
		why: "the configuration file, with the position of every mistake"},
	{path: "github.com/prometheus/client_golang", dirs: []string{"agent/meter"},
		why: "the form of metrics that most who watch services read"},
	{path: "github.com/rogpeppe/go-internal", tests: true,
		why: "testscript for whole conversations, txtar for goldens"},
	{path: "github.com/santhosh-tekuri/jsonschema/v6", dirs: []string{"tools"}, tests: true,
		why: "validation of tool arguments that names every violation"},
	{path: "github.com/sashabaranov/go-openai", dirs: []string{"agent/llm/openai"},
		why: "the wire types of the most common model API"},
	{path: "github.com/slack-go/slack", dirs: []string{"bots/slack"},
		why: "Slack's Web API and Socket Mode"},
	{path: "github.com/stretchr/testify", tests: true,
		why: "require, the one assertion style"},
	{path: "github.com/yuin/goldmark", dirs: []string{"bots/discord", "bots/slack", "bots/web/story", "internal/markdown", "internal/markdown/markdowntest"},
		why: "a real Markdown parser: models write all of it"},
	{path: "go.yaml.in/yaml/v3", dirs: []string{"bots/slack"},
		why: "the app's manifest as Slack's page shows it"},
	{path: "go.etcd.io/bbolt", dirs: []string{"store/bolt"},
		why: "the embedded, transactional file that the log lives in"},
	{path: "go.uber.org/goleak", tests: true,
		why: "tests fail on goroutines left behind"},
	{path: "golang.org/x/sync", dirs: []string{"cmd/heddle"}, tests: true,
		why: "groups of goroutines that end together"},
	{path: "golang.org/x/sys", dirs: []string{"tools/files"},
		why: "file operations that package syscall lacks"},
	{path: "golang.org/x/text", dirs: []string{"internal/markdown"},
		why: "how wide text is shown, for tables"},
	{path: "golang.org/x/time", dirs: []string{"bots/discord", "bots/slack"},
		why: "the rate budget of a network"},
	{path: "honnef.co/go/tools", tool: true,
		why: "staticcheck"},
	{path: "pgregory.net/rapid", tests: true,
		why: "property tests that shrink what they find"},
}

// used reports whether a file in dir may import m.
func (m module) used(dir string, test bool) bool {
	return m.tests && test || slices.Contains(m.dirs, dir)
}

// A goMod is what the rules need of a go.mod file.
type goMod struct {
	module string
	direct []string // required modules that the module itself uses
	tools  []string // packages of tool directives
}

// parseGoMod reads the directives that "go mod tidy" writes.
func parseGoMod(text string) goMod {
	var m goMod
	block := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case fields[0] == ")":
			block = ""
			continue
		case len(fields) == 2 && fields[1] == "(":
			block = fields[0]
			continue
		case block != "":
			fields = append([]string{block}, fields...)
		}
		switch fields[0] {
		case "module":
			m.module = fields[1]
		case "require":
			if !strings.HasSuffix(line, "// indirect") {
				m.direct = append(m.direct, fields[1])
			}
		case "tool":
			m.tools = append(m.tools, fields[1])
		}
	}
	return m
}

// within returns the module of list that holds the package path, or "".
func within(list []string, path string) string {
	best := ""
	for _, m := range list {
		if (path == m || strings.HasPrefix(path, m+"/")) && len(m) > len(best) {
			best = m
		}
	}
	return best
}

// checkModules complains about imports in places that the table does not name, requirements without
// a row, rows without a reason, and rows that nothing needs.
func checkModules(mod goMod, table []module, sources []*source) []string {
	var bad, known []string
	rows := map[string]module{}
	needed := map[string]bool{}
	for _, row := range table {
		rows[row.path] = row
		known = append(known, row.path)
		if row.why == "" {
			bad = append(bad, fmt.Sprintf("modules: %s has no reason", row.path))
		}
	}
	for _, s := range sources {
		for p, spec := range s.imports() {
			if !strings.Contains(strings.Split(p, "/")[0], ".") || strings.HasPrefix(p, mod.module+"/") {
				continue // the standard library, or ours
			}
			name := within(known, p)
			needed[name] = true
			needed[name+" "+s.dir] = true
			if row, ok := rows[name]; !ok || !row.used(s.dir, s.test) {
				bad = append(bad, s.at(spec, "%s is not imported here: see the table in internal/layers/modules.go", p))
			}
		}
	}
	for _, tool := range mod.tools {
		if row := rows[within(known, tool)]; row.tool {
			needed[row.path] = true
		} else {
			bad = append(bad, fmt.Sprintf("go.mod: tool %s has no row in modules", tool))
		}
	}
	for _, name := range mod.direct {
		if _, ok := rows[name]; !ok {
			bad = append(bad, fmt.Sprintf("go.mod: %s has no row in modules: say where it is used and why", name))
		}
	}
	return append(bad, idle(table, needed)...)
}

// idle complains about rows, and places in rows, that nothing needs.
func idle(table []module, needed map[string]bool) []string {
	var bad []string
	for _, row := range table {
		if !needed[row.path] {
			bad = append(bad, fmt.Sprintf("modules: nothing uses %s: delete the row and the requirement", row.path))
			continue
		}
		for _, dir := range row.dirs {
			if !needed[row.path+" "+dir] {
				bad = append(bad, fmt.Sprintf("modules: %s does not use %s: delete it from the row", dir, row.path))
			}
		}
	}
	return bad
}
