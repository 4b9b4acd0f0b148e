package toolstest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

func TestLint(t *testing.T) {
	input := func(description string) json.RawMessage {
		return json.RawMessage(`{"properties":{"path":{"description":"` + description + `"}}}`)
	}
	one := tools.Tool{
		Name:        "one",
		Description: "Looks for files by the pattern of their names, newest first. Use it to find what there is. Example: *.go",
		Input:       input("The pattern, relative to the workspace."),
	}
	two := tools.Tool{
		Name:        "two",
		Description: "Calculates sums exactly; use it rather than your head. Longer ones are refused, so cut them into parts, e.g. 1+1.",
		Input:       input("The expression, e.g. 1+1."),
	}
	require.Empty(t, Lint([]tools.Tool{one, two}))

	twin := one
	twin.Name = "twin"
	require.Equal(t, []string{"one and twin: the descriptions share 100% of their words"}, Lint([]tools.Tool{one, two, twin}))

	require.Equal(t, []string{
		"poor: the description has 10 characters, 80 are the least",
		"poor: there is no example",
		"poor: the description of path has 5 characters, 15 are the least",
	}, Lint([]tools.Tool{{Name: "poor", Description: "Finds it. ", Input: input("Path.")}}))
}
