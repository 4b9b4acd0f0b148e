package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/internal/markdown"
)

// bytewise is a form in which everything may be cut.
func bytewise(max int) markdown.Form {
	return markdown.Form{Max: max, Atom: func(string) int { return 1 }}
}

// Every part of a table that is cut begins with its header.
func TestHeadIsRepeated(t *testing.T) {
	const head = "name | n\n-----|--"
	lines := []string{head}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("row  | %2d", i))
	}
	table := markdown.Block{Text: strings.Join(lines, "\n"), Code: true, Head: head}
	pieces := bytewise(150).Pack([]markdown.Block{table})
	require.Greater(t, len(pieces), 3)
	rows := 0
	for _, p := range pieces {
		require.LessOrEqual(t, len(p), 150)
		require.True(t, strings.HasPrefix(p, "```\n"+head+"\n"), p)
		require.Equal(t, 1, strings.Count(p, head), p)
		rows += strings.Count(p, "row")
	}
	require.Equal(t, 40, rows)
	require.Len(t, bytewise(1000).Pack([]markdown.Block{table}), 1)
}

// The language stands at each fence; a header that would leave no room for what is below it does not.
func TestCodeIsCut(t *testing.T) {
	code := markdown.Block{Text: strings.Repeat("x := 1\n", 40), Code: true, Lang: "go", Head: strings.Repeat("h", 90)}
	pieces := bytewise(100).Pack([]markdown.Block{code})
	require.Greater(t, len(pieces), 2)
	for _, p := range pieces {
		require.True(t, strings.HasPrefix(p, "```go\nx := 1\n"), p)
		require.True(t, strings.HasSuffix(p, "\n```"), p)
	}
}
