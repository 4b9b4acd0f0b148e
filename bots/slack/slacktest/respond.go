package slacktest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// A responseURL is what one leads to.
type responseURL struct {
	channel *channel
	user    string
	message string // the ts of the message that was pressed; empty for a command
	until   time.Time
	left    int // uses
}

// How long, and how often, a response_url can be used.
const (
	answerFor   = 30 * time.Minute
	answerTimes = 5
)

// newResponseURL returns a response_url.
func newResponseURL(w *Workspace, c *channel, user, message string) string {
	id := "r" + w.next()
	w.responses[id] = &responseURL{channel: c, user: user, message: message, until: time.Now().Add(answerFor), left: answerTimes}
	return w.server.URL + "/responses/" + id
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
	u := w.responses[r.PathValue("id")]
	var in response
	err := json.NewDecoder(http.MaxBytesReader(rw, r.Body, 1<<20)).Decode(&in)
	var no *refused
	switch {
	case u == nil || time.Now().After(u.until):
		no = refuse("expired_url")
	case u.left == 0:
		no = refuse("used_url")
	case err != nil:
		no = refuse("invalid_payload")
	default:
		u.left--
		no = u.take(w, in)
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
func (u *responseURL) take(w *Workspace, in response) *refused {
	c := u.channel
	var old *Message
	for _, m := range c.messages {
		if u.message != "" && m.TS == u.message {
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
		old.edited = w.next()
		old.Edits++
		if old.For == "" {
			w.Socket.Event(changedEvent(c, old, before, w.next()))
		}
		return nil
	}
	m := &Message{TS: w.next(), User: BotUser, For: u.user, Thread: in.Thread}
	m.set(p)
	if in.Type == "in_channel" {
		m.For = ""
		post(w, c, m)
		return nil
	}
	c.messages = append(c.messages, m)
	return nil
}
