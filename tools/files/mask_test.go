package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

// secret has no part twice, so that any part of it can be told.
const secret = "tok-Zq7Kx9Wp3Rt5Ly2Nb8Vc4Hd6Mf1Gs0"

func mask(text string) string { return strings.ReplaceAll(text, secret, "[redacted]") }

// requireNone fails if text has a part of the secret that is long enough to be worth something.
func requireNone(t *testing.T, text string, about ...any) {
	t.Helper()
	const part = 8
	for i := range len(secret) - part + 1 {
		if strings.Contains(text, secret[i:i+part]) {
			require.Fail(t, fmt.Sprintf("%q is left", secret[i:i+part]), about...)
		}
	}
}

// longLines are lines with a secret near where they are clipped, or near the end of what is looked at
// of them. Other secrets before it, few or many, move these places when they are masked.
func longLines() []string {
	var lines []string
	for _, edge := range []int{maxLine, maxBegin} {
		for at := edge - len(secret); at <= edge; at += 5 {
			for _, others := range []int{1, 2, at / len(secret+" ")} {
				for _, rest := range []int{0, maxBegin} {
					line := strings.Repeat(secret+" ", others)
					line += strings.Repeat("x", at-len(line)) + secret
					lines = append(lines, line+strings.Repeat("y", rest))
				}
			}
		}
	}
	return lines
}

func TestReadMasksBeforeItClips(t *testing.T) {
	b := newBox(t, Config{}, nil)
	b.call.Mask = mask
	for _, line := range longLines() {
		b.put("f", "first\n"+line+"\nlast\n")
		text := b.do("read", args{"path": "f"})
		requireNone(t, text)
		require.Regexp(t, `1\|first\n2\|(\[redacted\] )*x*[\[redact\]]*y*( \[clipped: .*\])?\n3\|last\n`, text)

		b.call.Artefact = func(string) ([]byte, error) { return []byte(line), nil }
		requireNone(t, b.do("read", args{"path": "artefact:abc"}))
	}
}

// Masking changes how much fits on a page, and nothing about where the next one begins.
func TestReadMasksEachPage(t *testing.T) {
	var content strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&content, "%d %s%s\n", i, strings.Repeat("-", i%len(secret)), secret)
	}
	b := newBox(t, Config{Output: minOutput}, map[string]string{"f": content.String()})
	b.call.Mask = mask
	seen := 0
	for seen < 1000 {
		text := b.do("read", args{"path": "f", "offset": seen + 1})
		requireNone(t, text)
		require.LessOrEqual(t, len(text), minOutput)
		n := strings.Count(text, "[redacted]\n")
		require.Positive(t, n)
		require.Contains(t, text, fmt.Sprintf("\n%d|%d ", seen+1, seen))
		seen += n
	}
}

func TestGrepMasksBeforeItClips(t *testing.T) {
	b := newBox(t, Config{}, nil)
	b.call.Mask = mask
	for _, line := range longLines() {
		b.put("f", "before\n"+line+"\nneedle "+line+"\nafter\n")
		text := b.do("grep", args{"pattern": "needle", "context": 2})
		requireNone(t, text)
		require.Regexp(t, `^f\n1-before\n2-.*\n3:.*\n4-after\n$`, text)
	}
}

// A line that is searched in pieces is cut where they meet.
func TestGrepMasksWherePiecesMeet(t *testing.T) {
	dir := t.TempDir()
	const window = 4 * maxBegin
	for at := window - len(secret); at <= window; at++ {
		line := "needle" + strings.Repeat("-", at-len("needle")) + secret + "needle" + strings.Repeat("-", window)
		for _, context := range []int{0, 1} {
			q := mustQuery(t, "needle")
			q.limit, q.context, q.mask = 10, context, mask
			hits := clever(t, dir, line+"\nneedle\n", q, window)
			require.Equal(t, hit{2, true, "needle"}, hits[len(hits)-1])
			for _, h := range hits {
				requireNone(t, h.text)
			}
		}
	}
}

func TestGrepMasksOnlyWhatItShows(t *testing.T) {
	masked := 0
	b := newBox(t, Config{}, map[string]string{"f": strings.Repeat("no\n", 1<<20) + "needle" + strings.Repeat("-", 1<<20) + "\n"})
	b.call.Mask = func(text string) string { masked += len(text); return text }
	b.do("grep", args{"pattern": "needle", "context": 1})
	require.LessOrEqual(t, masked, maxBegin+len("no"))
}

func TestHintMasksBeforeItClips(t *testing.T) {
	b := newBox(t, Config{}, nil)
	b.call.Mask = mask
	for _, line := range longLines() {
		b.put("f", "some words here that are like it\n"+line+"\n")
		b.do("read", args{"path": "f"})
		old := "some  words here that are like it\n" + strings.ReplaceAll(line, "x", " x")
		text := b.fails("edit", args{"path": "f", "old": old, "new": "z"})
		require.Contains(t, text, "only in white space; the file has\n1|")
		require.Contains(t, text, "\n2|")
		requireNone(t, text)
	}
}

// A preview is not cut at all: whoever masks it finds each secret whole.
func TestPreviewIsWhole(t *testing.T) {
	for _, line := range longLines() {
		b := newBox(t, Config{}, map[string]string{"f": line + "\nold\n"})
		b.do("read", args{"path": "f"})
		p, err := b.preview("edit", args{"path": "f", "old": "old", "new": line + "new"})
		require.NoError(t, err)
		require.Equal(t, 2*strings.Count(line, secret), strings.Count(p.Text, secret))
		requireNone(t, tools.Mask(mask).All(p.Text))
	}
}
