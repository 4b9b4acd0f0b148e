package slack

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"pgregory.net/rapid"
)

// checkRender checks what must hold for whatever a model writes.
func checkRender(t require.TestingT, markdown string, max int) {
	for _, b := range blocks(markdown, max) {
		for _, part := range b.cut(max) {
			require.Equal(t, strings.Count(part, open), strings.Count(part, shut), "no style is cut in %q", part)
		}
	}
	pieces := render(markdown, max)
	for _, p := range pieces {
		checkPiece(t, p, max)
	}
	shown := ink(unrender(pieces))
	in, headers := written(markdown)
	requireWithin(t, ink(in), shown)
	requireWithin(t, ink(headers), shown)
}

var (
	allowed = regexp.MustCompile(`^<(https?://|mailto:)[^<>|\n]+(\|[^<>\n]+)?>`)
	entity  = regexp.MustCompile(`^&(amp|lt|gt);`)
)

// checkPiece checks that a piece fits, whichever way Slack counts, that its fences are balanced and
// stand in lines of their own, and that nothing in it is live but links to the web and to mail.
func checkPiece(t require.TestingT, p string, max int) {
	require.LessOrEqual(t, len(p), max)
	require.LessOrEqual(t, len(utf16.Encode([]rune(p))), max)
	require.True(t, utf8.ValidString(p))
	require.True(t, visible(p))
	fences := 0
	for line := range strings.Lines(p) {
		if strings.Contains(line, "```") {
			require.Equal(t, "```", strings.TrimSuffix(line, "\n"), "in %q", p)
			fences++
		}
	}
	require.Zero(t, fences%2, "fences are balanced in %q", p)
	for i := range p {
		switch p[i] {
		case '<':
			require.Regexp(t, allowed, p[i:], "nothing but links is live")
		case '&':
			require.Regexp(t, entity, p[i:], "no entity is cut")
		}
	}
}

// written returns what a reader must find again: the text that the parser finds in Markdown, in its
// order, apart from the headers of tables, which may move next to each value.
func written(markdown string) (body, headers string) {
	src := source(clean(markdown))
	doc := parser(hasTables(src)).Parse(text.NewReader(src))
	used := references(doc)
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
func own(src source, n ast.Node, used map[string]bool) string {
	switch n := n.(type) {
	case *ast.Text:
		return html.UnescapeString(src.text(n))
	case *ast.AutoLink:
		return string(n.Label(src))
	case *ast.RawHTML:
		return brk(string(n.Segments.Value(src)), "\n")
	case *ast.HTMLBlock:
		return src.html(n)
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return src.lines(n)
	case *ast.LinkReferenceDefinition:
		if !used[util.ToLinkReference(n.Label)] {
			return src.lines(n)
		}
	}
	return ""
}

var linked = regexp.MustCompile(`<([^<>|]*)\|?([^<>]*)>`)

// unrender returns what Slack shows of pieces, with the marks of styles and the targets of links.
func unrender(pieces []string) string {
	return html.UnescapeString(linked.ReplaceAllString(strings.Join(pieces, "\n"), "$1 $2"))
}

// ink returns what can be seen of s.
func ink(s string) []rune {
	var all []rune
	for _, r := range s {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			all = append(all, r)
		}
	}
	return all
}

// requireWithin fails if some of want is not in got, in that order.
func requireWithin(t require.TestingT, want, got []rune) {
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

// genMarkdown draws blocks within blocks.
func genMarkdown(depth int) *rapid.Generator[string] {
	line := genInline()
	within := func(t *rapid.T, first, rest string) string {
		inner := line
		if depth > 0 {
			inner = genMarkdown(depth - 1)
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

func TestRenderAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkRender(t, genMarkdown(3).Draw(t, "markdown"), rapid.IntRange(100, 400).Draw(t, "max"))
	})
}

// What is made to be much more than it looks is neither much nor slow: without bounds these need
// gigabytes or minutes.
func TestRenderHostile(t *testing.T) {
	n := func(s string) string { return strings.Repeat(s, 100<<10/len(s)) }
	for name, in := range map[string]string{
		"quotes":           n(">"),
		"lists":            n("- ") + "x",
		"quotes and lists": n("> 1. ") + "x",
		"nested lines":     strings.Repeat(strings.Repeat("> ", maxNesting)+"x\n", 100),
		"links":            n("[x") + n("](/u)"),
		"entities":         n("&"),
		"marks":            n("**_~~`"),
		"accents":          "x" + n("\u0301"),
		"fences":           n("```\nx\n"),
		"empty cells":      n("|x") + "|\n" + n("|-") + "|\n" + n("|\n"),
		"wide cell":        "|a|b|\n|-|-|\n|" + n("x") + "|\n" + n("|x|\n"),
		"wide header":      "|" + n("x") + "|b|\n|-|-|\n" + n("|x|y|\n"),
		"small table":      "|a|\n|-|\n" + n("|x|\n"),
	} {
		t.Run(name, func(t *testing.T) {
			size := 0
			for _, p := range render(in, maxText) {
				checkPiece(t, p, maxText)
				size += len(p)
			}
			require.LessOrEqual(t, size, 8*len(in))
		})
	}
}
