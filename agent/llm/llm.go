// Package llm is the vocabulary of language models: what is asked of them and what they answer.
//
// One interface with one method, Model. The differences between vendors stay below it, in
// subdirectories; nothing above knows which vendor answers. The package imports nothing of ours.
package llm

import (
	"context"
	"encoding/json"
	"sync/atomic"
)

// A Model answers requests. Implementations may be called concurrently.
type Model interface {
	// Generate asks once, retrying what is worth retrying within ctx. It calls emit with each piece
	// of the answer's text as it arrives, from one goroutine at a time and never after it returns;
	// before a retry it is called with Restart set. emit may be nil.
	//
	// A nil error means a complete reply whose Stop is set. Otherwise the error is ctx's cause or
	// wraps an *Error; the reply is then nil.
	Generate(ctx context.Context, r *Request, emit func(Delta)) (*Reply, error)
}

// A Delta is a piece of a reply that is being written.
type Delta struct {
	Text      string
	Reasoning string
	Restart   bool // what was emitted before is void: the request is being tried again
}

// A Request is everything that the model is told.
type Request struct {
	Session  string     // stable per conversation: a key for the provider's prompt cache
	System   string     // the system prompt
	Messages []*Message // oldest first
	Tools    []Tool
	NoCalls  bool // the model must answer in words: Tools are declared for the cache only
}

// A Role says who speaks in a Message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// A Message is one turn of speech in a Request. It must not be changed once it has been part of
// a request: its encoding is kept, so that a long history is not encoded again at each step.
type Message struct {
	Role      Role
	Text      string
	Images    []Image         // User: shown behind Text to models that take images
	Reasoning string          // Assistant: the reasoning text, where the provider shows it
	Calls     []Call          // Assistant: the tools it asked for
	CallID    string          // ToolRole: the Call.ID that this answers
	Raw       json.RawMessage // Assistant: Reply.Raw as it came, for the same adapter to replay

	wire atomic.Pointer[wire]
}

// An Image is a picture in a Message.
type Image struct {
	Name string                 // of its content: the same name is the same content
	Type string                 // MIME: "image/png"
	Size int64                  // bytes
	Data func() ([]byte, error) `json:"-"` // loads the content
}

type wire struct {
	by   any
	data []byte
}

// Encoded returns the message as encode makes it. The bytes are kept for the next call with the
// same by, which names the encoder (any comparable value). The caller must not change them.
func (m *Message) Encoded(by any, encode func(*Message) ([]byte, error)) ([]byte, error) {
	if w := m.wire.Load(); w != nil && w.by == by {
		return w.data, nil
	}
	data, err := encode(m)
	if err != nil {
		return nil, err
	}
	m.wire.Store(&wire{by, data})
	return data, nil
}

// A Tool is a function that the model may ask for.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Input       json.RawMessage `json:"input"` // JSON Schema of the arguments, an object
}

// A Call is a model's wish to have a tool run. It is a proposal: nothing runs by itself.
type Call struct {
	ID   string          `json:"id"`   // the provider's, unique within one reply, never empty
	Name string          `json:"name"` // as the model wrote it
	Args json.RawMessage `json:"args"` // as the model wrote it; a JSON value, or a JSON string holding text that is no JSON
}

// A Stop says why the model stopped writing.
type Stop string

// The reasons to stop.
const (
	EndTurn   Stop = "end_turn"
	ToolUse   Stop = "tool_use"
	MaxTokens Stop = "max_tokens" // cut at the output limit: calls in the reply may be incomplete and must not run
	Filtered  Stop = "filtered"   // withheld by the provider's content filter
)

// A Reply is what the model answered.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []Call
	Stop      Stop
	Usage     Usage
	Model     string          // the model that answered, as the provider names it
	Raw       json.RawMessage // the adapter's own, to be put into Message.Raw; may be nil
}

// Usage is what a request cost, in tokens. Output includes Reasoning; Input includes Cached.
type Usage struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Cached    int `json:"cached,omitempty"`
	Reasoning int `json:"reasoning,omitempty"`
}

// Total is what the request counts against a token budget.
func (u Usage) Total() int { return u.Input + u.Output }

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Cached + v.Cached, u.Reasoning + v.Reasoning}
}
