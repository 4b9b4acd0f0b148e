// Package ask is the tool with which the model asks the people in the thread a question.
//
// It runs nothing: it says what is to be asked, and package agent waits for one of the people to
// answer. Its limits keep a question readable in a chat; a network may cut labels of buttons shorter.
package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-bot/heddle/tools"
)

type input struct {
	Question string   `json:"question" schema:"minLength=1,maxLength=1500"`
	Options  []option `json:"options,omitempty" schema:"maxItems=8"`
	FreeText bool     `json:"free_text,omitempty" schema:"default=true"`
}

type option struct {
	Label       string `json:"label" schema:"minLength=1,maxLength=150"`
	Description string `json:"description,omitempty" schema:"maxLength=300"`
}

// New returns the tool.
func New() (tools.Tool, error) {
	t, err := tools.Define[input]("ask", tools.Inquiry)
	if err != nil {
		return tools.Tool{}, err
	}
	t.Title = func(args json.RawMessage) string {
		in, _ := tools.Decode[input](args) // validated before
		return tools.Clip("ask "+in.Question, 80)
	}
	t.Question = func(args json.RawMessage) (tools.Question, error) {
		in, err := tools.Decode[input](args)
		if err != nil {
			return tools.Question{}, err
		}
		return in.question()
	}
	return t, nil
}

// question returns what people are asked. Without options an answer in their own words is the only
// one there can be.
func (in input) question() (tools.Question, error) {
	q := tools.Question{Text: strings.TrimSpace(in.Question), Free: in.FreeText || len(in.Options) == 0}
	if q.Text == "" {
		return q, errors.New("the question is empty; nobody was asked")
	}
	seen := map[string]bool{}
	for _, o := range in.Options {
		label := oneLine(o.Label)
		if label == "" {
			return q, errors.New("an option has an empty label; nobody was asked")
		}
		if seen[strings.ToLower(label)] {
			return q, fmt.Errorf("the option %q is there twice; nobody was asked", label)
		}
		seen[strings.ToLower(label)] = true
		q.Options = append(q.Options, tools.Option{Label: label, Description: oneLine(o.Description)})
	}
	return q, nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
