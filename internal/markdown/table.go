package markdown

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"
)

// Widths returns the columns of each cell's widest.
func Widths(rows [][]string, n int) []int {
	all := make([]int, n)
	for _, row := range rows {
		for i, cell := range row[:min(len(row), n)] {
			all[i] = max(all[i], Columns(cell), 3)
		}
	}
	return all
}

const bar, rule = " | ", "-|-"

// RowWidth returns the columns of a row.
func RowWidth(widths []int) int {
	n := len(bar) * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// Align returns a table as text. The first row is its header, a rule follows.
func Align(rows [][]string, widths []int, how []east.Alignment) string {
	var lines []string
	for n, row := range rows {
		cells := make([]string, len(widths))
		for i := range cells {
			if i < len(row) {
				cells[i] = row[i]
			}
			cells[i] = pad(cells[i], widths[i], how[i])
		}
		lines = append(lines, strings.TrimRight(strings.Join(cells, bar), " "))
		if n == 0 {
			rules := slices.Clone(cells)
			for i := range rules {
				rules[i] = strings.Repeat("-", widths[i])
			}
			lines = append(lines, strings.Join(rules, rule))
		}
	}
	return strings.Join(lines, "\n")
}

func pad(s string, to int, how east.Alignment) string {
	n := to - Columns(s)
	left := 0
	switch how {
	case east.AlignRight:
		left = n
	case east.AlignCenter:
		left = n / 2
	}
	return strings.Repeat(" ", left) + isolate(s) + strings.Repeat(" ", n-left)
}

// isolate keeps text that runs from right to left from turning around the cells next to it.
func isolate(s string) string {
	const first, pop = "\u2068", "\u2069"
	if strings.ContainsFunc(s, func(r rune) bool {
		p, _ := bidi.LookupRune(r)
		return p.Class() == bidi.R || p.Class() == bidi.AL
	}) {
		return first + s + pop
	}
	return s
}

// Columns returns how wide s is in a font of fixed width.
func Columns(s string) int {
	all := 0
	for s != "" {
		n, wide := Cluster(s)
		all += wide
		s = s[n:]
	}
	return all
}

// maxCluster is the bytes of one character with accents and what is joined to it. The longest emoji
// has 35; text with heaps of accents has no end.
const maxCluster = 40

// Cluster returns the bytes of what a reader takes for the first character of s, and its columns. It
// knows accents, emoji of several parts and flags.
func Cluster(s string) (size, cols int) {
	r, size := utf8.DecodeRuneInString(s)
	if r < utf8.RuneSelf && (len(s) == size || s[size] < utf8.RuneSelf) {
		return size, 1
	}
	cols = runeColumns(r)
	flag := regional(r)
	for prev := r; size < len(s); {
		next, n := utf8.DecodeRuneInString(s[size:])
		switch {
		case size+n > maxCluster:
			return size, cols
		case next == vs16:
			cols = 2
		case flag && regional(next):
			cols, flag = 2, false
		case unicode.In(next, unicode.M) || next == zwj || 0x1F3FB <= next && next <= 0x1F3FF: // shades of skin
		case prev == zwj && next >= utf8.RuneSelf && runeColumns(r) == 2:
		default:
			return size, cols
		}
		size += n
		prev = next
	}
	return size, cols
}

const zwj, vs16 = '\u200d', '\ufe0f' // joins two emoji to one; asks for an emoji in color

func regional(r rune) bool { return 0x1F1E6 <= r && r <= 0x1F1FF }

func runeColumns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
