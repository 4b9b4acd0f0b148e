package bots

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

var update = flag.Bool("update", false, "write what the tests got into testdata as what they want")

// TestView shows threads as they follow from logs. In each file of testdata/view the log has one
// frame a line: seconds since noon, kind and data of its event; "+" adds an event to the frame
// before. A line "show" asks what the thread should show then, with what is in the file "live".
func TestView(t *testing.T) {
	files, err := filepath.Glob("testdata/view/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			require.NoError(t, err)
			var live agent.Live
			if data := section(ar, "live"); data != "" {
				require.NoError(t, json.Unmarshal([]byte(data), &live))
			}
			got := played(t, section(ar, "log"), live)
			if *update {
				ar.Files = append(ar.Files[:len(ar.Files)-1], txtar.File{Name: "want", Data: []byte(got)})
				require.NoError(t, os.WriteFile(name, txtar.Format(ar), 0o666))
				return
			}
			require.Equal(t, section(ar, "want"), got)
		})
	}
}

func section(ar *txtar.Archive, name string) string {
	for _, f := range ar.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// played folds the log and returns what is shown at each "show".
func played(t *testing.T, log string, live agent.Live) string {
	t.Helper()
	var s state
	var b strings.Builder
	for _, step := range steps(t, log) {
		if step.show {
			l := plain(step.Time)
			for _, m := range view(&s, live, l) {
				b.WriteString(dump(m))
			}
			fmt.Fprintf(&b, "---- at %s\n", step.Time.Format("15:04:05"))
			continue
		}
		require.NoError(t, s.apply(step.Entry))
	}
	return b.String()
}

// plain is a network without a form of its own.
func plain(now time.Time) look {
	return look{
		info: Info{
			Render:   func(s string) []string { return cut(strings.TrimSpace(s), 900) },
			MaxText:  1000,
			MaxCode:  100,
			MaxLabel: 40,
			Mention:  func(id string) string { return "@" + id },
		},
		redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[password]") },
		now:    now,
	}
}

func cut(s string, n int) (pieces []string) {
	for len(s) > n {
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	if s != "" {
		pieces = append(pieces, s)
	}
	return pieces
}

// dump writes a message for the goldens.
func dump(m wanted) string {
	var b strings.Builder
	class := [...]string{"approval", "final", "notice", "progress"}[m.Class]
	if m.spare {
		class += ", if it is there"
	}
	fmt.Fprintf(&b, "[%s] %s\n", m.Key, class)
	for line := range strings.Lines(m.Text) {
		b.WriteString("    " + strings.TrimSuffix(line, "\n") + "\n")
	}
	if m.Code != "" {
		b.WriteString("    ```" + m.Lang + "\n    " + strings.ReplaceAll(strings.TrimSpace(m.Code), "\n", "\n    ") + "\n    ```\n")
	}
	if m.Upload != nil {
		fmt.Fprintf(&b, "    (file %s of %d bytes)\n", m.Upload.Name, len(m.Upload.Content))
	}
	if m.artefact != "" {
		fmt.Fprintf(&b, "    (file %s: artefact %s)\n", m.file, m.artefact)
	}
	if w := m.Work; w != nil {
		for _, task := range w.Tasks {
			fmt.Fprintf(&b, "    {%s %s} %s", task.ID, [...]string{"pending", "running", "done", "failed"}[task.State], task.Title)
			if task.Detail != "" {
				fmt.Fprintf(&b, ": %q", task.Detail)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "    {for %q, ended %t}\n", w.Asker, w.Ended)
	}
	for _, button := range m.Buttons {
		fmt.Fprintf(&b, "    (%s: %s %q", button.Label, button.Action, button.Value)
		if button.Ask != "" {
			fmt.Fprintf(&b, ", asks %q", button.Ask)
		}
		b.WriteString(")\n")
	}
	return b.String()
}

// A step is a frame, or a look at the thread.
type step struct {
	store.Entry
	show bool
}

// steps parses a log of the tests.
func steps(t *testing.T, log string) []step {
	t.Helper()
	var all []step
	pos := store.Pos(0)
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		when, rest, _ := strings.Cut(line, " ")
		kind, data, _ := strings.Cut(strings.TrimSpace(rest), " ")
		e := store.Event{Kind: kind, Data: json.RawMessage(data)}
		if when == "+" {
			last := &all[len(all)-1]
			last.Events = append(last.Events, e)
			continue
		}
		seconds, err := strconv.ParseFloat(when, 64)
		require.NoError(t, err, line)
		at := noon.Add(time.Duration(seconds * float64(time.Second)))
		if kind == "show" {
			all = append(all, step{store.Entry{Frame: store.Frame{Time: at}}, true})
			continue
		}
		pos++
		all = append(all, step{store.Entry{Pos: pos, Frame: store.Frame{Key: fmt.Sprint("m", pos), Time: at, Events: []store.Event{e}}}, false})
	}
	return all
}
