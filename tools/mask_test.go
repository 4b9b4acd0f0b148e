package tools

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// masking returns a Mask of one secret.
func masking(secret string) Mask {
	return func(text string) string { return strings.ReplaceAll(text, secret, "[redacted]") }
}

func TestMasked(t *testing.T) {
	require.Equal(t, "the key is sesame", Call{}.Masked("the key is sesame"))
	require.Equal(t, "the key is [redacted]", Call{Mask: masking("sesame")}.Masked("the key is sesame"))
}

func TestMaskPart(t *testing.T) {
	long := strings.Repeat("-", Overlap)
	for _, test := range []struct {
		name, text    string
		before, after bool
		want          string
	}{
		{"whole", "sesame", false, false, "[redacted]"},
		{"short", "sesame", true, true, ""},
		{"begins in a secret", "same" + long[4:] + "sesame", true, false, "[redacted]"},
		{"ends in a secret", "sesame" + long[4:] + "sesa", false, true, "[redacted]"},
		{"both", long + "sesame" + long, true, true, "[redacted]"},
		{"a character is not cut", long[1:] + "éx", true, false, "x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, masking("sesame").Part(test.text, test.before, test.after))
		})
	}
}

// Wherever a text is cut, nothing of a secret is left, and all else is that is not near a cut.
func TestMaskPartLeavesNoHalf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// A secret is in upper case and does not begin within itself; all else is in lower case.
		secret := "A" + strings.Repeat("B", rapid.IntRange(0, Overlap-1).Draw(t, "size"))
		var b strings.Builder
		for range rapid.IntRange(1, 8).Draw(t, "secrets") {
			b.WriteString(strings.Repeat("é", rapid.IntRange(0, Overlap).Draw(t, "before")))
			b.WriteString(secret)
		}
		text, mask := b.String(), masking(secret)
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		to := rapid.IntRange(from, len(text)).Draw(t, "to")
		got := mask.Part(text[from:to], from > 0, to < len(text))
		if i := strings.IndexFunc(got, unicode.IsUpper); i >= 0 {
			t.Fatalf("part of a secret is left at %d", i)
		}
		require.Contains(t, mask(text), got)
		whole := mask(text[from:to])
		require.GreaterOrEqual(t, len(got), len(whole)-2*Overlap-2, "no more is dropped than has to be")
	})
}
