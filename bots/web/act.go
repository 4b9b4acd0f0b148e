package web

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// This file is what people do: each request becomes an event, which is durable when it is answered.

// Limits of what a person sends at once. The agent has its own for files, which are told in the thread.
const (
	maxRequest = 64 << 20 // bytes, files included
	maxWords   = 100_000  // bytes of one message
	maxFiles   = 10
)

// done answers a request that was taken: with the page, or with nothing to our script.
func done(rw http.ResponseWriter, r *http.Request, v visit, id string) {
	if v.script {
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(rw, r, "/t/"+id, http.StatusSeeOther)
}

// begin begins a thread.
func (p desk) begin(rw http.ResponseWriter, r *http.Request, v visit) {
	id := newID(time.Now())
	v.script = false // there is a new page to go to
	p.hear(rw, r, v, id, false)
}

// say says something in a thread.
func (p desk) say(rw http.ResponseWriter, r *http.Request, v visit) {
	p.hear(rw, r, v, v.id, true)
}

// hear takes in a message.
func (p desk) hear(rw http.ResponseWriter, r *http.Request, v visit, id string, reply bool) {
	text, files, err := p.message(rw, r)
	if err != nil {
		p.problem(rw, r, http.StatusBadRequest, err.Error())
		return
	}
	said := bots.Said{
		ID: newID(time.Now()), Thread: thread(id), By: v.person, Text: text, Files: files,
		Mention: true, Reply: reply, Time: time.Now(),
	}
	if err := p.deliver(r.Context(), said); err != nil {
		p.fail(rw, r, "message", err)
		return
	}
	done(rw, r, v, id)
}

// message reads what somebody writes and attaches.
func (p desk) message(rw http.ResponseWriter, r *http.Request) (text string, files []bots.File, err error) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxRequest)
	if err := r.ParseMultipartForm(8 << 20); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return "", nil, fmt.Errorf("that is too much at once: at most %d MiB with all files", maxRequest>>20)
		}
		return "", nil, errors.New("the message did not come whole: send it again")
	}
	text = strings.TrimSpace(r.PostFormValue("text"))
	if len(text) > maxWords {
		return "", nil, fmt.Errorf("the message has %d bytes, and at most %d are taken: attach it as a file", len(text), maxWords)
	}
	if r.MultipartForm != nil {
		defer func() { _ = r.MultipartForm.RemoveAll() }()
		for _, h := range r.MultipartForm.File["file"] {
			f, err := p.attach(h)
			if err != nil {
				return "", nil, err
			}
			files = append(files, f)
		}
	}
	switch {
	case len(files) > maxFiles:
		return "", nil, fmt.Errorf("those are %d files, and at most %d are taken at once", len(files), maxFiles)
	case text == "" && len(files) == 0:
		return "", nil, errors.New("there is nothing in the message: write something")
	}
	return text, files, nil
}

func (p desk) attach(h *multipart.FileHeader) (bots.File, error) {
	f, err := h.Open()
	if err != nil {
		return bots.File{}, fmt.Errorf("reading %s: %w", h.Filename, err)
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return bots.File{}, fmt.Errorf("reading %s: %w", h.Filename, err)
	}
	return bots.File{Ref: p.uploads.keep(content), Name: h.Filename, Type: h.Header.Get("Content-Type"), Size: int64(len(content))}, nil
}

// press takes in a press on a button.
func (p desk) press(rw http.ResponseWriter, r *http.Request, v visit) {
	r.Body = http.MaxBytesReader(rw, r.Body, 1<<20)
	action := bots.Action(r.PostFormValue("action"))
	switch action {
	case bots.Approve, bots.Deny, bots.Stop, bots.Choose:
	default:
		p.problem(rw, r, http.StatusBadRequest, "There is no such button.")
		return
	}
	reason := ""
	if action != bots.Approve && action != bots.Stop {
		reason = strings.TrimSpace(r.PostFormValue("reason"))
	}
	err := p.deliver(r.Context(), bots.Clicked{
		ID: "press/" + rand.Text(), Thread: v.thread, By: v.person, Action: action, Value: r.PostFormValue("value"), Reason: reason,
	})
	if err != nil {
		p.fail(rw, r, "press", err)
		return
	}
	done(rw, r, v, v.id)
}

// edit takes in new words for a message of the same person's.
func (p desk) edit(rw http.ResponseWriter, r *http.Request, v visit) {
	r.Body = http.MaxBytesReader(rw, r.Body, 1<<20)
	id, text := r.PostFormValue("message"), strings.TrimSpace(r.PostFormValue("text"))
	if id == "" || text == "" || len(text) > maxWords {
		p.problem(rw, r, http.StatusBadRequest, "There is nothing in the message: write something.")
		return
	}
	err := p.deliver(r.Context(), bots.Edited{ID: "edit/" + rand.Text(), Said: bots.Said{ID: id, Thread: v.thread, By: v.person, Text: text, Reply: true, Time: time.Now()}})
	if err != nil {
		p.fail(rw, r, "edit", err)
		return
	}
	done(rw, r, v, v.id)
}
