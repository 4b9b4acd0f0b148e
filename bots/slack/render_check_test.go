package slack

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/internal/markdown"
	"github.com/heddle-bot/heddle/internal/markdown/markdowntest"
)

// checkRender checks what must hold for whatever a model writes.
func checkRender(t require.TestingT, md string, max int) {
	for _, b := range blocks(md, max) {
		for _, part := range mrkdwn(max).Cut(b) {
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
	require.True(t, markdown.Visible(p))
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

var linked = regexp.MustCompile(`<([^<>|]*)\|?([^<>]*)>`)

// unrender returns what Slack shows of pieces, with the marks of styles and the targets of links.
func unrender(pieces []string) string {
	return html.UnescapeString(linked.ReplaceAllString(strings.Join(pieces, "\n"), "$1 $2"))
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
