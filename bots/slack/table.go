package slack

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/width"
)

// maxTable is the columns of a table that is shown in a fence. Threads stand in a narrow pane, and a
// row that goes on in the next line cannot be read.
const maxTable = 70

// maxHeader is the bytes of a header that are repeated with every row.
const maxHeader = 60

// table adds a table: in a fence with aligned columns, or as records if it is too wide for that.
func (r *renderer) table(n *east.Table, m margin) {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, strings.Join(strings.Fields(r.src.plain(c, true)), " "))
		}
		rows = append(rows, cells)
	}
	if widths := widths(rows, len(n.Alignments)); rowWidth(widths) <= maxTable {
		r.code(align(rows, widths, n.Alignments), m)
		return
	}
	r.records(n, rows[0], m)
}

// records adds each row as a paragraph, of one line for each cell. Only the first row has all
// headers, in full: further ones leave out empty cells and the ends of long headers.
func (r *renderer) records(n *east.Table, headers []string, m margin) {
	if n.ChildCount() == 1 {
		r.prose(escape(strings.Join(headers, " | ")), m)
	}
	full, short := r.labels(headers, math.MaxInt), r.labels(headers, maxHeader)
	labels := full
	for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		var lines []string
		i := 0
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			value := r.inline(c, styles{})
			first := row.PreviousSibling() == n.FirstChild()
			if value != "" || first && labels[i] != "" {
				lines = append(lines, labels[i]+value)
			}
			i++
		}
		r.prose(strings.Join(lines, "\n"), m)
		m.mark, m.gap = "", m.blank()
		labels = short
	}
}

// labels returns what stands before the values below headers, of which it shows at most max bytes.
func (r *renderer) labels(headers []string, max int) []string {
	all := make([]string, len(headers))
	for i, h := range headers {
		if h = escape(h); len(h) > max {
			h = cut(h, max, true)[0] + "…"
		}
		if h != "" {
			all[i] = r.span("*", h) + ": "
		}
	}
	return all
}

// widths returns the columns of each cell's widest.
func widths(rows [][]string, n int) []int {
	all := make([]int, n)
	for _, row := range rows {
		for i, cell := range row[:min(len(row), n)] {
			all[i] = max(all[i], columns(cell), 3)
		}
	}
	return all
}

const bar, rule = " | ", "-|-"

func rowWidth(widths []int) int {
	n := len(bar) * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// align returns a table as text. The first row is its header.
func align(rows [][]string, widths []int, how []east.Alignment) string {
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
	n := to - columns(s)
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

// columns returns how wide s is in a font of fixed width.
func columns(s string) int {
	all := 0
	for s != "" {
		n, wide := cluster(s)
		all += wide
		s = s[n:]
	}
	return all
}

// maxCluster is the bytes of one character with accents and what is joined to it. The longest emoji
// has 35; text with heaps of accents has no end.
const maxCluster = 40

// cluster returns the bytes of what a reader takes for the first character of s, and its columns. It
// knows accents, emoji of several parts and flags.
func cluster(s string) (size, cols int) {
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
