package slack

import (
	"bufio"
	"bytes"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// A source is Markdown, of which the nodes of a tree are parts. Its methods read them as text.
type source []byte

func (src source) html(n *ast.HTMLBlock) string {
	if n.HasClosure() {
		return src.lines(n) + string(n.ClosureLine.Value(src))
	}
	return src.lines(n)
}

func (src source) lines(n ast.Node) string { return string(n.Lines().Value(src)) }

// plain returns the text of n without any markup, not escaped. The targets of links stand behind
// them if urls is set.
func (src source) plain(n ast.Node, urls bool) string {
	var b strings.Builder
	src.writePlain(&b, n, urls)
	return b.String()
}

func (src source) writePlain(b *strings.Builder, n ast.Node, urls bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		before := b.Len()
		switch c := c.(type) {
		case *ast.Text:
			b.WriteString(html.UnescapeString(src.text(c)))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			_, label, _ := src.autolink(c)
			b.WriteString(label)
		case *ast.RawHTML:
			b.WriteString(brk(string(c.Segments.Value(src)), " "))
		case *east.TaskCheckBox:
			b.WriteString(checkbox(c) + " ")
		default:
			if footnote(c) {
				b.WriteString("[" + src.plain(c, false) + "]")
				continue
			}
			src.writePlain(b, c, urls)
			if url, ok := destination(c); ok && urls && url != "" && url != b.String()[before:] {
				b.WriteString(" (" + url + ")")
			}
		}
	}
}

// destination returns where n leads to, if it is a link or an image.
func destination(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.Link:
		return string(n.Destination), true
	case *ast.Image:
		return string(n.Destination), true
	}
	return "", false
}

// text returns a run of text, escaped. Backslashes and entities are resolved, except within code.
func (src source) text(n *ast.Text) string {
	value := n.Value(src)
	if _, code := n.Parent().(*ast.CodeSpan); code || n.IsRaw() {
		return escape(strings.ReplaceAll(string(value), "\n", " "))
	}
	return strings.ReplaceAll(resolve(value), "\n", " ") // of an entity
}

// resolve returns Markdown text with its backslashes and entities resolved, escaped for Slack.
func resolve(value []byte) string {
	if !bytes.ContainsAny(value, `\&`) {
		return escape(string(value))
	}
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	goldhtml.DefaultWriter.Write(w, value)
	_ = w.Flush()                                        // into memory
	return strings.ReplaceAll(b.String(), "&quot;", `"`) // HTML's way differs from Slack's in this
}

func checkbox(n *east.TaskCheckBox) string {
	if n.IsChecked {
		return "☑"
	}
	return "☐"
}

// brk returns the HTML tag for a line break as to, and other HTML as it is.
func brk(tag, to string) string {
	switch strings.ToLower(strings.ReplaceAll(tag, " ", "")) {
	case "<br>", "<br/>":
		return to
	}
	return tag
}

// autolink returns where n leads to and what it shows. If it leads nowhere that it may (see address),
// the brackets around it are a part of the label, because they may have been meant otherwise.
func (src source) autolink(n *ast.AutoLink) (dest, label string, ok bool) {
	dest, label = string(n.URL(src)), string(n.Label(src))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(dest), "mailto:") {
		dest = "mailto:" + dest
	}
	if _, ok = address(dest); !ok && src[n.Pos()] == '<' {
		label = "<" + label + ">"
	}
	return dest, label, ok
}

// references returns the normalized labels that the links and images of n refer to, but not those of
// footnotes.
func references(n ast.Node) map[string]bool {
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

// footnote reports whether n is a link that is meant as a footnote: [^1].
func footnote(n ast.Node) bool {
	ref := reference(n)
	return ref != nil && ref.Type == ast.ReferenceLinkShortcut && noted(ref)
}

func noted(ref *ast.ReferenceLink) bool { return bytes.HasPrefix(ref.Value, []byte("^")) }

var mailbox = regexp.MustCompile(`^[\w.+-]+@[\w.-]+$`)

// address returns the target of a link as it stands in mrkdwn. It is ok only if it leads to the web
// or to mail: anything else might be one of Slack's own commands.
func address(dest string) (target string, ok bool) {
	target = string(util.URLEscape([]byte(dest), true))
	u, err := url.Parse(target)
	if err != nil {
		return "", false
	}
	target = u.Scheme + target[len(u.Scheme):] // which is in small letters now
	switch u.Scheme {
	case "http", "https":
		ok = u.Host != ""
	case "mailto":
		ok = mailbox.MatchString(u.Opaque)
	}
	return urlEscaper.Replace(target), ok
}

var urlEscaper = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C", "`", "%60")
