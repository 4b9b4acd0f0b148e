package files

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
	"github.com/heddle-bot/heddle/tools/toolstest"
)

func TestConformance(t *testing.T) {
	all, err := New(Config{})
	require.NoError(t, err)
	prepare := func(t testing.TB, c *tools.Call) {
		put(t, c.Dir+"/a/x.go", "package x\n")
		c.Seen["a/x.go"] = digest([]byte("package x\n"))
	}
	cases := map[string]args{
		"glob":  {"pattern": "*.go"},
		"grep":  {"pattern": "package", "path": "a", "context": 2},
		"read":  {"path": "a/x.go", "limit": 10},
		"write": {"path": "a/x.go", "content": "package y\n"},
		"edit":  {"path": "a/x.go", "old": "x", "new": "y"},

		"send_file": {"path": "a/x.go", "name": "y.go"},
	}
	for _, tool := range all {
		raw, err := json.Marshal(cases[tool.Name])
		require.NoError(t, err)
		t.Run(tool.Name, func(t *testing.T) {
			toolstest.Run(t, tool, toolstest.Case{Name: "usual", Args: string(raw), Prepare: prepare})
		})
	}
	require.Empty(t, toolstest.Lint(all))
}
