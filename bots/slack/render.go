package slack

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/heddle-bot/heddle/internal/markdown"
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

// render returns Markdown as mrkdwn, cut into pieces of at most max bytes, at the borders of blocks
// where there are any. Slack counts characters, of which there are never more than bytes, whatever it
// takes for a character. Markdown with nothing to see is no pieces. max is at least 100.
func render(md string, max int) []string { return mrkdwn(max).Pack(blocks(md, max)) }

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
		r.code(r.src.Lines(n), m)
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
	r.out = append(r.out, markdown.Block{Text: strings.Join(lines, "\n"), Rest: m.rest(), Gap: m.gap})
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
		r.out = append(r.out, markdown.Block{Text: apart(escape(s)), Code: true, Gap: "\n"})
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
			mark = markdown.Checkbox(box)
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
