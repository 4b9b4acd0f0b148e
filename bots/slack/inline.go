package slack

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// styles are those that hold at a place. Slack has no way to nest one in itself.
type styles struct{ bold, italic, strike bool }

// A line writes the inline content of one block.
type line struct {
	r      *renderer
	b      []byte
	closed bool // a mark of a style has just been closed
}

// inline returns the inline content of n in mrkdwn. What it is within is bold if so says outer, and
// its marks are written too.
func (r *renderer) inline(n ast.Node, outer styles) string {
	l := &line{r: r}
	if outer.bold {
		l.styled(n, "*", outer)
	} else {
		l.children(n, outer)
	}
	return strings.TrimRight(string(l.b), " \n")
}

func (l *line) children(n ast.Node, s styles) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		l.node(c, s)
	}
}

func (l *line) node(n ast.Node, s styles) {
	switch n := n.(type) {
	case *ast.Text:
		l.write(escape(l.r.src.Text(n)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			l.newline(s)
		}
	case *ast.Emphasis:
		mark, set := "_", &s.italic
		if n.Level == 2 {
			mark, set = "*", &s.bold
		}
		l.emphasis(n, mark, set, &s)
	case *east.Strikethrough:
		l.emphasis(n, "~", &s.strike, &s)
	case *ast.CodeSpan:
		l.code(l.r.src.Plain(n, false))
	case *ast.Link, *ast.Image:
		if markdown.Footnote(n) {
			l.write(escape("[" + l.r.src.Plain(n, false) + "]"))
			return
		}
		dest, _ := markdown.Destination(n)
		l.link(dest, l.r.src.Plain(n, false))
	case *ast.AutoLink:
		if dest, label, ok := autolink(l.r.src, n); ok {
			l.link(dest, label)
		} else {
			l.write(escape(label))
		}
	case *ast.RawHTML:
		l.html(string(n.Segments.Value(l.r.src)), s)
	case *east.TaskCheckBox:
		l.write(markdown.Checkbox(n) + " ")
	default:
		l.children(n, s)
	}
}

// write adds escaped text.
func (l *line) write(text string) {
	if text == "" {
		return
	}
	if r, _ := utf8.DecodeRuneInString(text); l.closed && glued(r) {
		l.b = append(l.b, hair...)
	}
	l.closed = false
	l.b = append(l.b, text...)
}

// newline breaks the line, unless a style holds: Slack's do not reach across lines.
func (l *line) newline(s styles) {
	if s != (styles{}) {
		l.write(" ")
		return
	}
	l.closed = false
	l.b = append(l.b, '\n')
}

// html writes a tag as it is, but a line break as one.
func (l *line) html(raw string, s styles) {
	for i, part := range strings.Split(markdown.Brk(raw, "\n"), "\n") {
		if i > 0 {
			l.newline(s)
		}
		l.write(escape(part))
	}
}

// emphasis writes n in the style of that mark, if *set, a part of s, does not say that it holds already.
func (l *line) emphasis(n ast.Node, mark string, set *bool, s *styles) {
	if *set {
		l.children(n, *s)
		return
	}
	*set = true
	l.styled(n, mark, *s)
}

func (l *line) styled(n ast.Node, mark string, s styles) {
	in := line{r: l.r}
	in.children(n, s)
	if len(in.b) > 0 { // two marks with nothing to show would be text
		l.mark(mark, string(in.b))
	}
}

// mark writes text between two marks. Slack takes a mark for one only at the border of a word, which
// Chinese, for one, does not show.
func (l *line) mark(mark, text string) {
	if r, _ := utf8.DecodeLastRune(l.b); glued(r) || l.closed || r == '`' && mark == "`" {
		l.b = append(l.b, hair...)
	}
	l.b = append(l.b, l.r.span(mark, text)...)
	l.closed = true
}

// span returns text between two marks, or plain if it is too long to stay whole.
func (r *renderer) span(mark, text string) string {
	s := markdown.Open + mark + text + markdown.Shut + mark
	if len(s) > r.whole {
		return text
	}
	return s
}

// glued reports whether a mark next to r may not count as one.
func glued(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	return r != utf8.RuneError && !unicode.IsSpace(r)
}

// code writes inline code. Slack cannot show a backtick within it: such code is plain text.
func (l *line) code(text string) {
	switch {
	case strings.TrimSpace(text) == "":
		l.write(text)
	case strings.Contains(text, "`"):
		l.write(escape(text))
	default:
		l.mark("`", escape(text))
	}
}

// link writes a link to dest, or text if Slack would not, or must not, make a link of it. A label
// that is itself an address shows next to where the link really goes.
func (l *line) link(dest, label string) {
	label = strings.Join(strings.Fields(label), " ")
	target, ok := address(dest)
	switch {
	case ok && escape(label) == target:
		label = ""
	case ok && bare(label) != bare(dest) && strings.Contains(label, "://"):
		l.write(escape(label) + " (")
		l.link(dest, "")
		l.write(")")
		return
	}
	link := "<" + target + ">"
	if label != "" {
		link = "<" + target + "|" + escape(label) + ">"
	}
	switch {
	case ok && len(link) <= l.r.whole:
		l.closed = false
		l.b = append(l.b, link...)
	case label == "":
		l.write(escape(dest))
	case dest == "" || strings.HasPrefix(dest, "#") || dest == label:
		l.write(escape(label))
	default:
		l.write(escape(label) + " (" + escape(dest) + ")")
	}
}
