// Package markdown is what the renderers of Markdown into a network's own form share: the parser, which
// models cannot overwhelm, text as it is wide, tables as text, and the cutting of blocks into pieces that
// each fit a message.
//
// What a network's own form looks like is for its adapter; nothing here knows one. Whatever is changed here
// shows in the goldens of all of them.
package markdown

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	goldparser "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Parse reads GitHub's Markdown, which models write. The source is the text that the nodes refer to: valid
// UTF-8 without control characters, nested no deeper than the parser can bear. Tables that are too large
// for it are text.
func Parse(md string) (ast.Node, Source) {
	src := Source(clean(md))
	return parser(hasTables(src)).Parse(text.NewReader(src)), src
}

// clean returns valid UTF-8 with Unix lines and without control characters, nested no deeper than the
// parser can bear.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(shallow(line))
	}
	return b.String()
}

// maxNesting is the quotes and lists that one line may open. The parser's time is quadratic in them.
const maxNesting = 200

// shallow returns a line with the mark after maxNesting escaped, if it has so many.
func shallow(line string) string {
	n := 0
	for i, c := range line {
		switch {
		case strings.ContainsRune(">-+*.)", c):
			n++
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return line
		}
		if n > maxNesting {
			return line[:i] + `\` + line[i:]
		}
	}
	return line
}

// parser reads GitHub's Markdown, which models write.
func parser(tables bool) goldparser.Parser {
	if tables {
		return withTables
	}
	return withoutTables
}

var (
	withTables    = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	withoutTables = goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList)).Parser()
)

// maxCells bounds the cells of a table: the parser fills short rows up, so that 50 KB of text can be
// made into gigabytes of empty cells.
const maxCells = 200_000

// hasTables reports whether src may hold tables, and none that is too large for the parser.
func hasTables(src []byte) bool {
	lines, widest := 1, 0
	for line := range bytes.Lines(src) {
		if n := bytes.Count(line, []byte("|")); n > 0 {
			lines, widest = lines+1, max(widest, n+1)
		}
	}
	return widest > 0 && widest*lines <= maxCells
}
