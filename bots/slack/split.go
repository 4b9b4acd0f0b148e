package slack

import (
	"slices"
	"strings"
	"unicode/utf8"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/width"
)

const fenceOpen, fenceClose = "```\n", "\n```"

// pack joins blocks to pieces of at most max bytes. A block goes whole into the next piece if it
// does not fit in this one, and is cut only if no piece could hold it.
func pack(blocks []block, max int) []string {
	var pieces []string
	var piece strings.Builder
	afterCode := false
	flush := func() {
		if strings.TrimSpace(piece.String()) != "" {
			pieces = append(pieces, strings.TrimRight(piece.String(), " \n"))
		}
		piece.Reset()
	}
	for _, b := range blocks {
		for i, part := range b.cut(max) {
			gap := "\n\n"
			if b.tight || afterCode || i > 0 {
				gap = "\n"
			}
			if piece.Len()+len(gap)+len(part) > max {
				flush()
			}
			if piece.Len() > 0 {
				piece.WriteString(gap)
			}
			piece.WriteString(part)
			afterCode = b.code
		}
	}
	flush()
	return pieces
}

// cut returns the block as parts of at most max bytes, each with its own fence if it is code.
func (b block) cut(max int) []string {
	if !b.code {
		return cut(b.text, max, false)
	}
	parts := cut(b.text, max-len(fenceOpen)-len(fenceClose), true)
	for i, p := range parts {
		parts[i] = fenceOpen + p + fenceClose
	}
	return parts
}

// cut cuts escaped text into parts of at most max bytes: at the end of a line, else, unless it is
// code, at a space, else between two characters. Links and entities stay whole; callers see to it
// that none is longer than max.
func cut(s string, max int, code bool) []string {
	var parts []string
	for len(s) > max {
		end := border(s, max, code)
		parts = append(parts, s[:end])
		s = s[end:]
		if s[0] == '\n' || s[0] == ' ' && !code {
			s = s[1:]
		}
	}
	return append(parts, s)
}

// border returns the best place at which to cut s, which is longer than max.
func border(s string, max int, code bool) int {
	line, space, end := 0, 0, 0
	for {
		n := atom(s[end:])
		if end+n > max {
			break
		}
		switch s[end] {
		case '\n':
			line = end
		case ' ':
			space = end
		}
		end += n
	}
	switch {
	case s[end] == '\n' || s[end] == ' ' && !code:
		return end
	case line > max/2 || code && line > 0:
		return line
	case space > max/2 && !code:
		return space
	case end == 0: // a link longer than max, which render does not make
		return max
	}
	return end
}

// atom returns the length of what s begins with and must not be cut.
func atom(s string) int {
	switch s[0] {
	case '<':
		if i := strings.IndexByte(s, '>'); i > 0 {
			return i + 1
		}
	case '&':
		if i := strings.IndexByte(s, ';'); i > 0 && i < len("&quot;") {
			return i + 1
		}
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// align returns a table as text. The first row is its header.
func align(rows [][]string, how []east.Alignment) string {
	widths := make([]int, len(how))
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(how))] {
			widths[i] = max(widths[i], columns(cell), 3)
		}
	}
	var lines []string
	for n, row := range rows {
		cells := make([]string, len(how))
		for i := range cells {
			if i < len(row) {
				cells[i] = row[i]
			}
			cells[i] = pad(cells[i], widths[i], how[i])
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, " | "), " "))
		if n == 0 {
			rules := slices.Clone(cells)
			for i := range rules {
				rules[i] = strings.Repeat("-", widths[i])
			}
			lines = append(lines, strings.Join(rules, "-|-"))
		}
	}
	return strings.Join(lines, "\n")
}

func pad(s string, to int, how east.Alignment) string {
	n := to - columns(s)
	left := 0
	switch how {
	case east.AlignRight:
		left = n
	case east.AlignCenter:
		left = n / 2
	}
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", n-left)
}

// columns returns how wide s is in a font of fixed width.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
