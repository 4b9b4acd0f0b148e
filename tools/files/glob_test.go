package files

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGlob(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{
		"main.go": "", "z.md": "", "README.md": "", "agent/next.go": "", "agent/next_test.go": "", "agent/llm/llm.go": "", "agent/a-b/x.go": "",
		"docs/deep/er/x.md": "", ".github/ci.yml": "", "你好.txt": "", ".git/config": "", "node_modules/m/i.go": "", ".venv/lib.go": "",
		"build/out.go": "", ".gitignore": "build/\n*.tmp\n", "x.tmp": "", "log/secret.go": "", "new\nline.txt": ""})
	b.call.Hidden = []string{b.path("log")}
	b.link("agent", "linked")
	b.link("z.md", "link.md")
	b.link("agent/nothing", "agent/dangling.go")
	require.NoError(t, syscall.Mkfifo(b.path("pipe.go"), 0o600))
	require.NoError(t, os.Mkdir(b.path("empty"), 0o700))
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "*.go"}, "main.go agent/dangling.go agent/next.go agent/next_test.go agent/a-b/x.go agent/llm/llm.go"},
		{args{"pattern": "**/*.go"}, "main.go agent/dangling.go agent/next.go agent/next_test.go agent/a-b/x.go agent/llm/llm.go"},
		{args{"pattern": "/*.go"}, "main.go"},
		{args{"pattern": "./*.{go,md}"}, "README.md link.md main.go z.md"},
		{args{"pattern": "*_test.go"}, "agent/next_test.go"},
		{args{"pattern": "agent/*.go"}, "agent/dangling.go agent/next.go agent/next_test.go"},
		{args{"pattern": "agent/**/*.go"}, "agent/dangling.go agent/next.go agent/next_test.go agent/a-b/x.go agent/llm/llm.go"},
		{args{"pattern": "agent/next.go"}, "agent/next.go"},
		{args{"pattern": "llm/*.go", "path": "agent"}, "agent/llm/llm.go"},
		{args{"pattern": "*.go", "path": "agent/llm"}, "agent/llm/llm.go"},
		{args{"pattern": "*.go", "path": "linked/llm"}, "agent/llm/llm.go"},
		{args{"pattern": b.path("agent") + "/n*.go"}, "agent/next.go agent/next_test.go"},
		{args{"pattern": "**/er/*"}, "docs/deep/er/x.md"},
		{args{"pattern": "README*"}, "README.md"},
		{args{"pattern": "[a-m]*.go"}, "main.go agent/dangling.go agent/llm/llm.go"},
		{args{"pattern": "ne?t.go"}, "agent/next.go"},
		{args{"pattern": "*.yml"}, ".github/ci.yml"},
		{args{"pattern": "你*"}, "你好.txt"},
		{args{"pattern": "new*"}, `new\nline.txt`},
		{args{"pattern": "linked"}, "linked"},
		{args{"pattern": "linked/*"}, "no files match"},
		{args{"pattern": "/*/"}, ".github/ agent/ docs/ empty/"},
		{args{"pattern": "ll*/"}, "agent/llm/"},
		{args{"pattern": "out.go"}, "no files match [passed over as .gitignore says: 2 files and directories; include_ignored looks there, too]"},
		{args{"pattern": "out.go", "include_ignored": true}, "build/out.go"},
		{args{"pattern": "out.go", "path": "build"}, "build/out.go"},
		{args{"pattern": "*", "path": "node_modules"}, "node_modules/m/i.go"},
		{args{"pattern": "node_modules/**"}, "node_modules/m/i.go"},
		{args{"pattern": "secret.go", "include_ignored": true}, "no files match"},
		{args{"pattern": "config"}, "no files match"},
		{args{"pattern": "nowhere/*.go"}, "no files match"},
		{args{"pattern": "*.md", "limit": 2}, "README.md link.md [truncated: these are the first 2 of 4; make the pattern narrower or give a path]"},
	} {
		got := strings.Join(strings.FieldsFunc(b.do("glob", c.args), func(r rune) bool { return r == '\n' }), " ")
		if strings.HasPrefix(got, "no files match [") && c.want == "no files match" {
			got = c.want
		}
		require.Equal(t, c.want, got, "%v", c.args)
	}
	for _, wrong := range []string{"[a", "{a", "/"} {
		require.Contains(t, b.fails("glob", args{"pattern": wrong}), "is not a glob")
	}
	require.Contains(t, b.fails("glob", args{"pattern": "../*"}), "outside of the workspace")
	require.Contains(t, b.fails("glob", args{"pattern": "*", "path": "main.go"}), "main.go is not a directory")
}

func TestGlobOutput(t *testing.T) {
	files := map[string]string{}
	for i := range 2_000 {
		files[fmt.Sprintf("d%d/%s%d", i%7, strings.Repeat("x", 20), i)] = ""
	}
	b := newBox(t, Config{}, files)
	text := b.do("glob", args{"pattern": "*", "limit": 5000})
	require.LessOrEqual(t, len(text), 10_000)
	require.Regexp(t, `\[truncated: these are the first \d+ of 2000;`, text)
	require.Equal(t, text, b.do("glob", args{"pattern": "*", "limit": 5000}))
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root reads everything, so a directory that is gone by the time it is read stands for one
		// that may not be read.
		b := newBox(t, Config{}, map[string]string{"a/x": "x\n"})
		w, err := openWorkspace(b.call)
		require.NoError(t, err)
		defer w.Close()
		units, err := w.search(t.Context(), &found{folders: []folder{{"gone", []string{"x"}}, {"a", []string{"gone", "x"}}}}, &query{re: mustQuery(t, "x").re, limit: 9})
		require.NoError(t, err)
		text := grepArgs{Limit: 9}.result(&found{unreadable: 1}, units, 10_000).Text
		require.Equal(t, "a/x\n1:x\n[1 directory could not be read]\n[2 files could not be read]\n", text)
		return
	}
	b := newBox(t, Config{}, map[string]string{"a/x": "x\n", "b/x": "x\n", "c": "x\n"})
	require.NoError(t, os.Chmod(b.path("b"), 0))
	require.NoError(t, os.Chmod(b.path("c"), 0))
	require.Equal(t, "a/x\n1:x\n[1 directory could not be read]\n[1 file could not be read]\n", b.do("grep", args{"pattern": "x"}))
}
