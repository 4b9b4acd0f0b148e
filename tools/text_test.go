package tools

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCap(t *testing.T) {
	require.Equal(t, "short", Cap("short", 5, "a1"))

	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "line %03d\n", i)
	}
	require.Equal(t, `line 000
line 001
line 002
line 003
line 004
line 005
[... 8893 of 9000 bytes left out; read the whole with the tool read, path "artefact:a1" ...]
line 994
line 995
line 996
line 997
line 998
line 999
`, Cap(b.String(), 210, "a1"))
	require.Contains(t, Cap(b.String(), 210, ""), "bytes left out ...]")
	require.Equal(t, "line 000\nl", Cap(b.String(), 10, "a1"), "too little room for a note")
}

// What is shown is a beginning and an end of the text, whole characters, and never too much.
func TestCapKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n é世😀")), 0, 3000, -1).Draw(t, "text")
		max := rapid.IntRange(0, 2000).Draw(t, "max")
		got := Cap(text, max, rapid.SampledFrom([]string{"", "a1"}).Draw(t, "artefact"))
		require.LessOrEqual(t, len(got), max)
		require.True(t, utf8.ValidString(got))
		first, rest, cut := strings.Cut(got, "\n[... ")
		if !cut {
			require.True(t, strings.HasPrefix(text, got))
			return
		}
		_, last, ok := strings.Cut(rest, " ...]\n")
		require.True(t, ok)
		require.True(t, strings.HasPrefix(text, first))
		require.True(t, strings.HasSuffix(text, last))
		var left int
		_, err := fmt.Sscanf(rest, "%d", &left)
		require.NoError(t, err)
		require.Equal(t, len(text), len(first)+left+len(last))
		require.Greater(t, len(first)+len(last), max/2-150, "it does not waste the room")
	})
}

func TestClip(t *testing.T) {
	for _, test := range []struct {
		text string
		max  int
		want string
	}{
		{"", 10, ""},
		{"read a.go", 10, "read a.go"},
		{"read  a\n\tb", 10, "read a b"},
		{"read a longer one", 10, "read a lo…"},
		{"世界世界世界", 4, "世界世…"},
		{"a\x00b\u202ec\xff", 10, "abc\uFFFD"},
		{"ab " + strings.Repeat(" ", 1000) + "c", 10, "ab…"},
	} {
		require.Equal(t, test.want, Clip(test.text, test.max), "%q", test.text)
	}
	rapid.Check(t, func(t *rapid.T) {
		got := Clip(rapid.String().Draw(t, "text"), 20)
		require.LessOrEqual(t, utf8.RuneCountInString(got), 20)
		require.Equal(t, -1, strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }))
	})
}

func TestDigestBindsTheParts(t *testing.T) {
	require.Equal(t, Digest("a", "b"), Digest("a", "b"))
	all := map[string]bool{}
	for _, d := range []string{Digest(), Digest(""), Digest("a", "b"), Digest("ab"), Digest("b", "a"), Digest("a", "b", ""), Digest("1:a", "b")} {
		require.False(t, all[d])
		all[d] = true
	}
}

func TestNearest(t *testing.T) {
	tools := []string{"calc", "clock", "edit", "glob", "grep", "read", "shell", "write"}
	for _, test := range []struct {
		word  string
		among []string
		want  []string
	}{
		{"raed", tools, []string{"read"}},
		{"Read", tools, []string{"read"}},
		{"read_file", tools, []string{"read"}},
		{"clok", tools, []string{"clock", "calc"}[:1]},
		{"bash", tools, nil},
		{"", tools, nil},
		{"x", []string{"y", "z"}, nil},
		{"src/idnex.ts", []string{"src/index.ts", "src/main.ts", "README.md"}, []string{"src/index.ts"}},
		{"file_path", []string{"path", "offset"}, []string{"path"}},
		{"aab", []string{"aaa", "aac", "aad", "aae"}, []string{"aaa", "aac", "aad"}},
		{"Berlin", []string{"Europe/Berlin", "Europe/Bern"}, []string{"Europe/Berlin"}},
	} {
		require.Equal(t, test.want, Nearest(test.word, test.among), test.word)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"é世", "e世", 1}, {"abcd", "acbd", 1},
	} {
		require.Equal(t, test.want, distance(test.a, test.b), test)
		require.Equal(t, test.want, distance(test.b, test.a), test)
	}
}

func BenchmarkCap(b *testing.B) {
	text := strings.Repeat("a line of a long output\n", 1<<16)
	for b.Loop() {
		Cap(text, 10_000, "a1")
	}
}
