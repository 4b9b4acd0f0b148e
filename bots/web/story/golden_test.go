package story

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/store"
)

var update = flag.Bool("update", false, "write what the tests got into testdata as what they want")

var blank = regexp.MustCompile(`\n\s*\n`)

// entries reads a log with one event a line, its kind and its data; "+" adds an event to the frame before.
func entries(t require.TestingT, log string) []store.Entry {
	var all []store.Entry
	for line := range strings.Lines(log) {
		kind, data, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		require.True(t, ok, line)
		kind, more := strings.CutPrefix(kind, "+")
		ev := store.Event{Kind: kind, Data: []byte(data)}
		if more {
			last := &all[len(all)-1]
			last.Events = append(last.Events, ev)
			continue
		}
		pos := store.Pos(len(all) + 1)
		all = append(all, store.Entry{Pos: pos, Frame: store.Frame{
			Key: fmt.Sprint("key", pos), Time: time.Date(2026, 12, 1, 10, 0, len(all), 0, time.UTC), Events: []store.Event{ev},
		}})
	}
	return all
}

// outline is what a fold came to: the summary, and a line for each item.
func outline(s *Story) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", s.Summary())
	for _, i := range s.Items() {
		fmt.Fprintf(&b, "%s %s @%d", i.ID, i.Kind, i.Rev)
		if i.Marks != (Marks{}) {
			fmt.Fprintf(&b, " %+v", i.Marks)
		}
		if i.Call != nil {
			fmt.Fprintf(&b, " %s: %s", i.Call.Title, state(i.Call)[1])
		}
		if i.Text != "" {
			fmt.Fprintf(&b, " %q", i.Text)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestGolden shows what logs become. Each file of testdata has a log, and then what was made of it: an
// outline, and the HTML of all items as ann sees them, who is no approver.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r := NewRenderer("1")
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			require.NoError(t, err)
			require.Equal(t, "log", ar.Files[0].Name)
			var s Story
			for _, e := range entries(t, string(ar.Files[0].Data)) {
				require.NoError(t, s.Apply(e))
			}
			var b bytes.Buffer
			for _, i := range s.Items() {
				require.NoError(t, r.Item(&b, i, Viewer{Person: annPerson(), Thread: "x"}))
			}
			got := []txtar.File{
				ar.Files[0],
				{Name: "outline", Data: []byte(outline(&s))},
				{Name: "html", Data: []byte(strings.TrimSpace(blank.ReplaceAllString(b.String(), "\n")) + "\n")},
			}
			if *update {
				ar.Files = got
				require.NoError(t, os.WriteFile(name, txtar.Format(ar), 0o666))
			}
			require.Equal(t, string(txtar.Format(&txtar.Archive{Files: got})), string(txtar.Format(&txtar.Archive{Files: ar.Files})))
		})
	}
}

// Logs of all releases fold, and it makes no difference where the fold of one was interrupted: viewers come
// back and go on from where they were.
func TestEveryLogFolds(t *testing.T) {
	ar, err := txtar.ParseFile(filepath.Join("..", "..", "..", "agent", "testdata", "logs.txtar"))
	require.NoError(t, err)
	logs := 0
	for _, f := range ar.Files {
		if !strings.HasSuffix(f.Name, ".log") {
			continue
		}
		logs++
		t.Run(f.Name, func(t *testing.T) {
			var s Story
			seen := map[string]store.Pos{}
			for _, e := range entries(t, string(f.Data)) {
				require.NoError(t, s.Apply(e))
				for _, i := range s.Items() {
					require.GreaterOrEqual(t, i.Rev, seen[i.ID])
					seen[i.ID] = i.Rev
				}
			}
			require.NotEmpty(t, s.Items())
		})
	}
	require.NotZero(t, logs)
}

// A browser that has seen a log up to anywhere, and then gets the items that changed since, shows the same as
// one that comes later.
func TestPrefixAndRest(t *testing.T) {
	r := NewRenderer("1")
	html := func(t *rapid.T, i *Item) string {
		var b bytes.Buffer
		require.NoError(t, r.Item(&b, i, Viewer{Person: annPerson(), Thread: "x"}))
		return b.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		var d diary
		var log []store.Entry
		called := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			v := anyEvent(t)
			if again(called, v) {
				continue // no log has two calls of one id
			}
			log = append(log, d.entry(t, v))
		}
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		var whole, follows Story
		shown := map[string]string{}
		for n, e := range log {
			require.NoError(t, whole.Apply(e))
			require.NoError(t, follows.Apply(e))
			if n+1 == cut {
				for _, i := range follows.Items() {
					shown[i.ID] = html(t, i)
				}
			}
		}
		for _, i := range follows.Items() {
			if cut == 0 || i.Rev > store.Pos(cut) {
				shown[i.ID] = html(t, i)
			}
		}
		require.Len(t, shown, len(whole.Items()))
		for _, i := range whole.Items() {
			require.Equal(t, html(t, i), shown[i.ID])
		}
	})
}
