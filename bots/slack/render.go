package slack

import (
	"bytes"
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// This file turns Markdown into Slack's mrkdwn, a format of its own: one star is bold, links are
// <url|label>, and what stands between < and > may call people. So nothing of the input reaches the
// output but through escape, and the only < that is written opens a link to the web or to mail.
// What mrkdwn cannot say is said otherwise: a heading is bold, a table is aligned text in a fence,
// an image is a link, HTML is shown as it is written.

// A block is a paragraph, an item or the like, in mrkdwn.
type block struct {
	text  string
	code  bool // text is verbatim, to be shown in a fence
	tight bool // no empty line between this and the block before
}

// render returns Markdown as mrkdwn, cut into pieces of at most max bytes, at the borders of blocks
// where there are any. Blank Markdown is no pieces.
func render(markdown string, max int) []string {
	src := []byte(strings.ToValidUTF8(markdown, "\uFFFD"))
	r := &renderer{src: src, maxLink: max / 2}
	r.blocks(parser.Parse(text.NewReader(src)), margin{})
	return pack(r.out, max)
}

// parser reads GitHub's Markdown, which models write.
var parser = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()

type renderer struct {
	src     []byte
	maxLink int // bytes of a whole link; a longer one is written as text, because links are not cut
	out     []block
}

// A margin is what stands before the lines of a block.
type margin struct {
	first, rest string
	depth       int  // of lists
	tight       bool // blocks follow each other without an empty line
}

// next returns the margin of the block that follows in the same item or quote.
func (m margin) next() margin {
	m.first = m.rest
	m.tight = m.tight || m.depth > 0 || m.rest != ""
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
		r.prose(r.inline(n, styles{bold: true}), m)
	case *ast.Blockquote:
		r.blocks(n, margin{first: "> ", rest: "> ", tight: r.bullet(m).tight})
	case *ast.List:
		r.list(n, m)
	case *ast.FencedCodeBlock:
		r.code(r.lines(n), m)
	case *ast.CodeBlock:
		r.code(r.lines(n), m)
	case *ast.HTMLBlock:
		raw := r.lines(n)
		if n.HasClosure() {
			raw += string(n.ClosureLine.Value(r.src))
		}
		r.prose(escape(strings.TrimRight(raw, "\n")), m)
	case *ast.ThematicBreak:
		r.prose("———", m)
	case *east.Table:
		r.code(r.table(n), m)
	case *ast.Paragraph, *ast.TextBlock:
		r.prose(r.inline(n, styles{}), m)
	default:
		r.blocks(n, m)
	}
}

// prose adds a block of text. Slack takes three backticks for a fence wherever they stand, so they
// are kept apart.
func (r *renderer) prose(s string, m margin) {
	lines := strings.Split(apart(s), "\n")
	for i, line := range lines {
		prefix := m.rest
		if i == 0 {
			prefix = m.first
		}
		lines[i] = strings.TrimRight(prefix+line, " ")
	}
	r.out = append(r.out, block{text: strings.Join(lines, "\n"), tight: m.tight})
}

// code adds a block in a fence, which stands at the margin whatever it is within: Slack knows no
// other place for it.
func (r *renderer) code(s string, m margin) {
	s = strings.TrimRight(s, "\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	r.bullet(m)
	r.out = append(r.out, block{text: apart(escape(s)), code: true, tight: true})
}

// bullet writes the bullet or number of an item, if it stands at m, in a line of its own: what
// follows has none where it could stand.
func (r *renderer) bullet(m margin) margin {
	if strings.TrimSpace(m.first) == strings.TrimSpace(m.rest) {
		return m
	}
	r.prose("", m)
	return m.next()
}

func (r *renderer) lines(n ast.Node) string { return string(n.Lines().Value(r.src)) }

func (r *renderer) list(n *ast.List, m margin) {
	indent, number := strings.Repeat("    ", m.depth), n.Start
	outer := strings.TrimRight(m.rest, " ") // a quote around the list
	if outer != "" {
		outer += " "
	}
	m = r.bullet(m)
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := string([]rune("•◦▪")[m.depth%3])
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + "."
			number++
		}
		in := margin{outer + indent + mark + " ", outer + indent + "    ", m.depth + 1, m.tight}
		if item.FirstChild() == nil {
			r.prose("", in)
		}
		r.blocks(item, in)
		m.tight = true
	}
}

// table returns the rows as lines with aligned columns.
func (r *renderer) table(n *east.Table) string {
	var rows [][]string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, strings.Join(strings.Fields(r.plain(c, true)), " "))
		}
		rows = append(rows, cells)
	}
	return align(rows, n.Alignments)
}

// plain returns the text of n without any markup, not escaped. The targets of links stand behind
// them if urls is set.
func (r *renderer) plain(n ast.Node, urls bool) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(html.UnescapeString(r.text(c)))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.Write(c.Label(r.src))
		case *ast.RawHTML:
			b.WriteString(brk(string(c.Segments.Value(r.src)), " "))
		case *east.TaskCheckBox:
			b.WriteString(checkbox(c))
		case *ast.Link:
			label := r.plain(c, urls)
			b.WriteString(label)
			if url := string(c.Destination); urls && url != "" && url != label {
				b.WriteString(" (" + url + ")")
			}
		default:
			b.WriteString(r.plain(c, urls))
		}
	}
	return b.String()
}

// text returns a run of text, escaped. Backslashes and entities are resolved, except within code.
func (r *renderer) text(n *ast.Text) string {
	value := n.Value(r.src)
	if _, code := n.Parent().(*ast.CodeSpan); code || n.IsRaw() {
		return escape(strings.ReplaceAll(string(value), "\n", " "))
	}
	return resolve(value)
}

// resolve returns Markdown text with its backslashes and entities resolved, escaped for Slack.
func resolve(value []byte) string {
	var b bytes.Buffer
	writer(&b, value) // escapes as HTML does, which differs from Slack's way in one point
	return strings.ReplaceAll(b.String(), "&quot;", `"`)
}

func checkbox(n *east.TaskCheckBox) string {
	if n.IsChecked {
		return "☑ "
	}
	return "☐ "
}

// brk returns the HTML tag for a line break as to, and other HTML as it is.
func brk(tag, to string) string {
	switch strings.ToLower(strings.ReplaceAll(tag, " ", "")) {
	case "<br>", "<br/>":
		return to
	}
	return tag
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
