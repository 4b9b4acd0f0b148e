package files

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEdit(t *testing.T) {
	const bom = "\uFEFF"
	for _, c := range []struct {
		name, content, old, new string
		all                     bool
		want                    string // of the file
		says                    string
	}{
		{"one", "a\nb\nc\n", "b", "x", false, "a\nx\nc\n", "1 replacement at line 2"},
		{"delete", "a\nb\nc\n", "b\n", "", false, "a\nc\n", "1 replacement at line 2"},
		{"all", "a\nb\na\n", "a", "xy", true, "xy\nb\nxy\n", "2 replacements at lines 1, 3"},
		{"all of one", "a\n", "a", "b", true, "b\n", "1 replacement at line 1"},
		{"no newline at the end", "a\nb", "b", "c", false, "a\nc", "line 2"},
		{"crlf", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", false, "x\r\ny\r\nz\r\nc\r\n", "line 1"},
		{"crlf within a line", "a\r\nb\r\n", "b", "x\ny", false, "a\r\nx\r\ny\r\n", "line 2"},
		{"crlf, last line", "a\r\nb", "b", "x\ny", false, "a\r\nx\r\ny", "line 2"},
		{"crlf as written", "a\r\nb\r\n", "a\r\nb", "x\r\ny", false, "x\r\ny\r\n", "line 1"},
		{"crlf, from a line's end", "a\r\nb\r\n", "\nb", "\nc", false, "a\r\nc\r\n", "line 1"},
		{"mixed, lf line", "a\r\nb\nc\r\n", "b\n", "x\ny\n", false, "a\r\nx\ny\nc\r\n", "line 2"},
		{"mixed, crlf line", "a\nb\r\nc\n", "b\n", "x\ny\n", false, "a\nx\r\ny\r\nc\n", "line 2"},
		{"bom", bom + "a\nb\n", "a", "x", false, bom + "x\nb\n", "line 1"},
		{"latin-1", "caf\xe9\na\n\xff", "a\n", "x\n", false, "caf\xe9\nx\n\xff", "line 2"},
		{"lone returns", "a\rb\nc\n", "c", "d", false, "a\rb\nd\n", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t, Config{}, map[string]string{"f": c.content})
			b.do("read", args{"path": "f"})
			require.Contains(t, b.do("edit", args{"path": "f", "old": c.old, "new": c.new, "replace_all": c.all}), c.says)
			require.Equal(t, map[string]string{"f": c.want}, b.tree())
			b.do("write", args{"path": "f", "content": "what it wrote it has seen"})
		})
	}
}

func TestEditRefuses(t *testing.T) {
	source := "package x\n\nfunc one() error {\n\treturn nil\n}\n\nfunc two() error {\n\treturn nil\n}\n"
	for _, c := range []struct {
		name, content, old, new string
		want                    []string
	}{
		{"nothing to do", source, "one", "one", []string{"old and new are the same"}},
		{"two", source, "return nil", "return err", []string{"2 matches of old in f, at lines 4, 8", "replace_all"}},
		{"overlapping", "aaa\n", "aa", "b", []string{"2 matches of old in f, at lines 1, 1"}},
		{"many", strings.Repeat("x\n", 30), "x", "y", []string{"30 matches", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 20 more"}},
		{"line numbers", source, "3|func one() error {\n4|\treturn nil", "x", []string{"0 matches of old in f", "old has the line numbers"}},
		{"indentation", source, "func two() error {\n    return nil\n}", "x", []string{"0 matches", "only in white space; the file has\n7|func two() error {\n8|\treturn nil\n9|}\n"}},
		{"space at the end", source, "return nil  ", "x", []string{"only in white space; the file has\n4|\treturn nil\n"}},
		{"crlf in old", source, "one() error {\r\n\treturn nil", "x", []string{"those of the file in LF"}},
		{"nearest", source, "func two() (int, error) {", "x", []string{"the nearest to it that the file has is\n7|func two() error {\n", "read the file again"}},
		{"nothing like it", source, "zebra", "x", []string{"nothing in the file is like it"}},
		{"empty file", "", "zebra", "x", []string{"nothing in the file is like it"}},
		{"blank", source, "\n\n\n\n", "x", []string{"0 matches"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t, Config{}, map[string]string{"f": c.content})
			require.Contains(t, b.fails("edit", args{"path": "f", "old": c.old, "new": c.new}), "has not been read")
			b.do("read", args{"path": "f"})
			got := b.fails("edit", args{"path": "f", "old": c.old, "new": c.new})
			for _, want := range c.want {
				require.Contains(t, got, want)
			}
			require.Equal(t, c.content, b.get("f"))
		})
	}
}

// text draws texts in which matches, also overlapping ones, are likely.
func text(pieces ...string) *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 30), func(s []string) string { return strings.Join(s, "") })
}

// edited applies an edit without files.
func edited(content, old, new string, all bool) (string, error) {
	now := &current{rel: "f", exists: true, data: []byte(content)}
	got, _, err := editArgs{"f", old, new, all}.plan(now)
	return string(got), err
}

func occurrences(s, sub string) (n int) {
	for i := range len(s) {
		if strings.HasPrefix(s[i:], sub) {
			n++
		}
	}
	return n
}

// An edit is strings.Replace, whether lines end in LF or in CRLF.
func TestEditIsReplace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		content := text("a", "b", "\n", "\xe9", "é").Draw(t, "content")
		old := text("a", "b", "\n", "é").Filter(func(s string) bool { return s != "" && len(s) < 6 }).Draw(t, "old")
		new := text("a", "x", "\n").Filter(func(s string) bool { return s != old }).Draw(t, "new")
		all := rapid.Bool().Draw(t, "all")
		dos := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
		want := strings.ReplaceAll(content, old, new)
		got, err := edited(content, old, new, all)
		n := occurrences(content, old)
		if n == 0 || n > 1 && !all {
			require.Error(t, err)
			_, err = edited(dos(content), old, new, all)
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, got)
		if strings.Contains(content, "\n") {
			got, err = edited(dos(content), old, new, all)
			require.NoError(t, err)
			require.Equal(t, dos(want), got)
			got, err = edited(dos(content), dos(old), dos(new), all)
			require.NoError(t, err)
			require.Equal(t, dos(want), got)
		}
	})
}

// In a file of mixed line endings, what is around a replacement keeps every byte.
func TestEditMixed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := strings.TrimRight(text("a", "\n", "\r\n", "\r", "\xff").Draw(t, "before"), "\r")
		after := text("a", "\n", "\r\n", "\r", "\xff").Draw(t, "after")
		new := text("x", "\n").Draw(t, "new")
		got, err := edited(before+"MARK"+after, "MARK", new, false)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(got, before))
		require.True(t, strings.HasSuffix(got, after))
		middle := got[len(before) : len(got)-len(after)]
		require.Equal(t, new, strings.ReplaceAll(middle, "\r\n", "\n"))
		ended := func(s string) bool { return !strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\n") }
		if strings.Contains(before+after, "\n") && ended(before+after) {
			require.True(t, ended(middle), "all CRLF as before")
		}
	})
}

func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\n", "a\nb", "c\n", true)
	f.Add("\uFEFFx", "x", "", false)
	f.Add("\r\n\r\r\n\n", "\n", "\r\n", true)
	f.Fuzz(func(t *testing.T, content, old, new string, all bool) {
		if old == "" || old == new {
			return
		}
		got, err := edited(content, old, new, all)
		lf := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		if err == nil && !strings.Contains(content, "\r") && !strings.Contains(old+new, "\r") {
			require.Equal(t, strings.ReplaceAll(content, old, new), got)
		}
		if err != nil {
			require.NotContains(t, err.Error(), "1 matches")
			if !strings.Contains(old, "\r") && !strings.HasPrefix(lf(content), "\r") {
				require.True(t, occurrences(lf(content), old) != 1, "a single match is never refused")
			}
		}
	})
}

func BenchmarkEdit(b *testing.B) {
	content := strings.Repeat("\tif err != nil {\r\n\t\treturn err\r\n\t}\r\n", 30_000) + "the place\r\n"
	now := &current{rel: "f", exists: true, data: []byte(content)}
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		_, _, err := editArgs{"f", "the place\n", "another\n", false}.plan(now)
		require.NoError(b, err)
	}
}

func BenchmarkHint(b *testing.B) {
	f := flatten([]byte(strings.Repeat("func (s *Session) Apply(pos store.Pos, f store.Frame) error {\n\treturn nil\n}\n", 10_000)))
	for b.Loop() {
		require.Contains(b, hint(nil, f, "func (s *Session) Apply(f Frame) {"), "nearest")
	}
}
