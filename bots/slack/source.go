package slack

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// autolink returns where n leads to and what it shows. If it leads nowhere that it may (see address),
// the brackets around it are a part of the label, because they may have been meant otherwise.
func autolink(src markdown.Source, n *ast.AutoLink) (dest, label string, ok bool) {
	dest, label = src.Autolink(n)
	if _, ok = address(dest); !ok && src[n.Pos()] == '<' {
		label = "<" + label + ">"
	}
	return dest, label, ok
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

var urlEscaper = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C", "`", "%60")
