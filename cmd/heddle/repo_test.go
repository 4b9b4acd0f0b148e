package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
)

// TestOwnRepository has heddle work on a real workspace, a copy of its own repository: it searches,
// reads, edits a file of Go behind a card and runs go vet behind another.
func TestOwnRepository(t *testing.T) {
	const name = "internal/redact/redact.go"
	w, err := newWorld(t.TempDir(),
		llmtest.Call("grep", `{"pattern":"^func New\\(","path":"internal"}`),
		llmtest.Call("read", `{"path":"`+name+`","limit":30}`),
		llmtest.Call("edit", `{"path":"`+name+`","old":"\npackage redact\n","new":"\npackage redact // looked at by heddle\n"}`),
		llmtest.Call("shell", `{"command":"go vet ./internal/redact && echo vetted"}`),
		llmtest.Say("The package has a note now, and go vet is content."),
	)
	require.NoError(t, err)
	defer w.close()
	w.env = append(w.env, os.Environ()...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w)
		}
	})
	copyRepository(t, filepath.Join(w.dir, "work"))

	require.NoError(t, w.start())
	alice := person{w, w.ids["ALICE"]}
	require.NoError(t, alice.say("@heddle put a note on the package that masks secrets"))
	require.NoError(t, alice.click("Approve"))
	require.NoError(t, file(w, false, []string{name, "contains", "package redact // looked at by heddle"}))
	shows := func(text string) {
		require.NoError(t, w.wait(func() bool { return strings.Contains(w.String(), text) }))
	}
	shows("*May I do this?* `run go vet")
	require.NoError(t, alice.click("Approve"))
	shows("go vet is content")
	require.NoError(t, w.halt(syscall.SIGTERM))

	var out bytes.Buffer
	export := exec.Command("heddle", "sessions", "export")
	export.Dir, export.Env, export.Stdout = w.dir, w.env, &out
	require.NoError(t, export.Run())
	for _, result := range []string{"redact.go", "New(", "package redact // looked at by heddle", "vetted", "exit status 0"} {
		require.Contains(t, out.String(), result)
	}
}

// copyRepository copies the files of this module to dir.
func copyRepository(t *testing.T, dir string) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case rel == ".git" || rel == "bin":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), data, 0o644)
	})
	require.NoError(t, err)
}
