package files

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, content string
		args          args
		want          string
	}{
		{"plain", "one\ntwo\n", nil, "f: 2 lines, LF, 8 bytes\n1|one\n2|two\n"},
		{"empty", "", nil, "f: an empty file\n"},
		{"one line", "one", nil, "f: 1 line, no newline at the end, 3 bytes\n1|one\n"},
		{"blank line", "\n", nil, "f: 1 line, LF, 1 byte\n1|\n"},
		{"blank lines", "\n\n\na", nil, "f: 4 lines, LF, no newline at the end, 4 bytes\n1|\n2|\n3|\n4|a\n"},
		{"crlf", "one\r\ntwo\r\n", nil, "f: 2 lines, CRLF, 10 bytes\n1|one\n2|two\n"},
		{"mixed", "one\r\ntwo\nthree\r\n", nil, "f: 3 lines, mixed line endings (2 CRLF, 1 LF), 16 bytes\n1|one\n2|two\n3|three\n"},
		{"returns", "one\rtwo\n", nil, "f: 1 line, LF, 1 carriage return within lines, 8 bytes\n1|one\rtwo\n"},
		{"bom", "\uFEFFone\n", nil, "f: 1 line, LF, begins with a UTF-8 byte order mark, which is not shown, 7 bytes\n1|one\n"},
		{"latin-1", "caf\xe9 \uFFFD\n", nil, "f: 1 line, LF, not UTF-8: other bytes are shown as \\xNN and cannot be matched by edit, which leaves them as they are, 9 bytes\n1|caf\\xe9 \uFFFD\n"},
		{"cut character", "caf\xc3", nil, "f: 1 line, not UTF-8: other bytes are shown as \\xNN and cannot be matched by edit, which leaves them as they are, no newline at the end, 4 bytes\n1|caf\\xc3\n"},
		{"chinese", "你好，世界\n", nil, "f: 1 line, LF, 16 bytes\n1|你好，世界\n"},
		{"page", "1\n2\n3\n4\n", args{"offset": 2, "limit": 2}, "f: 4 lines, LF, 8 bytes\n2|2\n3|3\n[truncated: these are lines 2 to 3 of 4; go on with offset 4]\n"},
		{"last page", "1\n2\n3\n4", args{"offset": 4, "limit": 2}, "f: 4 lines, LF, no newline at the end, 7 bytes\n4|4\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t, Config{}, map[string]string{"f": c.content})
			a := args{"path": "f"}
			for k, v := range c.args {
				a[k] = v
			}
			r, err := b.try("read", a)
			require.NoError(t, err)
			require.Equal(t, c.want, r.Text)
			require.Equal(t, map[string]string{"f": digest([]byte(c.content))}, r.Seen, "of all of it, whatever the page is")
		})
	}
}

func TestReadRefuses(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{
		"x.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "utf16": "\xff\xfea\x00", "nul": "text\x00text", "short": "1\n2\n",
	})
	require.Contains(t, b.fails("read", args{"path": "x.png"}), "x.png is a binary file and cannot be shown: image/png (16 bytes)")
	require.Contains(t, b.fails("read", args{"path": "utf16"}), "UTF-16 text: convert it")
	require.Contains(t, b.fails("read", args{"path": "nul"}), "it holds NUL bytes (9 bytes)")
	require.Equal(t, "offset 3 is beyond the end of short, which has 2 lines", b.fails("read", args{"path": "short", "offset": 3}))
	require.Empty(t, b.call.Seen)
}

// Going on as the note says shows all of a file, and each result is within the limit.
func TestReadPages(t *testing.T) {
	var content strings.Builder
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 5_000 {
		content.WriteString(strings.Repeat("é", random.IntN(120)) + fmt.Sprint(i) + "\n")
	}
	b := newBox(t, Config{Output: 5_000}, map[string]string{"f": content.String()})
	next := regexp.MustCompile(`\[truncated: these are lines \d+ to \d+ of 5000; go on with offset (\d+)\]\n$`)
	var got strings.Builder
	a := args{"path": "f"}
	for {
		text := b.do("read", a)
		require.LessOrEqual(t, len(text), 5_000)
		_, page, _ := strings.Cut(text, "\n")
		m := next.FindStringSubmatch(text)
		for line := range strings.Lines(strings.TrimSuffix(page, strings.Join(m[:min(len(m), 1)], ""))) {
			_, line, _ = strings.Cut(line, "|")
			got.WriteString(line)
		}
		if m == nil {
			break
		}
		a["offset"] = m[1]
	}
	require.Equal(t, content.String(), got.String())
}

func TestReadLongLines(t *testing.T) {
	for _, size := range []int{maxLine - 1, maxLine, maxLine + 1, 300_000, 1 << 20} {
		for _, end := range []string{"", "\n", "\r\n"} {
			b := newBox(t, Config{}, map[string]string{"f": "a\n" + strings.Repeat("x", size) + end + "b"})
			text := b.do("read", args{"path": "f"})
			require.Equal(t, size > maxLine || end == "" && size == maxLine, strings.Contains(text, "[clipped: the line has"), "%d bytes, ending %q", size, end)
			require.Contains(t, text, "2|xxx")
			if end != "" {
				require.Contains(t, text, "3|b\n")
			}
			require.LessOrEqual(t, len(text), 10_000)
		}
	}
	long := "x" + strings.Repeat("é", maxLine)
	require.Equal(t, long[:maxLine-1]+" [clipped: the line has 4001 bytes]", show(nil, []byte(long), 0), "not within a character")
}

// A file of more than maxHash bytes is paged, but neither counted nor hashed. Its holes cost nothing.
func TestReadHuge(t *testing.T) {
	b := newBox(t, Config{}, nil)
	f, err := os.Create(b.path("huge"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString(strings.Repeat("line\n", 100_000))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(maxHash+1))
	r, err := b.try("read", args{"path": "huge", "offset": 90_000, "limit": 2})
	require.NoError(t, err)
	require.Contains(t, r.Text, "is not read to its end")
	require.Contains(t, r.Text, "\n90000|line\n90001|line\n[truncated: these are lines 90000 to 90001; go on with offset 90002]\n")
	require.Empty(t, r.Seen)
	require.Contains(t, b.fails("edit", args{"path": "huge", "old": "a", "new": "b"}), "files of more than 16.8 MB are not changed")
	require.Contains(t, b.fails("write", args{"path": "huge", "content": "b"}), "files of more than 16.8 MB are not changed")
}

func TestReadArtefact(t *testing.T) {
	b := newBox(t, Config{}, nil)
	require.Contains(t, b.fails("read", args{"path": "artefact:abc"}), "no output of this session was kept")
	b.call.Artefact = func(name string) ([]byte, error) {
		if name == "abc" {
			return []byte("one\x00\ntwo\nthree\n"), nil
		}
		return nil, fmt.Errorf("artefact: %w", fs.ErrNotExist)
	}
	r, err := b.try("read", args{"path": "artefact:abc", "offset": 2, "limit": 1})
	require.NoError(t, err)
	require.Contains(t, r.Text, "\n2|two\n[truncated: these are lines 2 to 2 of 3; go on with offset 3]\n")
	require.Empty(t, r.Seen)
	require.Contains(t, b.fails("read", args{"path": "artefact:xyz"}), `no artefact "xyz"`)
}

// In whatever pieces a text comes, the survey and the page are the same.
func TestPagerPieces(t *testing.T) {
	letters := []byte("ab\n\n\r\xc3\xa9\xef\xbb\xbf\xff")
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.SampledFrom(letters), 0, 60).Draw(t, "data")
		a := readArgs{Offset: rapid.IntRange(1, 5).Draw(t, "offset"), Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
		var whole, pieces survey
		whole.add(data)
		for rest := data; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			pieces.add(rest[:n])
			rest = rest[n:]
		}
		require.Equal(t, whole.String(), pieces.String())
		lines := strings.SplitAfter(string(data), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		require.Equal(t, len(lines), whole.lines())

		p := newPager(a, 10_000, nil)
		p.whole = true
		require.NoError(t, p.read(t.Context(), iotest.OneByteReader(strings.NewReader(string(data)))))
		want := ""
		for i := a.Offset - 1; i < min(len(lines), a.Offset-1+a.Limit); i++ {
			line := []byte(lines[i])
			if i == 0 {
				line = []byte(strings.TrimPrefix(lines[i], "\uFEFF"))
			}
			want += fmt.Sprintf("%d|%s\n", i+1, show(nil, line, 0))
		}
		require.Equal(t, want, p.page.String())
	})
}

func BenchmarkRead(b *testing.B) {
	for _, lines := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("lines=%d", lines), func(b *testing.B) {
			content := strings.Repeat("\tif err != nil { return fmt.Errorf(\"reading: %w\", err) }\n", lines)
			x := newBox(b, Config{}, map[string]string{"f": content})
			tool, call := x.ready("read", args{"path": "f", "offset": lines / 2})
			b.SetBytes(int64(len(content)))
			for b.Loop() {
				_, err := tool.Run(b.Context(), call)
				require.NoError(b, err)
			}
		})
	}
}
