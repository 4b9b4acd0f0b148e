package bots

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/store"
)

// This file is the answers to the commands that only show something.

// A Tool is what people are told of one of the agent's tools.
type Tool struct {
	Name string
	Asks bool // a person has to approve before it runs
}

// A clerk answers them.
type clerk struct{ *Config }

// answer completes m, the answer to a command.
func (c clerk) answer(ctx context.Context, o order, m Message) (Message, error) {
	l := c.look()
	var err error
	switch o.name {
	case "help":
		m.Text = l.md(help + helpCommands())
	case "tools":
		m.Text = l.md(toolWords(c.Tools))
	case "rules":
		m.Text = rules(l, c.Channel(o.at), c.Tools)
	case "model", "status", "budget":
		m.Text, err = c.report(ctx, l, o)
	case "export":
		m.Text = nothingSaid
		if m.Upload, err = c.export(ctx, o.at); m.Upload != nil {
			m.Text = "What happened in this thread, one event a line."
		}
	}
	return m, err
}

// report answers what the log has to be asked for.
func (c clerk) report(ctx context.Context, l look, o order) (string, error) {
	here := c.Channel(o.at)
	if o.at.ID == "" && o.name == "status" {
		return c.channelStatus(ctx, l, o.at)
	}
	a := &account{}
	if o.at.ID != "" {
		var err error
		if a, err = newAccount(ctx, c.Log, o.at.String()); err != nil {
			return "", err
		}
	}
	model := here.Model
	if a.model != "" {
		model = a.model
	}
	if o.name == "model" {
		return l.md(modelWords(model, here.Models)), nil
	}
	if o.name == "budget" {
		return l.md(budgetOf(a, here.Limits)), nil
	}
	return statusOf(l, a, c.Agent.Live(o.at.String()), model), nil
}

func helpCommands() string {
	var s strings.Builder
	s.WriteString("\n\nAlone after a mention, these words are commands:")
	for _, c := range Commands() {
		fmt.Fprintf(&s, "\n- `%s`: %s", c.Name, c.About)
	}
	return s.String()
}

func modelWords(model string, all []string) string {
	var others []string
	for _, name := range slices.Sorted(slices.Values(all)) {
		if name != model {
			others = append(others, "`"+name+"`")
		}
	}
	if len(others) == 0 {
		return fmt.Sprintf("I answer here with `%s`. There is no other model.", model)
	}
	return fmt.Sprintf("I answer here with `%s`. There is also %s: “model NAME” after a mention chooses one for its thread.",
		model, strings.Join(others, ", "))
}

func toolWords(all []Tool) string {
	var free, asks []string
	for _, t := range all {
		if t.Asks {
			asks = append(asks, "`"+t.Name+"`")
		} else {
			free = append(free, "`"+t.Name+"`")
		}
	}
	var lines []string
	if len(free) > 0 {
		lines = append(lines, "I use these tools without asking: "+strings.Join(free, ", ")+".")
	}
	if len(asks) > 0 {
		lines = append(lines, "I ask here each time before I use these: "+strings.Join(asks, ", ")+".")
	}
	if len(lines) == 0 {
		return "I have no tools."
	}
	return strings.Join(lines, "\n")
}

// export returns the events of the thread as a file, or nil if there are none. Each line is masked: the
// log may hold what became a secret later.
func (c clerk) export(ctx context.Context, at Thread) (*Upload, error) {
	var file masking
	file.mask = c.Redact
	if _, err := store.Export(ctx, c.Log, at.String(), &file); err != nil {
		return nil, err
	}
	if file.Len() == 0 {
		return nil, nil
	}
	return &Upload{Name: "heddle-" + at.ID + ".jsonl", Content: file.Bytes()}, nil
}

// A masking buffer masks each Write by itself.
type masking struct {
	bytes.Buffer
	mask func(string) string
}

func (m *masking) Write(p []byte) (int, error) {
	m.WriteString(m.mask(string(p)))
	return len(p), nil
}
