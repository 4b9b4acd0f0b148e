package shell

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

// secret has no part twice, so that any part of it can be told.
const secret = "tok-Zq7Kx9Wp3Rt5Ly2Nb8Vc4Hd6Mf1Gs0"

func mask(text string) string { return strings.ReplaceAll(text, secret, "[redacted]") }

// requireNone fails if text has a part of the secret that is long enough to be worth something.
func requireNone(t *testing.T, text string) {
	t.Helper()
	const part = 8
	for i := range len(secret) - part + 1 {
		if strings.Contains(text, secret[i:i+part]) {
			require.Fail(t, fmt.Sprintf("%q is left", secret[i:i+part]))
		}
	}
}

// Wherever a secret is when output is cut, no half of it is left.
func TestStreamCutsNoSecret(t *testing.T) {
	t.Parallel()
	middle := []byte(strings.Repeat("-", 1<<20))
	for _, edge := range []int{maxStream / 2, half} { // of what is shown, and of what is kept
		fill := strings.Repeat("x", edge-2*len(secret))
		for at := 1; at < len(secret); at += 8 {
			var s stream
			head := secret + fill + strings.Repeat(" ", at) + secret
			tail := secret + strings.Repeat(" ", at) + fill + secret
			for _, p := range []string{head[:edge], head[edge:], string(middle), tail[:at], tail[at:]} {
				s.add([]byte(p))
			}
			text := s.all(tools.Mask(mask).Part)
			requireNone(t, text)
			require.Contains(t, text[:100], "[redacted]xxx")
			require.Contains(t, text[maxStream/2-2*len(secret):maxStream/2+100], fmt.Sprintf("\n[... %d bytes of output were not kept ...]\n", len(head)+len(middle)+len(tail)-maxStream))
			require.Contains(t, text[len(text)-100:], "xxx[redacted]")
		}
	}
}

func TestResultIsMasked(t *testing.T) {
	t.Parallel()
	got, err := do(t, t.Context(), tools.Call{Mask: mask}, map[string]any{
		"command": `printf 'is %s\033[1m%s' ` + secret[:9] + " " + secret[9:] + " >&2; yes " + secret + " | head -n 500000",
	})
	require.NoError(t, err)
	requireNone(t, got.Text)
	require.Contains(t, got.Text, "bytes of output were not kept")
	require.Contains(t, got.Text, "stderr:\nis [redacted]")
}

// watched returns what a watcher is shown of the pieces, each of which comes when the one before it has been
// shown. Those that begin with "2>" are printed to stderr.
func watched(t *testing.T, pieces ...string) (tails []string) {
	synctest.Test(t, func(t *testing.T) {
		o := output{mask: mask}
		stop := o.show(func(tail string) { tails = append(tails, tail) })
		for _, p := range pieces {
			w := o.stdout()
			if rest, ok := strings.CutPrefix(p, "2>"); ok {
				p, w = rest, o.stderr()
			}
			w.Write([]byte(p))
			time.Sleep(2 * pace)
		}
		stop()
	})
	return tails
}

func TestProgressHasWholeLines(t *testing.T) {
	long := strings.Repeat("x", tools.Overlap)
	for _, test := range []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"lines", []string{"a\n", "b\nc\r", "d\r\n"}, []string{"a\n", "a\nb\nc\n", "a\nb\nc\nd\n"}},
		{"pieces of lines", []string{"a", "b\nc", "d", "\n"}, []string{"ab\n", "ab\ncd\n"}},
		{"half a secret", []string{"is " + secret[:9], secret[9:], "\n"}, []string{"is [redacted]\n"}},
		{"both streams", []string{"is " + secret[:9], "2>oops\n", secret[9:] + "\n"}, []string{"oops\n", "oops\nis [redacted]\n"}},
		{"colours", []string{secret[:9] + "\x1b[1m" + secret[9:] + "\n"}, []string{"[redacted]\n"}},
		{"a long line", []string{"a\n" + long + secret[:9], secret[9:], long, secret + "\nb\nc"}, []string{"a\n…\n", "a\n…\nb\n"}},
		{"a line just not too long", []string{long + "\n"}, []string{long[:maxRecent-1] + "\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, watched(t, test.pieces...))
		})
	}
}

// The beginning of what is shown is a cut, too, whatever masking and cleaning take away after it.
func TestProgressBeginsWithNoHalf(t *testing.T) {
	for _, line := range []string{"é\n", "\x1b[1mé\x1b[0m\n", secret + "\n"} {
		for _, edge := range []int{maxRecent, maxRecent + tools.Overlap} { // of what is shown, and of what is kept
			for after := 1; after < len(secret); after++ { // bytes of the secret after the edge
				rest := strings.Repeat("-", (edge-after-1)%len(line)) + "\n" + strings.Repeat(line, (edge-after-1)/len(line))
				require.Len(t, rest, edge-after)
				tails := watched(t, strings.Repeat("-", 5000)+secret+rest)
				require.Len(t, tails, 1)
				requireNone(t, tails[0])
				require.LessOrEqual(t, len(tails[0]), maxRecent)
				require.True(t, strings.HasSuffix(tails[0], strings.Repeat(mask(clean(line)), 10)))
			}
		}
	}
}
