package slack

import (
	"strings"
	"unicode"
)

const fenceOpen, fenceClose = "```\n", "\n```"

// pack joins blocks to pieces of at most max bytes. A block goes whole into the next piece if it
// does not fit in this one, and is cut only if no piece could hold it.
func pack(blocks []block, max int) []string {
	var pieces []string
	var piece strings.Builder
	afterCode := false
	flush := func() {
		if s := markless.Replace(piece.String()); visible(s) {
			pieces = append(pieces, strings.TrimRight(s, " \n"))
		}
		piece.Reset()
	}
	for _, b := range blocks {
		for i, part := range b.cut(max) {
			gap := b.gap
			if afterCode || i > 0 {
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

var markless = strings.NewReplacer(open, "", shut, "")

// visible reports whether s shows anything.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// cut returns the block as parts of at most max bytes, each with its own fence if it is code, and
// with its margin if it begins within a line.
func (b block) cut(max int) []string {
	if b.code {
		parts := cut(b.text, max-len(fenceOpen)-len(fenceClose), true)
		for i, p := range parts {
			parts[i] = fenceOpen + p + fenceClose
		}
		return parts
	}
	if len(b.text) <= max {
		return []string{b.text}
	}
	parts := cut(b.text, max-len(b.rest)-len(hair), false)
	end := 0 // of the part before
	for i, p := range parts {
		if i > 0 && b.text[end] != '\n' {
			parts[i] = prefixed(b.rest, p)
		}
		if i > 0 && (b.text[end] == '\n' || b.text[end] == ' ') {
			end++
		}
		end += len(p)
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

// atom returns the length of what s begins with and must not be cut: what has a style, a link, an
// entity, a character with all its accents.
func atom(s string) int {
	switch s[0] {
	case open[0]:
		return styleLen(s)
	case '<':
		if i := strings.IndexByte(s, '>'); i > 0 {
			return i + 1
		}
	case '&':
		if i := strings.IndexByte(s, ';'); i > 0 && i < len("&quot;") {
			return i + 1
		}
	}
	n, _ := cluster(s)
	return n
}

// styleLen returns the length of the styled text that s begins with.
func styleLen(s string) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case open[0]:
			depth++
		case shut[0]:
			depth--
		}
		if depth == 0 {
			return i + len(shut) + 1 // which is the mark
		}
	}
	return 1 // cut off, which pack does not
}
