package bots_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/bots"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       []string
	}{
		{"nothing", "", []string{""}},
		{"just fits", "1234567\n9", []string{"1234567\n9"}},
		{"between lines", "123\n567\n9ab\n", []string{"123\n567\n", "9ab\n"}},
		{"a long line", "1\n23456789abcdef\n2\n3", []string{"1\n", "23456789a", "bcdef\n2\n3"}},
		{"a long last line", "123456789abc", []string{"123456789", "abc"}},
		{"empty lines", "\n\n\n\n\n\n\n\n\n\n", []string{"\n\n\n\n\n\n\n\n\n", "\n"}},
		{"wide characters", "汉汉汉汉😀😀😀", []string{"汉汉汉", "汉😀", "😀😀"}},
		{"no characters", strings.Repeat("\x80", 10), []string{strings.Repeat("\x80", 9), "\x80"}},
	} {
		require.Equal(t, c.want, bots.Info{MaxCode: 9}.Cut(c.code), c.name)
	}
	long := strings.Repeat("x", 100)
	require.Equal(t, []string{long}, bots.Info{}.Cut(long), "no limit")
	require.Equal(t, []string{"汉", "汉"}, bots.Info{MaxCode: 1}.Cut("汉汉"), "a limit that cannot be kept")

	stars := func(s string) int { return len(s) + 4*strings.Count(s, "*") }
	require.Equal(t, []string{"*\n", "*1234", "5"}, bots.Info{MaxCode: 9, CodeSize: stars}.Cut("*\n*12345")) // 6, then 9 of 10
}

// Joined, the parts are the code, whatever it is; each fits, and a character is never cut.
func TestCutLosesNothing(t *testing.T) {
	sizes := map[string]func(string) int{
		"len":  nil,
		"html": func(s string) int { return len(s) + 4*strings.Count(s, "&") + 3*strings.Count(s, "<") },
	}
	rapid.Check(t, func(t *rapid.T) {
		info := bots.Info{MaxCode: rapid.IntRange(5, 60).Draw(t, "max"), CodeSize: sizes[rapid.SampledFrom([]string{"len", "html"}).Draw(t, "size")]}
		code := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "汉", "😀", "&", "<", "`", "```", " ", "\n", "word", "\r\n"})).Draw(t, "code"), "")
		size := info.CodeSize
		if size == nil {
			size = func(s string) int { return len(s) }
		}
		parts := info.Cut(code)
		require.Equal(t, code, strings.Join(parts, ""))
		for i, p := range parts {
			require.LessOrEqual(t, size(p), info.MaxCode)
			require.True(t, utf8.ValidString(p))
			require.True(t, p != "" || len(parts) == 1)
			if i > 0 {
				line, _, _ := strings.Cut(p, "\n")
				require.True(t, strings.HasSuffix(parts[i-1], "\n") || size(lastLine(parts[i-1])+line+"\n") > info.MaxCode,
					"only a line that fits no message is cut: %q", parts)
			}
		}
	})
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

func BenchmarkCut(b *testing.B) {
	for name, code := range map[string]string{
		"lines": strings.Repeat("+\tif a < b && c > d {\n", 3000),
		"line":  strings.Repeat("+\tif a < b && c > d {", 3000),
	} {
		b.Run(name, func(b *testing.B) {
			escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
			info := bots.Info{MaxCode: 8700, CodeSize: func(s string) int { return len(escape.Replace(s)) }}
			b.SetBytes(int64(len(code)))
			for b.Loop() {
				info.Cut(code)
			}
		})
	}
}
