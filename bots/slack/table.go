package slack

import (
	"math"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"github.com/heddle-bot/heddle/internal/markdown"
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
			cells = append(cells, strings.Join(strings.Fields(r.src.Plain(c, true)), " "))
		}
		rows = append(rows, cells)
	}
	if widths := markdown.Widths(rows, len(n.Alignments)); markdown.RowWidth(widths) <= maxTable {
		r.code(markdown.Align(rows, widths, n.Alignments), m)
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
			h = cut(h, max)[0] + "…"
		}
		if h != "" {
			all[i] = r.span("*", h) + ": "
		}
	}
	return all
}
