package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/heddle-bot/heddle/agent/llm"
)

// failed sorts an error of asking (then otherwise is Network) or of reading the answer (Truncated).
func (m *model) failed(ctx context.Context, err error, otherwise llm.Kind) error {
	var e *llm.Error
	var u *url.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(context.Cause(ctx), errIdle):
		return &llm.Error{Kind: llm.Timeout, Message: "nothing arrived for " + m.cfg.IdleTimeout.String(), Err: errIdle}
	case errors.Is(err, sdk.ErrReasoningToolsRequireResponses):
		return &llm.Error{Kind: llm.BadRequest, Err: err,
			Message: m.cfg.Model + ` takes tools only in the Responses API: set api = "responses"`}
	case errors.Is(err, sdk.ErrReasoningModelLimitationsOther), errors.Is(err, sdk.ErrReasoningSamplingUnsupported):
		return &llm.Error{Kind: llm.BadRequest, Err: err,
			Message: m.cfg.Model + " has no temperature: remove it from the model's configuration"}
	case errors.As(err, &u): // without the address, which may hold a secret
		return &llm.Error{Kind: llm.Network, Message: u.Err.Error(), Err: u.Err}
	case otherwise == llm.Network: // go-openai refused the request before it was sent
		return &llm.Error{Kind: llm.BadRequest, Message: "the request cannot be sent: " + err.Error(), Err: err}
	}
	return &llm.Error{Kind: otherwise, Message: "the answer broke off: " + err.Error(), Err: err}
}

// maxRefusal bounds the bytes that are read of a refusal.
const maxRefusal = 64 << 10

// refusal returns what an answer says that is none.
func refusal(resp *http.Response) *llm.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	e := said(resp.StatusCode, body)
	if resp.StatusCode < 300 {
		e.Kind = llm.BadRequest
		e.Message = "the server answers with a web page: check base_url"
	}
	e.RetryAfter = retryAfter(resp.Header, time.Now())
	return e
}

// retryAfter returns how long the headers ask to wait. A date lies by the clock of the server, so it
// is counted from the server's own Date if there is one.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return seconds(s)
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if until, err := http.ParseTime(value); err == nil {
		return max(0, until.Sub(now))
	}
	return 0
}

// seconds is s as a Duration between none and a year, whatever s is.
func seconds(s float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(s > 0) {
		return 0
	}
	return time.Duration(min(s, year) * float64(time.Second))
}

// said returns the failure that body tells of, under a status which is 0 within a stream.
func said(status int, body []byte) *llm.Error {
	f := fault{}
	f.read(body)
	if status == 0 && f.status >= 400 && f.status < 600 {
		status = f.status
	}
	if f.message == "" {
		f.message = strings.TrimSpace(string(body))
	}
	if f.message == "" {
		f.message = http.StatusText(status)
	}
	message := strings.ToValidUTF8(f.message, "")
	if r := []rune(message); len(r) > maxMessage {
		message = string(r[:maxMessage]) + "…"
	}
	return &llm.Error{Kind: kind(status, strings.ToLower(f.codes+message)), Status: status, Message: message}
}

// maxMessage bounds the runes of a provider's message.
const maxMessage = 600

// A fault is what the many forms of an error have in common.
type fault struct {
	message string
	codes   string // type and code
	status  int    // if the code is a number
}

// read takes in any of {"error":{"message":…,"type":…,"code":…}}, {"error":"…"}, {"message":…},
// {"detail":…}, the first of an array of them, and a string.
func (f *fault) read(data []byte) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		f.message = text
		return
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) != nil {
		return
	}
	for _, name := range []string{"type", "code"} {
		value := strings.Trim(string(object[name]), `"`)
		f.codes += value + " "
		if n, err := strconv.Atoi(value); err == nil {
			f.status = n
		}
	}
	for _, name := range []string{"error", "message", "detail"} {
		if value := object[name]; len(value) > 0 && string(value) != "null" {
			f.read(value)
			if f.message == "" {
				f.message = string(value)
			}
			break
		}
	}
	var behind struct{ Raw string } // OpenRouter: what the provider behind it said
	if json.Unmarshal(object["metadata"], &behind) == nil && behind.Raw != "" {
		f.message += ": " + behind.Raw
	}
}

// wordings sorts failures by the words of the providers that we know, in small letters. The first that
// matches counts, and words count before the status: 400 and 429 each mean several things.
var wordings = []struct {
	kind  llm.Kind
	words []string
}{
	{llm.ContextSize, []string{"context_length_exceeded", "context length", "context window", "context size",
		"prompt is too long", "input is too long", "prompt length", "exceed_context_size", "string_above_max_length",
		"exceeds the maximum number of tokens", "reduce the length of the messages", "request too large",
		"max_new_tokens"}},
	{llm.Quota, []string{"insufficient_quota", "insufficient balance", "insufficient credits", "insufficient_balance",
		"credit balance is too low", "billing_hard_limit", "billing_not_active"}},
	{llm.Content, []string{"content_filter", "content_policy", "responsibleaipolicy", "content management policy",
		"invalid_prompt", "safety system", "data_inspection_failed"}},
	{llm.Auth, []string{"invalid_api_key", "incorrect api key", "authentication_error", "permission_error"}},
	{llm.RateLimit, []string{"rate_limit", "rate limit", "resource_exhausted"}},
	{llm.Server, []string{"overloaded", "server_error", "internal_error"}},
}

// kind sorts a failure by its status, 0 if it has none, and its words.
func kind(status int, words string) llm.Kind {
	for _, w := range wordings {
		for _, word := range w.words {
			if strings.Contains(words, word) && (status < 500 || w.kind == llm.ContextSize) {
				return w.kind
			}
		}
	}
	switch {
	case status == 401 || status == 403:
		return llm.Auth
	case status == 402:
		return llm.Quota
	case status == 413:
		return llm.ContextSize
	case status == 429:
		return llm.RateLimit
	case status == 408 || status == 409 || status == 425 || status >= 500:
		return llm.Server
	case status == 0 && !strings.Contains(words, "invalid_request"):
		return llm.Server
	}
	return llm.BadRequest
}
