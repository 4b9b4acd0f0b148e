package llm

import (
	"fmt"
	"time"
)

// A Kind sorts a model's failures by what can be done about them.
type Kind string

// The kinds of failure. The strings are stored in logs and are for ever.
const (
	Auth        Kind = "auth"         // the key is missing or refused
	Quota       Kind = "quota"        // the account has no money left
	RateLimit   Kind = "rate_limit"   // too many requests; tried again
	ContextSize Kind = "context_size" // the request is larger than the model's window
	BadRequest  Kind = "bad_request"  // the provider refuses the request as malformed or unsupported
	Server      Kind = "server"       // the provider failed; tried again
	Timeout     Kind = "timeout"      // nothing arrived for too long; tried again
	Truncated   Kind = "truncated"    // the stream broke off; tried again
	Content     Kind = "content"      // refused by a content filter
	Empty       Kind = "empty"        // an answer without text and calls; tried again
	Network     Kind = "network"      // the provider cannot be reached; tried again
	Endless     Kind = "endless"      // an answer that is longer than any model's; it was broken off
)

// Temporary reports whether the same request may succeed later.
func (k Kind) Temporary() bool {
	switch k {
	case RateLimit, Server, Timeout, Truncated, Empty, Network:
		return true
	}
	return false
}

// An Error is a model's failure.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was none
	Message    string        // the provider's words, without secrets
	RetryAfter time.Duration // how long the provider asks to wait; 0 if it does not say
	Err        error         // what lies below, may be nil
}

func (e *Error) Error() string {
	s := "model: " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	} else if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
