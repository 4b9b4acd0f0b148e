package slack

import (
	"strings"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// mrkdwn is the form in pieces of at most max bytes.
func mrkdwn(max int) markdown.Form {
	return markdown.Form{Max: max, Atom: atom, Prefix: prefixed, Extra: len(hair)}
}

// cut cuts escaped text that is verbatim into parts of at most max bytes.
func cut(s string, max int) []string { return mrkdwn(max).Split(s, max, true) }

// atom returns the length of what s begins with and must not be cut: what has a style, a link, an
// entity, a character with all its accents.
func atom(s string) int {
	switch s[0] {
	case markdown.Open[0]:
		return markdown.StyleLen(s, 1)
	case '<':
		if i := strings.IndexByte(s, '>'); i > 0 {
			return i + 1
		}
	case '&':
		if i := strings.IndexByte(s, ';'); i > 0 && i < len("&quot;") {
			return i + 1
		}
	}
	n, _ := markdown.Cluster(s)
	return n
}
