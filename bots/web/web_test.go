package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/web"
	"github.com/heddle-bot/heddle/store/bolt"
	"github.com/heddle-bot/heddle/tools"
)

// An office is a page with the real agent behind it. The model answers what the test has it answer.
type office struct {
	t      *testing.T
	auth   *web.Auth
	page   *web.Page
	server *httptest.Server
	ran    chan string
}

const secret = "hunter2-hunter2"

func newOffice(t *testing.T, approvers []string, replies ...llmtest.Reply) *office {
	o := &office{t: t, ran: make(chan string, 10)}
	var err error
	o.auth, err = web.NewAuth(bytes.Repeat([]byte("k"), 32), false,
		web.Login{Name: "carol", Token: strings.Repeat("c", 30)}, web.Login{Name: "olga", Token: strings.Repeat("o", 30), Operator: true})
	require.NoError(t, err)
	log, err := bolt.Open(filepath.Join(t.TempDir(), "log.db"), bolt.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	registry, err := tools.NewRegistry(o.act())
	require.NoError(t, err)
	dir := t.TempDir()
	model := llmtest.NewModel(replies...)
	var p *web.Page
	redact := func(s string) string { return strings.ReplaceAll(s, secret, "[masked]") }
	a, err := agent.New(agent.Config{
		Log: log, Artefacts: log, Tools: registry, Replica: "r", Audience: true, Redact: redact,
		Sources: agent.Sources{Fetch: func(ctx context.Context, session, ref string) (io.ReadCloser, error) {
			return bots.Sources(p).Fetch(ctx, session, ref)
		}},
		Settings: func(string) (agent.Settings, error) {
			return agent.Settings{Workspace: "w", Dir: dir, Model: model, ModelName: "m", Approvers: approvers}, nil
		},
	})
	require.NoError(t, err)
	p, err = web.New(web.Config{Agent: a, Log: log, Artefact: log.Artefact, Auth: o.auth, Version: "1", Redact: redact, Hosts: []string{"heddle.example"}, Networks: func() []web.Network {
		return []web.Network{{Title: "Discord", LastError: "wrong token " + secret, Reconnects: 3}}
	}})
	require.NoError(t, err)
	o.page = p
	b, err := bots.New(bots.Config{Platform: p, Agent: a, Log: log, Artefact: log.Artefact, Redact: redact, Channel: func(bots.Thread) bots.Channel {
		return bots.Channel{Model: "m", Models: []string{"m"}}
	}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { require.NoError(t, a.Run(ctx)) })
	wg.Go(func() { require.NoError(t, b.Run(ctx)) })
	o.server = httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		cancel()
		o.server.CloseClientConnections()
		o.server.Close()
		wg.Wait()
	})
	require.Eventually(t, func() bool { return p.Health().Connected }, 10*time.Second, time.Millisecond)
	return o
}

// act is a tool that changes something.
func (o *office) act() tools.Tool {
	return tools.Tool{
		Name: "act", Description: "Acts in this test.", Effect: tools.Action,
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"what":{"type":"string","description":"what"}}}`),
		Title: func(args json.RawMessage) string { return "act " + string(args) },
		Preview: func(_ context.Context, c tools.Call) (tools.Preview, error) {
			return tools.Preview{Kind: tools.Diff, Text: "--- a\n+++ b\n@@ -1 +1 @@\n-old <b>\n+" + string(c.Args), Digest: "digest"}, nil
		},
		Run: func(_ context.Context, c tools.Call) (tools.Result, error) {
			o.ran <- string(c.Args)
			if strings.Contains(string(c.Args), "much") {
				return tools.Result{Text: strings.Repeat("did <i>it</i>\n", 50_000)}, nil
			}
			return tools.Result{Text: "did <i>it</i>", Note: "1 thing"}, nil
		},
	}
}

// A browser is somebody's, logged in.
type browser struct {
	*office
	client *http.Client
}

func (o *office) browser(name string) browser {
	jar, err := cookiejar.New(nil)
	require.NoError(o.t, err)
	b := browser{o, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if name != "" {
		code, _, _ := b.post("/login", url.Values{"token": {o.auth.Once()}, "name": {name}})
		require.Equal(o.t, http.StatusSeeOther, code)
	}
	return b
}

// known is the browser of somebody whom the configuration lets in, by the letter of their token.
func (o *office) known(letter string) browser {
	b := o.browser("")
	code, _, _ := b.post("/login", url.Values{"token": {strings.Repeat(letter, 30)}})
	require.Equal(o.t, http.StatusSeeOther, code)
	return b
}

func (b browser) do(r *http.Request) (code int, body, to string) {
	b.t.Helper()
	resp, err := b.client.Do(r)
	require.NoError(b.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	return resp.StatusCode, string(text), resp.Header.Get("Location")
}

func (b browser) get(path string) (code int, body, to string) {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, b.server.URL+path, nil)
	require.NoError(b.t, err)
	return b.do(r)
}

func (b browser) post(path string, form url.Values) (code int, body, to string) {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.server.URL+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// say begins a thread, or goes on in one, with files by name.
func (b browser) say(path, text string, files map[string]string) (code int, body, to string) {
	b.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	require.NoError(b.t, w.WriteField("text", text))
	for name, content := range files {
		part, err := w.CreateFormFile("file", name)
		require.NoError(b.t, err)
		_, err = part.Write([]byte(content))
		require.NoError(b.t, err)
	}
	require.NoError(b.t, w.Close())
	r, err := http.NewRequest(http.MethodPost, b.server.URL+path, &form)
	require.NoError(b.t, err)
	r.Header.Set("Content-Type", w.FormDataContentType())
	return b.do(r)
}

// shows waits until a page has a text, and returns it.
func (b browser) shows(path, text string) (page string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		var code int
		code, page, _ = b.get(path)
		return code == http.StatusOK && strings.Contains(page, text)
	}, 10*time.Second, 5*time.Millisecond, text)
	return page
}

var value = regexp.MustCompile(`name="value" value="([^"]+ digest)"`)

func TestConversation(t *testing.T) {
	o := newOffice(t, nil, llmtest.Call("act", `{"what":"now"}`), llmtest.Say("It is **done**."))
	alice := o.browser("alice")
	code, _, thread := alice.say("/threads", "do it", map[string]string{"a.txt": "in the file"})
	require.Equal(t, http.StatusSeeOther, code)
	page := alice.shows(thread, "May I do this?")
	require.Contains(t, page, `<p class="words" dir="auto">do it</p>`)
	require.Contains(t, page, "a.txt")
	require.Contains(t, page, `<div class="line del"><span class="sign">-</span><span class="code">old &lt;b&gt;</span></div>`)
	require.Empty(t, o.ran)

	bob := o.browser("bob")
	require.Contains(t, bob.shows(thread, "May I do this?"), "do it")
	press := url.Values{"action": {"approve"}, "value": {value.FindStringSubmatch(page)[1]}}
	codes := make(chan int, 2)
	for _, b := range []browser{alice, bob} {
		go func() {
			code, _, _ := b.post(thread+"/press", press)
			codes <- code
		}()
	}
	require.Equal(t, []int{http.StatusSeeOther, http.StatusSeeOther}, []int{<-codes, <-codes})
	page = alice.shows(thread, "It is <strong>done</strong>.")
	require.Regexp(t, `<b>Approved</b> by (alice|bob)`, page)
	require.Contains(t, page, "did &lt;i&gt;it&lt;/i&gt;")
	require.Equal(t, `{"what":"now"}`, <-o.ran)
	require.Empty(t, o.ran, "once")
	first := "alice"
	if strings.Contains(page, "</b> by bob") {
		first = "bob"
	}
	loser := map[string]browser{"alice": bob, "bob": alice}[first]
	loser.shows(thread, first+" has approved this already.")
	code, _, _ = alice.post(thread+"/edit", url.Values{"message": {regexp.MustCompile(`name="message" value="([^"]+)"`).FindStringSubmatch(page)[1]}, "text": {"do it, please"}})
	require.Equal(t, http.StatusSeeOther, code)
	alice.shows(thread, `<p class="words" dir="auto">do it, please</p>`)
	require.NotContains(t, bob.shows(thread, "do it, please"), "Save", "it is not his")
	code, export, _ := alice.get(thread + "/export")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, export, `"kind":"agent.Decided"`)
	require.Contains(t, alice.shows("/", "do it"), thread)
}

// Who may not approve sees the card without buttons, and a press made up is refused.
func TestOnlyApprovers(t *testing.T) {
	o := newOffice(t, []string{"web:carol"}, llmtest.Call("act", `{"what":"now"}`), llmtest.Say("Done."))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", "do it", nil)
	page := alice.shows(thread, "May I do this?")
	require.NotContains(t, page, "value=\"approve\"")
	require.Contains(t, page, "others may answer")
	carol := o.known("c")
	press := url.Values{"action": {"approve"}, "value": {value.FindStringSubmatch(carol.shows(thread, "value=\"approve\""))[1]}}
	alice.post(thread+"/press", press)
	alice.shows(thread, "You may not approve or deny this.")
	require.Empty(t, o.ran)
	carol.post(thread+"/press", press)
	carol.shows(thread, "<b>Approved</b> by carol")
}

// Other sites reach nothing, neither by a form nor by a name that leads to this machine.
func TestOtherSites(t *testing.T) {
	o := newOffice(t, nil)
	alice := o.browser("alice")
	send := func(change func(*http.Request)) int {
		r, err := http.NewRequest(http.MethodPost, o.server.URL+"/threads", strings.NewReader("text=do+it"))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		change(r)
		code, _, _ := alice.do(r)
		return code
	}
	require.Equal(t, http.StatusForbidden, send(func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }))
	require.Equal(t, http.StatusForbidden, send(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }))
	require.Equal(t, http.StatusMisdirectedRequest, send(func(r *http.Request) { r.Host = "evil.example" }))
	require.Equal(t, http.StatusUnauthorized, send(func(r *http.Request) { r.Host = "Heddle.example:443" }), "it leads here, where this browser is not known")
	require.Equal(t, http.StatusSeeOther, send(func(*http.Request) {}))

	resp, err := http.Get(o.server.URL + "/login")
	require.NoError(t, err)
	defer resp.Body.Close()
	csp := resp.Header.Get("Content-Security-Policy")
	require.Contains(t, csp, "default-src 'none'")
	require.NotContains(t, csp, "unsafe")
	require.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
}

// What people and tools write is text, whatever it looks like, and secrets are masked.
func TestTextIsText(t *testing.T) {
	const evil = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&`
	o := newOffice(t, nil, llmtest.Say("<script>alert(1)</script> [x](javascript:alert(1))\n\na <b>tag</b>, [x](javascript:alert(1)), **bold** "+secret))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", evil, map[string]string{`"><script>.txt`: "x"})
	page := alice.shows(thread, "<strong>bold</strong>")
	require.NotContains(t, page, "<script>alert")
	require.Contains(t, page, "&lt;script&gt;alert(1)&lt;/script&gt; [x]")
	require.Contains(t, page, "a &lt;b&gt;tag&lt;/b&gt;, x, ")
	require.NotContains(t, page, "<img src=x")
	require.NotContains(t, page, "javascript:alert(1)\"")
	require.NotContains(t, page, secret)
	require.Equal(t, 1, strings.Count(page, "<script"), "ours")
	require.NotContains(t, page, "style=")
	require.NotRegexp(t, ` on\w+=`, regexp.MustCompile(`&[^;]+;|alert\(1\)`).ReplaceAllString(strings.ReplaceAll(page, "onerror=", ""), ""))
}

func TestBadRequests(t *testing.T) {
	o := newOffice(t, nil)
	alice := o.browser("alice")
	code, body, _ := alice.say("/threads", "  ", nil)
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, body, "nothing in the message")
	code, body, _ = alice.say("/threads", strings.Repeat("x", 100_001), nil)
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, body, "attach it as a file")
	many := map[string]string{}
	for i := range 11 {
		many[fmt.Sprint(i)] = "x"
	}
	code, body, _ = alice.say("/threads", "x", many)
	require.Equal(t, http.StatusBadRequest, code)
	require.Contains(t, body, "11 files")
	for _, path := range []string{"/t/..%2f..%2fetc", "/t/UPPER-CASE", "/t/short", "/t/" + strings.Repeat("a", 65), "/t/20261201-1/files/x", "/t/20261201-1/export", "/assets/../server.go", "/nowhere"} {
		code, _, _ := alice.get(path)
		require.Contains(t, []int{http.StatusNotFound, http.StatusMovedPermanently, http.StatusTemporaryRedirect}, code, path)
	}
	code, _, _ = alice.post("/t/20261201-1/press", url.Values{"action": {"explode"}})
	require.Equal(t, http.StatusBadRequest, code)
	code, _, _ = alice.post("/t/20261201-1/press", url.Values{"action": {"approve"}, "value": {"nonsense"}})
	require.Equal(t, http.StatusSeeOther, code, "it is told in the thread")
	alice.shows("/t/20261201-1", "This is not waiting for an answer any more.")
}
