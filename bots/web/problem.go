package web

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/heddle-bot/heddle/bots/web/story"
)

// problem answers that something is not as it was asked for: with a page to people, who have come from a form
// or a link, and with the bare words to our script and to programs.
func (p site) problem(rw http.ResponseWriter, r *http.Request, code int, text string) {
	var b bytes.Buffer
	if !strings.Contains(r.Header.Get("Accept"), "text/html") || p.renderer.Problem(&b, story.Problem{Title: titles(code), Text: text}) != nil {
		http.Error(rw, text, code)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.WriteHeader(code)
	_, _ = rw.Write(b.Bytes()) // the browser may have gone
}

// notFound answers that there is nothing at an address.
func (p site) notFound(rw http.ResponseWriter, r *http.Request) {
	p.problem(rw, r, http.StatusNotFound, "Nothing is at this address.")
}

// titles says in a few words what a code means to a person.
func titles(code int) string {
	switch code {
	case http.StatusNotFound:
		return "There is nothing here"
	case http.StatusUnauthorized:
		return "You are not logged in"
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		return "That did not work"
	}
	return "That cannot be done"
}
