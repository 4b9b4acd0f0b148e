package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/meter"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// outcome is what a run of the program came to.
type outcome struct {
	code           int
	stdout, stderr string
}

// runWith runs the program with variables, which are name and value in turn.
func runWith(env []string, args ...string) outcome {
	var out, err bytes.Buffer
	getenv := func(name string) string {
		for i := 0; i+1 < len(env); i += 2 {
			if env[i] == name {
				return env[i+1]
			}
		}
		return ""
	}
	code := run(context.Background(), args, program{getenv, &out, &err})
	return outcome{code, out.String(), err.String()}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"dance"}, {"serve", "--loud"}, {"sessions", "show"}, {"backup"}} {
		o := runWith(nil, args...)
		require.Equal(t, 2, o.code, args)
		require.Empty(t, o.stdout)
		require.Contains(t, o.stderr, "Usage: heddle")
	}
	require.Contains(t, runWith(nil, "servve").stderr, "serve")
	o := runWith(nil, "version")
	require.Zero(t, o.code)
	require.Contains(t, o.stdout, "heddle ")
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"--help"}, {"-h"}} {
		o := runWith(nil, args...)
		require.Zero(t, o.code, args)
		require.Empty(t, o.stderr)
		require.Contains(t, o.stdout, "Usage: heddle")
		require.Contains(t, o.stdout, "default: $HEDDLE_CONFIG, or else")
	}
	for _, args := range [][]string{{"help", "sessions", "list"}, {"sessions", "list", "--help"}} {
		o := runWith(nil, args...)
		require.Zero(t, o.code, args)
		require.Empty(t, o.stderr)
		for _, word := range []string{"open", "waits", "idle"} {
			require.Regexp(t, `\b`+word+`\b`, o.stdout)
		}
	}
	require.Equal(t, runWith(nil, "version"), runWith(nil, "--version"))
}

func TestWhichConfiguration(t *testing.T) {
	config := write(t, "[slak]\n")
	require.Contains(t, runWith([]string{"HEDDLE_CONFIG", config}, "serve").stderr, config)
	require.Contains(t, runWith([]string{"HEDDLE_CONFIG", "other.toml"}, "serve", "-c", config).stderr, config)
	t.Chdir(filepath.Dir(config))
	for _, env := range [][]string{nil, {"HEDDLE_CONFIG", ""}} {
		o := runWith(env, "serve")
		require.Equal(t, 1, o.code)
		require.Contains(t, o.stderr, "heddle: heddle.toml:1:2: unknown key slak")
	}
	o := runWith(nil, "backup", "", "-c", write(t, minimal))
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "the name of the file to write is empty")
	o = runWith(nil, "serve", "-c", "")
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "-c needs the name of a file")
}

func TestServeWithoutTokensSaysHowToGetThem(t *testing.T) {
	config := write(t, minimal)
	o := runWith(nil, "serve", "-c", config)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "heddle: some secrets are missing")
	require.Contains(t, o.stderr, "SLACK_BOT_TOKEN is not set")
	require.Contains(t, o.stderr, "SLACK_APP_TOKEN is not set")
	require.Contains(t, o.stderr, "https://api.slack.com/apps")
	require.Contains(t, o.stderr, "DISCORD_BOT_TOKEN is not set")
	require.Contains(t, o.stderr, "https://discord.com/developers/applications")
	require.Contains(t, o.stderr, "One network is enough")
	require.NoDirExists(t, filepath.Join(filepath.Dir(config), "state"), "nothing is made in vain")
}

func TestServeFailsForGood(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	w := slacktest.New(slacktest.Config{})
	defer w.Close()
	env := []string{"SLACK_BOT_TOKEN", slacktest.BotToken, "SLACK_APP_TOKEN", slacktest.AppToken}
	config := func(addr string) string {
		return write(t, minimal+"[http]\naddr = \""+addr+"\"\n[slack]\napi_url = \""+w.URL+"\"\n")
	}

	o := runWith(env, "serve", "-c", config(taken.Addr().String()))
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "heddle: http.addr: ")

	env[1] = "xapp-in-the-wrong-place"
	o = runWith(env, "serve", "-c", config("127.0.0.1:0"))
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "must begin with xoxb-")
	require.NotContains(t, o.stderr, "in-the-wrong-place")

	env[1] = "xoxb-of-another-app"
	o = runWith(env, "serve", "-c", config("127.0.0.1:0"))
	require.Equal(t, 1, o.code, "a token that is refused ends the service: nothing can come of it")
	require.Contains(t, o.stderr, "invalid_auth")
	require.NotContains(t, o.stderr, "of-another-app")

	o = runWith(env, "serve", "-c", config(""))
	require.Contains(t, o.stderr, "health=off")
	require.Contains(t, o.stderr, "invalid_auth", "it works without the port")
}

func TestCommandsRefuseABadConfiguration(t *testing.T) {
	config := write(t, "[slak]\n")
	for _, args := range [][]string{{"serve"}, {"sessions", "list"}, {"store", "check"}, {"backup", "x"}} {
		o := runWith(nil, append(args, "-c", config)...)
		require.Equal(t, 1, o.code)
		require.Contains(t, o.stderr, `unknown key slak, did you mean "slack"?`)
	}
	o := runWith(nil, "doctor", "-c", config)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stdout, `unknown key slak, did you mean "slack"?`)
}

func TestManifestCommand(t *testing.T) {
	o := runWith(nil, "manifest", "slack")
	require.Zero(t, o.code, o)
	require.True(t, json.Valid([]byte(o.stdout)))
	require.Contains(t, o.stdout, `"socket_mode_enabled": true`)
	o = runWith(nil, "manifest", "slack", "--yaml", "--url", "https://heddle.example.com/slack")
	require.Zero(t, o.code, o)
	require.Contains(t, o.stdout, "request_url: https://heddle.example.com/slack\n")
	require.NotContains(t, o.stdout, "socket_mode_enabled")
}

func TestHealth(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, filepath.Join(dir, "heddle.db"))
	health := connection{Since: time.Unix(0, 0), LastError: "no route"}
	h := healthHandler(s, []network{
		{title: "Slack", health: func() connection { return health }},
		{title: "Discord", health: func() connection { return connection{Connected: true} }},
	}, meter.New())
	get := func(path string) (int, string) {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		return rec.Code, rec.Body.String()
	}
	code, text := get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Equal(t, "not connected to Slack since 1970-01-01T00:00:00Z: no route\n", text)
	code, text = get("/healthz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "ok\n", text)

	health.Connected = true
	code, text = get("/readyz")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "ok\n", text)
	require.Equal(t, []string{"heddle.db"}, names(t, dir), "probes leave nothing behind")

	require.NoError(t, s.Close())
	code, text = get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "the log cannot be written: the log is closed")
	require.NoError(t, os.RemoveAll(dir))
	code, text = get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "the log cannot be written")
	code, text = get("/metrics")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, text, "heddle_approvals_open 0")
	code, _ = get("/")
	require.Equal(t, http.StatusNotFound, code)
}

// Anybody may ask whether heddle is ready, as often as they like; the disk is asked every 5 seconds.
func TestProbeHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := probe{dir: filepath.Join(t.TempDir(), "d")}
		require.NoError(t, os.Mkdir(p.dir, 0o700))
		require.NoError(t, p.writable())
		require.NoError(t, os.Remove(p.dir))
		time.Sleep(probeTime - time.Nanosecond)
		require.NoError(t, p.writable())
		time.Sleep(time.Nanosecond)
		require.Error(t, p.writable())
		require.NoError(t, os.Mkdir(p.dir, 0o700))
		require.Error(t, p.writable())
		time.Sleep(probeTime)
		require.NoError(t, p.writable())
	})
}

func TestBoundedLeavesBehindWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fault := errors.New("fault")
		require.ErrorIs(t, bounded(closeTime, "it", func() error { return fault }), fault)
		hangs := make(chan struct{})
		begin := time.Now()
		require.EqualError(t, bounded(closeTime, "closing the log", func() error { <-hangs; return nil }), "closing the log did not end within 3s")
		require.Equal(t, closeTime, time.Since(begin))
		close(hangs)
	})
	require.Less(t, shutdownTime+closeTime, 30*time.Second, "when systemd kills")
}

func TestGroupEndsTogether(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := newGroup(context.Background(), slog.New(slog.DiscardHandler))
	g.serve(l, http.NotFoundHandler())
	fault := errors.New("fault")
	g.Go(func() error { return fault })
	require.ErrorIs(t, g.wait(), fault)
	_, err = net.Dial("tcp", l.Addr().String())
	require.Error(t, err, "nobody listens any more")
}

func TestGroupLeavesBehindWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		g := newGroup(ctx, slog.New(slog.DiscardHandler))
		hangs := make(chan struct{})
		g.Go(func() error { <-hangs; return nil })
		begin := time.Now()
		stop()
		require.ErrorContains(t, g.wait(), "not everything ended")
		require.Equal(t, shutdownTime, time.Since(begin))
		close(hangs)
	})
}
