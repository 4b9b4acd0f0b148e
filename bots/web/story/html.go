package story

import (
	"strconv"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// shownHTML shows what of Markdown is HTML as it is written. The library would leave it out, and a model that
// explains a tag would seem to say nothing.
type shownHTML struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (shownHTML) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			_, _ = w.WriteString("<pre>") // into memory
			_, _ = w.Write(util.EscapeHTML([]byte(markdown.Source(src).HTML(n.(*ast.HTMLBlock)))))
			_, _ = w.WriteString("</pre>\n")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkSkipChildren, nil
		}
		raw := string(n.(*ast.RawHTML).Segments.Value(src))
		if markdown.Brk(raw, "\n") == "\n" {
			_, _ = w.WriteString("<br>")
		} else {
			_, _ = w.Write(util.EscapeHTML([]byte(raw)))
		}
		return ast.WalkSkipChildren, nil
	})
}

// lowered shows headings a level lower than they are: the page's own is the first.
type lowered struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (lowered) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		name := "h" + strconv.Itoa(min(n.(*ast.Heading).Level+1, 6)) + ">"
		if entering {
			_, _ = w.WriteString("<" + name) // into memory
		} else {
			_, _ = w.WriteString("</" + name + "\n")
		}
		return ast.WalkContinue, nil
	})
}
