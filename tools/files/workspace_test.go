package files

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

func TestTools(t *testing.T) {
	all, err := New(Config{})
	require.NoError(t, err)
	effects := map[string]tools.Effect{}
	for _, tool := range all {
		effects[tool.Name] = tool.Effect
		require.Greater(t, len(tool.Description), 100, tool.Name)
		require.NotEmpty(t, tool.Guidance, tool.Name)
	}
	require.Equal(t, map[string]tools.Effect{
		"glob": tools.Query, "grep": tools.Query, "read": tools.Query, "write": tools.Action, "edit": tools.Action, "send_file": tools.Action,
	}, effects)

	_, err = New(Config{Output: 100})
	require.ErrorContains(t, err, "no result fits")
	_, err = New(Config{MaxChange: -1})
	require.ErrorContains(t, err, "negative")
}

func TestTitles(t *testing.T) {
	b := newBox(t, Config{}, nil)
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"read", args{"path": "agent/next.go"}, "read agent/next.go"},
		{"write", args{"path": "x.md", "content": "secret"}, "write x.md"},
		{"edit", args{"path": "x.go", "old": "a", "new": "b"}, "edit x.go"},
		{"glob", args{"pattern": "**/*.go"}, "glob **/*.go"},
		{"glob", args{"pattern": "*.go", "path": "agent"}, "glob *.go in agent"},
		{"grep", args{"pattern": "foo", "path": "agent"}, "grep 'foo' in agent"},
		{"grep", args{"pattern": "two\nlines\x1b[31m"}, "grep 'two lines[31m'"},
	} {
		tool, call := b.ready(c.tool, c.args)
		require.Equal(t, c.want, tool.Title(call.Args))
	}
}

// What a path may lead to, for the tools that take one.
func TestPaths(t *testing.T) {
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("outside\n"), 0o644))
	b := newBox(t, Config{}, map[string]string{"a/b.txt": "inside\n", "log/data": "hidden\n", "top.txt": "top\n"})
	b.call.Hidden = []string{b.path("log")}
	b.link(filepath.Join(outside, "secret"), "out")
	b.link(outside, "outdir")
	b.link("../"+filepath.Base(outside)+"/secret", "up")
	b.link("b.txt", "a/in")
	b.link(b.path("a"), "absolute")
	b.link("../top.txt", "a/up")
	b.link("../..", "a/escape")
	b.link("log", "innocent")
	b.link("innocent/data", "twice")
	b.link("loop", "loop")
	b.link("/a/b.txt", "rooted")
	require.NoError(t, syscall.Mkfifo(b.path("pipe"), 0o644))
	listener, err := net.Listen("unix", b.path("sock"))
	require.NoError(t, err)
	defer listener.Close()

	good := map[string]string{
		"a/b.txt": "inside", "./a//b.txt": "inside", "a/../a/b.txt": "inside", b.path("a/b.txt"): "inside",
		"a/in": "inside", "absolute/b.txt": "inside", "a/up": "top", "a/../top.txt": "top",
	}
	for path, want := range good {
		require.Contains(t, b.do("read", args{"path": path}), "1|"+want, path)
	}
	bad := map[string]string{
		"../x": "outside of the workspace", "a/../../x": "outside of the workspace", "..": "outside of the workspace",
		"/etc/passwd": "outside of the workspace", filepath.Join(outside, "secret"): "outside of the workspace",
		"out": "outside of the workspace", "outdir/secret": "outside of the workspace", "up": "outside of the workspace",
		"a/escape/x": "outside of the workspace", "rooted": "outside of the workspace",
		b.dir + "-other/x": "outside of the workspace",
		"log/data":         "off limits", "innocent/data": "off limits", "twice": "off limits", "log/new": "off limits",
		"a/../log/data": "off limits", b.path("log/data"): "off limits", "log": "off limits",
		"loop": "more than 40 symbolic links", "top.txt/x": "is a file, not a directory",
		"pipe": "named pipe", "sock": "socket", "a": "is a directory, not a file; it has b.txt, escape, in, up",
		"x\x00y": "NUL",
	}
	for path, want := range bad {
		require.Contains(t, b.fails("read", args{"path": path}), want, path)
		require.Contains(t, b.fails("write", args{"path": path, "content": "x"}), want, path)
		require.Contains(t, b.fails("edit", args{"path": path, "old": "inside", "new": "x"}), want, path)
	}
	for _, path := range []string{"../x", "/etc", "outdir", "log", "innocent", "loop"} {
		b.fails("grep", args{"pattern": "x", "path": path})
		b.fails("glob", args{"pattern": "*", "path": path})
	}
	require.NotContains(t, b.do("glob", args{"pattern": "**"}), "data")
	require.Contains(t, b.do("grep", args{"pattern": "hidden|outside"}), "no matches")
	require.Equal(t, "hidden\n", b.get("log/data"))
}

func TestWorkspaceThroughLink(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"x.txt": "x\n"})
	real := b.dir
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	b.call.Dir = link
	b.call.Hidden = []string{filepath.Join(real, "log"), "/nowhere/else"} // does not exist yet
	require.Contains(t, b.do("read", args{"path": filepath.Join(link, "x.txt")}), "1|x")
	require.Contains(t, b.do("read", args{"path": filepath.Join(real, "x.txt")}), "1|x")
	require.Contains(t, b.fails("write", args{"path": "log/x", "content": "x"}), "off limits")

	b.call.Hidden = []string{filepath.Dir(real)}
	require.Contains(t, b.fails("read", args{"path": "x.txt"}), "off limits")
	b.call.Dir = filepath.Join(real, "gone")
	require.Contains(t, b.fails("read", args{"path": "x.txt"}), "opening the workspace")
}

// A link that is put in the place of what was resolved is not followed.
func TestSwapped(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"d/x": "x\n", "log/x": "hidden\n", "y": "y\n"})
	w, err := openWorkspace(b.call)
	require.NoError(t, err)
	defer w.Close()
	rel, err := w.resolve("d/x")
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(b.path("d")))
	b.link("log", "d")
	_, _, err = w.open(rel)
	require.ErrorIs(t, err, errMoved)

	root, err := w.root.Open(".")
	require.NoError(t, err)
	defer root.Close()
	c := cursor{root: int(root.Fd())}
	defer c.leave(0)
	_, err = c.dir("d")
	require.Error(t, err)
	b.link("log/x", "z")
	_, err = c.dir(".")
	require.NoError(t, err)
	_, _, err = c.openFile("z")
	require.Error(t, err)
}

func TestDidYouMean(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{
		"src/index.ts": "", "agent/next.go": "", "agent/Makefile": "", "deep/down/config.toml": "", "node_modules/m/unique.js": "",
	})
	for path, want := range map[string]string{
		"src/index.js":     "did you mean src/index.ts",
		"src/Index.ts":     "did you mean src/index.ts",
		"agnet/next.go":    "did you mean agent/next.go",
		"agent/nxet.go":    "did you mean agent/next.go",
		"makefile":         "did you mean agent/Makefile",
		"conf/config.toml": "did you mean deep/down/config.toml",
		"next.go":          "did you mean agent/next.go",
		"unique.js":        "look for it with glob",
		"qqqqqq":           "look for it with glob",
	} {
		require.Contains(t, b.fails("read", args{"path": path}), want, path)
		require.Contains(t, b.fails("edit", args{"path": path, "old": "a", "new": "b"}), want, path)
	}
	require.Contains(t, b.fails("grep", args{"pattern": "x", "path": "agnet"}), "did you mean agent")
	require.Contains(t, b.fails("glob", args{"pattern": "x", "path": "agnet"}), "did you mean agent")
}

func TestEnds(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"a/x": "x\n", "b/y": "y\n"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for tool, a := range map[string]args{"glob": {"pattern": "*"}, "grep": {"pattern": "x"}, "read": {"path": "a/x"}} {
		tool, call := b.ready(tool, a)
		_, err := tool.Run(ctx, call)
		require.ErrorIs(t, err, context.Canceled, tool.Name)
	}
}
