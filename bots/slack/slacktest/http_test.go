package slacktest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// An app keeps what comes in and answers each request as told.
type app struct {
	mu      sync.Mutex
	answers []int // of the next requests, but for the challenge; then 200
	got     []*http.Request
	bodies  []string
}

func (a *app) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if _, challenge, ok := strings.Cut(string(body), `"challenge":"`); ok {
		challenge, _, _ = strings.Cut(challenge, `"`)
		fmt.Fprint(rw, challenge)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got, a.bodies = append(a.got, r), append(a.bodies, string(body))
	if len(a.answers) > 0 {
		rw.WriteHeader(a.answers[0])
		a.answers = a.answers[1:]
	}
}

func TestEventsOverHTTPComeAgain(t *testing.T) {
	w := New(Config{AckWithin: 50 * time.Millisecond})
	defer w.Close()
	a := &app{answers: []int{503, 500}}
	srv := httptest.NewServer(a)
	defer srv.Close()
	require.NoError(t, w.SendTo(srv.URL))
	alice, c := w.AddUser("alice"), w.AddChannel("general")
	w.Say(alice, c, "", "hello")
	require.NoError(t, w.Wait(t.Context(), func() bool { return w.Socket.Stats().Acks == 1 }))
	require.NoError(t, w.People.Command(alice, c, "help me"))
	a.mu.Lock()
	defer a.mu.Unlock()
	require.Len(t, a.got, 4)
	for i, num := range []string{"", "1", "2"} {
		require.Equal(t, num, a.got[i].Header.Get("X-Slack-Retry-Num"))
		require.Equal(t, a.bodies[0], a.bodies[i])
	}
	require.Equal(t, "http_error", a.got[1].Header.Get("X-Slack-Retry-Reason"))
	h := http.Header{}
	Sign(h, a.bodies[0], time.Unix(1700000000, 0))
	require.Regexp(t, "^v0=[0-9a-f]{64}$", h.Get("X-Slack-Signature"))
	require.Contains(t, a.bodies[3], "text=help+me")
}

func TestSendToWantsTheChallenge(t *testing.T) {
	w := New(Config{})
	defer w.Close()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	require.ErrorContains(t, w.SendTo(srv.URL), "challenge")
}

func TestALinkIsGoodOnce(t *testing.T) {
	w := New(Config{})
	defer w.Close()
	v, _ := connectionsOpen(w, call{})
	ws, _, err := websocket.DefaultDialer.DialContext(t.Context(), v["url"].(string), nil)
	require.NoError(t, err)
	defer ws.Close()
	_, resp, err := websocket.DefaultDialer.DialContext(t.Context(), v["url"].(string), nil)
	require.Error(t, err)
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}
