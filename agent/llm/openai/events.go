package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// Bounds of one answer, against a server that never ends, in bytes: of all that is received, and of what
// is in chunks beside what frames each. No model writes a quarter of that; a frame of the log holds 8 MiB.
const (
	maxReceived = 64 << 20
	maxAnswer   = 4 << 20
	chunkFrame  = 1 << 10
)

// events is the body of an answer in the one form that go-openai reads right: a line "data: JSON" for
// each event. go-openai counts keep-alives until it gives up, loses errors that are not spelled its
// way, a last line without an end, and answers that are plain JSON; and it tells a stream that broke
// off from one that ended only by [DONE], which it swallows.
type events struct {
	io.Closer
	in   *bufio.Reader
	x    *exchange
	out  []byte // not read yet
	name string // of the event that is coming in
	data []byte // of it
	any  bool   // something was read
	err  error
}

func newEvents(body io.ReadCloser, x *exchange) *events {
	return &events{Closer: body, in: bufio.NewReader(io.LimitReader(body, maxReceived)), x: x}
}

func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.next()
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// next takes in one line.
func (e *events) next() {
	var line []byte
	line, e.err = e.in.ReadBytes('\n')
	line = bytes.TrimSpace(line)
	if !e.any {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
		e.any = len(line) > 0
		if e.any && line[0] == '{' {
			e.whole(line)
			return
		}
	}
	field, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimSpace(value)
	switch {
	case string(field) == "event":
		e.name = string(value)
	case string(field) == "data":
		if len(e.data) > 0 {
			e.data = append(e.data, ' ') // between two lines of JSON any space is as good
		}
		e.data = append(e.data, value...)
		// Not all servers put an empty line between events, and some end before it.
		if string(e.data) == "[DONE]" || json.Valid(e.data) {
			e.event()
		}
	case len(line) == 0 && len(e.data) > 0 && e.err == nil:
		e.event() // it is no JSON, which the fold will say
	}
	if len(line) == 0 {
		e.name = ""
	}
}

// whole takes in an answer that is no stream but one object, which begins with line.
func (e *events) whole(line []byte) {
	rest, err := io.ReadAll(e.in)
	body := append(append(line, '\n'), rest...)
	if e.err == nil || e.err == io.EOF {
		e.err = err
	}
	if e.err == nil {
		e.err = io.EOF
	}
	var one bytes.Buffer
	if json.Compact(&one, body) == nil {
		e.data = one.Bytes()
		e.event()
		e.data = []byte("[DONE]")
		e.event()
	}
}

// event puts the event that has come in out.
func (e *events) event() {
	e.out = append(e.out, "data: "...)
	switch {
	case string(e.data) == "[DONE]":
		e.x.done = true
	case e.name == "error":
		e.out = append(e.out, `{ "error":`...)
		e.data = append(e.data, '}')
	case bytes.HasPrefix(e.data, []byte(`{"error"`)):
		e.out = append(e.out, "{ "...) // with a space go-openai leaves it to us
		e.data = e.data[1:]
	}
	e.out = append(append(e.out, e.data...), '\n')
	e.data, e.name = nil, ""
}
