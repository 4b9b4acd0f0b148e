package story

import (
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// safeLinks shows links as such if they lead to the web or to a mailbox, and else as their text: what other
// schemes do on somebody's machine nobody can know. Images are links too. The page's policy keeps browsers from
// loading those of other hosts, which would tell them who reads what.
type safeLinks struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safeLinks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		anchor(w, n.(*ast.Link).Destination, entering)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		anchor(w, n.(*ast.Image).Destination, entering)
		if entering && !n.HasChildren() {
			_, _ = w.WriteString("image") // a link without a text cannot be followed
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		link := n.(*ast.AutoLink)
		to := link.URL(src)
		if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(strings.ToLower(string(to)), "mailto:") {
			to = append([]byte("mailto:"), to...)
		}
		anchor(w, to, entering)
		if entering {
			_, _ = w.Write(util.EscapeHTML(link.Label(src)))
		}
		return ast.WalkContinue, nil
	})
}

// anchor opens or closes a link, if it is one that may be followed.
func anchor(w util.BufWriter, to []byte, entering bool) {
	href := util.URLEscape(to, true)
	switch {
	case !mayFollow(string(href)):
	case entering:
		_, _ = w.WriteString(`<a href="`) // into memory
		_, _ = w.Write(util.EscapeHTML(href))
		_, _ = w.WriteString(`" rel="noopener noreferrer" target="_blank">`)
	default:
		_, _ = w.WriteString("</a>")
	}
}

// mayFollow reports whether a link says by itself that it leads to the web or to a mailbox.
func mayFollow(href string) bool {
	u, err := url.Parse(href)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	}
	return false
}
