package ask_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
	"github.com/heddle-bot/heddle/tools/ask"
	"github.com/heddle-bot/heddle/tools/toolstest"
)

func TestTool(t *testing.T) {
	tool, err := ask.New()
	require.NoError(t, err)
	require.Empty(t, toolstest.Lint([]tools.Tool{tool}))
	toolstest.Run(t, tool,
		toolstest.Case{Name: "options", Args: `{"question":"Which one?","options":[{"label":"A"},{"label":"B","description":"the other"}]}`},
		toolstest.Case{Name: "words", Args: `{"question":"How is it called?"}`},
	)
}

func TestQuestion(t *testing.T) {
	tool, err := ask.New()
	require.NoError(t, err)
	r, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	for _, test := range []struct {
		name, args string
		want       tools.Question
		err        string
	}{
		{name: "words", args: `{"question":" How many? "}`, want: tools.Question{Text: "How many?", Free: true}},
		{name: "without options words are the only answer", args: `{"question":"How many?","free_text":false}`,
			want: tools.Question{Text: "How many?", Free: true}},
		{name: "options", args: `{"question":"Which?","free_text":false,"options":[{"label":" A\nB "},{"label":"C","description":"see\n  below"}]}`,
			want: tools.Question{Text: "Which?", Options: []tools.Option{{Label: "A B"}, {Label: "C", Description: "see below"}}}},
		{name: "both", args: `{"question":"Which?","options":[{"label":"A"}]}`,
			want: tools.Question{Text: "Which?", Options: []tools.Option{{Label: "A"}}, Free: true}},
		{name: "empty", args: `{"question":" "}`, err: "the question is empty; nobody was asked"},
		{name: "no label", args: `{"question":"Which?","options":[{"label":" "}]}`, err: "an option has an empty label; nobody was asked"},
		{name: "twice", args: `{"question":"Which?","options":[{"label":"Yes"},{"label":"yes "}]}`,
			err: `the option "yes" is there twice; nobody was asked`},
	} {
		t.Run(test.name, func(t *testing.T) {
			checked, args, err := r.Check("ask", json.RawMessage(test.args))
			require.NoError(t, err)
			got, err := checked.Question(args)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	for _, args := range []string{`{}`, `{"question":""}`, `{"question":"?","options":[1,2,3,4,5,6,7,8,9]}`} {
		_, _, err := r.Check("ask", json.RawMessage(args))
		require.Error(t, err)
	}
}
