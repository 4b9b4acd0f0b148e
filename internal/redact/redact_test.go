package redact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/internal/redact"
)

func TestStringMasksEveryForm(t *testing.T) {
	const secret = `xoxb-1/2+3 "quo\te"&<é>`
	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	forms := map[string]string{
		"plain":     secret,
		"query":     url.QueryEscape(secret),
		"path":      url.PathEscape(secret),
		"json":      strings.Trim(string(quoted), `"`),
		"go":        fmt.Sprintf("%q", secret),
		"hex":       hex.EncodeToString([]byte(secret)),
		"HEX":       strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"url alone": "https://example.com/?token=" + url.QueryEscape(secret) + "&x=1",
	}
	r := redact.New("another secret", secret)
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			got := r.String("before " + form + " after")
			require.Contains(t, got, redact.Mask)
			require.NotContains(t, got, form)
			require.True(t, strings.HasPrefix(got, "before ") && strings.HasSuffix(got, " after"), got)
		})
	}
}

func TestStringMasksEachLine(t *testing.T) {
	r := redact.New("first line\nsecond line\nend\n")
	require.Equal(t, "1|[redacted]\n2|[redacted]\n3|end", r.String("1|first line\n2|second line\n3|end"))
	require.Equal(t, "a[redacted]b", r.String("afirst line\nsecond line\nendb"))
}

func TestStringMasksInsideBase64(t *testing.T) {
	const secret = "sk-0123456789abcdefÿþ?>"
	r := redact.New(secret)
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for _, before := range []string{"", "u", "u:", "me:", "user:"} {
			for _, after := range []string{"", "\n", "ab"} {
				text := e.EncodeToString([]byte(before + secret + after))
				got := r.String("Basic " + text)
				require.Contains(t, got, redact.Mask, "%q in %q", before, text)
				decoded, _ := e.DecodeString(strings.ReplaceAll(strings.TrimPrefix(got, "Basic "), redact.Mask, ""))
				require.NotContains(t, string(decoded), "0123")
			}
		}
	}
}

func TestStringLeavesOtherTextAlone(t *testing.T) {
	r := redact.New("", "  ", "1234", "  hunter-22\n", "hunter-22-long")
	require.Equal(t, "1234 stays", r.String("1234 stays"))
	require.Equal(t, "[redacted]!", r.String("hunter-22!"), "space around a value does not count")
	require.Equal(t, "[redacted]!", r.String("hunter-22-long!"), "the longer value wins")
	require.Equal(t, "[redacted][redacted]", r.String("hunter-22hunter-22"))
	require.Equal(t, "any", (*redact.Redactor)(nil).String("any"))
	require.Equal(t, "any", redact.New().String("any"))
}

type stringer struct{ Token string }

func TestWriterMasksLogs(t *testing.T) {
	const secret = "s3cr\"t value"
	r := redact.New(secret)
	var b bytes.Buffer
	for _, h := range []slog.Handler{
		slog.NewTextHandler(r.Writer(&b), nil),
		slog.NewJSONHandler(r.Writer(&b), nil),
	} {
		b.Reset()
		log := slog.New(h).With("always", secret)
		log.Info("saying "+secret, "plain", secret, "err", errors.New(secret), "struct", stringer{secret},
			slog.Group("group", "inner", secret), "bytes", []byte(secret))
		require.NotContains(t, b.String(), "s3cr")
		require.GreaterOrEqual(t, strings.Count(b.String(), redact.Mask), 6)
		require.Equal(t, 1, strings.Count(b.String(), "\n"))
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterReportsTheWritersError(t *testing.T) {
	n, err := redact.New("secret").Writer(failing{}).Write([]byte("a secret"))
	require.EqualError(t, err, "disk full")
	require.Zero(t, n)
}

// FuzzString checks that a secret never survives, whatever stands around it.
func FuzzString(f *testing.F) {
	f.Add("before", "xoxb-12345", "after", "xoxb-12345-67890")
	f.Add("xoxb-", "xoxb-xoxb-", "xoxb-xoxb", "-xoxb-x")
	f.Add("\x00é", "\xff\xfe\xfd\xfc\xfb\xfa", "日本", "日本語です")
	f.Fuzz(func(t *testing.T, before, secret, after, other string) {
		secret, other = strings.TrimSpace(secret), strings.TrimSpace(other)
		// A value that could be read out of the mask itself is the one thing that cannot be masked.
		if len(secret) < 6 || strings.ContainsAny(secret, "[]") || strings.Contains(redact.Mask, secret) {
			return
		}
		r := redact.New(secret, other)
		text := before + secret + after
		require.NotContains(t, r.String(text), secret)
		require.NotContains(t, r.String(url.QueryEscape(text)), url.QueryEscape(secret))
		require.Contains(t, r.String(base64.StdEncoding.EncodeToString([]byte(text))), redact.Mask)
	})
}

func BenchmarkString(b *testing.B) {
	r := redact.New("xoxb-111111111111-abcdefghijkl", "xapp-1-A111-222-333333", "sk-proj-0123456789abcdef",
		"0123456789abcdef0123456789abcdef")
	for _, text := range []string{
		strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200),
		strings.Repeat("token xoxb-111111111111-abcdefghijkl here. ", 200),
	} {
		b.Run(text[:9], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.String(text)
			}
		})
	}
}
