package discord

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/internal/markdown"
	"github.com/heddle-bot/heddle/internal/markdown/markdowntest"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

const divider = "\n======== next message\n"

// TestRender reads pairs from files: NAME.md, and NAME.out, what Discord is sent of it.
func TestRender(t *testing.T) {
	paths, err := filepath.Glob("testdata/render*.txtar")
	require.NoError(t, err)
	pairs := 0
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		files := archive.Files
		if *update {
			files = slices.DeleteFunc(files, func(f txtar.File) bool { return !strings.HasSuffix(f.Name, ".md") })
			for i := 0; i < len(files); i += 2 {
				out := txtar.File{Name: strings.TrimSuffix(files[i].Name, ".md") + ".out", Data: printed(render(string(files[i].Data), maxText))}
				files = slices.Insert(files, i+1, out)
			}
			archive.Files = files
			require.NoError(t, os.WriteFile(path, txtar.Format(archive), 0o644))
		}
		for i := 0; i+1 < len(files); i += 2 {
			name := strings.TrimSuffix(files[i].Name, ".md")
			require.Equal(t, name+".out", files[i+1].Name)
			pairs++
			t.Run(name, func(t *testing.T) {
				in := string(files[i].Data)
				require.Equal(t, string(files[i+1].Data), string(printed(render(in, maxText))))
				checkRender(t, in, maxText)
			})
		}
	}
	require.GreaterOrEqual(t, pairs, 60)
}

func printed(pieces []string) []byte {
	if len(pieces) == 0 {
		return nil
	}
	return []byte(strings.Join(pieces, divider) + "\n")
}

// checkRender checks what must hold for whatever a model writes.
func checkRender(t require.TestingT, md string, max int) {
	for _, b := range blocks(md, max) {
		for _, part := range paper(max).Cut(b) {
			require.Equal(t, strings.Count(part, markdown.Open), strings.Count(part, markdown.Shut), "no style is cut in %q", part)
		}
	}
	pieces := render(md, max)
	for _, p := range pieces {
		checkPiece(t, p, max)
	}
	shown := markdowntest.Ink(unrender(pieces))
	in, headers := markdowntest.Written(md)
	markdowntest.RequireWithin(t, markdowntest.Ink(in), shown)
	markdowntest.RequireWithin(t, markdowntest.Ink(headers), shown)
}

// calling is what calls people, channels and the like, or sets a time.
var calling = regexp.MustCompile(`<(@[!&]?\d|#\d|/[^>\n]*:\d|a?:\w+:\d|t:-?\d|id:\w|sound:\d)`)

// checkPiece checks that a piece fits, that its fences are balanced and stand in lines of their own, and
// that nothing outside of code calls anybody.
func checkPiece(t require.TestingT, p string, max int) {
	require.LessOrEqual(t, len(p), max)
	require.True(t, utf8.ValidString(p))
	require.True(t, markdown.Visible(p))
	code := false
	for line := range strings.Lines(p) {
		if strings.HasPrefix(line, "```") {
			code = !code
			continue
		}
		require.NotContains(t, line, "```", "in %q", p)
		if code {
			continue
		}
		bare := inCode.ReplaceAllStringFunc(line, func(s string) string {
			if s[0] == '\\' {
				return s
			}
			return ""
		})
		for _, at := range calling.FindAllStringIndex(bare, -1) {
			require.True(t, at[0] > 0 && bare[at[0]-1] == '\\', "%q in %q calls", bare[at[0]:at[1]], line)
		}
	}
	require.False(t, code, "fences are balanced in %q", p)
}

var (
	inCode  = regexp.MustCompile("(?:\\\\.)|``(?:[^`].*?)?[^`]``|`[^`]+`")
	linked  = regexp.MustCompile(`<https?:[^ >]*>`)
	escaped = regexp.MustCompile(`\\([^\w\s]|_)`)
)

// unrender returns what Discord shows of pieces, with the marks of styles and the targets of links.
func unrender(pieces []string) string {
	var b strings.Builder
	code := false
	for line := range strings.Lines(strings.Join(pieces, "\n")) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if code {
			b.WriteString(line)
			continue
		}
		end := 0
		for _, at := range inCode.FindAllStringIndex(line, -1) {
			if line[at[0]] == '\\' {
				continue // an escaped mark, which is looked at only so that it begins no code
			}
			b.WriteString(escaped.ReplaceAllString(line[end:at[0]], "$1"))
			b.WriteString(line[at[0]:at[1]])
			end = at[1]
		}
		b.WriteString(escaped.ReplaceAllString(line[end:], "$1"))
	}
	return linked.ReplaceAllStringFunc(b.String(), plain)
}

func TestRenderAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkRender(t, markdowntest.Any(3).Draw(t, "markdown"), rapid.IntRange(100, 400).Draw(t, "max"))
	})
}

func TestRenderHostile(t *testing.T) {
	for name, in := range markdowntest.Hostile() {
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

// Text is text: as few backslashes as can be, and none too few.
func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"snake_case_name and a_b": "snake_case_name and a_b",
		"_private, __init__":      `\_private, \_\_init\_\_`,
		"2 * 3 * 4":               "2 * 3 * 4",
		"*bold*, **/*.go":         `\*bold\*, \*\*/\*.go`,
		"a ~ b ~~c~~":             `a ~ b \~\~c\~\~`,
		"a | b || c":              `a | b \|\| c`,
		`C:\temp\new`:             `C:\temp\new`,
		`\*`:                      `\\\*`,
		"a < b, <@1> <#2> <:x:3>": `a < b, \<@1> \<#2> \<:x:3>`,
		"<t:1:R> </ask:1> </b>":   `\<t:1:R> \</ask:1> </b>`,
		"[x](http://y)":           `[x]\(http://y)`,
		"@everyone":               "@everyone", // no message of ours allows mentions
		"`code`":                  "\\`code\\`",
	} {
		require.Equal(t, want, escape(in), in)
	}
	for in, want := range map[string]string{
		"# no":   `\# no`,
		"- no":   `\- no`,
		"-# no":  `\-# no`,
		"> no":   `\> no`,
		"12. no": `12\. no`,
		"#1 is":  "#1 is",
		"-1":     "-1",
		"1.5":    "1.5",
	} {
		require.Equal(t, want, begin(in), in)
	}
}

func FuzzRender(f *testing.F) {
	for _, in := range []string{"a", "**a** `b`", "|a|\n|-|\n|b|", "```go\nx\n```", "> - 1. x", "[a](https://b)", "<@1> <t:1>", `\`, "a_b_ *c"} {
		f.Add(in, uint16(0))
	}
	f.Fuzz(func(t *testing.T, md string, size uint16) { checkRender(t, md, 100+int(size)%maxText) })
}

func BenchmarkRender(b *testing.B) {
	in := strings.Repeat("## A heading\n\nSome *text* with `code`, a [link](https://x.dev) and a_name.\n\n- an item\n- another\n\n```go\nfunc f() {}\n```\n\n", 400)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		render(in, maxText)
	}
}
