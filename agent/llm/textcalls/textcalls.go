// Package textcalls gives tools to models that have no native tool calls.
//
// Wrap puts the tools into the system prompt, writes the calls and results of the history as text,
// and reads calls out of the text that comes back. How tolerantly is parse.go's business: what a model
// has been seen to write gets a line in the corpus of its test. What looks like a call and cannot be
// read becomes a call with malformed arguments, so that the gate in package tools refuses it and the
// model can write it again. The words that explain all this to the model are prompts/textcalls.md.
package textcalls

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// Wrap returns a model that has m call tools in text. The instructions tell the model how; the list of
// tools follows them. Requests without tools are only translated.
func Wrap(m llm.Model, instructions string) llm.Model {
	return &model{m, instructions}
}

type model struct {
	inner        llm.Model
	instructions string
}

// Generate implements llm.Model. It emits text once it is sure that no call begins there.
func (m *model) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	if emit == nil {
		emit = func(llm.Delta) {}
	}
	inner, err := m.translate(r)
	if err != nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Message: err.Error(), Err: err}
	}
	if r.NoCalls {
		return m.inner.Generate(ctx, inner, emit)
	}
	names := map[string]bool{}
	for _, t := range r.Tools {
		names[t.Name] = true
	}
	s := &streamer{names: names, emit: emit}
	reply, err := m.inner.Generate(ctx, inner, s.add)
	if err != nil {
		return nil, err
	}
	out := *reply
	out.Text, out.Calls = s.finish(reply.Text)
	out.Calls = append(out.Calls, reply.Calls...)
	for i := range out.Calls {
		out.Calls[i].ID = fmt.Sprintf("call%05d", i+1)
	}
	if out.Stop == llm.EndTurn && len(out.Calls) > 0 {
		out.Stop = llm.ToolUse
	}
	return &out, nil
}

// translate writes r without tools.
func (m *model) translate(r *llm.Request) (*llm.Request, error) {
	out := &llm.Request{Session: r.Session, System: r.System}
	if len(r.Tools) > 0 {
		list, err := list(r.Tools)
		if err != nil {
			return nil, err
		}
		out.System = strings.TrimSpace(r.System + "\n\n" + m.instructions + "\n\n" + list)
	}
	for _, msg := range r.Messages {
		out.Messages = appendMessage(out.Messages, translate(msg))
	}
	return out, nil
}

// list writes the tools, one on each line.
func list(tools []llm.Tool) (string, error) {
	lines := make([]string, len(tools))
	for i, t := range tools {
		data, err := encode(struct {
			Name        string          `json:"tool"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters,omitempty"`
		}{t.Name, t.Description, t.Input})
		if err != nil {
			return "", fmt.Errorf("the schema of tool %s: %w", t.Name, err)
		}
		lines[i] = data
	}
	return strings.Join(lines, "\n"), nil
}

// translate writes a message without calls and results. One that has none stays the same, and so
// does its encoding.
func translate(m *llm.Message) *llm.Message {
	switch {
	case m.Role == llm.ToolRole:
		text := strings.ReplaceAll(m.Text, "</tool_result", "<\\/tool_result") // it must not end itself
		return &llm.Message{Role: llm.User, Text: "<tool_result call=\"" + m.CallID + "\">\n" + text + "\n</tool_result>"}
	case len(m.Calls) > 0:
		var lines []string
		if m.Text != "" {
			lines = append(lines, m.Text)
		}
		for _, c := range m.Calls {
			lines = append(lines, write(c))
		}
		return &llm.Message{Role: llm.Assistant, Text: strings.Join(lines, "\n"), Reasoning: m.Reasoning}
	}
	return m
}

// write writes a call as the instructions ask for it.
func write(c llm.Call) string {
	text, err := encode(callText{c.Name, c.Args})
	if err != nil { // the arguments are no JSON, against the contract of llm.Call
		text, err = encode(callText{c.Name, string(c.Args)})
	}
	if err != nil {
		panic(err) // every string has an encoding
	}
	return text
}

type callText struct {
	Tool string `json:"tool"`
	Args any    `json:"args"`
}

// encode returns v as JSON without the escapes that are for HTML.
func encode(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// appendMessage appends m, to the last message if it is of the same role: the templates of many models
// want roles to take turns.
func appendMessage(all []*llm.Message, m *llm.Message) []*llm.Message {
	if len(all) == 0 || all[len(all)-1].Role != m.Role {
		return append(all, m)
	}
	last := all[len(all)-1]
	all[len(all)-1] = &llm.Message{
		Role: m.Role, Text: last.Text + "\n\n" + m.Text, Reasoning: last.Reasoning + m.Reasoning,
		Images: slices.Concat(last.Images, m.Images),
	}
	return all
}

// A streamer emits the text of a reply up to where a call may begin.
type streamer struct {
	names map[string]bool
	emit  func(llm.Delta)
	text  strings.Builder // all that came
	shown int             // so many bytes of it are emitted or left out at the front
	begun bool            // some are emitted
}

func (s *streamer) add(d llm.Delta) {
	if d.Restart {
		s.text.Reset()
		s.shown, s.begun = 0, false
		s.emit(d)
		return
	}
	held := s.text.Len() - s.shown
	s.text.WriteString(d.Text)
	out := llm.Delta{Reasoning: d.Reasoning}
	// A long object that has not ended need not be read again: only its end tells what it is.
	if held < longObject || strings.Contains(d.Text, "}") {
		out.Text = s.next()
	}
	if out != (llm.Delta{}) {
		s.emit(out)
	}
}

// longObject is how many bytes are held back only if an object has begun.
const longObject = 256

// next returns the text that may be emitted now.
func (s *streamer) next() string {
	text := s.text.String()
	if !s.begun {
		s.shown = len(text) - len(strings.TrimLeft(text, space))
	}
	start := s.shown
	if n := safe(text[start:], s.names); n > 0 {
		s.shown, s.begun = start+n, true
	}
	return text[start:s.shown]
}

// finish returns the text and the calls of the whole reply, and emits what of the text was held back.
func (s *streamer) finish(text string) (string, []llm.Call) {
	shown := s.text.String()[:s.shown]
	text, calls := parse(text, s.names)
	if rest, ok := strings.CutPrefix(text, strings.TrimLeft(shown, space)); ok && rest != "" {
		s.emit(llm.Delta{Text: rest})
	}
	return text, calls
}
