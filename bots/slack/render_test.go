package slack

import (
	"flag"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

const (
	goldens = "testdata/render.txtar"
	divider = "\n======== next message\n"
)

func TestRender(t *testing.T) {
	archive, err := txtar.ParseFile(goldens)
	require.NoError(t, err)
	for i := 0; i+1 < len(archive.Files); i += 2 {
		in, out := archive.Files[i], &archive.Files[i+1]
		name, ok := strings.CutSuffix(in.Name, ".md")
		require.True(t, ok, in.Name)
		require.Equal(t, name+".out", out.Name)
		pieces := render(string(in.Data), maxText)
		got := strings.Join(pieces, divider)
		if got != "" {
			got += "\n"
		}
		if *update {
			out.Data = []byte(got)
			continue
		}
		require.Equal(t, string(out.Data), got, name)
		checkPieces(t, pieces, maxText)
		checkWords(t, string(in.Data), pieces)
	}
	if *update {
		require.NoError(t, os.WriteFile(goldens, txtar.Format(archive), 0o644))
	}
}

var (
	allowed = regexp.MustCompile(`^<(https?://|mailto:)[^<>|\n]+(\|[^<>\n]+)?>`)
	entity  = regexp.MustCompile(`^&(amp|lt|gt);`)
)

// checkPieces checks what must hold for whatever a model writes.
func checkPieces(t *testing.T, pieces []string, max int) {
	t.Helper()
	for _, p := range pieces {
		require.LessOrEqual(t, len(p), max)
		require.NotEmpty(t, strings.TrimSpace(p))
		require.Zero(t, strings.Count(p, "```")%2, "fences are balanced in %q", p)
		for i := range p {
			switch p[i] {
			case '<':
				require.Regexp(t, allowed, p[i:], "nothing but links is live")
			case '&':
				require.Regexp(t, entity, p[i:], "no entity is cut")
			}
		}
	}
}

// words are what a reader must find again, of the text that the parser finds in Markdown.
func words(markdown string) []string {
	src := []byte(strings.ToValidUTF8(markdown, "\uFFFD"))
	r := &renderer{src: src}
	var all []string
	add := func(s string) {
		all = append(all, strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	doc := parser.Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				add(html.UnescapeString(r.text(n)))
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
			if entering {
				add(r.lines(n))
			}
		}
		return ast.WalkContinue, nil
	})
	return all
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

func checkWords(t *testing.T, markdown string, pieces []string) {
	t.Helper()
	shown := letters(html.UnescapeString(strings.Join(pieces, "")))
	for _, w := range words(markdown) {
		require.Contains(t, shown, w)
	}
}

func FuzzRender(f *testing.F) {
	archive, err := txtar.ParseFile(goldens)
	require.NoError(f, err)
	for i, file := range archive.Files {
		if i%2 == 0 {
			f.Add(string(file.Data), uint16(100))
		}
	}
	f.Add("[0000](mAilto:00@00000000000) HTTP://x.dev", uint16(0))
	f.Add("[a](https://x.dev 'b') **`c`**<br>|d|\n|-|\n|`e`|", uint16(0))
	f.Fuzz(func(t *testing.T, markdown string, size uint16) {
		max := 100 + int(size)%maxText
		pieces := render(markdown, max)
		checkPieces(t, pieces, max)
		checkWords(t, markdown, pieces)
	})
}

// What people write is read without panic, and only once.
func FuzzReadText(f *testing.F) {
	f.Add("<@U0> hi <@U1|ann> <#C1|general> <https://x.dev|x> &lt;b&gt; <!here> <!subteam^S1|@t> <")
	f.Add("<mailto:a@b.c|a@b.c> <> <|> <@> <!> <#> &amp;lt;")
	f.Fuzz(func(t *testing.T, in string) {
		out, mentioned := readText(in, "U0", func(id string) string { return id })
		require.Equal(t, strings.TrimSpace(out), out)
		if !strings.Contains(in, "<@U0") {
			require.False(t, mentioned)
		}
		again, _ := readText(escape(out), "U0", func(id string) string { return id })
		require.Equal(t, out, again, "escaped text is read as it is")
	})
}

func BenchmarkRender(b *testing.B) {
	archive, err := txtar.ParseFile(goldens)
	require.NoError(b, err)
	var all []byte
	for i, file := range archive.Files {
		if i%2 == 0 {
			all = append(append(all, file.Data...), '\n')
		}
	}
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		render(string(all), maxText)
	}
}
