package llmtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A Server is a model behind the wire of OpenAI: POST …/chat/completions and …/responses, streaming.
// Its methods may be called concurrently. It is an http.Handler too, for a program that serves it.
type Server struct {
	// URL is the base URL for a client: it ends in "/v1". Empty if the test serves the handler itself.
	URL string
	// Transport reaches the server. It is the only way to one that NewMemory made.
	Transport http.RoundTripper

	script *script        // nil: the test answers with Next
	queue  chan *Exchange // to Next
	closed chan struct{}
	once   sync.Once
	stop   func()

	mu    sync.Mutex
	count int
}

// NewServer returns a server on loopback. With replies it answers with them in order; without, the
// test answers each request with Next. Close it.
func NewServer(replies ...Reply) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	return serve(l, "http://"+l.Addr().String()+"/v1", t, replies), nil
}

// NewMemory is like NewServer without a network, for a synctest bubble: in it the time of clients and
// of the server stands still while both wait.
func NewMemory(replies ...Reply) *Server {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	t := &http.Transport{DialContext: l.dial}
	return serve(l, "http://llmtest.invalid/v1", t, replies)
}

// NewHandler is like NewServer for a test or program that serves it itself.
func NewHandler(replies ...Reply) *Server {
	s := &Server{queue: make(chan *Exchange), closed: make(chan struct{})}
	s.stop = func() { close(s.closed) }
	if len(replies) > 0 {
		s.script = &script{replies: replies}
	}
	return s
}

func serve(l net.Listener, url string, t *http.Transport, replies []Reply) *Server {
	s := NewHandler(replies...)
	s.URL, s.Transport = url, t
	srv := &http.Server{Handler: s}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // ends with ErrServerClosed
	}()
	s.stop = func() {
		close(s.closed)
		t.CloseIdleConnections()
		_ = srv.Shutdown(context.Background()) // the handlers have been told to end
		<-done
	}
	return s
}

// Close ends the server and all that is open, and waits for it. It may be called again.
func (s *Server) Close() { s.once.Do(s.stop) }

// Count returns how many requests have come.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// errClosed says that Next waits in vain.
var errClosed = errors.New("llmtest: the server is closed")

// Next waits for the next request, which the caller must answer.
func (s *Server) Next(ctx context.Context) (*Exchange, error) {
	select {
	case e := <-s.queue:
		return e, nil
	case <-s.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.count++
	s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	req, err := decode(r, body)
	if err != nil {
		refuse(w, &llm.Error{Status: http.StatusBadRequest, Message: err.Error()})
		return
	}
	e := newExchange(req, w, r)
	if s.script != nil {
		s.play(e)
	} else {
		select {
		case s.queue <- e:
		case <-s.closed:
			return
		case <-r.Context().Done():
			return
		}
	}
	e.serve(s.closed)
}

// play answers from the script. Nothing else answers e meanwhile.
func (s *Server) play(e *Exchange) {
	reply := s.script.next(&e.Request.Request)
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-e.Gone():
		case <-s.closed:
			e.Cut()
		}
	}
	if reply.Err != nil {
		e.Fail(reply.Err)
		return
	}
	e.Answer(reply)
}

// A pipeListener accepts connections that never leave the process.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }
