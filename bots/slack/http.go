package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/slack-go/slack"
)

// This file is what Slack sends over HTTP: events, interactions and commands. Each is verified by the
// signature over its body, and answered with 200 only when the bot has taken it, so that Slack sends
// an event again otherwise; a person whose press or command was not taken is told so by Slack.

// Limits of a request.
const (
	maxBody      = 4 << 20                 // bytes
	bodyWithin   = 10 * time.Second        // it has been read
	acceptWithin = 2500 * time.Millisecond // the bot has taken it; Slack waits for 3 s
)

// Handler takes what Slack sends over HTTP while Listen runs. Its path does not matter: events,
// interactions and commands may come to one or to several. Without a signing secret it is not found.
func (s *Slack) Handler() http.Handler { return http.HandlerFunc(s.hooks.receive) }

// The hooks are the requests of Slack's.
type hooks struct {
	secret string // empty: there are none
	log    *slog.Logger
	pulse  *pulse

	mu sync.Mutex
	in *intake // nil while Listen does not run
}

// serve gives to in what comes until ctx ends.
func (h *hooks) serve(ctx context.Context, in *intake) error {
	become := func(in *intake) {
		h.pulse.note(func(now *Health) { now.Connected, now.Since, now.LastError = in != nil, time.Now(), "" })
		h.mu.Lock()
		defer h.mu.Unlock()
		h.in = in
	}
	become(in)
	defer become(nil)
	h.log.Info("slack may send events")
	<-ctx.Done()
	return ctx.Err()
}

func (h *hooks) receive(rw http.ResponseWriter, r *http.Request) {
	body, status, err := h.verified(rw, r)
	if err != nil {
		h.log.Warn("a request was refused that should be slack's", "err", err)
		http.Error(rw, http.StatusText(status), status)
		return
	}
	env, challenge, err := decodeBody(r.Header.Get("Content-Type"), body)
	switch {
	case err != nil:
		h.log.Warn("a request of slack is not understood", "err", err)
		http.Error(rw, "not understood", http.StatusBadRequest)
	case challenge != "":
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(rw, challenge) // Slack asks again
	case !h.offer(r.Context(), env):
		http.Error(rw, "not taken; send it again", http.StatusServiceUnavailable)
	}
}

// verified returns the body of a request if Slack has signed it in the last five minutes, or else the
// status to answer with.
func (h *hooks) verified(rw http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	switch {
	case h.secret == "":
		return nil, http.StatusNotFound, errors.New("there is no signing secret")
	case r.Method != http.MethodPost:
		rw.Header().Set("Allow", http.MethodPost)
		return nil, http.StatusMethodNotAllowed, fmt.Errorf("its method is %s", r.Method)
	}
	_ = http.NewResponseController(rw).SetReadDeadline(time.Now().Add(bodyWithin)) // tests have servers that cannot
	body, err = io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, http.StatusRequestEntityTooLarge, err
	}
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	v, err := slack.NewSecretsVerifier(r.Header, h.secret)
	if err == nil {
		_, _ = v.Write(body) // a hash never fails
		err = v.Ensure()
	}
	if err != nil {
		return nil, http.StatusUnauthorized, fmt.Errorf("its signature: %w", err)
	}
	return body, http.StatusOK, nil
}

// decodeBody returns what a body has as an envelope of Socket Mode, or the challenge that shows Slack
// that the address is ours.
func decodeBody(contentType string, body []byte) (env envelope, challenge string, err error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return envelope{}, "", fmt.Errorf("reading the content type: %w", err)
	}
	switch kind {
	case "application/json":
		var p struct {
			Type      string `json:"type"`
			Challenge string `json:"challenge"`
		}
		if err := json.Unmarshal(body, &p); err != nil {
			return envelope{}, "", fmt.Errorf("decoding an event: %w", err)
		}
		switch p.Type {
		case "url_verification":
			return envelope{}, p.Challenge, nil
		case "event_callback":
			return envelope{Type: "events_api", Payload: body}, "", nil
		}
		return envelope{Type: p.Type}, "", nil // app_rate_limited
	case "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return envelope{}, "", fmt.Errorf("decoding a form: %w", err)
		}
		if form.Has("payload") {
			return envelope{Type: "interactive", Payload: json.RawMessage(form.Get("payload"))}, "", nil
		}
		fields := map[string]string{}
		for name := range form {
			fields[name] = form.Get(name)
		}
		payload, err := json.Marshal(fields)
		return envelope{Type: "slash_commands", Payload: payload}, "", err
	}
	return envelope{}, "", fmt.Errorf("%q is no content type of slack's", kind)
}

// offer reports whether the bot has taken what is in the envelope. If it does so too late, Slack
// sends an event again, and it is known.
func (h *hooks) offer(ctx context.Context, env envelope) bool {
	h.mu.Lock()
	in := h.in
	h.mu.Unlock()
	if in == nil {
		return false
	}
	taken := make(chan bool, 1)
	if !in.put(env, func(ok bool) { taken <- ok }) {
		return false
	}
	late := time.NewTimer(acceptWithin)
	defer late.Stop()
	select {
	case ok := <-taken:
		return ok
	case <-late.C:
		h.log.Warn("an event was not accepted in time; slack will send again", "type", env.Type)
	case <-in.ended:
	case <-ctx.Done():
	}
	return false
}
