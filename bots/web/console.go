package web

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/web/story"
	"github.com/heddle-bot/heddle/store"
)

// This file is the console: what an operator sees of all networks. It shows, and changes nothing: cards are
// answered in their threads, under the authority that holds there.
//
// Direct messages of other networks are among what it shows, so it is for operators alone.

// A Network is how the connection to a network is, for the console.
type Network struct {
	Title      string
	Connected  bool
	Since      time.Time
	LastEvent  time.Time // zero: none yet
	Reconnects int
	LastError  string
}

// Limits of the console.
const (
	maxSessions = 200  // that are shown
	maxLooked   = 2000 // that are looked at for a search, the newest
)

// operator is within for those who may see everything.
func (c console) operator(h func(http.ResponseWriter, *http.Request, visit)) http.HandlerFunc {
	return c.within(func(rw http.ResponseWriter, r *http.Request, v visit) {
		if !c.cfg.Auth.operator(v.person) {
			c.problem(rw, r, http.StatusForbidden, "The console is for operators. Whoever runs Heddle can name you in web.operators.")
			return
		}
		h(rw, r, v)
	})
}

// overview is the console's first page.
func (c console) overview(rw http.ResponseWriter, r *http.Request, v visit) {
	page := story.Console{Viewer: c.viewer(v), Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	if c.cfg.Networks != nil {
		for _, n := range c.cfg.Networks() {
			n.LastError = c.cfg.Redact(n.LastError)
			page.Networks = append(page.Networks, story.NetworkRow(n))
		}
	}
	for sum, err := range c.cfg.Log.Sessions(r.Context(), store.Query{Limit: maxLooked}) {
		var row story.SessionRow
		if err == nil {
			row, err = c.row(r, sum)
		}
		if err != nil {
			c.fail(rw, r, "console", err)
			return
		}
		if row.Waiting > 0 {
			page.Waiting = append(page.Waiting, row)
		}
		about := strings.ToLower(row.Session + "\n" + row.Title)
		switch {
		case !strings.Contains(about, strings.ToLower(page.Query)):
		case len(page.Sessions) == maxSessions:
			page.More = true
		default:
			page.Sessions = append(page.Sessions, row)
		}
	}
	c.write(rw, r, "console", func(b *bytes.Buffer) error { return c.renderer.Console(b, page) })
}

func (c console) row(r *http.Request, sum store.Summary) (story.SessionRow, error) {
	is, err := c.summary(r.Context(), sum)
	network, _, _ := strings.Cut(sum.Session, "/")
	return story.SessionRow{
		Session: sum.Session, Network: network, Tokens: is.Tokens, Steps: is.Steps,
		ThreadRow: story.ThreadRow{Title: c.cfg.Redact(is.Title), Updated: sum.Updated, Running: is.Turn != 0, Waiting: is.Waiting},
	}, err
}

// one finds a session by the path; ok is false if there is none.
func (c console) one(r *http.Request) (sum store.Summary, ok bool, err error) {
	id := r.PathValue("session")
	if _, err := bots.ParseThread(id); err != nil {
		return sum, false, nil
	}
	for sum, err := range c.cfg.Log.Sessions(r.Context(), store.Query{Prefix: id}) {
		if err != nil || sum.Session == id {
			return sum, err == nil, err
		}
	}
	return sum, false, nil
}

// session shows one session as its story, with no buttons.
func (c console) session(rw http.ResponseWriter, r *http.Request, v visit) {
	sum, ok, err := c.one(r)
	switch {
	case err != nil:
		c.fail(rw, r, "session", err)
		return
	case !ok:
		c.notFound(rw, r)
		return
	}
	most := firstItems
	if r.URL.Query().Get("all") != "" {
		most = 0
	}
	room, leave := c.enter(sum.Session)
	defer leave()
	row, err := c.row(r, sum)
	var g glance
	if err == nil {
		g, err = room.look(r.Context(), c.cfg.Log, 0, most)
	}
	if err != nil {
		c.fail(rw, r, "session", err)
		return
	}
	page := story.Console{Viewer: c.viewer(v), Session: &row, Items: g.items, Earlier: g.skipped}
	c.write(rw, r, "session", func(b *bytes.Buffer) error { return c.renderer.Console(b, page) })
}

// log sends the events of any session.
func (c console) log(rw http.ResponseWriter, r *http.Request, v visit) {
	sum, ok, err := c.one(r)
	switch {
	case err != nil:
		c.fail(rw, r, "export", err)
	case !ok:
		c.notFound(rw, r)
	default:
		v.thread, _ = bots.ParseThread(sum.Session) // one has parsed it
		v.id = v.thread.ID
		c.export(rw, r, v)
	}
}
