package slacktest

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An API is the workspace's Web API.
type API struct {
	w    *Workspace
	quit chan struct{}

	mu     sync.Mutex
	faults map[string][]Fault // by method, the next first
	calls  []Call
}

// A Fault is what one call meets instead of success.
type Fault struct {
	Status     int                         // of HTTP, instead of 200; the body is no JSON
	RetryAfter string                      // the header of that name
	Error      string                      // the code of a refusal
	Change     func(answer map[string]any) // of a success; nil leaves it as it is
	Drop       bool                        // the connection breaks instead of an answer
	Applied    bool                        // the call takes effect all the same
	Delay      time.Duration               // before the answer
	Hold       chan struct{}               // the answer waits until it is closed
}

// fails reports whether the caller does not hear of the call's own outcome.
func (f Fault) fails() bool { return f.Status != 0 || f.Error != "" || f.Drop }

// A Call is one call as it came in. Arguments of JSON that are not strings are kept as JSON.
type Call struct {
	Method string
	Args   url.Values
}

func newAPI(w *Workspace) *API {
	return &API{w: w, quit: make(chan struct{}), faults: map[string][]Fault{}}
}

func (a *API) close() { close(a.quit) }

// Fail lets the next calls of a method meet these faults, one each.
func (a *API) Fail(method string, faults ...Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults[method] = append(a.faults[method], faults...)
}

// Calls returns the calls of a method so far, failed ones included.
func (a *API) Calls(method string) []Call {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.calls), func(c Call) bool { return c.Method != method })
}

func (a *API) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/link", a.w.Socket)
	for name, m := range methods() {
		mux.HandleFunc("/api/"+name, func(rw http.ResponseWriter, r *http.Request) { a.serve(rw, r, name, m) })
	}
	mux.HandleFunc("/api/", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, refuse("unknown_method").answer())
	})
	for pattern, f := range map[string]func(*Workspace, http.ResponseWriter, *http.Request){
		"POST /upload/v1/{file}":       receive,
		"GET /files-pri/{file}/{name}": download,
		"GET /signin":                  signIn,
		"POST /responses/{id}":         respond,
	} {
		mux.HandleFunc(pattern, func(rw http.ResponseWriter, r *http.Request) { f(a.w, rw, r) })
	}
	return mux
}

func (a *API) serve(rw http.ResponseWriter, r *http.Request, name string, m method) {
	c, no := read(rw, r)
	f := a.meet(name, c)
	defer a.w.change()

	var v map[string]any
	if no == nil && (!f.fails() || f.Applied) {
		v, no = do(a.w, name, m, c)
	}
	if f.Error != "" {
		no = refuse(f.Error)
	}
	a.wait(r, f)
	scopes := a.w.cfg.Scopes
	if m.app {
		scopes = "connections:write"
	}
	rw.Header().Set("X-OAuth-Scopes", scopes)
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		if f.RetryAfter != "" {
			rw.Header().Set("Retry-After", f.RetryAfter)
		}
		http.Error(rw, "<html>"+http.StatusText(f.Status)+"</html>", f.Status)
	case no != nil && no.after > 0:
		rw.Header().Set("Retry-After", strconv.Itoa(int((no.after+time.Second-1)/time.Second)))
		rw.Header().Set("Content-Type", "application/json; charset=utf-8")
		rw.WriteHeader(http.StatusTooManyRequests)
		answer(rw, no.answer())
	case no != nil:
		answer(rw, no.answer())
	default:
		v["ok"] = true
		if f.Change != nil {
			f.Change(v)
		}
		answer(rw, v)
	}
}

// do makes a call: what it answers, but for "ok".
func do(w *Workspace, name string, m method, c call) (map[string]any, *refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	no := permit(w, m, c)
	if no == nil && w.cfg.Tiers {
		no = w.calls.admit(name, m, c, time.Now())
	}
	if no == nil {
		no = m.check(c)
	}
	if no != nil {
		return nil, no
	}
	return m.do(w, c)
}

// meet notes a call and returns the fault that it meets.
func (a *API) meet(name string, c call) (f Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if left := a.faults[name]; len(left) > 0 {
		f, a.faults[name] = left[0], left[1:]
	}
	a.calls = append(a.calls, Call{name, c.args})
	return f
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

// A call is what one carries.
type call struct {
	args  url.Values
	token string
	form  bool // the token came as an argument
}

// read returns what a call carries. Methods take forms and JSON alike.
func read(rw http.ResponseWriter, r *http.Request) (call, *refused) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	r.Body = http.MaxBytesReader(rw, r.Body, 1<<20)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		args, err := jsonArgs(r)
		if err != nil {
			return call{args: args, token: token}, refuse("invalid_json")
		}
		return call{args: args, token: token}, nil
	}
	if err := r.ParseMultipartForm(1 << 20); err != nil && r.ParseForm() != nil {
		return call{token: token}, refuse("invalid_form_data")
	}
	c := call{args: maps.Clone(r.Form), token: token}
	if t := c.args.Get("token"); t != "" && token == "" {
		c.token, c.form = t, true
	}
	c.args.Del("token")
	return c, nil
}

// jsonArgs returns the members of a JSON object, and the arguments in the address.
func jsonArgs(r *http.Request) (url.Values, error) {
	args := r.URL.Query()
	var body map[string]json.RawMessage
	dec := json.NewDecoder(r.Body)
	if err := dec.Decode(&body); err != nil && r.ContentLength != 0 {
		return args, err
	}
	for name, raw := range body {
		var s string
		switch {
		case json.Unmarshal(raw, &s) != nil:
			s = string(raw)
		case string(raw) == "null":
			continue
		}
		args.Set(name, s)
	}
	return args, nil
}

func answer(rw http.ResponseWriter, v map[string]any) {
	rw.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(rw).Encode(v) // the client may have gone
}

// flag reads an argument that is yes or no.
func (c call) flag(name string) bool {
	yes, _ := strconv.ParseBool(c.args.Get(name))
	return yes
}

// limit returns how many items a page may have.
func limit(w *Workspace, c call, most int) (int, *refused) {
	n := most
	if s := c.args.Get("limit"); s != "" && s != "0" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 0 || n > most {
			return 0, refuse("invalid_limit")
		}
	}
	if w.cfg.PageSize > 0 {
		n = min(n, w.cfg.PageSize)
	}
	return n, nil
}
