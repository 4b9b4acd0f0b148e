package discord

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// This file turns Markdown into Discord's own, which is near to it. What Discord lacks is said otherwise:
// a table is aligned text in a fence or, if it is wide, a paragraph for each row; an image is a link; a
// heading below the third level is bold; HTML, footnotes and whatever else the parser does not know are
// shown as they are written. What was no markup in the input is none in the output: see escape. Links
// show no preview, and lead to the web only.

// render returns Markdown in Discord's form, cut into pieces of at most max bytes, at the borders of
// blocks where there are any. Discord counts characters, of which there are never more than bytes.
// Markdown with nothing to see is no pieces. max is at least 100.
func render(md string, max int) []string { return paper(max).Pack(blocks(md, max)) }

// paper is text of Discord's in pieces of at most max bytes.
func paper(max int) markdown.Form {
	return markdown.Form{Max: max, Atom: atom, Prefix: func(prefix, line string) string { return prefix + begin(line) }, Extra: len(`\`)}
}

// atom returns the length of what s begins with and must not be cut: what has a style, a link, an escaped
// mark, a character with all its accents.
func atom(s string) int {
	switch {
	case s[0] == markdown.Open[0]:
		return markdown.StyleLen(s, 0)
	case s[0] == '\\' && len(s) > 1:
		n, _ := markdown.Cluster(s[1:])
		return 1 + n
	}
	n, _ := markdown.Cluster(s)
	return n
}

// blocks returns Markdown as blocks, of which Pack makes pieces of at most max bytes.
func blocks(md string, max int) []markdown.Block {
	doc, src := markdown.Parse(md)
	r := &renderer{src: src, whole: max / 2, used: markdown.References(doc)}
	r.blocks(doc, margin{gap: "\n\n"})
	return r.out
}

type renderer struct {
	src   markdown.Source
	whole int             // bytes of a link or of what has a style, at most; longer ones are plain text, because neither is cut
	used  map[string]bool // the labels of definitions that links refer to
	out   []markdown.Block
}

// A margin is what stands before the lines of a block.
type margin struct {
	quoted bool
	within string // the indent of the list around it
	mark   string // bullet or number, to be written before the first line
	gap    string // between the block and the one before
}

// maxIndent is where deeper lists are shown as if they were of this depth: Discord knows no more, and the
// margin has to leave room for text.
const maxIndent = 12

func (m margin) quote() string {
	if m.quoted {
		return "> "
	}
	return ""
}

// first returns what the first line of a block begins with, rest what further lines do.
func (m margin) first() string { return m.quote() + m.within + m.mark }

func (m margin) rest() string {
	return m.quote() + m.within + strings.Repeat(" ", len(m.mark))
}

// next returns the margin of the block after this one in the same place.
func (m margin) next() margin {
	m.within += strings.Repeat(" ", len(m.mark))
	m.mark = ""
	if m.within == "" {
		m.gap = "\n\n"
	} else {
		m.gap = "\n"
	}
	if m.quoted {
		m.gap = "\n> \n"
	}
	return m
}

// blocks writes the children of n.
func (r *renderer) blocks(n ast.Node, m margin) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.block(c, m)
		m = m.next()
	}
}

func (r *renderer) block(n ast.Node, m margin) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n, m)
	case *ast.Blockquote:
		r.quote(n, r.bullet(m))
	case *ast.List:
		r.list(n, r.bullet(m))
	case *ast.FencedCodeBlock:
		r.code(r.src.Lines(n), language(string(n.Language(r.src))), m)
	case *ast.CodeBlock:
		r.code(r.src.Lines(n), "", m)
	case *ast.HTMLBlock:
		r.prose(escape(strings.TrimRight(r.src.HTML(n), "\n")), m)
	case *ast.LinkReferenceDefinition:
		if !r.used[util.ToLinkReference(n.Label)] { // no definition, or nobody would see it
			r.prose(escape(strings.TrimRight(r.src.Lines(n), "\n")), m)
		}
	case *ast.ThematicBreak:
		r.prose("———", m)
	case *east.Table:
		r.table(n, m)
	case *ast.Paragraph, *ast.TextBlock:
		r.prose(r.inline(n, styles{}), m)
	default:
		r.blocks(n, m)
	}
}

// heading writes a heading. In a list, and below the third level, Discord has none.
func (r *renderer) heading(n *ast.Heading, m margin) {
	if n.Level > 3 || m.mark != "" || m.within != "" {
		r.prose(r.inline(n, styles{bold: true}), m)
		return
	}
	text := strings.ReplaceAll(r.inline(n, styles{}), "\n", " ")
	if text == "" {
		return
	}
	r.add(markdown.Block{Text: m.first() + strings.Repeat("#", n.Level) + " " + text, Rest: m.rest(), Gap: m.gap})
}

// quote writes a quote. Discord has one level of them, so further ones are shown as they are written.
func (r *renderer) quote(n ast.Node, m margin) {
	if m.quoted {
		m.within += `\> `
	}
	m.quoted = true
	r.blocks(n, m)
}

// prose adds a block of text.
func (r *renderer) prose(s string, m margin) {
	if s == "" && m.mark == "" {
		return
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		prefix := m.rest()
		if i == 0 {
			prefix = m.first()
		}
		if lines[i] = prefix + begin(line); lines[i] != m.quote() { // a quote ends where the blank is missing
			lines[i] = strings.TrimRight(lines[i], " ")
		}
	}
	r.add(markdown.Block{Text: strings.Join(lines, "\n"), Rest: m.rest(), Gap: m.gap})
}

func (r *renderer) add(b markdown.Block) { r.out = append(r.out, b) }

// code adds a block in a fence, which stands at the left whatever it is within: Discord knows no other
// place for it.
func (r *renderer) code(s, lang string, m margin) {
	s = strings.TrimRight(s, "\n")
	r.bullet(m)
	if strings.TrimSpace(s) != "" {
		r.add(markdown.Block{Text: apart(s), Code: true, Lang: lang, Gap: "\n"})
	}
}

// tongue is what Discord takes for the language of a fence.
var tongue = regexp.MustCompile(`^[a-zA-Z0-9_+\-.#]{1,20}$`)

func language(name string) string {
	if tongue.MatchString(name) {
		return name
	}
	return ""
}

// bullet writes the mark of m, if it has one, in a line of its own: what follows has none where it
// could stand.
func (r *renderer) bullet(m margin) margin {
	if m.mark == "" {
		return m
	}
	r.prose("", m)
	return m.next()
}

func (r *renderer) list(n *ast.List, m margin) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		in := m
		in.mark = "- "
		if n.IsOrdered() {
			in.mark = strconv.Itoa(number) + ". "
			number++
		}
		if len(in.within) > maxIndent {
			in.within = in.within[:maxIndent]
		}
		if item.FirstChild() == nil {
			r.prose("", in)
		}
		r.blocks(item, in)
		m.gap = "\n"
	}
}

// maxTable is the columns of a table that is shown in a fence: a row that goes on in the next line cannot
// be read.
const maxTable = 70

// table adds a table: in a fence with aligned columns, of which the header is repeated where it is cut, or
// as records if it is too wide for that.
func (r *renderer) table(n *east.Table, m margin) {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, strings.Join(strings.Fields(r.src.Plain(c, true)), " "))
		}
		rows = append(rows, cells)
	}
	widths := markdown.Widths(rows, len(n.Alignments))
	if markdown.RowWidth(widths) > maxTable {
		r.records(n, rows[0], m)
		return
	}
	r.bullet(m)
	text := apart(markdown.Align(rows, widths, n.Alignments))
	if lines := strings.SplitN(text, "\n", 3); strings.TrimSpace(text) != "" {
		r.add(markdown.Block{Text: text, Code: true, Head: strings.Join(lines[:min(2, len(lines))], "\n"), Gap: "\n"})
	}
}

// maxHeader is the bytes of a header that are repeated with every row.
const maxHeader = 60

// records adds each row as a paragraph, of one line for each cell. Only the first row has all headers, in
// full: further ones leave out empty cells and the ends of long headers.
func (r *renderer) records(n *east.Table, headers []string, m margin) {
	if n.ChildCount() == 1 {
		r.prose(escape(strings.Join(headers, " | ")), m)
	}
	labels := r.labels(headers, math.MaxInt)
	for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
		first := row.PreviousSibling() == n.FirstChild()
		var lines []string
		i := 0
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			value := r.inline(c, styles{})
			if value != "" || first && labels[i] != "" {
				lines = append(lines, labels[i]+value)
			}
			i++
		}
		r.prose(strings.Join(lines, "\n"), m)
		m = m.next()
		if first {
			labels = r.labels(headers, maxHeader)
		}
	}
}

// labels returns what stands before the values below headers, of which it shows at most max bytes.
func (r *renderer) labels(headers []string, max int) []string {
	all := make([]string, len(headers))
	for i, h := range headers {
		if len(h) > max {
			h = h[:border(h, max)] + "…"
		}
		if h != "" {
			all[i] = r.span("**", escapeBetween(0, h, 0)) + ": "
		}
	}
	return all
}

// begin returns a line that begins no block of Discord's.
func begin(line string) string {
	if mark := blockMark.FindStringIndex(line); mark != nil {
		at := mark[0] + len(line[:mark[1]]) - len(strings.TrimLeftFunc(line[:mark[1]], unicode.IsSpace))
		if digits := strings.IndexByte(line[at:mark[1]], '.'); digits >= 0 {
			at += digits
		}
		return line[:at] + `\` + line[at:]
	}
	return line
}

// blockMark is what Discord takes for a heading, small print, a quote or an item where it begins a line.
var blockMark = regexp.MustCompile(`^\s*(#{1,3}|-#|>|>>>|[-*]|\d+\.)(\s|$)`)
