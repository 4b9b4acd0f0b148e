package slack

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	goldparser "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// This file turns Markdown into Slack's mrkdwn, a format of its own: one star is bold, links are
// <url|label>, and what stands between < and > may call people. So nothing of the input reaches the
// output but through escape, and the only < that is written opens a link to the web or to mail.
// A bare @channel calls nobody, because we ask Slack to look for no names (parse=none, verbatim).
// What mrkdwn cannot say is said otherwise: a heading is bold, a table is aligned text in a fence or,
// if it is wide, a paragraph for each row; an image is a link; HTML, footnotes and whatever else the
// parser does not know are shown as they are written.
//
// Stars, underscores and tildes that are meant as such are left alone, though Slack may pair them to
// styles. No character without width is known to keep it from that for certain, and whoever copies a
// glob or a name would copy the character too. So there is one only at the border of a style within a
// word, before a > that would begin a quote, and between three backticks.

// A block is a paragraph, an item or the like, in mrkdwn.
type block struct {
	text string // with open and shut in it
	code bool   // text is verbatim, to be shown in a fence
	rest string // begins every line of text but, maybe, the first
	gap  string // what stands between this and the block before
}

// Open and shut stand before the marks of a style. What they enclose is not cut. Neither can come in
// from outside, because they are not valid UTF-8; pack takes them out.
const open, shut = "\xfe", "\xff"

// render returns Markdown as mrkdwn, cut into pieces of at most max bytes, at the borders of blocks
// where there are any. Slack counts characters, of which there are never more than bytes, whatever it
// takes for a character. Markdown with nothing to see is no pieces. max is at least 100.
func render(markdown string, max int) []string { return pack(blocks(markdown, max), max) }

// blocks returns Markdown as blocks, of which pack makes pieces of at most max bytes.
func blocks(markdown string, max int) []block {
	src := source(clean(markdown))
	doc := parser(hasTables(src)).Parse(text.NewReader(src))
	r := &renderer{src: src, whole: max / 2, used: references(doc)}
	r.blocks(doc, margin{gap: "\n\n"})
	return r.out
}

// clean returns valid UTF-8 with Unix lines and without control characters, nested no deeper than the
// parser can bear.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(shallow(line))
	}
	return b.String()
}

// maxNesting is the quotes and lists that one line may open. The parser's time is quadratic in them.
const maxNesting = 200

// shallow returns a line with the mark after maxNesting escaped, if it has so many.
func shallow(line string) string {
	n := 0
	for i, c := range line {
		switch {
		case strings.ContainsRune(">-+*.)", c):
			n++
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return line
		}
		if n > maxNesting {
			return line[:i] + `\` + line[i:]
		}
	}
	return line
}

// parser reads GitHub's Markdown, which models write.
func parser(tables bool) goldparser.Parser {
	if tables {
		return withTables
	}
	return withoutTables
}

var (
	withTables    = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	withoutTables = goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList)).Parser()
)

// maxCells bounds the cells of a table: the parser fills short rows up, so that 50 KB of text can be
// made into gigabytes of empty cells.
const maxCells = 200_000

// hasTables reports whether src may hold tables, and none that is too large for the parser.
func hasTables(src []byte) bool {
	lines, widest := 1, 0
	for line := range bytes.Lines(src) {
		if n := bytes.Count(line, []byte("|")); n > 0 {
			lines, widest = lines+1, max(widest, n+1)
		}
	}
	return widest > 0 && widest*lines <= maxCells
}

type renderer struct {
	src   source
	whole int             // bytes of a link or of what has a style, at most; longer ones are plain text, because neither is cut
	used  map[string]bool // the labels of definitions that links refer to
	out   []block
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
		r.prose(r.inline(n, styles{bold: true}), m)
	case *ast.Blockquote:
		r.blocks(n, r.bullet(m).quoted())
	case *ast.List:
		r.list(n, m)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		r.code(r.src.lines(n), m)
	case *ast.HTMLBlock:
		r.prose(escape(strings.TrimRight(r.src.html(n), "\n")), m)
	case *ast.LinkReferenceDefinition:
		if !r.used[util.ToLinkReference(n.Label)] { // no definition, or nobody would see it
			r.prose(escape(strings.TrimRight(r.src.lines(n), "\n")), m)
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

// prose adds a block of text. Slack takes three backticks for a fence wherever they stand, so they
// are kept apart.
func (r *renderer) prose(s string, m margin) {
	if s == "" && m.mark == "" {
		return
	}
	lines := strings.Split(apart(s), "\n")
	for i, line := range lines {
		prefix := m.rest()
		if i == 0 {
			prefix = m.first()
		}
		lines[i] = strings.TrimRight(prefixed(prefix, line), " ")
	}
	r.out = append(r.out, block{text: strings.Join(lines, "\n"), rest: m.rest(), gap: m.gap})
}

// prefixed returns a line behind its prefix. Slack takes > for a quote where it begins a line, escaped
// or not, so if it is text, it does not quite begin it.
func prefixed(prefix, line string) string {
	if strings.TrimSpace(prefix) == "" && strings.HasPrefix(strings.TrimLeft(line, " \t"), "&gt;") {
		return prefix + hair + line
	}
	return prefix + line
}

// code adds a block in a fence, which stands at the left whatever it is within: Slack knows no other
// place for it.
func (r *renderer) code(s string, m margin) {
	s = strings.TrimRight(s, "\n")
	r.bullet(m)
	if strings.TrimSpace(s) != "" {
		r.out = append(r.out, block{text: apart(escape(s)), code: true, gap: "\n"})
	}
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
	m = r.bullet(m)
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := string([]rune("•◦▪")[m.depth%3])
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker)
			number++
		} else if box := task(item); box != nil {
			mark = checkbox(box)
			box.Parent().RemoveChild(box.Parent(), box)
		}
		in := m.item(mark)
		if item.FirstChild() == nil {
			r.prose("", in)
		}
		r.blocks(item, in)
		m.gap = "\n"
	}
}

// task returns the checkbox with which an item begins, or nil.
func task(item ast.Node) *east.TaskCheckBox {
	if b := item.FirstChild(); b != nil {
		box, _ := b.FirstChild().(*east.TaskCheckBox)
		return box
	}
	return nil
}

// escape makes text of s: no part of it means anything to Slack. It is the whole of what Slack asks
// for; stars and the like cannot be escaped and may show as formatting.
func escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// hair is a space of no width. It lets Slack see the border of a word where a reader sees none.
const hair = "\u200b"

// apart keeps any three backticks in s from standing together.
func apart(s string) string {
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "``"+hair+"`")
	}
	return s
}
