package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/prompts"
)

// Request returns what the model is asked now: a pure function of the log. It holds the history as
// it is, so that its messages are not encoded again at each step, and what is waiting behind it.
func (s *Session) Request() *llm.Request {
	r := &llm.Request{
		Session:  s.ID,
		System:   s.prompt.System,
		Messages: slices.Clip(s.history),
		Tools:    s.prompt.Tools,
	}
	for _, m := range s.next(s.turn != nil) {
		text, _ := m.told(s.Pos)
		r.Messages = append(r.Messages, &llm.Message{Role: llm.User, Text: s.masked(text)})
	}
	return r
}

// line returns a message as the model reads it: under its author's name, with the lines after the
// first indented, so that nobody's text can pass for another's.
func line(m UserSaid) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ':':
			return '꞉'
		case r < ' ' || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, m.By.String())
	return name + ": " + indent.Replace(m.Text)
}

// indent moves what stands behind any kind of line break away from the edge.
var indent = strings.NewReplacer("\r\n", "\n  ", "\r", "\n  ", "\n", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")

// observation returns the result of a call as the model reads it: its source, how it went, and what
// it brought.
func observation(c *call) string {
	f := c.result
	text := f.Text
	if text == "" {
		text = note("no output")
	}
	return fmt.Sprintf("%s: %s\n%s", c.Tool, strings.ReplaceAll(string(f.Status), "_", " "), text)
}

// note returns the section of that name of prompts/notes.md. Underscores in the name stand for spaces.
func note(name string) string {
	return prompts.Section("notes.md", strings.ReplaceAll(name, "_", " "))
}
