package files

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/tools"
)

func TestMain(m *testing.M) {
	if os.Getenv(killDir) != "" {
		writeForEver()
	}
	goleak.VerifyTestMain(m)
}

// A box is a workspace and a session that works in it, as the agent does: arguments pass the gate,
// what a call has seen is kept, and an action is previewed and runs under the preview's digest.
type box struct {
	t        testing.TB
	dir      string
	registry *tools.Registry
	call     tools.Call
}

type args map[string]any

func newBox(t testing.TB, c Config, files map[string]string) *box {
	t.Helper()
	all, err := New(c)
	require.NoError(t, err)
	registry, err := tools.NewRegistry(all...)
	require.NoError(t, err)
	b := &box{t: t, dir: t.TempDir(), registry: registry}
	b.call = tools.Call{ID: "1.1.1", Session: "s", Dir: b.dir, Seen: map[string]string{}}
	for name, content := range files {
		b.put(name, content)
	}
	return b
}

func (b *box) path(name string) string { return filepath.Join(b.dir, name) }

// put writes a file behind the tools' back.
func (b *box) put(name, content string) {
	b.t.Helper()
	put(b.t, b.path(name), content)
}

func put(t require.TestingT, path, content string) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func (b *box) get(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	require.NoError(b.t, err)
	return string(data)
}

func (b *box) link(target, name string) {
	b.t.Helper()
	require.NoError(b.t, os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	require.NoError(b.t, os.Symlink(target, b.path(name)))
}

// ready returns the tool and the call.
func (b *box) ready(name string, a args) (*tools.Tool, tools.Call) {
	b.t.Helper()
	raw, err := json.Marshal(a)
	require.NoError(b.t, err)
	tool, checked, err := b.registry.Check(name, raw)
	require.NoError(b.t, err)
	c := b.call
	c.Args = checked
	return tool, c
}

func (b *box) preview(name string, a args) (tools.Preview, error) {
	b.t.Helper()
	tool, c := b.ready(name, a)
	return tool.Preview(context.Background(), c)
}

// try makes a call.
func (b *box) try(name string, a args) (tools.Result, error) {
	b.t.Helper()
	tool, c := b.ready(name, a)
	if tool.Effect == tools.Action {
		p, err := tool.Preview(context.Background(), c)
		if err != nil {
			return tools.Result{}, err
		}
		c.Digest = p.Digest
	}
	r, err := tools.Run(context.Background(), tool, c)
	for k, v := range r.Seen {
		b.call.Seen[k] = v
	}
	return r, err
}

// do makes a call that must work.
func (b *box) do(name string, a args) string {
	b.t.Helper()
	r, err := b.try(name, a)
	require.NoError(b.t, err)
	return r.Text
}

// fails makes a call that must fail, and returns what the model is told.
func (b *box) fails(name string, a args) string {
	b.t.Helper()
	r, err := b.try(name, a)
	require.Error(b.t, err, "got %s", r.Text)
	return err.Error()
}

// tree returns all files with their content, so that nothing is left behind unnoticed.
func (b *box) tree() map[string]string {
	b.t.Helper()
	all := map[string]string{}
	require.NoError(b.t, filepath.WalkDir(b.dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			rel, _ := filepath.Rel(b.dir, p)
			all[rel] = b.get(rel)
		}
		return err
	}))
	return all
}

// clean empties a directory, but for .git.
func clean(t require.TestingT, dir string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != ".git" {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
}

// free reports whether a file can be made: nothing is there, and no file is where a directory must be.
func free(path, root string) bool {
	if _, err := os.Lstat(path); err == nil {
		return false
	}
	for p := filepath.Dir(path); p != root; p = filepath.Dir(p) {
		if info, err := os.Lstat(p); err == nil && !info.IsDir() {
			return false
		}
	}
	return true
}
