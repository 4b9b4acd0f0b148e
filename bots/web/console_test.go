package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
)

// The console shows operators all that there is, and lets them change nothing.
func TestConsole(t *testing.T) {
	o := newOffice(t, nil, llmtest.Call("act", `{"what":"now"}`))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", "deploy with "+secret, nil)
	alice.shows(thread, "May I do this?")
	session := "web/local/page/" + strings.TrimPrefix(thread, "/t/")

	olga := o.known("o")
	page := olga.shows("/console/", "1 open")
	require.Contains(t, page, "/console/s/"+session)
	require.Contains(t, page, "deploy with [masked]")
	require.Contains(t, page, "wrong token [masked]")
	require.NotContains(t, page, secret)
	require.Contains(t, olga.shows("/console/?q=DEPLOY", "waits"), session)
	require.Contains(t, olga.shows("/console/?q=web%2F", "waits"), session)
	require.NotContains(t, olga.shows("/console/?q=slack%2F", "No session matches."), ">waits<")

	page = olga.shows("/console/s/"+session, "May I do this?")
	require.Contains(t, page, "It is answered in its thread.")
	require.Contains(t, page, "deploy with [masked]")
	require.NotContains(t, page, secret)
	require.Equal(t, 1, strings.Count(page, "<form"), "to log out")
	code, export, _ := olga.get("/console/export/" + session)
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, export, `"kind":"agent.ApprovalAsked"`)
	require.NotContains(t, export, secret)

	for _, path := range []string{"s/" + session + "x", "s/web", "s/web/local/page/%00", "export/slack/T/C/1.2", "s/../../x"} {
		code, _, _ := olga.get("/console/" + path)
		require.Contains(t, []int{http.StatusNotFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect}, code, path)
	}
}

// Who is no operator gets nothing of it, and no link to it.
func TestConsoleIsForOperators(t *testing.T) {
	o := newOffice(t, nil, llmtest.Say("Hello."))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", "hello", nil)
	alice.shows(thread, "Hello.")
	session := "web/local/page/" + strings.TrimPrefix(thread, "/t/")
	for _, b := range []browser{alice, o.known("c"), o.browser("")} {
		for _, path := range []string{"/console/", "/console/s/" + session, "/console/export/" + session} {
			code, body, to := b.get(path)
			if to == "/login" {
				require.Equal(t, http.StatusSeeOther, code)
				continue
			}
			require.Equal(t, http.StatusForbidden, code, path)
			require.Contains(t, body, "web.operators")
		}
	}
	require.NotContains(t, alice.shows("/", "hello"), "/console/")
	require.Contains(t, o.known("o").shows("/", "hello"), "/console/")
}
