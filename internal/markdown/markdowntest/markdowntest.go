// Package markdowntest is Markdown for the tests of those who render it: what models write and what they
// should not, and what a reader must find again whatever has become of it.
package markdowntest

import (
	"strings"
	"unicode"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// Written returns what a reader must find again: the text that the parser finds in Markdown, in its
// order, apart from the headers of tables, which may move next to each value.
func Written(md string) (body, headers string) {
	doc, src := markdown.Parse(md)
	used := markdown.References(doc)
	var all [2]strings.Builder
	header := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if _, ok := n.(*east.TableHeader); ok {
			header = 0
			if entering {
				header = 1
			}
		}
		if entering {
			all[header].WriteString(own(src, n, used))
		}
		return ast.WalkContinue, nil
	})
	return all[0].String(), all[1].String()
}

// own returns the text of n itself.
func own(src markdown.Source, n ast.Node, used map[string]bool) string {
	switch n := n.(type) {
	case *ast.Text:
		return src.Text(n)
	case *ast.AutoLink:
		return string(n.Label(src))
	case *ast.RawHTML:
		return markdown.Brk(string(n.Segments.Value(src)), "\n")
	case *ast.HTMLBlock:
		return src.HTML(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return src.Lines(n)
	case *ast.LinkReferenceDefinition:
		if !used[util.ToLinkReference(n.Label)] {
			return src.Lines(n)
		}
	}
	return ""
}

// Ink returns what can be seen of s.
func Ink(s string) []rune {
	var all []rune
	for _, r := range s {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			all = append(all, r)
		}
	}
	return all
}

// RequireWithin fails if some of want is not in got, in that order.
func RequireWithin(t require.TestingT, want, got []rune) {
	rest := got
	for i, r := range want {
		at := 0
		for at < len(rest) && rest[at] != r {
			at++
		}
		if at == len(rest) {
			require.Failf(t, "text is lost", "%q behind %q, in %q", r, string(want[max(0, i-30):i]), string(got))
		}
		rest = rest[at+1:]
	}
}

// genInline draws a line of inline Markdown, of what models write and of what they should not.
func genInline() *rapid.Generator[string] {
	atoms := rapid.SampledFrom([]string{
		"word", "x", "重点", "שלום", "é", "👩‍👩‍👧", "🇩🇪", " ", " ", " ", "*", "_", "~", "`", "``", "```", "|", "\\", "\\*", ">", "<", "&", "#", "^",
		"**bold**", "*it*", "~~no~~", "`code`", "`` a`b ``", "[l](https://x.dev/a_(b))", "[l](!channel)", "![i](https://x.dev/i.png)",
		"<https://x.dev>", "https://x.dev/?a&b", "me@x.dev", "<br>", "<b>", "<!-- c -->", "<!channel>", "<!here|x>", "<@U1>", "<#C1|g>",
		"<!subteam^S1>", "&lt;!here&gt;", "&#60;@U1&#62;", "<!chan\u200bnel>", "@here", "@everyone", ":tada:", "[^1]", "[^1]: n", "[r]: /u", "\u202e", "&#10;",
		strings.Repeat("long ", 30), strings.Repeat("y", 130), "**" + strings.Repeat("bold ", 12) + "x**", "<https://x.dev/" + strings.Repeat("z", 60) + ">",
	})
	return rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(atoms, 0, 8).Draw(t, "atoms"), "") })
}

// Any draws blocks within blocks.
func Any(depth int) *rapid.Generator[string] {
	line := genInline()
	within := func(t *rapid.T, first, rest string) string {
		inner := line
		if depth > 0 {
			inner = Any(depth - 1)
		}
		return first + strings.ReplaceAll(inner.Draw(t, "inner"), "\n", "\n"+rest)
	}
	kinds := []func(t *rapid.T) string{
		func(t *rapid.T) string { return line.Draw(t, "text") },
		func(t *rapid.T) string { return "## " + line.Draw(t, "heading") },
		func(t *rapid.T) string { return within(t, "> ", "> ") },
		func(t *rapid.T) string { return within(t, "- ", "  ") },
		func(t *rapid.T) string { return within(t, "1. ", "   ") },
		func(t *rapid.T) string { return within(t, "- [ ] ", "  ") },
		func(t *rapid.T) string { return within(t, "```go\n", "") + "\n```" },
		func(t *rapid.T) string { return within(t, "````\n", "") + "\n````" },
		func(t *rapid.T) string { return within(t, "    ", "    ") },
		func(t *rapid.T) string { return within(t, "<div>\n", "") + "\n</div>" },
		func(t *rapid.T) string {
			return "| a | " + line.Draw(t, "header") + " |\n|--:|:-:|\n| " + line.Draw(t, "cell") + " | " + line.Draw(t, "cell") + " |"
		},
	}
	return rapid.Custom(func(t *rapid.T) string {
		var blocks []string
		for range rapid.IntRange(1, 4).Draw(t, "blocks") {
			blocks = append(blocks, rapid.SampledFrom(kinds).Draw(t, "kind")(t))
		}
		return strings.Join(blocks, rapid.SampledFrom([]string{"\n", "\n\n"}).Draw(t, "between"))
	})
}

// Hostile returns Markdown that is made to be much more than it looks, by name: without bounds some of it
// needs gigabytes or minutes. It should become neither much nor slow.
func Hostile() map[string]string {
	n := func(s string) string { return strings.Repeat(s, 100<<10/len(s)) }
	return map[string]string{
		"quotes":           n(">"),
		"lists":            n("- ") + "x",
		"quotes and lists": n("> 1. ") + "x",
		"nested lines":     strings.Repeat(strings.Repeat("> ", 200)+"x\n", 100),
		"links":            n("[x") + n("](/u)"),
		"entities":         n("&"),
		"marks":            n("**_~~`"),
		"accents":          "x" + n("\u0301"),
		"fences":           n("```\nx\n"),
		"empty cells":      n("|x") + "|\n" + n("|-") + "|\n" + n("|\n"),
		"wide cell":        "|a|b|\n|-|-|\n|" + n("x") + "|\n" + n("|x|\n"),
		"wide header":      "|" + n("x") + "|b|\n|-|-|\n" + n("|x|y|\n"),
		"small table":      "|a|\n|-|\n" + n("|x|\n"),
	}
}
