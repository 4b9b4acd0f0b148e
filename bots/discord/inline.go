package discord

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// styles are those that hold at a place.
type styles struct{ bold, italic, strike bool }

// A line writes the inline content of one block.
type line struct {
	r *renderer
	b []byte
}

// inline returns the inline content of n. What it is within is bold if so says outer, and its marks are
// written too.
func (r *renderer) inline(n ast.Node, outer styles) string {
	l := &line{r: r}
	if outer.bold {
		l.styled(n, "**", outer)
	} else {
		l.children(n, outer)
	}
	return strings.TrimRight(string(l.b), " \n")
}

func (l *line) children(n ast.Node, s styles) {
	run := "" // the parser cuts text at every mark that is none
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		text, ok := c.(*ast.Text)
		if !ok {
			l.write(run, 0)
			run = ""
			l.node(c, s)
			continue
		}
		run += l.r.src.Text(text)
		if text.SoftLineBreak() || text.HardLineBreak() {
			l.write(run, '\n')
			run = ""
			l.b = append(l.b, '\n')
		}
	}
	if s == (styles{}) {
		l.write(run, '\n')
	} else {
		l.write(run, 0) // a mark follows
	}
}

func (l *line) node(n ast.Node, s styles) {
	switch n := n.(type) {
	case *ast.Emphasis:
		if n.Level == 2 {
			l.emphasis(n, "**", &s.bold, &s)
		} else {
			l.emphasis(n, "*", &s.italic, &s)
		}
	case *east.Strikethrough:
		l.emphasis(n, "~~", &s.strike, &s)
	case *ast.CodeSpan:
		l.code(l.r.src.Plain(n, false))
	case *ast.Link, *ast.Image:
		if markdown.Footnote(n) {
			l.write("["+l.r.src.Plain(n, false)+"]", 0)
			return
		}
		dest, _ := markdown.Destination(n)
		l.link(dest, l.r.src.Plain(n, false))
	case *ast.AutoLink:
		dest, label := l.r.src.Autolink(n)
		if _, ok := address(dest); !ok && l.r.src[n.Pos()] == '<' && !strings.HasPrefix(dest, "mailto:") {
			label = "<" + label + ">"
		}
		l.link(dest, label)
	case *ast.RawHTML:
		for i, part := range strings.Split(markdown.Brk(string(n.Segments.Value(l.r.src)), "\n"), "\n") {
			if i > 0 {
				l.b = append(l.b, '\n')
			}
			l.write(part, 0)
		}
	case *east.TaskCheckBox:
		l.write(markdown.Checkbox(n)+" ", 0)
	default:
		l.children(n, s)
	}
}

// write adds text, behind which that character comes; 0 is any.
func (l *line) write(text string, next rune) {
	prev, _ := utf8.DecodeLastRune(l.b)
	if len(l.b) == 0 {
		prev = '\n'
	}
	l.b = append(l.b, escapeBetween(prev, text, next)...)
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
	if text := string(in.b); strings.TrimSpace(text) != "" { // two marks with nothing to show would be text
		l.mark(mark, text)
	}
}

// hair is a space of no width. It stands between two marks that would be taken for one.
const hair = "\u200b"

// mark writes text between two marks.
func (l *line) mark(mark, text string) {
	span := l.r.span(mark, text)
	shown := bytes.TrimSuffix(l.b, []byte(markdown.Shut))
	if bytes.HasSuffix(shown, []byte(mark[:1])) && span != text {
		l.b = append(l.b, hair...)
	}
	l.b = append(l.b, span...)
}

// span returns text between two marks, or plain if it is too long to stay whole.
func (r *renderer) span(mark, text string) string {
	s := markdown.Open + mark + text + mark + markdown.Shut
	if len(s) > r.whole {
		return text
	}
	return s
}

// code writes inline code. Backticks in it make the marks longer.
func (l *line) code(text string) {
	mark := "`"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	inner := text
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		inner = " " + text + " "
	}
	switch {
	case strings.TrimSpace(text) == "", len(mark) > 2, len(inner)+2*len(mark) > l.r.whole: // three would begin a fence
		l.write(text, 0)
	default:
		l.mark(mark, inner)
	}
}

// link writes a link to dest, or text if Discord would not, or must not, make a link of it. A label that
// is itself an address shows next to where the link really goes.
func (l *line) link(dest, label string) {
	label = strings.Join(strings.Fields(label), " ")
	target, ok := address(dest)
	bare, named := "<"+target+">", "["+labelEscaper.Replace(escapeBetween(0, label, 0))+"](<"+target+">)"
	ok = ok && max(len(bare), len(named))+len(markdown.Open+markdown.Shut) <= l.r.whole
	switch {
	case ok && (label == "" || label == target || label == dest && plain(target) == dest):
		l.verbatim(bare)
	case ok && (strings.Contains(label, "://") || strings.HasPrefix(label, "www.")):
		l.write(label+" (", 0)
		l.verbatim(bare)
		l.write(")", 0)
	case ok:
		l.verbatim(named)
	case label == "":
		l.write(dest, 0)
	case dest == "" || strings.HasPrefix(dest, "#") || dest == label || dest == "mailto:"+label:
		l.write(label, 0)
	default:
		l.write(label+" ("+dest+")", 0)
	}
}

// verbatim adds what is not to be cut.
func (l *line) verbatim(s string) { l.b = append(l.b, markdown.Open+s+markdown.Shut...) }

// plain returns an address as people read it.
func plain(address string) string {
	s, err := url.PathUnescape(address)
	if err != nil {
		return address
	}
	return s
}

var labelEscaper = strings.NewReplacer("[", `\[`, "]", `\]`)

// address returns the target of a link as Discord takes it. It is ok only if it leads to the web.
func address(dest string) (target string, ok bool) {
	target = string(util.URLEscape([]byte(dest), true))
	u, err := url.Parse(target)
	if err != nil {
		return "", false
	}
	target = u.Scheme + target[len(u.Scheme):] // which is in small letters now
	return urlEscaper.Replace(target), (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// urlEscaper leaves alone what means nothing between < and >.
var urlEscaper = strings.NewReplacer("<", "%3C", ">", "%3E", `\`, "%5C")

// live is what Discord makes more of than text behind a <: people, channels, roles, emoji, times,
// commands, addresses.
var live = regexp.MustCompile(`^<(@[!&]?\d|#\d|a?:\w+:\d|t:-?\d|id:\w|sound:\d|/[^>\n]*:\d|https?:)`)

// escape makes text of s: no part of it means anything to Discord but where it begins a line, see begin.
func escape(s string) string { return escapeBetween('\n', s, '\n') }

// escapeBetween is escape of what stands between two characters, of which 0 is any. As few marks as can be get a backslash: a name with
// underscores and a lone star are left as people write them.
func escapeBetween(prev rune, s string, after rune) string {
	var b strings.Builder
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if i+utf8.RuneLen(r) == len(s) {
			next = after
		}
		if marks(prev, r, next) || r == '<' && (live.MatchString(s[i:]) || next == 0) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		prev = r
	}
	return b.String()
}

// marks reports whether r means something to Discord between these two; 0 is anything.
func marks(prev, r, next rune) bool {
	switch r {
	case '\\':
		return next == 0 || !unicode.IsSpace(next) && (next >= utf8.RuneSelf || !word(next) || next == '_')
	case '`':
		return true
	case '*':
		return !(prev == ' ' && (next == ' ' || next == '\n'))
	case '_':
		return !word(prev) || !word(next) || prev == '_' || next == '_'
	case '~', '|':
		return prev == r || next == r || next == 0
	case '(':
		return prev == ']'
	}
	return false
}

// word reports whether Discord takes r for a part of a word.
func word(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
