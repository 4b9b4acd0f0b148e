package slack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// overHTTP lets the fixture's bot take events over HTTP and returns its address.
func (f *fixture) overHTTP() string {
	f.s = f.connectWith(slack.Config{SigningSecret: slacktest.SigningSecret})
	srv := httptest.NewServer(f.s.Handler())
	f.t.Cleanup(srv.Close)
	require.NoError(f.t, f.w.SendTo(srv.URL+"/slack/events"), "the challenge is answered before anything is connected")
	return srv.URL
}

// hear runs Listen until the test or stop ends it.
func (f *fixture) hear() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan error, 1)
	go func() { done <- f.s.Listen(ctx, f.accept) }()
	f.wait("readiness", func() bool { return f.s.Health().Connected })
	return func() {
		cancel()
		require.NoError(f.t, <-done)
	}
}

func TestHTTPEvents(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.overHTTP()
	defer f.hear()()
	ts := f.w.Say(f.alice, f.c, "", "@heddle hello & goodbye")
	f.wait("both events", func() bool { return f.w.Socket.Stats().Acks == 2 })
	require.Equal(t, "hello & goodbye", f.accepted(1)[0].(bots.Said).Text)
	id := f.post(f.thread(ts), card())
	require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Approve"))
	require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Deny with reason"))
	f.wait("the form", func() bool { _, ok := f.w.View(f.bob); return ok })
	require.NoError(t, f.w.Submit(f.bob, "because"))
	require.NoError(t, f.w.People.Command(f.alice, f.c, "status & more"))
	all := f.accepted(4)
	require.Equal(t, bots.Approve, all[1].(bots.Clicked).Action)
	require.Equal(t, "because", all[2].(bots.Clicked).Reason)
	require.Equal(t, "status & more", all[3].(bots.Commanded).Text)
	require.Zero(t, f.w.Socket.Stats().Opened, "no socket is opened")
	require.WithinDuration(t, time.Now(), f.s.Health().LastEvent, time.Minute)
}

// What is not taken comes again, and what was taken is known when it does.
func TestHTTPDeliversAgain(t *testing.T) {
	f := newFixture(t, quick)
	f.overHTTP()
	f.w.Say(f.alice, f.c, "", "before it listens")
	f.fail = []error{errors.New("the disk is full")}
	stop := f.hear()
	f.w.Say(f.alice, f.c, "", "refused at first")
	f.accepted(2)
	f.w.Socket.Fail(slacktest.SocketFaults{LoseAcks: 2, Duplicate: 1})
	f.w.Say(f.bob, f.c, "", "answer lost")
	f.accepted(3)
	stop()
	require.False(t, f.s.Health().Connected)
	f.w.Say(f.bob, f.c, "", "between two processes")
	defer f.hear()()
	f.accepted(4)
}

// A press that is not taken is not sent again: Slack tells the person.
func TestHTTPPressThatIsNotTaken(t *testing.T) {
	f := newFixture(t, slacktest.Config{AckWithin: time.Second})
	f.overHTTP()
	defer f.hear()()
	id := f.post(f.root(), card())
	f.accepted(1)
	f.mu.Lock()
	f.fail = []error{errors.New("the disk is full")}
	f.mu.Unlock()
	require.Error(t, f.w.Click(f.bob, f.c, string(id), "Approve"))
	require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Approve"))
	f.accepted(2)
}

func TestHTTPRefuses(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	url := f.overHTTP()
	defer f.hear()()
	event := func(ts string) string {
		return fmt.Sprintf(`{"type":"event_callback","event":{"type":"message","channel":%q,"user":%q,"text":"x","ts":%q}}`, f.c, f.alice, ts)
	}
	const kind = "application/json"
	now := time.Now()
	for _, c := range []struct {
		name, method, kind, body string
		spoil                    func(*http.Request)
		want                     int
	}{
		{"good", "POST", kind, event("1.1"), nil, 200},
		{"four minutes old", "POST", kind, event("1.2"), func(r *http.Request) { slacktest.Sign(r.Header, event("1.2"), now.Add(-4*time.Minute)) }, 200},
		{"again", "POST", kind, event("1.1"), func(r *http.Request) { r.Header.Set("X-Slack-Retry-Num", "1") }, 200},
		{"replayed", "POST", kind, event("1.3"), func(r *http.Request) { slacktest.Sign(r.Header, event("1.3"), now.Add(-6*time.Minute)) }, 401},
		{"from the future", "POST", kind, event("1.3"), func(r *http.Request) { slacktest.Sign(r.Header, event("1.3"), now.Add(6*time.Minute)) }, 401},
		{"another body", "POST", kind, event("1.3"), func(r *http.Request) { slacktest.Sign(r.Header, event("1.4"), now) }, 401},
		{"unsigned", "POST", kind, event("1.3"), func(r *http.Request) { r.Header.Del("X-Slack-Signature") }, 401},
		{"without a time", "POST", kind, event("1.3"), func(r *http.Request) { r.Header.Del("X-Slack-Request-Timestamp") }, 401},
		{"another time", "POST", kind, event("1.3"), func(r *http.Request) { r.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(now.Unix()+1)) }, 401},
		{"unsigned challenge", "POST", kind, `{"type":"url_verification","challenge":"x"}`, func(r *http.Request) { r.Header.Del("X-Slack-Signature") }, 401},
		{"read", "GET", kind, "", nil, 405},
		{"too large", "POST", kind, strings.Repeat(" ", 4<<20) + event("1.3"), nil, 413},
		{"no JSON", "POST", kind, "{", nil, 400},
		{"another type", "POST", "text/plain", event("1.3"), nil, 400},
		{"not understood", "POST", kind, `{"type":"event_callback","event":[]}`, nil, 200},
		{"another kind", "POST", kind, `{"type":"app_rate_limited"}`, nil, 200},
		{"check of the certificate", "POST", "application/x-www-form-urlencoded", "ssl_check=1&token=x", nil, 200},
	} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, url+"/anything", strings.NewReader(c.body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", c.kind)
		slacktest.Sign(r.Header, c.body, now)
		if c.spoil != nil {
			c.spoil(r)
		}
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, c.want, resp.StatusCode, c.name)
		if c.want == 200 {
			require.Empty(t, answer, c.name)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	require.Equal(t, []string{"1.1", "1.2"}, ids(said(f.accepted(2))))
	require.Zero(t, f.log.count(slacktest.SigningSecret))
}

func TestHandlerWithoutASecret(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	rw := httptest.NewRecorder()
	f.s.Handler().ServeHTTP(rw, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))
	require.Equal(t, http.StatusNotFound, rw.Code)
}

// Slack waits for three seconds; what is accepted later is known when it comes again.
func TestHTTPAnswersInTime(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.overHTTP()
	defer f.hear()()
	f.mu.Lock() // accept waits for it
	f.w.Say(f.alice, f.c, "", "hello")
	f.wait("an answer", func() bool { return f.log.count("not accepted in time") == 1 })
	f.mu.Unlock()
	f.accepted(1)
}

func TestCheckOverHTTPAsksForNoConnection(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.overHTTP()
	all := f.s.Check(t.Context())
	require.Len(t, all, 3)
	require.Equal(t, "slack signing secret", all[2].Name)
	require.True(t, all[2].OK)
	require.Empty(t, f.w.API.Calls("apps.connections.open"))
}
