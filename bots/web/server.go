package web

import (
	"bytes"
	"errors"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/web/story"
	"github.com/heddle-bot/heddle/store"
)

// policy is what a browser may do on a page: run our script, use our style, show our images, talk to us.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Handler answers everything that a browser asks of the page.
func (p *Page) Handler() http.Handler {
	s := site{p}
	d := desk{s}
	mux := http.NewServeMux()
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", assets()))
	mux.HandleFunc("GET /", s.notFound)
	mux.HandleFunc("GET /login", s.loginPage)
	mux.HandleFunc("POST /login", s.logIn)
	mux.HandleFunc("POST /logout", s.logOut)
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request, visit){
		"GET /{$}":                  s.home,
		"POST /threads":             d.begin,
		"GET /t/{thread}":           s.show,
		"GET /t/{thread}/events":    d.stream,
		"POST /t/{thread}/say":      d.say,
		"POST /t/{thread}/press":    d.press,
		"POST /t/{thread}/edit":     d.edit,
		"GET /t/{thread}/export":    s.export,
		"GET /t/{thread}/files/{a}": s.file,
	} {
		mux.HandleFunc(pattern, s.within(h))
	}
	c := console{s}
	mux.HandleFunc("GET /console/{$}", c.operator(c.overview))
	mux.HandleFunc("GET /console/s/{session...}", c.operator(c.session))
	mux.HandleFunc("GET /console/export/{session...}", c.operator(c.log))
	return s.guard(http.NewCrossOriginProtection().Handler(mux))
}

// A site is the pages, a desk takes in what people do on them, and the console is for operators.
type (
	site    struct{ *Page }
	desk    struct{ site }
	console struct{ site }
)

// guard puts the headers on every answer, and refuses names that do not lead here: a page elsewhere could
// have its name lead to this machine, and then talk to us as if it were ours.
func (p site) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !p.leadsHere(r.Host) {
			http.Error(rw, "This name does not lead here. Whoever runs Heddle can add it to web.hosts.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// leadsHere reports whether a Host header names this server.
func (p site) leadsHere(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() || slices.ContainsFunc(p.cfg.Hosts, func(s string) bool { return strings.EqualFold(s, host) })
}

func assets() http.Handler {
	files := http.FileServerFS(story.Assets())
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("v") != "" {
			rw.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		files.ServeHTTP(rw, r)
	})
}

// A visit is who asks for what.
type visit struct {
	person bots.Person
	id     string      // of the thread; empty outside of one
	thread bots.Thread // zero outside of one
	script bool        // it is our script that asks: it wants no page as an answer
}

// threadID is what ids of threads look like, so that no request makes up sessions of another form.
func threadID(id string) bool {
	return len(id) >= 8 && len(id) <= 64 && strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz.-") == ""
}

// within is a handler for those who are logged in.
func (p site) within(h func(http.ResponseWriter, *http.Request, visit)) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		v := visit{id: r.PathValue("thread"), script: strings.Contains(r.Header.Get("Accept"), "application/json")}
		var ok bool
		if v.person, ok = p.cfg.Auth.person(r, time.Now()); !ok {
			if v.script || r.Method != http.MethodGet || strings.HasSuffix(r.URL.Path, "/events") {
				p.problem(rw, r, http.StatusUnauthorized, "You are not logged in.")
				return
			}
			http.Redirect(rw, r, "/login", http.StatusSeeOther)
			return
		}
		if v.id != "" {
			if !threadID(v.id) {
				p.notFound(rw, r)
				return
			}
			v.thread = thread(v.id)
		}
		rw.Header().Set("Cache-Control", "no-store")
		h(rw, r, v)
	}
}

// fail answers that something went wrong.
func (p site) fail(rw http.ResponseWriter, r *http.Request, what string, err error) {
	if errors.Is(err, errClosed) {
		p.problem(rw, r, http.StatusServiceUnavailable, err.Error())
		return
	}
	p.cfg.Logger.Error("page not served", "what", what, "err", err)
	p.problem(rw, r, http.StatusInternalServerError, "That did not work, because of a fault of Heddle's. Please try again.")
}

// write sends a page that write makes, or the fault.
func (p site) write(rw http.ResponseWriter, r *http.Request, what string, write func(*bytes.Buffer) error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		p.fail(rw, r, what, err)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = rw.Write(b.Bytes()) // the browser may have gone
}

func (p site) loginPage(rw http.ResponseWriter, r *http.Request) {
	if _, ok := p.cfg.Auth.person(r, time.Now()); ok {
		http.Redirect(rw, r, "/", http.StatusSeeOther)
		return
	}
	l := story.Login{}
	if token := r.URL.Query().Get("token"); token != "" {
		name, ok := p.cfg.Auth.known(token)
		if l = (story.Login{Token: token, Name: name, Asks: name == ""}); !ok {
			l = story.Login{Problem: "This link was used before, or is of an earlier start."}
		}
	}
	rw.Header().Set("Cache-Control", "no-store")
	p.write(rw, r, "login", func(b *bytes.Buffer) error { return p.renderer.Login(b, l) })
}

// logIn takes the token of a link. A link alone does not: programs that preview links would use it up.
func (p site) logIn(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, 10_000)
	token, name := r.PostFormValue("token"), strings.TrimSpace(r.PostFormValue("name"))
	cookie, err := p.cfg.Auth.login(token, name, time.Now())
	if err != nil {
		_, ok := p.cfg.Auth.known(token)
		l := story.Login{Problem: err.Error(), Name: name}
		if ok {
			l.Token, l.Asks = token, true
		}
		rw.WriteHeader(http.StatusForbidden)
		p.write(rw, r, "login", func(b *bytes.Buffer) error { return p.renderer.Login(b, l) })
		return
	}
	http.SetCookie(rw, cookie)
	http.Redirect(rw, r, "/", http.StatusSeeOther)
}

func (p site) logOut(rw http.ResponseWriter, r *http.Request) {
	gone := p.cfg.Auth.cookie("", time.Unix(0, 0))
	gone.MaxAge = -1
	http.SetCookie(rw, gone)
	http.Redirect(rw, r, "/login", http.StatusSeeOther)
}

func (p site) home(rw http.ResponseWriter, r *http.Request, v visit) {
	rows, err := p.threads(r.Context(), "")
	if err != nil {
		p.fail(rw, r, "threads", err)
		return
	}
	p.write(rw, r, "home", func(b *bytes.Buffer) error {
		return p.renderer.Page(b, story.Page{Title: "Heddle", Banner: p.cfg.Banner, Viewer: p.viewer(v), Threads: rows})
	})
}

// show is a thread's page, which is whole without the script.
func (p site) show(rw http.ResponseWriter, r *http.Request, v visit) {
	most := firstItems
	if r.URL.Query().Get("all") != "" {
		most = 0
	}
	room, leave := p.enter(v.thread.String())
	defer leave()
	g, err := room.look(r.Context(), p.cfg.Log, 0, most)
	if err != nil {
		p.fail(rw, r, "thread", err)
		return
	}
	rows, err := p.threads(r.Context(), v.id)
	if err != nil {
		p.fail(rw, r, "threads", err)
		return
	}
	live, err := p.live(v.thread.String())
	if err != nil {
		p.fail(rw, r, "live", err)
		return
	}
	t := &story.Thread{ID: v.id, Title: title(p.cfg.Redact(g.sum.Title)), Items: g.items, Earlier: g.skipped, Pos: strconv.FormatUint(uint64(g.pos), 10), Running: g.sum.Turn, Live: live}
	var told []string
	notes, _ := p.notesFor(v.thread.String(), v.person.ID, 0)
	for _, n := range notes {
		told = append(told, n.text)
	}
	page := story.Page{Title: t.Title + " – Heddle", Banner: p.cfg.Banner, Viewer: p.viewer(v), Threads: rows, Thread: t}
	if len(told) > 0 {
		page.Notice = told[len(told)-1]
	}
	p.write(rw, r, "thread", func(b *bytes.Buffer) error { return p.renderer.Page(b, page) })
}

// viewer is who looks, as the story knows them.
func (p *Page) viewer(v visit) story.Viewer {
	return story.Viewer{Person: v.person, Thread: v.id, Redact: p.cfg.Redact, Operator: p.cfg.Auth.operator(v.person)}
}

func title(s string) string {
	if strings.TrimSpace(s) == "" {
		return "New thread"
	}
	return s
}

// live returns what a session is doing and is in no log yet.
func (p *Page) live(session string) (template.HTML, error) {
	l := p.cfg.Agent.Live(session)
	l.Text = p.cfg.Redact(l.Text)
	for i := range l.Calls {
		l.Calls[i].Title, l.Calls[i].Tail = p.cfg.Redact(l.Calls[i].Title), p.cfg.Redact(l.Calls[i].Tail)
	}
	return p.renderer.Live(l)
}

// export sends the log of a thread, one event a line.
func (p site) export(rw http.ResponseWriter, r *http.Request, v visit) {
	var b bytes.Buffer
	n, err := store.Export(r.Context(), p.cfg.Log, v.thread.String(), &b)
	switch {
	case err != nil:
		p.fail(rw, r, "export", err)
	case n == 0:
		p.notFound(rw, r)
	default:
		rw.Header().Set("Content-Type", "application/x-ndjson")
		rw.Header().Set("Content-Disposition", `attachment; filename="`+v.id+`.jsonl"`)
		_, _ = rw.Write([]byte(p.cfg.Redact(b.String())))
	}
}

// file sends a file that a call has sent into the thread, the whole of an output that is shown in part, or an
// image that somebody attached. Only images are
// shown, by the type that the agent has found in their content; all else is saved: what is in it is nobody's
// word.
func (p site) file(rw http.ResponseWriter, r *http.Request, v visit) {
	name := r.PathValue("a")
	room, leave := p.enter(v.thread.String())
	defer leave()
	g, err := room.look(r.Context(), p.cfg.Log, 0, 0)
	if err != nil {
		p.fail(rw, r, "file", err)
		return
	}
	typ, known := "application/octet-stream", false
	for _, item := range g.items {
		if c := item.Call; c != nil && c.Finished != nil {
			f := c.Finished
			known = known || f.Artefact == name || f.Sent != nil && f.Sent.Artefact == name
		}
		for _, a := range item.Files {
			if a.Artefact == name && a.Kind == agent.ImageFile {
				typ, known = a.Type, true
			}
		}
	}
	if !known || p.cfg.Artefact == nil {
		p.notFound(rw, r)
		return
	}
	content, err := p.cfg.Artefact(r.Context(), name)
	switch {
	case err != nil:
		p.fail(rw, r, "file", err)
	case p.cfg.Redact(string(content)) != string(content):
		p.problem(rw, r, http.StatusForbidden, "This file holds a secret of the service.")
	default:
		how := "attachment"
		if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, typ) {
			how = "inline"
		} else {
			typ = "application/octet-stream"
		}
		rw.Header().Set("Content-Type", typ)
		rw.Header().Set("Content-Disposition", how+"; filename*=UTF-8''"+url.PathEscape(r.URL.Query().Get("name")))
		_, _ = rw.Write(content)
	}
}
