package slacktest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// A hook is what a response_url leads to.
type hook struct {
	channel *channel
	user    string
	message string // the ts of the message that was pressed; empty for a command
	until   time.Time
	left    int // uses
}

// How long, and how often, a response_url can be used.
const (
	hookFor  = 30 * time.Minute
	hookUses = 5
)

// newHook returns a response_url.
func newHook(w *Workspace, c *channel, user, message string) string {
	id := "h" + w.next()
	w.hooks[id] = &hook{channel: c, user: user, message: message, until: time.Now().Add(hookFor), left: hookUses}
	return w.server.URL + "/hooks/" + id
}

// A response is what an app sends to a response_url, or with the acknowledgement of a command.
type response struct {
	Type    string          `json:"response_type"`
	Replace bool            `json:"replace_original"`
	Delete  bool            `json:"delete_original"`
	Text    *string         `json:"text"`
	Blocks  json.RawMessage `json:"blocks"`
	Thread  string          `json:"thread_ts"`
}

// respond takes what the app sends to a response_url.
func respond(w *Workspace, rw http.ResponseWriter, r *http.Request) {
	defer w.change()
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hooks[r.PathValue("hook")]
	var in response
	err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 1<<20)).Decode(&in)
	var no *refused
	switch {
	case h == nil || time.Now().After(h.until):
		no = refuse("expired_url")
	case h.left == 0:
		no = refuse("used_url")
	case err != nil:
		no = refuse("invalid_payload")
	default:
		h.left--
		no = h.take(w, in)
	}
	if no != nil {
		rw.Header().Set("Content-Type", "application/json; charset=utf-8")
		rw.WriteHeader(http.StatusNotFound)
		answer(rw, no.answer())
		return
	}
	_, _ = rw.Write([]byte("ok"))
}

// take does what a response asks for.
func (h *hook) take(w *Workspace, in response) *refused {
	c := h.channel
	var old *Message
	for _, m := range c.messages {
		if h.message != "" && m.TS == h.message {
			old = m
		}
	}
	if in.Delete {
		if old == nil {
			return refuse("message_not_found")
		}
		c.remove(old, w.next())
		return nil
	}
	args := call{args: url.Values{}}
	if in.Text != nil {
		args.args.Set("text", *in.Text)
	}
	if in.Blocks != nil {
		args.args.Set("blocks", string(in.Blocks))
	}
	p, no := readPosting(args)
	switch {
	case no != nil:
		return no
	case in.Replace && old != nil:
		before := old.json()
		old.set(p)
		old.Edits++
		if old.For == "" {
			w.Socket.Event(changedEvent(c, old, before, w.next()))
		}
		return nil
	}
	m := &Message{TS: w.next(), User: BotUser, For: h.user, Thread: in.Thread}
	m.set(p)
	if in.Type == "in_channel" {
		m.For = ""
		post(w, c, m)
		return nil
	}
	c.messages = append(c.messages, m)
	return nil
}
