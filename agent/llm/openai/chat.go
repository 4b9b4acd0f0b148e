package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/heddle-bot/heddle/agent/llm"
)

// chat is the Chat Completions API.
type chat struct {
	cfg    Config
	client *sdk.Client
	by     encoder
	own    bool // the server is OpenAI itself
}

func (c *chat) list() string { return "messages" }

func (c *chat) open(ctx context.Context, r *llm.Request) (stream, error) {
	req := sdk.ChatCompletionRequest{
		Model:         c.cfg.Model,
		StreamOptions: &sdk.StreamOptions{IncludeUsage: true},
	}
	if c.own || reasons(c.cfg.Model) {
		req.MaxCompletionTokens = c.cfg.MaxOutputTokens
	} else {
		//lint:ignore SA1019 most other servers know no other name for it
		req.MaxTokens = c.cfg.MaxOutputTokens
	}
	if c.cfg.Temperature != nil {
		req.Temperature = float32(*c.cfg.Temperature)
	}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema(t.Input),
		}})
	}
	if r.NoCalls && len(req.Tools) > 0 {
		req.ToolChoice = "none"
	}
	return c.client.CreateChatCompletionStream(ctx, req)
}

// reasons reports whether the model is one of OpenAI's that refuse max_tokens, here or behind a broker
// that puts the vendor before the name.
func reasons(model string) bool {
	model = model[strings.LastIndexByte(model, '/')+1:]
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

// schema is that of a tool's arguments; none is an object without any.
func schema(input json.RawMessage) json.RawMessage {
	if len(input) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return input
}

// A chatRaw is the Reply.Raw of Chat Completions: what the server wants to see again.
type chatRaw struct {
	By        encoder                    `json:"by"`
	Reasoning bool                       `json:"reasoning,omitempty"` // Message.Reasoning came as reasoning_content
	Details   []json.RawMessage          `json:"details,omitempty"`   // reasoning_details, of OpenRouter and vLLM
	Extra     map[string]json.RawMessage `json:"extra,omitempty"`     // extra_content by Call.ID, of Gemini
}

// A chatMessage is a message as it is sent. Fields that servers miss when they are empty are not left
// out: some refuse a call without arguments or a message without content.
type chatMessage struct {
	Role      llm.Role          `json:"role"`
	Content   any               `json:"content"` // a text; parts where there are images; null only beside calls
	Reasoning string            `json:"reasoning_content,omitempty"`
	Details   []json.RawMessage `json:"reasoning_details,omitempty"`
	Calls     []chatCall        `json:"tool_calls,omitempty"`
	CallID    string            `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function chatFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (c *chat) encode(m *llm.Message) ([]byte, error) {
	out := chatMessage{Role: m.Role, Content: m.Text, CallID: m.CallID}
	if c.cfg.Images && len(m.Images) > 0 {
		parts, err := chatParts(m)
		if err != nil {
			return nil, err
		}
		out.Content = parts
	}
	var raw chatRaw
	if json.Unmarshal(m.Raw, &raw) != nil || raw.By != c.by {
		raw = chatRaw{} // another's, or none
	}
	out.Details = raw.Details
	for _, call := range m.Calls {
		out.Calls = append(out.Calls, chatCall{call.ID, "function",
			chatFunction{sentName(call.Name), sentArgs(call.Args)}, raw.Extra[call.ID]})
	}
	if len(out.Calls) > 0 && m.Text == "" {
		out.Content = nil
	}
	// DeepSeek refuses calls without the thought that led to them, and earlier models of it refuse
	// any other thought.
	if len(out.Calls) > 0 && raw.Reasoning {
		out.Reasoning = m.Reasoning
	}
	return element(out)
}

// element returns v as an element of a list, after a comma.
func element(v any) ([]byte, error) {
	data, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return append([]byte{','}, data...), nil
}

func (c *chat) fold(emit func(llm.Delta)) fold {
	return &chatFold{by: c.by, emit: emit}
}

// A chatFold puts the chunks of Chat Completions together.
type chatFold struct {
	by        encoder
	emit      func(llm.Delta)
	text      strings.Builder
	reasoning strings.Builder
	raw       chatRaw
	details   []map[string]any
	calls     calls
	finish    string
	usage     llm.Usage
	model     string
}

func (f *chatFold) complete() bool { return f.finish != "" }

func (f *chatFold) add(data []byte) error {
	var c chunk
	if err := decode(data, &c); err != nil {
		return err
	}
	switch {
	case given(c.Error):
		return said(0, c.Error)
	case c.Object == "error", c.Type == "error", len(c.Choices) == 0 && given(c.Detail): // vLLM, FastAPI
		return said(0, data)
	}
	if c.Model != "" {
		f.model = c.Model
	}
	for _, u := range []*usage{c.Groq.Usage, c.Usage} {
		if u != nil {
			f.usage = u.sum()
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if given(choice.Error) {
			return said(0, choice.Error)
		}
		f.delta(&choice.Delta)
		f.delta(&choice.Message) // of an answer that is no stream
		if choice.Finish != "" {
			f.finish = choice.Finish
		}
	}
	return nil
}

func (f *chatFold) delta(d *delta) {
	if d.ReasoningContent != "" {
		f.raw.Reasoning = true
	}
	out := llm.Delta{
		Text:      d.Content.text + d.Refusal,
		Reasoning: d.Content.thinking + cmp.Or(d.ReasoningContent, d.Reasoning), // some send it under both names
	}
	f.details = addDetails(f.details, d.Details)
	for i := range d.Calls {
		f.calls.add(&d.Calls[i], i, len(d.Calls))
	}
	if out != (llm.Delta{}) {
		f.text.WriteString(out.Text)
		f.reasoning.WriteString(out.Reasoning)
		f.emit(out)
	}
}

func (f *chatFold) reply(done bool) (*llm.Reply, error) {
	r := &llm.Reply{
		Text:      f.text.String(),
		Reasoning: f.reasoning.String(),
		Usage:     f.usage,
		Model:     f.model,
	}
	r.Calls, f.raw.Extra = f.calls.done()
	if !done && f.finish == "" {
		return nil, broken(r)
	}
	switch f.finish {
	case "error", "insufficient_system_resource", "network_error":
		return nil, &llm.Error{Kind: llm.Server, Message: "the provider broke off: " + f.finish}
	case "length", "max_tokens", "model_length":
		r.Stop = llm.MaxTokens
	case "content_filter", "sensitive":
		r.Stop = llm.Filtered
	}
	var err error
	if r.Raw, err = f.keep(); err != nil {
		return nil, err
	}
	return finished(r)
}

// keep returns the Reply.Raw: what the server wants to see again, if anything.
func (f *chatFold) keep() (json.RawMessage, error) {
	for _, d := range f.details {
		data, err := marshal(d)
		if err != nil {
			return nil, err
		}
		f.raw.Details = append(f.raw.Details, data)
	}
	if !f.raw.Reasoning && len(f.raw.Extra) == 0 && len(f.raw.Details) == 0 {
		return nil, nil
	}
	f.raw.By = f.by
	return marshal(f.raw)
}

// finished settles how a complete reply ended.
func finished(r *llm.Reply) (*llm.Reply, error) {
	switch {
	case r.Stop != "":
	case len(r.Calls) > 0: // whatever the server gave as the reason
		r.Stop = llm.ToolUse
	case strings.TrimSpace(r.Text) == "":
		return nil, &llm.Error{Kind: llm.Empty, Message: "the model answered nothing"}
	default:
		r.Stop = llm.EndTurn
	}
	return r, nil
}

// broken is the failure of an answer that ended before its end.
func broken(r *llm.Reply) error {
	message := "the answer broke off"
	if r.Text == "" && r.Reasoning == "" && len(r.Calls) == 0 {
		message = "the server sent no answer"
	}
	return &llm.Error{Kind: llm.Truncated, Message: message}
}

// decode decodes a chunk. A field of another type than expected is left out: it is one we can do without.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var field *json.UnmarshalTypeError
	if err == nil || errors.As(err, &field) {
		return nil
	}
	return &llm.Error{Kind: llm.Server, Message: "the server sent a chunk that is no JSON", Err: err}
}
