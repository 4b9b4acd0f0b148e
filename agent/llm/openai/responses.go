package openai

import (
	"context"
	"encoding/json"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/heddle-bot/heddle/agent/llm"
)

// responses is the Responses API. The server stores nothing: the history is sent each time, and the
// reasoning in it is encrypted.
type responses struct {
	cfg    Config
	client *sdk.Client
	by     encoder
}

func (a *responses) list() string { return "input" }

func (a *responses) open(ctx context.Context, r *llm.Request) (stream, error) {
	store := false
	req := sdk.CreateResponseRequest{
		Model:           a.cfg.Model,
		Instructions:    r.System,
		MaxOutputTokens: a.cfg.MaxOutputTokens,
		PromptCacheKey:  cacheKey(r.Session),
		Include:         []sdk.ResponseInclude{sdk.ResponseIncludeReasoningEncryptedContent},
		Store:           &store,
	}
	if a.cfg.Temperature != nil {
		t := float32(*a.cfg.Temperature)
		req.Temperature = &t
	}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, sdk.ResponseTool{Type: sdk.ToolTypeFunction, Parameters: map[string]any{
			"name": t.Name, "description": t.Description, "parameters": schema(t.Input),
			"strict": false, // what is left out is strict, and strict schemas have no optional fields
		}})
	}
	if r.NoCalls && len(req.Tools) > 0 {
		req.ToolChoice = "none"
	}
	return a.client.CreateResponseStream(ctx, req)
}

// A responsesRaw is the Reply.Raw of the Responses API: the items of the answer as they came. With the
// reasoning among them the model need not think the same again.
type responsesRaw struct {
	By    encoder           `json:"by"`
	Items []json.RawMessage `json:"items"`
}

// An item is an element of input or output.
type item struct {
	Type      string          `json:"type,omitempty"`
	Role      llm.Role        `json:"role,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"` // a text when sent, or parts where there are images; a list of parts when received
	CallID    string          `json:"call_id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Arguments string          `json:"arguments,omitempty"`
	Output    *string         `json:"output,omitempty"`
	Summary   []part          `json:"summary,omitempty"`
	Encrypted string          `json:"encrypted_content,omitempty"`
}

// A part is one of an item's content or summary.
type part struct {
	Text    string `json:"text"`
	Refusal string `json:"refusal,omitempty"`
}

func (a *responses) encode(m *llm.Message) ([]byte, error) {
	switch m.Role {
	case system: // is in the instructions
		return nil, nil
	case llm.ToolRole:
		return element(item{Type: "function_call_output", CallID: m.CallID, Output: &m.Text})
	case llm.Assistant:
		return a.encodeReply(m)
	}
	if a.cfg.Images && len(m.Images) > 0 {
		parts, err := responsesParts(m)
		if err != nil {
			return nil, err
		}
		return element(item{Role: m.Role, Content: parts})
	}
	return element(item{Role: m.Role, Content: quote(m.Text)})
}

// encodeReply encodes what the model said: the items as they came if they are from here, and what
// they do not hold. A call without a result would be refused, so only those that m has are sent.
func (a *responses) encodeReply(m *llm.Message) (out []byte, err error) {
	add := func(v any) {
		data, e := element(v)
		if e != nil {
			err = e
		}
		out = append(out, data...)
	}
	var raw responsesRaw
	if json.Unmarshal(m.Raw, &raw) != nil || raw.By != a.by {
		raw.Items = nil
	}
	missing := map[string]bool{}
	for _, c := range m.Calls {
		missing[c.ID] = true
	}
	said := m.Text == ""
	for _, data := range raw.Items {
		var it item
		if json.Unmarshal(data, &it) != nil || it.Type == "function_call" && !missing[it.CallID] {
			continue
		}
		delete(missing, it.CallID)
		said = said || it.Type == "message"
		add(data)
	}
	if !said {
		add(item{Role: llm.Assistant, Content: quote(m.Text)})
	}
	for _, c := range m.Calls {
		if missing[c.ID] {
			add(item{Type: "function_call", CallID: c.ID, Name: sentName(c.Name), Arguments: sentArgs(c.Args)})
		}
	}
	return out, err
}

func (a *responses) fold(emit func(llm.Delta)) fold {
	return &responsesFold{by: a.by, emit: emit}
}

// A responsesFold puts the events of the Responses API together.
type responsesFold struct {
	by        encoder
	emit      func(llm.Delta)
	text      strings.Builder // as it was emitted
	reasoning strings.Builder
	items     []json.RawMessage // those that are done
	end       *response
}

// An event is one of the stream, or the whole of an answer that is no stream.
type event struct {
	Type     string
	Delta    string
	Item     json.RawMessage
	Summary  int `json:"summary_index"`
	Response response
	Error    json.RawMessage
}

// A response is the state of the answer.
type response struct {
	Object  string
	Status  string
	Model   string
	Output  []json.RawMessage
	Error   json.RawMessage
	Details struct{ Reason string } `json:"incomplete_details"`
	Usage   struct {
		Input     int `json:"input_tokens"`
		Output    int `json:"output_tokens"`
		InputPart struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		OutputPart struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
}

func (f *responsesFold) complete() bool { return f.end != nil }

func (f *responsesFold) add(data []byte) error {
	var e event
	if err := decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		f.text.WriteString(e.Delta)
		f.emit(llm.Delta{Text: e.Delta})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		f.reason(e.Delta)
	case "response.reasoning_summary_part.added":
		if f.reasoning.Len() > 0 {
			f.reason("\n\n")
		}
	case "response.output_item.done":
		f.items = append(f.items, e.Item)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return f.finish(&e.Response)
	case "error":
		return said(0, data)
	case "":
		if given(e.Error) {
			return said(0, e.Error)
		}
		var r response
		if err := decode(data, &r); err != nil || r.Object != "response" {
			return err
		}
		return f.finish(&r)
	}
	return nil
}

func (f *responsesFold) reason(text string) {
	f.reasoning.WriteString(text)
	f.emit(llm.Delta{Reasoning: text})
}

func (f *responsesFold) finish(r *response) error {
	if given(r.Error) {
		return said(0, r.Error)
	}
	if r.Status == "failed" || r.Status == "cancelled" {
		return &llm.Error{Kind: llm.Server, Message: "the provider broke off: " + r.Status}
	}
	f.end = r
	return nil
}

func (f *responsesFold) reply(done bool) (*llm.Reply, error) {
	end := f.end
	if end == nil {
		end = &response{}
	}
	if len(end.Output) == 0 { // some servers end without repeating it
		end.Output = f.items
	}
	r := &llm.Reply{Model: end.Model}
	r.Usage = llm.Usage{
		Input: end.Usage.Input, Output: end.Usage.Output,
		Cached: end.Usage.InputPart.Cached, Reasoning: end.Usage.OutputPart.Reasoning,
	}
	kept := f.read(r, end.Output)
	if f.end == nil && !(done && len(f.items) > 0) {
		r.Text = f.text.String()
		return nil, broken(r)
	}
	switch end.Details.Reason {
	case "max_output_tokens":
		r.Stop = llm.MaxTokens
	case "content_filter":
		r.Stop = llm.Filtered
	}
	if r.Stop == "" && len(kept) > 0 { // items that are cut off are not taken back
		raw, err := marshal(responsesRaw{f.by, kept})
		if err != nil {
			return nil, err
		}
		r.Raw = raw
	}
	if rest, ok := strings.CutPrefix(r.Text, f.text.String()); ok && rest != "" {
		f.emit(llm.Delta{Text: rest}) // some servers send no pieces
	}
	return finished(r)
}

// read puts the items of an answer into r and returns those that are to be sent back.
func (f *responsesFold) read(r *llm.Reply, items []json.RawMessage) (kept []json.RawMessage) {
	for _, data := range items {
		var it item
		var parts []part
		if decode(data, &it) != nil {
			continue
		}
		_ = json.Unmarshal(it.Content, &parts) // of other kinds of item it is something else
		switch it.Type {
		case "message":
			for _, p := range parts {
				r.Text += p.Text + p.Refusal
			}
		case "function_call":
			r.Calls = append(r.Calls, llm.Call{ID: it.CallID, Name: it.Name, Args: args(it.Arguments)})
		case "reasoning":
			for _, p := range append(it.Summary, parts...) {
				if r.Reasoning != "" && p.Text != "" {
					r.Reasoning += "\n\n"
				}
				r.Reasoning += p.Text
			}
			if it.Encrypted == "" {
				continue // the server does not know it any more
			}
		}
		kept = append(kept, data)
	}
	number(r.Calls)
	return kept
}
