// Package calc is the tool that calculates.
//
// Numbers are exact fractions for as long as the mathematics allows. Expressions are parsed, never
// run: this package walks the syntax tree itself and knows nothing but what is listed in it, so an
// expression can reach neither the program nor the machine, and its size and effort are bounded.
package calc

import (
	"context"
	"encoding/json"

	"github.com/heddle-bot/heddle/tools"
)

type input struct {
	Expression string `json:"expression" schema:"minLength=1,maxLength=1000"`
}

// New returns the tool.
func New() (tools.Tool, error) {
	t, err := tools.Define[input]("calc", tools.Compute)
	if err != nil {
		return tools.Tool{}, err
	}
	t.Title = func(args json.RawMessage) string {
		in, _ := tools.Decode[input](args) // validated before
		return tools.Clip("calculate "+in.Expression, 80)
	}
	t.Run = func(_ context.Context, c tools.Call) (tools.Result, error) {
		in, err := tools.Decode[input](c.Args)
		if err != nil {
			return tools.Result{}, err
		}
		// Errors have parts of the expression, and the note has one of the result.
		text, err := Eval(c.Masked(in.Expression))
		return tools.Result{Text: text, Note: tools.Clip(c.Masked(text), 60)}, err
	}
	return t, nil
}
