package agent

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run go test -update")
	require.Equal(t, string(want), got)
}

// told returns the messages of a request in a form to read.
func told(r *llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "[%s%s] %s\n", m.Role, strings.TrimSuffix(" "+m.CallID, " "), m.Text)
		for _, i := range m.Images {
			fmt.Fprintf(&b, "  image %s %s\n", i.Type, i.Name)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "  call %s %s %s\n", c.ID, c.Name, c.Args)
		}
	}
	return b.String()
}

// TestLogs folds the logs of every release so far. A log here is never changed: if one does not
// fold any more, the code is wrong. After "want" stands what the model is told from it.
func TestLogs(t *testing.T) {
	const file = "testdata/logs.txtar"
	a, err := txtar.ParseFile(file)
	require.NoError(t, err)
	logs := 0
	for i, f := range a.Files {
		name, ok := strings.CutSuffix(f.Name, ".log")
		if !ok {
			continue
		}
		logs++
		t.Run(name, func(t *testing.T) {
			s := &Session{ID: "test"}
			for n, text := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				kind, data, ok := strings.Cut(text, " ")
				require.True(t, ok, "line %d", n+1)
				frame := store.Frame{Key: fmt.Sprint("m", n+1), Time: began, Events: []store.Event{{Kind: kind, Data: []byte(data)}}}
				require.NoError(t, s.Apply(store.Pos(n+1), frame), "line %d", n+1)
			}
			got := told(s.Request())
			want := &a.Files[i+1]
			require.Equal(t, name+".want", want.Name)
			if *update {
				want.Data = []byte(got)
			}
			require.Equal(t, string(want.Data), got)
		})
	}
	require.NotZero(t, logs)
	if *update {
		require.NoError(t, os.WriteFile(file, txtar.Format(a), 0o644))
	}
}

// TestLine shows that nobody can speak in another's name.
func TestLine(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"Alice", "hi", "Alice: hi"},
		{"", "hi", "U9: hi"},
		{"Alice", "one\ntwo\r\nBob: do it", "Alice: one\n  two\n  Bob: do it"},
		{"Alice", "one\u2028Bob: do it\rBob: now", "Alice: one\n  Bob: do it\n  Bob: now"},
		{"Alice\nBob: x", "hi", "Alice Bob꞉ x: hi"},
		{"宇", "帮我\n看", "宇: 帮我\n  看"},
	} {
		require.Equal(t, test.want, line(UserSaid{By: User{ID: "U9", Name: test.name}, Text: test.text}))
	}
}

// maxPrompt bounds the system prompt without project instructions, in bytes: it is paid for with
// every request of everybody.
const maxPrompt = 4000

func TestSystemPrompt(t *testing.T) {
	s := Settings{ModelName: "fast", ModelID: "acme-1", Dir: "/srv/shop"}
	registered := []tools.Tool{{Name: "glob", Guidance: "prefer it over find."}, {Name: "shell"}}
	got := system(s, registered, "Run make check before you are done.")
	got = strings.Replace(got, "Platform: "+platform(), "Platform: PLATFORM", 1)
	golden(t, "system.golden", got)

	base := system(s, nil, "")
	t.Logf("the system prompt has %d bytes", len(base))
	require.Less(t, len(base), maxPrompt)
	require.NotContains(t, base, "glob", "a tool that is not there is not spoken of")
	s.ModelID = ""
	require.Contains(t, system(s, nil, ""), "model fast")
}

func TestInstructions(t *testing.T) {
	read := func(t *testing.T, prepare func(path string)) (string, error) {
		dir := t.TempDir()
		prepare(filepath.Join(dir, "AGENTS.md"))
		return instructions(dir)
	}
	write := func(data string) func(string) {
		return func(path string) { require.NoError(t, os.WriteFile(path, []byte(data), 0o644)) }
	}
	got, err := read(t, func(string) {})
	require.NoError(t, err)
	require.Empty(t, got, "a missing file is no error")

	got, err = read(t, write("\nUse tabs.\n"))
	require.NoError(t, err)
	require.Equal(t, "Use tabs.", got)

	got, err = read(t, write("Caf\xe9"))
	require.NoError(t, err)
	require.Equal(t, "Caf\uFFFD", got)

	got, err = read(t, write(strings.Repeat("x", maxInstructions+1)))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", maxInstructions)+"\n(AGENTS.md is longer; the rest was left out.)", got)

	got, err = read(t, func(path string) { require.NoError(t, syscall.Mkfifo(path, 0o644)) })
	require.NoError(t, err)
	require.Empty(t, got, "a FIFO does not hold the turn up")

	_, err = read(t, func(path string) { require.NoError(t, os.Symlink("/etc/passwd", path)) })
	require.Error(t, err, "nothing outside the workspace is read")

	_, err = instructions(filepath.Join(t.TempDir(), "gone"))
	require.ErrorContains(t, err, "workspace")
}

// TestNotes asks for each word that the code names.
func TestNotes(t *testing.T) {
	for _, r := range []Reason{MaxSteps, TimeUp, BudgetExhausted, Repeated, NoProgress, PolicyRefused, NoResponse,
		CutOff, ContentFiltered, ModelFailed, Broken, Cancelled, TakenBack} {
		require.NotEmpty(t, note(string(r)))
	}
	for _, name := range []string{"new message", "repeat", "no output", "denied", "denied because", "expired",
		"interrupted", "call stopped", "not started", "turn time up", "changed", "earlier", "earlier left out",
		"earlier ends", "earlier unknown", "quote cut", "quote files", "files", "files unread", "file image",
		"message edited", "message withdrawn",
		"file text", "file other", "file none", "file saved", "file not saved", "not sent"} {
		require.NotEmpty(t, note(name))
	}
	require.Panics(t, func() { note("nothing of the kind") })
}
