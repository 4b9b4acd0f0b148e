package markdown

import (
	"strings"
	"unicode"
)

// A Block is a paragraph, an item or the like, in the network's own form.
type Block struct {
	Text string // with Open and Shut in it
	Code bool   // Text is verbatim, to be shown in a fence
	Lang string // of Code
	Head string // of Code: the lines with which each part begins if it is cut, as the header of a table
	Rest string // begins every line of Text but, maybe, the first
	Gap  string // what stands between this and the block before
}

// Open and Shut stand before the marks of a style. What they enclose is not cut. Neither can come in
// from outside, because they are not valid UTF-8; Pack takes them out.
const Open, Shut = "\xfe", "\xff"

// A Form is what Pack has to know of a network's own form of text.
type Form struct {
	Max    int                              // bytes of a piece; at least 100
	Atom   func(s string) int               // the length of what s, which is not empty, begins with and must not be cut
	Prefix func(prefix, line string) string // a line behind what begins it; nil: the one after the other
	Extra  int                              // bytes that Prefix may add
}

func (f Form) prefixed(prefix, line string) string {
	if f.Prefix == nil {
		return prefix + line
	}
	return f.Prefix(prefix, line)
}

// The marks of a fence.
const fence, fenceShut = "```", "\n```"

// Pack joins blocks to pieces of at most Max bytes. A block goes whole into the next piece if it does
// not fit in this one, and is cut only if no piece could hold it.
func (f Form) Pack(blocks []Block) []string {
	var pieces []string
	var piece strings.Builder
	afterCode := false
	flush := func() {
		if s := markless.Replace(piece.String()); Visible(s) {
			pieces = append(pieces, strings.TrimRight(s, " \n"))
		}
		piece.Reset()
	}
	for _, b := range blocks {
		for i, part := range f.Cut(b) {
			gap := b.Gap
			if afterCode || i > 0 {
				gap = "\n"
			}
			if piece.Len()+len(gap)+len(part) > f.Max {
				flush()
			}
			if piece.Len() > 0 {
				piece.WriteString(gap)
			}
			piece.WriteString(part)
			afterCode = b.Code
		}
	}
	flush()
	return pieces
}

var markless = strings.NewReplacer(Open, "", Shut, "")

// Visible reports whether s shows anything.
func Visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// Cut returns a block as parts of at most Max bytes, each with its own fence if it is code, and with its
// margin if it begins within a line.
func (f Form) Cut(b Block) []string {
	if b.Code {
		return f.cutCode(b)
	}
	if len(b.Text) <= f.Max {
		return []string{b.Text}
	}
	parts := f.Split(b.Text, f.Max-len(b.Rest)-f.Extra, false)
	end := 0 // of the part before
	for i, p := range parts {
		if i > 0 && b.Text[end] != '\n' {
			parts[i] = f.prefixed(b.Rest, p)
		}
		if i > 0 && (b.Text[end] == '\n' || b.Text[end] == ' ') {
			end++
		}
		end += len(p)
	}
	return parts
}

func (f Form) cutCode(b Block) []string {
	open := fence + b.Lang + "\n"
	room := f.Max - len(open) - len(fenceShut)
	head := b.Head
	if head != "" && len(head) < room/2 && len(b.Text) > room {
		room -= len(head) + len("\n")
	} else {
		head = ""
	}
	parts := f.Split(b.Text, room, true)
	for i, p := range parts {
		if i > 0 && head != "" {
			p = head + "\n" + p
		}
		parts[i] = open + p + fenceShut
	}
	return parts
}

// Split cuts text into parts of at most max bytes: at the end of a line, else, unless it is code, at a
// space, else between two characters. Atoms stay whole; callers see to it that none is longer than max.
func (f Form) Split(s string, max int, code bool) []string {
	var parts []string
	for len(s) > max {
		end := f.Border(s, max, code)
		parts = append(parts, s[:end])
		s = s[end:]
		if s[0] == '\n' || s[0] == ' ' && !code {
			s = s[1:]
		}
	}
	return append(parts, s)
}

// Border returns the best place at which to cut s, which is longer than max.
func (f Form) Border(s string, max int, code bool) int {
	line, space, end := 0, 0, 0
	for {
		n := f.Atom(s[end:])
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
	case end == 0: // an atom longer than max, which callers do not make
		return max
	}
	return end
}

// StyleLen returns the length of the styled text that s begins with, which is Open: up to Shut and the
// mark behind it, which has n bytes.
func StyleLen(s string, n int) int {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case Open[0]:
			depth++
		case Shut[0]:
			depth--
		}
		if depth == 0 {
			return min(i+len(Shut)+n, len(s))
		}
	}
	return 1 // cut off, which Pack does not
}
