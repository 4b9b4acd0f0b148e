package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/tools"
	"github.com/heddle-bot/heddle/tools/toolstest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(victim); dir != "" {
		runAsVictim(dir)
	}
	goleak.VerifyTestMain(m)
}

func newTool(t testing.TB, c Config) tools.Tool {
	t.Helper()
	tool, err := New(c)
	require.NoError(t, err)
	return tool
}

// check returns the arguments of a call as the gate makes them.
func check(t testing.TB, tool tools.Tool, args map[string]any) json.RawMessage {
	t.Helper()
	r, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	raw, err := json.Marshal(args)
	require.NoError(t, err)
	_, checked, err := r.Check("shell", raw)
	require.NoError(t, err)
	return checked
}

// do runs a command through the gate.
func do(t testing.TB, ctx context.Context, c tools.Call, args map[string]any) (tools.Result, error) {
	t.Helper()
	tool := newTool(t, Config{})
	c.Args = check(t, tool, args)
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	return tools.Run(ctx, &tool, c)
}

func TestTool(t *testing.T) {
	tool := newTool(t, Config{})
	require.Empty(t, toolstest.Lint([]tools.Tool{tool}))
	toolstest.Run(t, tool,
		toolstest.Case{Name: "plain", Args: `{"command":"echo hello > greeting"}`},
		toolstest.Case{
			Name: "directory", Args: `{"command":"pwd","directory":"sub","timeout_seconds":5}`,
			Prepare: func(t testing.TB, c *tools.Call) { require.NoError(t, os.Mkdir(filepath.Join(c.Dir, "sub"), 0o777)) },
		},
		toolstest.Case{
			Name: "endless", Args: `{"command":"touch started; sleep 600"}`,
			Waits: func(c tools.Call) bool {
				_, err := os.Stat(filepath.Join(c.Dir, "started"))
				return err == nil
			},
		},
	)
}

// What the description claims is what the other tests of this package prove.
func TestDescriptionIsHonest(t *testing.T) {
	for _, shell := range []string{"/bin/sh", "/bin/bash"} {
		text := newTool(t, Config{Shell: shell}).Description
		for _, claim := range []string{
			"Runs one command line in " + shell,
			"exit status, stdout and stderr",
			"Each call starts a fresh shell in the workspace",
			"do not last until the next call",
			"It runs in the foreground without a terminal and without input",
			"what is left in the background is ended when the command returns",
			"It is not sandboxed",
		} {
			require.Contains(t, text, claim)
		}
		require.NotContains(t, text, "{shell}")
	}
}

func TestLimitsOfTime(t *testing.T) {
	tool := newTool(t, Config{})
	require.Contains(t, string(check(t, tool, map[string]any{"command": "x"})), `"timeout_seconds":120`)
	r, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	for args, want := range map[string]string{
		`{"command":"x","timeout_seconds":0}`:   `"timeout_seconds" must be at least 1, not 0`,
		`{"command":"x","timeout_seconds":601}`: `"timeout_seconds" must be at most 600, not 601`,
	} {
		_, _, err := r.Check("shell", json.RawMessage(args))
		require.ErrorContains(t, err, want)
	}
}

func TestNewRefusesWhatIsNoShell(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for shell, want := range map[string]string{
		"sh":             "absolute path",
		"/no/such/shell": "no such file",
		t.TempDir():      "is not a program",
		file:             "is not a program",
	} {
		_, err := New(Config{Shell: shell})
		require.ErrorContains(t, err, want)
	}
}

func TestTitle(t *testing.T) {
	for command, want := range map[string]string{
		"go test ./...":         "run go test ./...",
		"\n  ls -l\n":           "run ls -l",
		"cd a\nmake":            "run cd a …",
		strings.Repeat("x", 99): "run " + strings.Repeat("x", 75) + "…",
	} {
		raw, err := json.Marshal(input{Command: command})
		require.NoError(t, err)
		require.Equal(t, want, title(raw))
	}
}

func TestPreviewShowsAndBindsAllThatMatters(t *testing.T) {
	tool := newTool(t, Config{})
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	preview := func(args map[string]any) tools.Preview {
		p, err := tool.Preview(t.Context(), tools.Call{Dir: dir, Args: check(t, tool, args)})
		require.NoError(t, err)
		return p
	}
	p := preview(map[string]any{"command": "make\n\x1b[2Krm\u202e -r x", "directory": "sub"})
	require.Equal(t, tools.Command, p.Kind)
	require.Equal(t, "in "+dir+"/sub, with /bin/sh, for at most 2m0s:\nmake\n\\x1b[2Krm\\u202e -r x", p.Text)

	digests := []string{
		preview(map[string]any{"command": "make"}).Digest,
		preview(map[string]any{"command": "make "}).Digest,
		preview(map[string]any{"command": "make", "directory": "sub"}).Digest,
		preview(map[string]any{"command": "make", "timeout_seconds": 121}).Digest,
	}
	slices.Sort(digests)
	require.Len(t, slices.Compact(digests), 4)
	require.Equal(t, preview(map[string]any{"command": "make"}), preview(map[string]any{"command": "make", "directory": "sub/.."}))
}

func TestDirectoryIsInTheWorkspace(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "server", ".data"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o666))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "escape")))
	require.NoError(t, os.Symlink(filepath.Join(dir, "server"), filepath.Join(dir, "link")))
	call := tools.Call{Dir: dir, Hidden: []string{filepath.Join(dir, "server", ".data"), "/no/such/directory"}}
	for _, test := range []struct{ name, want string }{
		{"", ""},
		{".", ""},
		{"server", ""},
		{"link", ""},
		{filepath.Join(dir, "server"), ""},
		{"..", `directory ".." is outside of the workspace`},
		{"escape", `directory "escape" is outside of the workspace`},
		{outside, `is outside of the workspace`},
		{"file", `"file" is not a directory`},
		{"sever", `there is no directory "sever" in the workspace, did you mean server?`},
		{"server/.data", `there is no directory "server/.data" in the workspace`},
		{"a\x00b", `there is no directory`},
	} {
		got, err := do(t, t.Context(), call, map[string]any{"command": "pwd -P", "directory": test.name})
		if test.want == "" {
			require.NoError(t, err)
			require.False(t, got.Failed)
			continue
		}
		require.ErrorContains(t, err, test.want)
	}
}

func TestCommandsThatAreNone(t *testing.T) {
	for _, command := range []string{" ", "\n", "a\x00b"} {
		_, err := do(t, t.Context(), tools.Call{}, map[string]any{"command": command})
		require.EqualError(t, err, "the command must not be blank nor hold a NUL character")
	}
}

func TestEnviron(t *testing.T) {
	require.Equal(t, []string{"TERM=dumb", "PATH=/bin", "LC_ALL=C", "GOFLAGS=-mod=mod"}, environ(
		[]string{"PATH=/bin", "PATHS=1", "SLACK_BOT_TOKEN=xoxb-1", "LC_ALL=C", "GOFLAGS=-mod=mod", "GOPATH=/go", "TERM=xterm"},
		[]string{"GOFLAGS", "GOCACHE"}))
}
