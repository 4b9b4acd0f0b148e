package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
)

// An Exchange is one request and the answer that the test gives to it, piece by piece; each piece is
// on its way when its method returns. Its methods may be called from any goroutine, and do nothing
// once the answer has ended or the client has gone.
type Exchange struct {
	Request *Request
	gone    <-chan struct{}
	a       *answer
}

func newExchange(req *Request, w http.ResponseWriter, r *http.Request) *Exchange {
	a := &answer{w: w, over: make(chan struct{}), size: len(req.Body)}
	if req.API == "chat" {
		a.wire = &chatWire{model: req.Model}
	} else {
		a.wire = &responsesWire{model: req.Model}
	}
	return &Exchange{req, r.Context().Done(), a}
}

// serve keeps the handler until the answer has ended.
func (e *Exchange) serve(closed <-chan struct{}) {
	select {
	case <-e.a.over:
	case <-e.gone:
	case <-closed:
		e.Cut()
	}
	e.a.mu.Lock()
	e.a.w = nil
	cut := e.a.cut
	e.a.mu.Unlock()
	if cut {
		panic(http.ErrAbortHandler) // the one way to end a connection without saying so
	}
}

// Gone is closed when the client has given up, or the answer has ended.
func (e *Exchange) Gone() <-chan struct{} { return e.gone }

// Say writes a piece of the answer's text.
func (e *Exchange) Say(text string) { e.a.do(func() { e.a.piece(llm.Delta{Text: text}) }) }

// Think writes a piece of the reasoning.
func (e *Exchange) Think(text string) { e.a.do(func() { e.a.piece(llm.Delta{Reasoning: text}) }) }

// Call writes a tool call, its arguments in several pieces, and returns its id.
func (e *Exchange) Call(tool, args string) (id string) {
	e.a.do(func() {
		id = "call" + strconv.Itoa(len(e.a.reply.Calls)+1)
		e.a.call(llm.Call{ID: id, Name: tool, Args: []byte(args)})
	})
	return id
}

// Finish ends the answer in form.
func (e *Exchange) Finish() { e.FinishWith("", llm.Usage{}) }

// FinishWith ends the answer in form with that reason, which may be empty, and that usage; a zero one
// is made up.
func (e *Exchange) FinishWith(stop llm.Stop, u llm.Usage) {
	e.a.do(func() { e.a.finish(stop, u) })
}

// Answer writes the whole of a reply, its text in words, and ends. It does not look at Err.
func (e *Exchange) Answer(r Reply) {
	e.a.do(func() {
		if r.Reasoning != "" {
			e.a.piece(llm.Delta{Reasoning: r.Reasoning})
		}
		for _, text := range pieces(r.Text) {
			e.a.piece(llm.Delta{Text: text})
		}
		for _, c := range r.complete().Calls {
			e.a.call(c)
		}
		e.a.finish(r.Stop, r.Usage)
	})
}

// Fail refuses the request with an HTTP status, 500 if err has none, and asks to wait for
// err.RetryAfter. Nothing must have been written.
func (e *Exchange) Fail(err *llm.Error) {
	e.a.do(func() {
		refuse(e.a.w, err)
		e.a.end()
	})
}

// FailWith refuses the request with exactly that status, body, and headers, which are name and value in turn.
func (e *Exchange) FailWith(status int, body string, header ...string) {
	e.a.do(func() {
		for i := 0; i+1 < len(header); i += 2 {
			e.a.w.Header().Set(header[i], header[i+1])
		}
		e.a.w.WriteHeader(status)
		_, _ = io.WriteString(e.a.w, body) // the client may have gone
		e.a.end()
	})
}

// Raw writes bytes into the stream as they are: half an event, an error, another server's spelling.
func (e *Exchange) Raw(text string) { e.a.do(func() { e.a.send(text) }) }

// KeepAlive writes n lines that say nothing.
func (e *Exchange) KeepAlive(n int) { e.Raw(strings.Repeat(": keep-alive\n\n", n)) }

// Cut breaks the connection.
func (e *Exchange) Cut() {
	e.a.do(func() {
		e.a.cut = true
		e.a.end()
	})
}

// End ends the answer in the middle, as if it were complete: no reason, no [DONE].
func (e *Exchange) End() {
	e.a.do(func() {
		e.a.send("")
		e.a.end()
	})
}

// JSON answers with one object instead of a stream.
func (e *Exchange) JSON(r Reply) {
	e.a.do(func() {
		e.a.w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(e.a.w, e.a.wire.whole(r.complete())) // the client may have gone
		e.a.end()
	})
}

// An answer is what has been written so far. All methods but do are called within do.
type answer struct {
	over chan struct{} // closed when the answer has ended
	wire wire
	size int // of the request

	mu    sync.Mutex
	w     http.ResponseWriter // nil when the answer has ended
	begun bool                // the header is set
	cut   bool                // the connection is to be broken
	reply Reply
}

// do runs f if the answer has not ended.
func (a *answer) do(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.w != nil {
		f()
	}
}

func (a *answer) piece(d llm.Delta) {
	a.reply.Text += d.Text
	a.send(a.wire.piece(d))
}

func (a *answer) call(c llm.Call) {
	a.reply.Calls = append(a.reply.Calls, c)
	a.send(a.wire.call(len(a.reply.Calls)-1, c))
}

func (a *answer) finish(stop llm.Stop, u llm.Usage) {
	if u == (llm.Usage{}) {
		u = llm.Usage{Input: a.size/4 + 1, Output: len(a.reply.Text)/4 + 1}
	}
	a.reply.Stop, a.reply.Usage = stop, u
	a.send(a.wire.finish(a.reply.complete()))
	a.end()
}

func (a *answer) send(text string) {
	if !a.begun {
		a.begun = true
		a.w.Header().Set("Content-Type", "text/event-stream")
	}
	_, _ = io.WriteString(a.w, text)            // the client may have gone: Gone tells
	_ = http.NewResponseController(a.w).Flush() // likewise
}

func (a *answer) end() {
	close(a.over)
	a.w = nil
}

// refuse answers with a failure.
func refuse(w http.ResponseWriter, err *llm.Error) {
	status := err.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	if err.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((err.RetryAfter+time.Second-1)/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has gone does not mind.
	_, _ = io.WriteString(w, object{"error": object{"message": err.Message, "type": err.Kind, "code": nil}}.String())
}

// An object is a JSON object.
type object map[string]any

func (o object) String() string {
	data, err := json.Marshal(o)
	if err != nil {
		panic(err) // the fields are ours
	}
	return string(data)
}
