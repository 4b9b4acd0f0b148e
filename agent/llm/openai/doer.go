package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"
)

// exchangeKey is the context key under which a try gives its exchange to the doer.
type exchangeKey struct{}

// An exchange is what one try and the doer share. It belongs to the try's goroutine.
type exchange struct {
	list     string                     // the field of the body that messages go into
	messages [][]byte                   // its elements, each after a comma; some are empty
	fields   map[string]json.RawMessage // further fields of the body; null removes one
	idle     time.Duration
	timer    *time.Timer // ends the try when nothing arrives for idle
	done     bool        // [DONE] was seen
}

// A doer sends go-openai's requests with what go-openai cannot say, and reads what it would lose.
type doer struct{ client *http.Client }

// Do implements the client of go-openai. A refusal is an *llm.Error.
func (d doer) Do(req *http.Request) (*http.Response, error) {
	x := req.Context().Value(exchangeKey{}).(*exchange)
	if err := x.splice(req); err != nil {
		return nil, err
	}
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &watched{resp.Body, x}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode < 200 || resp.StatusCode > 299 || kind == "text/html" {
		defer resp.Body.Close()
		return nil, refusal(resp)
	}
	resp.Body = newEvents(resp.Body, x)
	return resp, nil
}

// splice replaces the body of req by one with the messages. They are sent from where they lie.
func (x *exchange) splice(req *http.Request) error {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	if len(x.fields) > 0 {
		if body, err = merge(body, x.fields); err != nil {
			return err
		}
	}
	// Inside of a string the quotes would be escaped, so this is the field.
	before, after, ok := bytes.Cut(body, []byte(`"`+x.list+`":null`))
	if !ok {
		return errors.New("the request has no field " + x.list)
	}
	parts := make(parts, 0, len(x.messages)+2)
	parts = append(parts, fmt.Appendf(before[:len(before):len(before)], `"%s":[`, x.list))
	for _, data := range x.messages {
		if len(data) > 0 && len(parts) == 1 {
			data = data[1:] // the first has no comma before it
		}
		if len(data) > 0 {
			parts = append(parts, data)
		}
	}
	parts = append(parts, append([]byte{']'}, after...))
	req.ContentLength = parts.size()
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(&partsReader{parts: parts}), nil }
	req.Body, err = req.GetBody()
	return err
}

// merge puts fields into a JSON object.
func merge(object []byte, fields map[string]json.RawMessage) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, fmt.Errorf("adding fields to the request: %w", err)
	}
	for name, value := range fields {
		all[name] = value
		if string(value) == "null" {
			delete(all, name)
		}
	}
	return json.Marshal(all)
}

// parts are the pieces of a body.
type parts [][]byte

func (p parts) size() (n int64) {
	for _, data := range p {
		n += int64(len(data))
	}
	return n
}

// A partsReader reads parts one after the other, filling the caller's buffer each time.
type partsReader struct {
	parts parts
	off   int // in parts[0]
}

func (r *partsReader) Read(p []byte) (n int, err error) {
	for n < len(p) && len(r.parts) > 0 {
		k := copy(p[n:], r.parts[0][r.off:])
		n += k
		if r.off += k; r.off == len(r.parts[0]) {
			r.parts, r.off = r.parts[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// watched sets the exchange's timer back whenever a byte arrives.
type watched struct {
	io.ReadCloser
	x *exchange
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.x.timer.Reset(w.x.idle)
	}
	return n, err
}
