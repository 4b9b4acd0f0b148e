package slacktest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// SigningSecret is that of the app.
const SigningSecret = "signing-secret-of-the-test"

// SendTo lets the workspace send events, interactions and commands to a URL of the app instead of its
// sockets. It fails if the app does not answer the challenge that Slack begins with.
func (w *Workspace) SendTo(address string) error {
	ctx, cancel := context.WithCancel(context.Background())
	h := &hook{url: address, client: &http.Client{Transport: &http.Transport{}}, ctx: ctx, cancel: cancel, first: make(chan *envelope, 1000)}
	challenge := fmt.Sprint("challenge-", time.Now().UnixNano())
	body, _ := json.Marshal(map[string]string{"token": "verification", "type": "url_verification", "challenge": challenge}) // strings
	status, answer, err := h.post("application/json", string(body), nil)
	if err == nil && (status != http.StatusOK || !echoes(answer, challenge)) {
		err = fmt.Errorf("the URL did not respond with the challenge: %d %q", status, answer)
	}
	if err != nil {
		h.close()
		return err
	}
	w.Socket.mu.Lock()
	old := w.Socket.hook
	w.Socket.hook = h
	w.Socket.mu.Unlock()
	if old != nil {
		old.close()
	}
	w.Socket.wg.Go(func() { h.run(w.Socket) })
	w.Socket.poke()
	return nil
}

// A hook is the app's address.
type hook struct {
	url    string
	client *http.Client
	ctx    context.Context // ends with the workspace
	cancel context.CancelFunc
	first  chan *envelope // events that are sent for the first time: one after the other, so that tests see an order
}

// launch sends an envelope; s.mu is held.
func (h *hook) launch(s *Socket, e *envelope) {
	if e.kind == "events_api" && e.attempt == 0 {
		select {
		case h.first <- e:
			return
		default:
		}
	}
	s.wg.Go(func() { h.send(s, e) })
}

func (h *hook) run(s *Socket) {
	for {
		select {
		case <-h.ctx.Done():
			return
		case e := <-h.first:
			h.send(s, e)
		}
	}
}

func (h *hook) close() {
	h.cancel()
	h.client.CloseIdleConnections()
}

// send sends an envelope and tells s what became of it. A request that takes too long is left: the
// queue takes the envelope back by itself.
func (h *hook) send(s *Socket, e *envelope) {
	kind, body := "application/x-www-form-urlencoded", ""
	payload, _ := json.Marshal(e.payload) // made here
	switch e.kind {
	case "events_api":
		kind, body = "application/json", string(payload)
	case "interactive":
		body = url.Values{"payload": {string(payload)}}.Encode()
	case "slash_commands":
		form := url.Values{}
		for name, v := range e.payload.(map[string]any) {
			form.Set(name, fmt.Sprint(v))
		}
		body = form.Encode()
	}
	header := http.Header{}
	if e.attempt > 0 {
		header.Set("X-Slack-Retry-Num", strconv.Itoa(e.attempt))
		header.Set("X-Slack-Retry-Reason", e.reason)
	}
	status, answer, err := h.post(kind, body, header)
	if err == nil && status == http.StatusOK {
		s.acknowledged(e.id, answer)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue.takeBack("http_error", 1, func(o *envelope) bool { return o == e })
	s.poke()
}

// post sends a signed request and returns the answer.
func (h *hook) post(kind, body string, header http.Header) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(h.ctx, http.MethodPost, h.url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Content-Type", kind)
	Sign(req.Header, body, time.Now())
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// Sign adds the headers by which an app knows that a body is Slack's.
func Sign(h http.Header, body string, at time.Time) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", seconds, body)
	h.Set("X-Slack-Request-Timestamp", seconds)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

// echoes reports whether an answer gives the challenge back: as plain text, or in JSON.
func echoes(answer []byte, challenge string) bool {
	var v struct {
		Challenge string `json:"challenge"`
	}
	return strings.TrimSpace(string(answer)) == challenge || json.Unmarshal(answer, &v) == nil && v.Challenge == challenge
}
