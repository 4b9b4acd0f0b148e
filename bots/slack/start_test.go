package slack_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack"
)

// A start is Listen with a Web API in memory, so that time is fake, as far as the call that opens a
// connection.
type start struct {
	t       *testing.T
	s       *slack.Slack
	log     logs
	begun   time.Time
	answers map[string]func(*http.Request) (*http.Response, error) // by method
	opens   chan time.Duration                                     // when apps.connections.open was called
	done    chan error
}

func newStart(t *testing.T) *start {
	st := &start{t: t, begun: time.Now(), opens: make(chan time.Duration, 100), done: make(chan error, 1)}
	st.answers = map[string]func(*http.Request) (*http.Response, error){
		"auth.test":             says(`{"ok":true,"team_id":"T1","user_id":"U1"}`),
		"users.list":            says(`{"ok":true,"members":[{"id":"U2","name":"alice"}]}`),
		"apps.connections.open": hangs,
	}
	var err error
	st.s, err = slack.New(slack.Config{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: "http://slack.invalid/api",
		HTTPClient: &http.Client{Transport: st, Timeout: 30 * time.Second},
		Logger:     slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &st.log), nil))})
	require.NoError(t, err)
	return st
}

func (st *start) RoundTrip(r *http.Request) (*http.Response, error) {
	method := path.Base(r.URL.Path)
	if method == "apps.connections.open" {
		st.opens <- time.Since(st.begun)
	}
	return st.answers[method](r)
}

// listen runs Listen. What it returns comes from done; end ends it.
func (st *start) listen() (end func()) {
	ctx, cancel := context.WithCancel(st.t.Context())
	go func() {
		st.done <- st.s.Listen(ctx, func(context.Context, bots.Event) error { return errors.New("there is no event") })
	}()
	return func() {
		cancel()
		require.NoError(st.t, <-st.done)
	}
}

func says(body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func hangs(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func unreachable(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func TestNamesThatAreSlowComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		release := make(chan struct{})
		list := st.answers["users.list"]
		st.answers["users.list"] = func(r *http.Request) (*http.Response, error) {
			<-release
			return list(r)
		}
		defer st.listen()()
		require.Equal(t, 3*time.Second, <-st.opens)
		close(release)
		synctest.Wait()
		require.Equal(t, "@alice", st.s.Info().Mention("U2"))
	})
}

func TestNamesThatNeverCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		st.answers["users.list"] = hangs
		defer st.listen()()
		require.Equal(t, 3*time.Second, <-st.opens)
		require.Zero(t, st.log.count("level=WARN"))
		time.Sleep(28 * time.Second)
		require.Equal(t, 1, st.log.count("the names of the workspace are not known"))
	})
}

func TestNamesThatFailHoldUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		st.answers["users.list"] = unreachable
		defer st.listen()()
		require.Zero(t, <-st.opens)
		require.Equal(t, 1, st.log.count("the names of the workspace are not known"))
	})
}

func TestShutdownWhileNamesAreLearned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		st.answers["users.list"] = hangs
		end := st.listen()
		synctest.Wait()
		end()
		require.Zero(t, time.Since(st.begun))
		require.Zero(t, st.log.count("level=WARN"))
	})
}

// A network that is down for hours at the start is no reason to end.
func TestLoginOutlastsTheNetwork(t *testing.T) {
	for name, fault := range map[string]func(*http.Request) (*http.Response, error){
		"refused":  unreachable,
		"silent":   hangs,
		"a portal": says("<html>please log in</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStart(t)
				good, upAt := st.answers["auth.test"], st.begun.Add(5*time.Hour)
				st.answers["auth.test"] = func(r *http.Request) (*http.Response, error) {
					if time.Now().Before(upAt) {
						return fault(r)
					}
					return good(r)
				}
				defer st.listen()()
				time.Sleep(4 * time.Hour)
				require.Contains(t, st.s.Health().LastError, "auth.test")
				require.Empty(t, st.done)
				require.Positive(t, st.log.count("slack does not answer"))
				require.InDelta(t, 5*time.Hour, <-st.opens, float64(3*time.Minute))
			})
		})
	}
}

func TestLoginEndsWithARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		st.answers["auth.test"] = says(`{"ok":false,"error":"invalid_auth"}`)
		st.listen()
		require.ErrorContains(t, <-st.done, "copy both tokens from the app's page")
		require.Zero(t, time.Since(st.begun))
	})
}

func TestOpeningKeepsToRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStart(t)
		st.answers["apps.connections.open"] = func(r *http.Request) (*http.Response, error) {
			resp, err := says("")(r)
			resp.StatusCode = http.StatusTooManyRequests
			resp.Header.Set("Retry-After", "40")
			return resp, err
		}
		defer st.listen()()
		require.Zero(t, <-st.opens)
		synctest.Wait()
		require.Contains(t, st.s.Health().LastError, "rate limit")
		require.Equal(t, 40*time.Second, <-st.opens)
		require.Equal(t, 80*time.Second, <-st.opens)
	})
}
