package discordtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// An API is Discord's REST.
type API struct {
	n    *Network
	quit chan struct{}

	mu      sync.Mutex
	faults  map[string][]Fault // by route, the next first
	calls   []Call
	limits  limits
	invalid []time.Time // answers 401, 403 and 429
}

// A Fault is what one call meets instead of success.
type Fault struct {
	Status     int           // of HTTP, instead of success; the body is no JSON, but for 429 and with Code
	Code       int           // of Discord's
	RetryAfter time.Duration // of a 429
	Scope      string        // of a 429: "user", "global" or "shared"; empty is "user"
	Bare       bool          // a 429 of Cloudflare: without Discord's headers and body
	Change     func(answer any) any
	Drop       bool          // the connection breaks instead of an answer
	Applied    bool          // the call takes effect all the same
	Delay      time.Duration // before the answer
	Hold       chan struct{} // the answer waits until it is closed; the connection stands
}

// fails reports whether the caller does not hear of the call's own outcome.
func (f Fault) fails() bool { return f.Status != 0 || f.Code != 0 || f.Drop }

// A Call is one call as it came in.
type Call struct {
	Route  string // as in routes: "POST /channels/{channel}/messages"
	Path   string // without version: "/channels/1/messages"
	Query  string
	Body   map[string]any // of JSON, or the part payload_json; a list is under ""
	Files  int
	Status int // of the answer; 0 is none
	Time   time.Time
}

func newAPI(n *Network) *API {
	return &API{n: n, quit: make(chan struct{}), faults: map[string][]Fault{}, limits: limits{}}
}

func (a *API) close() { close(a.quit) }

// Fail lets the next calls of a route meet these faults, one each. Routes are written as in routes.go:
// "PATCH /channels/{channel}/messages/{message}".
func (a *API) Fail(route string, faults ...Fault) {
	if routes()[route].do == nil {
		panic("discordtest: there is no route " + route)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[route] = append(a.faults[route], faults...)
}

// Calls returns the calls of a route so far, failed ones included. An empty route is all.
func (a *API) Calls(route string) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.calls), func(c Call) bool { return route != "" && c.Route != route })
}

// Invalid returns how many answers in the last ten minutes count towards a ban by Cloudflare.
func (a *API) Invalid() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.invalid = slices.DeleteFunc(a.invalid, func(t time.Time) bool { return now.Sub(t) > 10*time.Minute })
	return len(a.invalid)
}

func (a *API) routes() http.Handler {
	mux := http.NewServeMux()
	for name, r := range routes() {
		method, path, _ := strings.Cut(name, " ")
		mux.HandleFunc(method+" /api/{version}"+path, func(rw http.ResponseWriter, hr *http.Request) { a.serve(rw, hr, name, r) })
	}
	mux.HandleFunc("/api/", func(rw http.ResponseWriter, hr *http.Request) {
		a.serve(rw, hr, "", route{open: true, do: func(*Network, *request) (any, *refused) { return nil, plain(http.StatusNotFound) }})
	})
	mux.Handle("/gateway", a.n.Gateway) // clients differ in whether they add a slash
	mux.Handle("/gateway/", a.n.Gateway)
	mux.Handle(resumePath, a.n.Gateway)
	mux.Handle(strings.TrimSuffix(resumePath, "/"), a.n.Gateway)
	mux.HandleFunc("GET /attachments/{channel}/{file}/{name}", func(rw http.ResponseWriter, hr *http.Request) { download(a.n, rw, hr) })
	return mux
}

func (a *API) serve(rw http.ResponseWriter, hr *http.Request, name string, r route) {
	q, no := read(rw, hr)
	f, at := a.meet(name, q)
	defer a.n.change()

	var v any
	if no == nil && (!f.fails() || f.Applied) {
		v, no = a.do(name, r, q, rw.Header())
	}
	if f.fails() {
		no = f.refused()
	}
	a.wait(hr, f)
	status := http.StatusOK
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case no != nil:
		status = no.status
	case v == nil:
		status = http.StatusNoContent
	}
	a.note(at, status, no)
	switch {
	case no != nil && (no.bare || no.message == ""):
		http.Error(rw, "<html>"+http.StatusText(status)+"</html>", status)
	case no != nil:
		no.headers(rw.Header())
		answer(rw, status, no.answer())
	case v == nil:
		rw.WriteHeader(status)
	default:
		if f.Change != nil {
			v = f.Change(v)
		}
		answer(rw, status, v)
	}
}

// refused is what a fault looks like from outside.
func (f Fault) refused() *refused {
	switch {
	case f.Code != 0:
		no := refuse(f.Code)
		no.status = either(f.Status, either(no.status, http.StatusBadRequest))
		no.message = either(no.message, "discordtest fault")
		no.after = f.RetryAfter
		return no
	case f.Status == http.StatusTooManyRequests:
		no := soon(f.RetryAfter, either(f.Scope, "user"))
		no.bare = f.Bare
		return no
	}
	return &refused{status: f.Status}
}

// do makes a call.
func (a *API) do(name string, r route, q *request, h http.Header) (any, *refused) {
	a.n.mu.Lock()
	defer a.n.mu.Unlock()
	if a.n.cfg.Limits || a.banned() {
		if no := a.admit(name, r, q, h); no != nil {
			return nil, no
		}
	}
	if v := q.r.PathValue("version"); v != "v9" && v != "v10" {
		no := plain(http.StatusBadRequest)
		no.code, no.message = 50041, "Invalid API version provided"
		return nil, no
	}
	if !r.open && (a.n.Gateway.reset || q.token != BotToken) {
		return nil, plain(http.StatusUnauthorized)
	}
	if no := r.check(q); no != nil {
		return nil, no
	}
	return r.do(a.n, q)
}

// meet notes a call and returns the fault that it meets, and where it is noted.
func (a *API) meet(name string, q *request) (f Fault, at int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if left := a.faults[name]; len(left) > 0 {
		f, a.faults[name] = left[0], left[1:]
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(q.r.URL.Path, "/api/"), "/")
	a.calls = append(a.calls, Call{Route: name, Path: "/" + path, Query: q.r.URL.RawQuery, Body: q.body, Files: len(q.files), Time: time.Now()})
	return f, len(a.calls) - 1
}

// note notes how a call went.
func (a *API) note(at, status int, no *refused) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls[at].Status = status
	if status == 401 || status == 403 || status == 429 && no.scope != "shared" {
		a.invalid = append(a.invalid, time.Now())
	}
}

// wait delays an answer.
func (a *API) wait(r *http.Request, f Fault) {
	hold := f.Hold
	if hold == nil {
		if f.Delay == 0 {
			return
		}
		hold = make(chan struct{})
		timer := time.AfterFunc(f.Delay, func() { close(hold) })
		defer timer.Stop()
	}
	select {
	case <-hold:
	case <-r.Context().Done():
	case <-a.quit:
	}
}

func answer(rw http.ResponseWriter, status int, v any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(v) // the client may have gone
}
