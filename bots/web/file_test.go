package web_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
)

// An image that somebody attaches is shown, as what its content is; nothing else is sent to be shown.
func TestImages(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde"
	o := newOffice(t, nil, llmtest.Say("I see."))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", "look", map[string]string{"a.png": png, "page.html": "<script>alert(1)</script>"})
	page := alice.shows(thread, "I see.")
	images := regexp.MustCompile(`<img src="([^"]+)"`).FindAllStringSubmatch(page, -1)
	require.Len(t, images, 1)
	at := images[0][1]
	r, err := http.NewRequest(http.MethodGet, o.server.URL+at, nil)
	require.NoError(t, err)
	resp, err := alice.client.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "image/png", resp.Header.Get("Content-Type"))
	require.Equal(t, "inline; filename*=UTF-8''a.png", resp.Header.Get("Content-Disposition"))
	_, body, _ := alice.get(at)
	require.Equal(t, png, body)
	u, err := url.Parse(at)
	require.NoError(t, err)
	code, _, _ := alice.get("/t/20261201-other-thread" + u.Path[len(thread):])
	require.Equal(t, http.StatusNotFound, code, "it is of another thread")
}

// Of an output that is shown in part the whole can be saved. It is never shown as what it claims to be.
func TestWholeOutput(t *testing.T) {
	o := newOffice(t, nil, llmtest.Call("act", `{"what":"much"}`), llmtest.Say("It is done."))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", "do it", nil)
	press := value.FindStringSubmatch(alice.shows(thread, "May I do this?"))[1]
	alice.post(thread+"/press", url.Values{"action": {"approve"}, "value": {press}})
	page := alice.shows(thread, "It is done.")
	at := regexp.MustCompile(`<a href="([^"]+)">Save all of it</a>`).FindStringSubmatch(page)
	require.NotNil(t, at)
	resp, err := alice.client.Get(o.server.URL + at[1])
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, "application/octet-stream", resp.Header.Get("Content-Type"))
	require.Equal(t, "attachment; filename*=UTF-8''output.txt", resp.Header.Get("Content-Disposition"))
	_, body, _ := alice.get(at[1])
	require.Equal(t, strings.Repeat("did <i>it</i>\n", 50_000), body)
}

// People get a page that says what is wrong, with a way back, and programs get the words.
func TestProblemsArePages(t *testing.T) {
	o := newOffice(t, nil)
	alice := o.browser("alice")
	for _, test := range []struct {
		method, path string
		code         int
		text         string
	}{
		{http.MethodGet, "/nothing", http.StatusNotFound, "Nothing is at this address."},
		{http.MethodGet, "/t/UPPER", http.StatusNotFound, "Nothing is at this address."},
		{http.MethodPost, "/threads", http.StatusBadRequest, "there is nothing in the message: write something"},
		{http.MethodPost, "/t/20261201-thread/press", http.StatusBadRequest, "There is no such button."},
	} {
		for _, accept := range []string{"text/html", "application/json"} {
			r, err := http.NewRequest(test.method, o.server.URL+test.path, nil)
			require.NoError(t, err)
			r.Header.Set("Accept", accept)
			resp, err := alice.client.Do(r)
			require.NoError(t, err)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, test.code, resp.StatusCode, test.path)
			require.Contains(t, resp.Header.Get("Content-Security-Policy"), "default-src 'none'")
			if accept == "text/html" {
				require.Contains(t, string(body), "<p>"+test.text+"</p>")
				require.Contains(t, string(body), `<a href="/">`)
			} else {
				require.Equal(t, test.text+"\n", string(body))
			}
		}
	}
}

// What is asked of the bot itself is answered to who asked.
func TestCommands(t *testing.T) {
	o := newOffice(t, nil, llmtest.Say("Hello."))
	alice, bob := o.browser("alice"), o.browser("bob")
	_, _, thread := alice.say("/threads", "hello", nil)
	alice.shows(thread, "Hello.")
	alice.say(thread+"/say", "export", nil)
	alice.shows(thread, `<a href="`+thread+`/export">Export the log of this thread</a>`)
	bob.say(thread+"/say", "help", nil)
	bob.shows(thread, "<li><code>status</code>")
}
