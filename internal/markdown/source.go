package markdown

import (
	"bufio"
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// A Source is Markdown, of which the nodes of a tree are parts. Its methods read them as text.
type Source []byte

// HTML returns a block of HTML as it is written.
func (src Source) HTML(n *ast.HTMLBlock) string {
	if n.HasClosure() {
		return src.Lines(n) + string(n.ClosureLine.Value(src))
	}
	return src.Lines(n)
}

// Lines returns the lines of a block as they are written.
func (src Source) Lines(n ast.Node) string { return string(n.Lines().Value(src)) }

// Plain returns the text of n without any markup. The targets of links stand behind
// them if urls is set.
func (src Source) Plain(n ast.Node, urls bool) string {
	var b strings.Builder
	src.writePlain(&b, n, urls)
	return b.String()
}

func (src Source) writePlain(b *strings.Builder, n ast.Node, urls bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		before := b.Len()
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(src.Text(c))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			_, label := src.Autolink(c)
			b.WriteString(label)
		case *ast.RawHTML:
			b.WriteString(Brk(string(c.Segments.Value(src)), " "))
		case *east.TaskCheckBox:
			b.WriteString(Checkbox(c) + " ")
		default:
			if Footnote(c) {
				b.WriteString("[" + src.Plain(c, false) + "]")
				continue
			}
			src.writePlain(b, c, urls)
			if url, ok := Destination(c); ok && urls && url != "" && url != b.String()[before:] {
				b.WriteString(" (" + url + ")")
			}
		}
	}
}

// Destination returns where n leads to, if it is a link or an image.
func Destination(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.Link:
		return string(n.Destination), true
	case *ast.Image:
		return string(n.Destination), true
	}
	return "", false
}

// Text returns a run of text. Backslashes and entities are resolved, except within code.
func (src Source) Text(n *ast.Text) string {
	value := n.Value(src)
	if _, code := n.Parent().(*ast.CodeSpan); code || n.IsRaw() {
		return strings.ReplaceAll(string(value), "\n", " ")
	}
	return strings.ReplaceAll(resolve(value), "\n", " ") // of an entity
}

// resolve returns Markdown text with its backslashes and entities resolved.
func resolve(value []byte) string {
	if !bytes.ContainsAny(value, `\&`) {
		return string(value)
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	goldhtml.DefaultWriter.Write(w, value)
	_ = w.Flush() // into memory
	return html.UnescapeString(b.String())
}

// Checkbox returns the box of a task.
func Checkbox(n *east.TaskCheckBox) string {
	if n.IsChecked {
		return "☑"
	}
	return "☐"
}

// Brk returns the HTML tag for a line break as to, and other HTML as it is.
func Brk(tag, to string) string {
	switch strings.ToLower(strings.ReplaceAll(tag, " ", "")) {
	case "<br>", "<br/>":
		return to
	}
	return tag
}

// Autolink returns where n leads to and what it shows.
func (src Source) Autolink(n *ast.AutoLink) (dest, label string) {
	dest, label = string(n.URL(src)), string(n.Label(src))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(dest), "mailto:") {
		dest = "mailto:" + dest
	}
	return dest, label
}

// References returns the normalized labels that the links and images of n refer to, but not those of
// footnotes.
func References(n ast.Node) map[string]bool {
	used := map[string]bool{}
	_ = ast.Walk(n, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		if ref := reference(n); ref != nil && !noted(ref) {
			used[util.ToLinkReference(ref.Value)] = true
		}
		return ast.WalkContinue, nil
	})
	return used
}

// reference returns what a link or image refers to, or nil.
func reference(n ast.Node) *ast.ReferenceLink {
	switch n := n.(type) {
	case *ast.Link:
		return n.Reference
	case *ast.Image:
		return n.Reference
	}
	return nil
}

// Footnote reports whether n is a link that is meant as a footnote: [^1].
func Footnote(n ast.Node) bool {
	ref := reference(n)
	return ref != nil && ref.Type == ast.ReferenceLinkShortcut && noted(ref)
}

func noted(ref *ast.ReferenceLink) bool { return bytes.HasPrefix(ref.Value, []byte("^")) }
