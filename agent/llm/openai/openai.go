// Package openai is llm.Model on top of the OpenAI wire: Chat Completions, which many providers and
// local servers speak, and the Responses API. Both stream.
//
// Everything that differs between those servers is settled here, and nowhere above: how a stream
// ends or breaks off, how calls are numbered, what is called an error, what has to be sent back with
// the history. A server that does it in yet another way gets a case here and a test that plays its
// bytes. What to do about a failure that remains is the caller's business; it is sorted in llm.Kind.
//
// A request goes like this:
//
//  1. Generate tries, and tries again what is worth it (retry.go).
//  2. A try encodes the messages that are not encoded yet, and has go-openai encode a request without
//     any. The doer puts the messages in, sends it, and turns refusals into *llm.Error (doer.go).
//  3. The doer hands the answer to go-openai as events that it reads right (events.go).
//  4. A fold puts the chunks together to a reply (chat.go, responses.go).
package openai

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A Config describes one model of one server.
type Config struct {
	BaseURL         string            // up to the version: "http://127.0.0.1:8080/v1"; empty is OpenAI itself
	Key             string            // sent as a bearer token; empty for servers that want none
	Model           string            // as the server names it
	API             string            // "chat" (also if empty) or "responses"
	MaxOutputTokens int               // 0 leaves it to the server
	Temperature     *float64          // nil leaves it to the server
	Images          bool              // the model takes images; if not, those in messages are left out
	IdleTimeout     time.Duration     // a try is given up when no byte came for so long; 0 is 90 s
	Tries           int               // how often a request is sent at most; 0 is 5
	Extra           map[string]any    // further fields of the request's body; they win over ours, and nil removes one
	Transport       http.RoundTripper // nil is a plain one
	Logger          *slog.Logger      // nil logs nothing
}

// New returns the model that c describes. It connects to nothing yet.
func New(c Config) (llm.Model, error) {
	if c.BaseURL == "" {
		c.BaseURL = "https://api.openai.com/v1"
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = 90 * time.Second
	}
	if c.Tries == 0 {
		c.Tries = 5
	}
	if c.API == "" {
		c.API = "chat"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Transport == nil {
		c.Transport = transport()
	}
	base, err := check(c)
	if err != nil {
		return nil, err
	}
	// Without the user of the URL, which is a secret: it is kept with each reply.
	by := encoder(c.API + " " + base.Host + strings.TrimRight(base.Path, "/") + " " + c.Model)
	m := &model{cfg: c, by: form{by, c.Images}, fields: map[string]json.RawMessage{}}
	for name, value := range c.Extra {
		if m.fields[name], err = json.Marshal(value); err != nil {
			return nil, fmt.Errorf("openai: extra field %s: %w", name, err)
		}
	}
	cfg := sdk.DefaultConfig(c.Key)
	cfg.BaseURL = c.BaseURL
	cfg.HTTPClient = doer{&http.Client{Transport: c.Transport}}
	client := sdk.NewClientWithConfig(cfg)
	if c.API == "responses" {
		m.api = &responses{c, client, by}
		return m, nil
	}
	m.own = base.Host == "api.openai.com"
	m.api = &chat{c, client, by, m.own}
	if c.Temperature != nil && *c.Temperature == 0 && m.fields["temperature"] == nil {
		m.fields["temperature"] = json.RawMessage("0") // go-openai leaves a zero out
	}
	return m, nil
}

func check(c Config) (*url.URL, error) {
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("openai: the base URL must be like https://api.openai.com/v1")
	case c.Model == "":
		return nil, errors.New("openai: the name of the model is missing")
	case c.API != "chat" && c.API != "responses":
		return nil, fmt.Errorf("openai: api must be \"chat\" or \"responses\", not %q", c.API)
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("openai: the key holds a character that no key has, a line break perhaps")
	case c.Temperature != nil && !(*c.Temperature >= 0 && *c.Temperature <= 2):
		return nil, fmt.Errorf("openai: the temperature must be between 0 and 2, not %v", *c.Temperature)
	case c.MaxOutputTokens < 0 || c.Tries < 0 || c.IdleTimeout < 0:
		return nil, errors.New("openai: output tokens, tries and idle timeout must not be negative")
	}
	return base, nil
}

// transport is the default one with what a long stream needs: no compression, which makes proxies
// hold text back, and pings, which find a dead connection before the idle timeout has to.
func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = 64
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}
	return t
}

// A model asks one model of one server. It holds nothing of any request.
type model struct {
	cfg    Config
	api    api
	by     any                        // the form
	own    bool                       // Chat Completions of OpenAI itself: others may refuse what only it knows
	fields map[string]json.RawMessage // to be put into each request's body; null removes one
}

// An api is one of the two ways to ask.
type api interface {
	// list names the field that holds the messages.
	list() string
	// encode returns the elements of that field that say m, each after a comma.
	encode(m *llm.Message) ([]byte, error)
	// open asks, leaving the messages out, which the doer puts in.
	open(ctx context.Context, r *llm.Request) (stream, error)
	// fold returns what makes a reply of the answer.
	fold(emit func(llm.Delta)) fold
}

// A stream is what go-openai makes of an answer.
type stream interface {
	RecvRaw() ([]byte, error)
	Close() error
}

// A fold puts the chunks of one answer together.
type fold interface {
	add(chunk []byte) error
	complete() bool                      // the model has said why it stopped
	reply(done bool) (*llm.Reply, error) // done: the stream was closed in form, by [DONE]
}

// An encoder names the form and origin of an encoded message and of a Reply.Raw. What a model hid in
// its reasoning is of use only to the same model at the same place.
type encoder string

// A form names how messages are encoded.
type form struct {
	by     encoder
	images bool
}

// system is the role of the system prompt, which is no llm.Message above.
const system llm.Role = "system"

// settle is how long to wait for the usage once the model has said why it stopped.
const settle = 5 * time.Second

// errIdle is the cause of a try that is given up.
var errIdle = errors.New("nothing arrived")

// try asks once.
func (m *model) try(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	x := &exchange{list: m.api.list(), fields: m.fields, idle: m.cfg.IdleTimeout}
	if m.own && r.Session != "" { // go-openai has it for the other API only
		x.fields = maps.Clone(m.fields)
		x.fields["prompt_cache_key"] = quote(cacheKey(r.Session))
	}
	if err := m.encode(x, r); err != nil {
		return nil, &llm.Error{Kind: llm.BadRequest, Message: "encoding a message: " + err.Error(), Err: err}
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, exchangeKey{}, x))
	defer cancel(nil)
	x.timer = time.AfterFunc(x.idle, func() { cancel(errIdle) })
	defer x.timer.Stop()

	s, err := m.api.open(ctx, r)
	if err != nil {
		return nil, m.failed(ctx, err, llm.Network)
	}
	defer s.Close()
	f := m.api.fold(emit)
	size := 0
	for {
		chunk, err := s.RecvRaw()
		if err == io.EOF || err != nil && f.complete() {
			return f.reply(x.done)
		}
		if err != nil {
			return nil, m.failed(ctx, err, llm.Truncated)
		}
		if size += max(0, len(chunk)-chunkFrame); size > maxAnswer {
			return nil, &llm.Error{Kind: llm.Endless, Message: fmt.Sprintf("more than %d MiB", maxAnswer>>20)}
		}
		if err := f.add(chunk); err != nil {
			return nil, err
		}
		if f.complete() {
			x.idle = min(x.idle, settle)
			x.timer.Reset(x.idle)
		}
	}
}

// cacheKey returns the key of a session in the provider's prompt cache: of at most 64 bytes, which is
// all that OpenAI takes.
func cacheKey(session string) string {
	if len(session) <= 64 {
		return session
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(session)))
}

// encode collects the messages of r. Those that were part of a request before cost nothing.
func (m *model) encode(x *exchange, r *llm.Request) error {
	x.messages = make([][]byte, 0, len(r.Messages)+1)
	if r.System != "" {
		data, err := m.api.encode(&llm.Message{Role: system, Text: r.System})
		if err != nil {
			return err
		}
		x.messages = append(x.messages, data)
	}
	for _, msg := range r.Messages {
		data, err := msg.Encoded(m.by, m.api.encode)
		if err != nil {
			return err
		}
		x.messages = append(x.messages, data)
	}
	return nil
}
