package slacktest

import (
	"net/http"
	"net/http/httptest"
)

// serve returns the server of a workspace, which does not listen if it is direct.
func serve(h http.Handler, direct bool) *httptest.Server {
	if !direct {
		return httptest.NewServer(h)
	}
	s := httptest.NewUnstartedServer(h)
	s.URL = "http://slack.invalid"
	return s
}

// RoundTrip answers a call of the Web API without a network. So a workspace that is direct can be in
// the bubble of a test with a fake clock, and its rate limits go by that clock.
func (w *Workspace) RoundTrip(r *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	w.server.Config.Handler.ServeHTTP(rec, r)
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}
