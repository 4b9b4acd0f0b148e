package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// A follower is one browser that follows a thread.
type follower struct {
	page  *Page
	room  *room
	visit visit
	rw    http.ResponseWriter
	ctl   *http.ResponseController
	after store.Pos // items up to here were sent
	notes int       // likewise
	live  string
	list  string
	state string
}

// stream sends what is new in a thread until the browser goes or the program ends. Each item carries the
// position in the log up to which the browser has all, so that it goes on from there when it comes back.
func (p desk) stream(rw http.ResponseWriter, r *http.Request, v visit) {
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = r.URL.Query().Get("after")
	}
	pos, err := strconv.ParseUint(after, 10, 64)
	if err != nil && after != "" {
		http.Error(rw, "The position is not a number.", http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	rw.Header().Set("Cache-Control", "no-store")
	rw.Header().Set("X-Accel-Buffering", "no") // a proxy is to pass on each piece at once
	room, leave := p.enter(v.thread.String())
	defer leave()
	f := &follower{page: p.Page, room: room, visit: v, rw: rw, ctl: http.NewResponseController(rw), after: store.Pos(pos)}
	_, f.notes = p.notesFor(v.thread.String(), v.person.ID, 0)
	f.follow(r.Context())
}

func (f *follower) follow(ctx context.Context) {
	if f.send("retry: 1000\n\n") != nil {
		return
	}
	for {
		g, err := f.room.look(ctx, f.page.cfg.Log, f.after, 0)
		if err == nil {
			err = f.bring(ctx, g)
		}
		if err != nil || g.closed {
			if err != nil && ctx.Err() == nil {
				f.page.cfg.Logger.Debug("a browser is followed no more", "session", f.room.session, "err", err)
			}
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-g.changed:
		case <-time.After(beat):
			if f.send(": still here\n\n") != nil {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settle):
		}
	}
}

// bring sends what is new.
func (f *follower) bring(ctx context.Context, g glance) error {
	viewer := f.page.viewer(f.visit)
	var b bytes.Buffer
	for _, i := range g.items {
		b.Reset()
		if err := f.page.renderer.Item(&b, i, viewer); err != nil {
			return err
		}
		if err := f.event("item", "", map[string]string{"id": i.ID, "html": b.String()}); err != nil {
			return err
		}
	}
	if g.pos > f.after { // all up to there has been sent
		f.after = g.pos
		if err := f.event("seen", strconv.FormatUint(uint64(g.pos), 10), ""); err != nil {
			return err
		}
	}
	live, err := f.page.live(f.room.session)
	if err != nil {
		return err
	}
	if err := f.once(&f.live, "live", string(live)); err != nil {
		return err
	}
	state := map[string]any{"running": g.sum.Turn, "title": title(f.page.cfg.Redact(g.sum.Title)) + " – Heddle"}
	if err := f.once(&f.state, "state", state); err != nil {
		return err
	}
	notes, last := f.page.notesFor(f.room.session, f.visit.person.ID, f.notes)
	for _, n := range notes {
		html, err := f.page.renderer.Note(n.text)
		if err == nil {
			err = f.event("note", "", string(html))
		}
		if err != nil {
			return err
		}
	}
	f.notes = last
	if len(g.items) == 0 && f.list != "" {
		return nil // the list changes with the log
	}
	rows, err := f.page.threads(ctx, f.visit.id)
	if err != nil {
		return err
	}
	b.Reset()
	if err := f.page.renderer.List(&b, rows); err != nil {
		return err
	}
	return f.once(&f.list, "list", b.String())
}

// once sends an event unless it is the same as the one before.
func (f *follower) once(last *string, name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil || *last == string(data) {
		return err
	}
	*last = string(data)
	return f.send(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
}

func (f *follower) event(name, id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if id != "" {
		id = "id: " + id + "\n"
	}
	return f.send(fmt.Sprintf("event: %s\n%sdata: %s\n\n", name, id, data))
}

// send writes one piece. A browser that does not take it in time is cut off, and comes back.
func (f *follower) send(s string) error {
	_ = f.ctl.SetWriteDeadline(time.Now().Add(writeIn)) // it fails where there is none to be set
	if _, err := f.rw.Write([]byte(s)); err != nil {
		return err
	}
	return f.ctl.Flush()
}
