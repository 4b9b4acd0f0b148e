// Package llmtest plays language models in tests: Model is one as a Go value, Server one that speaks
// OpenAI's wire over HTTP, and Conform checks that a llm.Model keeps its contract.
//
// Both players can be driven in two ways. Given replies, they answer by themselves. Without, the test
// takes each request with Next and answers it piece by piece, so that it decides what happens between
// any two pieces and never has to sleep. A new fault of a real server gets a method of Exchange here
// and a test in the adapter; the players know nothing of the agent.
package llmtest

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A Reply is what a player answers to one request.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []llm.Call // an empty ID is filled in
	Stop      llm.Stop   // empty: ToolUse if there are calls, else EndTurn
	Usage     llm.Usage  // a Server makes one up if it is zero

	Err  *llm.Error      // fails instead; a Server answers with its Status (500 if 0), Message and RetryAfter
	Wait <-chan struct{} // if not nil: nothing is answered before it is closed

	// From, if not nil, makes the reply from the request; all other fields are then ignored. It may
	// be called concurrently.
	From func(r *llm.Request) Reply
	// Repeat has the reply answer all requests from here on.
	Repeat bool
}

// Say is the reply of that text.
func Say(text string) Reply { return Reply{Text: text} }

// Call is the reply that asks for one tool; args is JSON.
func Call(tool, args string) Reply {
	return Reply{Calls: []llm.Call{{Name: tool, Args: []byte(args)}}}
}

// Fail is the reply that fails with that kind.
func Fail(kind llm.Kind) Reply {
	return Reply{Err: &llm.Error{Kind: kind, Message: "as the test wants it"}}
}

// complete fills in what may be left out.
func (r Reply) complete() Reply {
	calls := make([]llm.Call, len(r.Calls))
	for i, c := range r.Calls {
		if c.ID == "" {
			c.ID = "call" + strconv.Itoa(i+1)
		}
		calls[i] = c
	}
	r.Calls = calls
	switch {
	case r.Stop != "":
	case len(calls) > 0:
		r.Stop = llm.ToolUse
	default:
		r.Stop = llm.EndTurn
	}
	return r
}

// A script hands out replies in order.
type script struct {
	mu      sync.Mutex
	replies []Reply
	asked   int
}

// next returns the reply to r. A script that is used up says so in an error that is not tried again.
func (s *script) next(r *llm.Request) Reply {
	s.mu.Lock()
	s.asked++
	n := s.asked
	reply := Reply{Err: &llm.Error{Kind: llm.BadRequest, Status: 400,
		Message: fmt.Sprintf("llmtest: request %d came, and there are no more replies: %s", n, last(r))}}
	if len(s.replies) > 0 {
		reply = s.replies[0]
		if !reply.Repeat {
			s.replies = s.replies[1:]
		}
	}
	s.mu.Unlock()
	if reply.From != nil {
		reply = reply.From(r)
	}
	return reply.complete()
}

// last describes the newest message of r.
func last(r *llm.Request) string {
	if len(r.Messages) == 0 {
		return "it holds no messages"
	}
	m := r.Messages[len(r.Messages)-1]
	return fmt.Sprintf("its last message is of the %s: %.200q", m.Role, m.Text)
}

// A Model is a llm.Model that answers from a script. It tries nothing again, and it waits on nothing
// but its own locks, the channels of its replies, and contexts, so it may live in a synctest bubble.
type Model struct {
	script script

	mu       sync.Mutex
	requests []*llm.Request
}

// NewModel returns a model that answers with the replies in order.
func NewModel(replies ...Reply) *Model {
	return &Model{script: script{replies: replies}}
}

// Add appends replies to the script.
func (m *Model) Add(replies ...Reply) {
	m.script.mu.Lock()
	defer m.script.mu.Unlock()
	m.script.replies = append(m.script.replies, replies...)
}

// Requests returns all requests so far, oldest first.
func (m *Model) Requests() []*llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]*llm.Request(nil), m.requests...)
}

// Generate implements llm.Model. It emits the text in words, before it fails too.
func (m *Model) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	m.mu.Lock()
	m.requests = append(m.requests, r)
	m.mu.Unlock()

	reply := m.script.next(r)
	if emit != nil && reply.Reasoning != "" {
		emit(llm.Delta{Reasoning: reply.Reasoning})
	}
	for _, piece := range pieces(reply.Text) {
		if emit != nil {
			emit(llm.Delta{Text: piece})
		}
	}
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if reply.Err != nil {
		return nil, reply.Err
	}
	return &llm.Reply{
		Text: reply.Text, Reasoning: reply.Reasoning, Calls: reply.Calls, Stop: reply.Stop,
		Usage: reply.Usage, Model: "llmtest",
	}, nil
}

// pieces cuts text after each space.
func pieces(text string) (all []string) {
	start := 0
	for i := range len(text) {
		if text[i] == ' ' {
			all = append(all, text[start:i+1])
			start = i + 1
		}
	}
	if start < len(text) {
		all = append(all, text[start:])
	}
	return all
}
