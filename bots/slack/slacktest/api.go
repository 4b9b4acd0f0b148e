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

// A Call is one call as it came in.
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

// A method is one of the Web API. It returns the answer beside "ok", or a refusal.
type method struct {
	token string // that it takes
	scope string // that the token must have; empty is none, or one of many
	json  bool   // it takes the token in the header only
	do    func(*Workspace, call) (map[string]any, refused)
}

// A call is the arguments of one.
type call struct {
	args url.Values
	body []byte // if it is JSON
}

// refused is the code of a refusal; empty is success.
type refused string

func methods() map[string]method {
	return map[string]method{
		"auth.test":             {token: BotToken, do: authTest},
		"apps.connections.open": {token: AppToken, json: true, do: connectionsOpen},
		"chat.postMessage":      {token: BotToken, scope: "chat:write", do: postMessage},
		"chat.update":           {token: BotToken, scope: "chat:write", do: updateMessage},
		"chat.delete":           {token: BotToken, scope: "chat:write", do: deleteMessage},
		"chat.postEphemeral":    {token: BotToken, scope: "chat:write", do: postEphemeral},
		"conversations.replies": {token: BotToken, do: replies},
		"users.info":            {token: BotToken, scope: "users:read", do: userInfo},
		"users.list":            {token: BotToken, scope: "users:read", do: userList},
		"views.open":            {token: BotToken, json: true, do: openView},
	}
}

func (a *API) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/link", a.w.Socket)
	for name, m := range methods() {
		mux.HandleFunc("/api/"+name, func(rw http.ResponseWriter, r *http.Request) { a.serve(rw, r, name, m) })
	}
	mux.HandleFunc("/api/", func(rw http.ResponseWriter, _ *http.Request) { answer(rw, nil, "unknown_method") })
	return mux
}

func (a *API) serve(rw http.ResponseWriter, r *http.Request, name string, m method) {
	c, token := read(rw, r)
	a.mu.Lock()
	var f Fault
	if left := a.faults[name]; len(left) > 0 {
		f, a.faults[name] = left[0], left[1:]
	}
	a.calls = append(a.calls, Call{name, c.args})
	a.mu.Unlock()
	defer a.w.change()

	fails := f.Status != 0 || f.Error != "" || f.Drop
	v, no := map[string]any(nil), refused(f.Error)
	if !fails || f.Applied {
		var refusal refused
		if refusal = a.authorise(m, token); refusal == "" {
			v, refusal = m.do(a.w, c)
		}
		if !fails {
			no = refusal
		}
	}
	a.wait(r, f)
	switch {
	case f.Drop:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		if f.RetryAfter != "" {
			rw.Header().Set("Retry-After", f.RetryAfter)
		}
		http.Error(rw, "<html>"+http.StatusText(f.Status)+"</html>", f.Status)
		return
	case name == "auth.test":
		rw.Header().Set("X-OAuth-Scopes", a.w.cfg.Scopes)
	}
	if f.Change != nil && no == "" {
		f.Change(v)
	}
	answer(rw, v, no)
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

// read returns the arguments of a call and its token: of the header, or with "form:" before it.
func read(rw http.ResponseWriter, r *http.Request) (c call, token string) {
	token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	r.Body = http.MaxBytesReader(rw, r.Body, 1<<20)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		var body json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&body) // an empty body is allowed
		return call{body: body, args: r.URL.Query()}, token
	}
	_ = r.ParseForm() // what is missing is refused by the method
	if t := r.Form.Get("token"); t != "" && token == "" {
		token = "form:" + t
	}
	args := maps.Clone(r.Form)
	args.Del("token")
	return call{args: args}, token
}

func (a *API) authorise(m method, token string) refused {
	plain, form := strings.CutPrefix(token, "form:")
	switch {
	case plain == "", form && m.json:
		return "not_authed"
	case plain == m.token && m.scope != "" && !slices.Contains(strings.Split(a.w.cfg.Scopes, ","), m.scope):
		return "missing_scope"
	case plain == m.token:
		return ""
	case plain == BotToken || plain == AppToken:
		return "not_allowed_token_type"
	}
	return "invalid_auth"
}

func answer(rw http.ResponseWriter, v map[string]any, no refused) {
	if v == nil || no != "" {
		v = map[string]any{}
	}
	v["ok"] = no == ""
	if no != "" {
		v["error"] = string(no)
	}
	rw.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(rw).Encode(v) // the client may have gone
}

func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return otherwise
	}
	return n
}
