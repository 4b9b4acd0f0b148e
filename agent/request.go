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
	shown := s.shown
	for _, m := range s.next(s.turn != nil) {
		told, _ := s.told(m, s.Pos)
		for _, m := range told {
			r.Messages = append(r.Messages, m)
			shown.add(m)
		}
	}
	if shown.over() {
		r.Messages = bounded(r.Messages)
	}
	return r
}

// line returns a message as the model reads it: under its author's name, with the lines after the
// first indented, so that nobody's text can pass for another's.
func line(m UserSaid) string {
	return label(m.By.String()) + ": " + indented(m.Text, "  ")
}

// label returns a name as it may stand before a colon, or in a line of the program's.
func label(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ':':
			return '꞉'
		case r < ' ' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			return ' '
		}
		return r
	}, name)
}

// indented moves what stands behind any kind of line break away from the edge, behind prefix.
func indented(text, prefix string) string {
	return strings.ReplaceAll(lineBreaks.Replace(text), "\n", "\n"+prefix)
}

// lineBreaks makes every kind of line break, as some read it, the one.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

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
