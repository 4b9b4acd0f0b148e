package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A Request is what a client sent, taken back into the words of package llm: messages that are spread
// over several items are one again.
type Request struct {
	llm.Request
	API    string          // "chat" or "responses"
	Model  string          // that was asked for
	Body   json.RawMessage // as it came
	Header http.Header
}

// Last returns the newest message, or an empty one if there is none.
func (r *Request) Last() *llm.Message {
	if len(r.Messages) == 0 {
		return &llm.Message{}
	}
	return r.Messages[len(r.Messages)-1]
}

// wireRequest has the fields of both APIs.
type wireRequest struct {
	Model    string
	Stream   bool
	CacheKey string            `json:"prompt_cache_key"`
	System   string            `json:"instructions"`
	Messages []json.RawMessage // chat
	Input    []json.RawMessage // responses
	Tools    []struct {
		wireTool
		Function *wireTool // chat
	}
}

type wireTool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// decode reads a request, and refuses what a strict server would.
func decode(r *http.Request, body []byte) (*Request, error) {
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return nil, fmt.Errorf("llmtest: the request is not understood: %w", err)
	}
	req := &Request{Model: w.Model, Body: body, Header: r.Header}
	req.System, req.Session = w.System, w.CacheKey
	items := w.Input
	switch {
	case r.Method != http.MethodPost:
		return nil, fmt.Errorf("llmtest: the method is %s, not POST", r.Method)
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		req.API, items = "chat", w.Messages
	case strings.HasSuffix(r.URL.Path, "/responses"):
		req.API = "responses"
	default:
		return nil, fmt.Errorf("llmtest: nothing is served at %s", r.URL.Path)
	}
	if !w.Stream || w.Model == "" || items == nil {
		return nil, fmt.Errorf("llmtest: a request needs stream, a model and messages")
	}
	for _, t := range w.Tools {
		if t.Function != nil {
			t.wireTool = *t.Function
		}
		req.Tools = append(req.Tools, llm.Tool{Name: t.Name, Description: t.Description, Input: t.Parameters})
	}
	for i, data := range items {
		if err := req.add(data); err != nil {
			return nil, fmt.Errorf("llmtest: message %d: %w", i, err)
		}
	}
	return req, req.check()
}

// wireMessage has the fields of a chat message and of an item of the Responses API.
type wireMessage struct {
	Type      string // responses
	Role      llm.Role
	Content   json.RawMessage
	Reasoning string `json:"reasoning_content"`
	Calls     []struct {
		ID       string
		Type     string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`

	CallID    string `json:"call_id"`
	Name      string
	Arguments string
	Output    string
	Encrypted string `json:"encrypted_content"`
}

// text returns the text of the content, which is a string or a list of parts.
func (m *wireMessage) text() string {
	var s string
	for _, p := range m.parts() {
		s += p.Text
	}
	return s
}

// add takes in one message or item.
func (r *Request) add(data json.RawMessage) error {
	var m wireMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	switch {
	case m.Type == "function_call":
		msg := r.assistant()
		msg.Calls = append(msg.Calls, llm.Call{ID: m.CallID, Name: m.Name, Args: json.RawMessage(m.Arguments)})
	case m.Type == "function_call_output":
		r.Messages = append(r.Messages, &llm.Message{Role: llm.ToolRole, Text: m.Output, CallID: m.CallID})
	case m.Type == "reasoning":
		r.assistant().Reasoning += m.Encrypted
	case m.Role == "system" || m.Role == "developer":
		r.System += m.text()
	case m.Role == llm.Assistant && r.API == "responses":
		r.assistant().Text += m.text()
	default:
		msg := &llm.Message{Role: m.Role, Text: m.text(), Reasoning: m.Reasoning, CallID: m.ToolCallID}
		var err error
		if msg.Images, err = m.images(r.API); err != nil {
			return err
		}
		for _, c := range m.Calls {
			if c.Type != "function" {
				return fmt.Errorf("the type of a call is %q", c.Type)
			}
			msg.Calls = append(msg.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Args: json.RawMessage(c.Function.Arguments)})
		}
		if len(m.Content) == 0 {
			return fmt.Errorf("the message of the %s has no content", m.Role)
		}
		r.Messages = append(r.Messages, msg)
	}
	return nil
}

// assistant returns the last message if it is the model's, or else a new one.
func (r *Request) assistant() *llm.Message {
	if last := r.Last(); last.Role == llm.Assistant {
		return last
	}
	m := &llm.Message{Role: llm.Assistant}
	r.Messages = append(r.Messages, m)
	return m
}

// check refuses a history in which calls and results do not match, as providers do.
func (r *Request) check() error {
	open := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role == llm.ToolRole {
			if !open[m.CallID] {
				return fmt.Errorf("llmtest: message %d is the result of call %q, which is not open", i, m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("llmtest: before message %d a call has no result", i)
		}
		for _, c := range m.Calls {
			if !json.Valid(c.Args) || c.Name == "" || c.ID == "" {
				return fmt.Errorf("llmtest: message %d has a malformed call %q: %s", i, c.Name, c.Args)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("llmtest: at the end a call has no result")
	}
	return nil
}
