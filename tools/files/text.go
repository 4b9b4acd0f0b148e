package files

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/heddle-bot/heddle/tools"
)

// This file says what a text is like and how it is shown.

// Limits of what is shown.
const (
	maxLine    = 2_000                   // bytes of one line
	maxBegin   = maxLine + tools.Overlap // of its beginning, to find the secrets that are cut
	binaryHead = 64 << 10
)

// A survey is what is known of a text after all of it has been seen, piece by piece.
type survey struct {
	size     int64
	newlines int    // "\n", those of "\r\n" included
	crlf     int    // "\r\n"
	returns  int    // "\r"
	invalid  bool   // it is not UTF-8
	head     []byte // the first bytes, as many as a byte order mark has
	last     byte
	rest     []byte // the end of what was seen, which may be the beginning of a character
}

// add looks at the next piece.
func (s *survey) add(b []byte) {
	if len(b) == 0 {
		return
	}
	s.head = append(s.head, b[:min(len(b), len(bom)-len(s.head))]...)
	s.newlines += bytes.Count(b, newline)
	if n := bytes.Count(b, []byte("\r")); n > 0 {
		s.returns += n
		s.crlf += bytes.Count(b, []byte("\r\n"))
	}
	if s.last == '\r' && b[0] == '\n' {
		s.crlf++
	}
	if !s.invalid {
		s.characters(b)
	}
	s.last = b[len(b)-1]
	s.size += int64(len(b))
}

// characters checks that all is UTF-8, but for a character that is not whole yet.
func (s *survey) characters(b []byte) {
	if len(s.rest) > 0 {
		n := 0
		for n < len(b) && !utf8.FullRune(s.rest) {
			s.rest = append(s.rest, b[n])
			n++
		}
		if !utf8.FullRune(s.rest) {
			return
		}
		s.invalid = !utf8.Valid(s.rest)
		s.rest, b = s.rest[:0], b[n:]
	}
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				s.rest = append(s.rest, b[i:]...)
				b = b[:i]
			}
			break
		}
	}
	s.invalid = s.invalid || !utf8.Valid(b)
}

// lines is how many lines there are; a last one without a newline counts.
func (s *survey) lines() int {
	if s.size > 0 && s.last != '\n' {
		return s.newlines + 1
	}
	return s.newlines
}

// String describes the text: "312 lines, LF".
func (s *survey) String() string {
	if s.size == 0 {
		return "an empty file"
	}
	notes := []string{count(s.lines(), "line", "lines")}
	switch {
	case s.newlines == 0:
	case s.crlf == 0:
		notes = append(notes, "LF")
	case s.crlf == s.newlines:
		notes = append(notes, "CRLF")
	default:
		notes = append(notes, fmt.Sprintf("mixed line endings (%d CRLF, %d LF)", s.crlf, s.newlines-s.crlf))
	}
	if n := s.returns - s.crlf; n > 0 {
		notes = append(notes, count(n, "carriage return", "carriage returns")+" within lines")
	}
	if bytes.Equal(s.head, bom) {
		notes = append(notes, "begins with a UTF-8 byte order mark, which is not shown")
	}
	if s.invalid || len(s.rest) > 0 {
		notes = append(notes, `not UTF-8: other bytes are shown as \xNN and cannot be matched by edit, which leaves them as they are`)
	}
	if s.last != '\n' {
		notes = append(notes, "no newline at the end")
	}
	return strings.Join(notes, ", ")
}

var (
	newline = []byte("\n")
	bom     = []byte("\uFEFF")
)

// isBinary reports whether what begins with head is no text.
func isBinary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), binaryHead)], 0) >= 0
}

// kindOf names the type of what begins with head.
func kindOf(head []byte) string {
	if bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}) {
		return "UTF-16 text: convert it to UTF-8 to work on it"
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if strings.HasPrefix(kind, "text/") || kind == "application/octet-stream" {
		return "it holds NUL bytes"
	}
	return kind
}

// show returns a line as it is shown: without its ending, masked, valid UTF-8, clipped. size is how
// long the line is if b is only its beginning; of that it needs maxBegin bytes.
func show(mask tools.Mask, b []byte, size int) string {
	size = max(size, len(b))
	if text := bytes.TrimSuffix(bytes.TrimSuffix(b, newline), []byte("\r")); len(b) == size {
		b, size = text, len(text)
	}
	// The rest of a long line is not looked at: it may be megabytes.
	b = b[:min(len(b), maxBegin)]
	text := mask.Part(string(b), false, len(b) < size)
	clipped := ""
	if len(b) < size || len(text) > maxLine {
		end := min(maxLine, len(text))
		for end > maxLine-utf8.UTFMax && end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
		clipped = fmt.Sprintf(" [clipped: the line has %d bytes]", size)
	}
	return escape(text) + clipped
}

// escape returns text with the bytes that are not UTF-8 written as \xNN.
func escape(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var s strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&s, `\x%02x`, text[0])
		} else {
			s.WriteString(text[:n])
		}
		text = text[n:]
	}
	return s.String()
}

// size writes a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 10_000:
		return count(int(n), "byte", "bytes")
	case n < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// count writes a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
