package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/tools"
)

func TestClean(t *testing.T) {
	for raw, want := range map[string]string{
		"plain\n\ttext":                     "plain\n\ttext",
		"\x1b[1;31mred\x1b[0m\x1b[K":        "red",
		"\x1b]0;title\x07a\x1b]8;;u\x1b\\b": "ab",
		"\x1b(Ba\x1b7b\x1bMc\x1b[?25lhid":   "abchid",
		"a\r\nb\rc":                         "a\nb\nc",
		"\xff\xfe世\x00\x07":                 "\uFFFD世\uFFFD\uFFFD",
		"\x1b":                              "\uFFFD",
		"\x1b[31":                           "\uFFFD[31",
		"\u009b31m":                         "\uFFFD31m",
	} {
		require.Equal(t, want, clean(raw), "%q", raw)
	}
}

// However output arrives, its ends are kept and what is lost is counted.
func TestStreamKeepsBothEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s stream
		var whole strings.Builder
		for i := range rapid.IntRange(0, 6).Draw(t, "writes") {
			p := strings.Repeat(string(rune('a'+i)), rapid.IntRange(0, half*3/2).Draw(t, "size"))
			whole.WriteString(p)
			s.add([]byte(p))
			if len(s.tail) > 2*half {
				t.Fatalf("%d bytes are kept of the tail", len(s.tail))
			}
		}
		all, got := whole.String(), s.all(tools.Mask(nil).Part)
		if len(all) <= 2*half {
			if got != all {
				t.Fatal("not all is kept of what fits")
			}
			return
		}
		if want := all[:maxStream/2] + fmt.Sprintf("\n[... %d bytes of output were not kept ...]\n", len(all)-maxStream) + all[len(all)-maxStream/2:]; got != want {
			t.Fatal("the ends are not kept")
		}
	})
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "\x1b[31mred\x1b[0m", "\x1b]0;x\x07", "\r\r\n", "\xff\x1b\x1b[", "\x1b]\x1b]\x07"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := clean(raw)
		require.NotContains(t, got, "\x1b")
		require.NotContains(t, got, "\r")
		require.Equal(t, got, strings.ToValidUTF8(got, ""))
		require.Equal(t, got, clean(got), "cleaning twice is cleaning once")
	})
}

func BenchmarkClean(b *testing.B) {
	raw := strings.Repeat("ok  \texample.org/some/package\t0.123s\n\x1b[32mPASS\x1b[0m\r\n", maxStream/64)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		clean(raw)
	}
}
