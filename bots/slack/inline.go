package slack

import (
	"bufio"
	"io"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// styles are those that hold at a place. Slack has no way to nest one in itself.
type styles struct{ bold, italic, strike bool }

// A line writes the inline content of one block.
type line struct {
	r      *renderer
	b      strings.Builder
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
	return strings.TrimRight(l.b.String(), " \n")
}

func (l *line) children(n ast.Node, s styles) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		l.node(c, s)
	}
}

func (l *line) node(n ast.Node, s styles) {
	switch n := n.(type) {
	case *ast.Text:
		l.write(l.r.text(n))
		if n.SoftLineBreak() || n.HardLineBreak() {
			l.newline(s)
		}
	case *ast.Emphasis:
		l.emphasis(n, s)
	case *east.Strikethrough:
		if s.strike {
			l.children(n, s)
			return
		}
		s.strike = true
		l.styled(n, "~", s)
	case *ast.CodeSpan:
		l.code(l.r.plain(n, false))
	case *ast.Link:
		l.link(string(n.Destination), l.r.plain(n, false))
	case *ast.Image:
		l.link(string(n.Destination), l.r.plain(n, false))
	case *ast.AutoLink:
		l.autolink(n)
	case *ast.RawHTML:
		if raw := brk(string(n.Segments.Value(l.r.src)), "\n"); raw == "\n" {
			l.newline(s)
		} else {
			l.write(escape(raw))
		}
	case *east.TaskCheckBox:
		l.write(checkbox(n))
	default:
		l.children(n, s)
	}
}

// write adds escaped text.
func (l *line) write(text string) {
	if text == "" {
		return
	}
	if r, _ := utf8.DecodeRuneInString(text); l.closed && word(r) {
		l.b.WriteString(hair)
	}
	l.closed = false
	l.b.WriteString(text)
}

// newline breaks the line, unless a style holds: Slack's do not reach across lines.
func (l *line) newline(s styles) {
	if s != (styles{}) {
		l.write(" ")
		return
	}
	l.closed = false
	l.b.WriteString("\n")
}

func (l *line) emphasis(n *ast.Emphasis, s styles) {
	mark, set := "_", &s.italic
	if n.Level == 2 {
		mark, set = "*", &s.bold
	}
	if *set {
		l.children(n, s)
		return
	}
	*set = true
	l.styled(n, mark, s)
}

// styled writes the children of n between two marks. Slack takes a mark for one only at the border
// of a word, which Chinese, for one, does not show.
func (l *line) styled(n ast.Node, mark string, s styles) {
	if r, _ := utf8.DecodeLastRuneInString(l.b.String()); word(r) || l.closed {
		l.b.WriteString(hair)
	}
	l.closed = false
	before := l.b.Len()
	l.b.WriteString(mark)
	l.children(n, s)
	if l.b.Len() == before+len(mark) { // nothing to show: two marks would be text
		text := l.b.String()[:before]
		l.b.Reset()
		l.b.WriteString(text)
		return
	}
	l.b.WriteString(mark)
	l.closed = true
}

func word(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
}

// code writes inline code. Slack cannot show a backtick within it: such code is plain text.
func (l *line) code(text string) {
	switch {
	case strings.TrimSpace(text) == "":
		l.write(text)
	case strings.Contains(text, "`"):
		l.write(escape(text))
	default:
		if r, _ := utf8.DecodeLastRuneInString(l.b.String()); word(r) || r == '`' {
			l.b.WriteString(hair)
		}
		l.b.WriteString("`" + escape(text) + "`")
		l.closed = true
	}
}

func (l *line) autolink(n *ast.AutoLink) {
	label, target := string(n.Label(l.r.src)), string(n.URL(l.r.src))
	if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(target), "mailto:") {
		target = "mailto:" + target
	}
	if _, ok := address(target); !ok {
		l.write(escape(label))
		return
	}
	l.link(target, label)
}

// link writes a link to dest, or text if Slack would not, or must not, make a link of it. A label
// that is itself an address shows next to where the link really goes.
func (l *line) link(dest, label string) {
	label = strings.Join(strings.Fields(label), " ")
	target, ok := address(dest)
	switch {
	case ok && escape(label) == target:
		label = ""
	case ok && label != dest && strings.Contains(label, "://"):
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
	case ok && len(link) <= l.r.maxLink:
		l.closed = false
		l.b.WriteString(link)
	case label == "":
		l.write(escape(dest))
	case dest == "" || strings.HasPrefix(dest, "#") || dest == label:
		l.write(escape(label))
	default:
		l.write(escape(label) + " (" + escape(dest) + ")")
	}
}

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

var urlEscaper = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C")

// writer writes Markdown text as HTML.
func writer(w io.Writer, value []byte) {
	b := bufio.NewWriter(w)
	html.DefaultWriter.Write(b, value)
	_ = b.Flush() // into memory
}
