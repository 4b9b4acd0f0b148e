package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/slack"
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
	for _, args := range [][]string{{}, {"dance"}, {"serve", "--loud"}, {"sessions", "show"}, {"backup"}} {
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

// A clinic is what doctor looks at, all of it healthy.
type clinic struct {
	config string
	dir    string
	env    []string
	slack  *slacktest.Workspace
}

func newClinic(t *testing.T, answers ...llmtest.Reply) clinic {
	t.Helper()
	model, err := llmtest.NewServer(answers...)
	require.NoError(t, err)
	t.Cleanup(model.Close)
	w := slacktest.New(slacktest.Config{})
	t.Cleanup(w.Close)
	config := write(t, `
[models.main]
model = "m"
base_url = "`+model.URL+`"
[workspaces.main]
path = "w"
[channels.default]
[slack]
api_url = "`+w.URL+`"
`)
	dir := filepath.Dir(config)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "w"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "state"), 0o700))
	require.NoError(t, newStore(t, filepath.Join(dir, "state/heddle.db")).Close())
	return clinic{config, dir, []string{"SLACK_BOT_TOKEN", slacktest.BotToken, "SLACK_APP_TOKEN", slacktest.AppToken}, w}
}

// overHTTP makes it mode "http".
func (c *clinic) overHTTP(t *testing.T, addr string) {
	text, err := os.ReadFile(c.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.config, fmt.Appendf(text, "mode = \"http\"\nevents_addr = %q\n", addr), 0o600))
	c.env = []string{c.env[0], c.env[1], "SLACK_SIGNING_SECRET", slacktest.SigningSecret}
}

// channel puts a channel into the configuration, where the bot has that state.
func (c *clinic) channel(t *testing.T, id string, s slacktest.State) {
	c.slack.SetState(id, s)
	text, err := os.ReadFile(c.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.config, fmt.Appendf(text, "[channels.\"slack/%s/%s\"]\n", slacktest.TeamID, id), 0o600))
}

func TestDoctorFindsAllWell(t *testing.T) {
	c := newClinic(t, llmtest.Say("pong"))
	o := runWith(c.env, "doctor", "-c", c.config)
	require.Zero(t, o.code, o)
	require.Empty(t, o.stderr)
	require.NotRegexp(t, "(?m)^(FAIL|warn)", o.stdout)
	for _, part := range []string{"configuration", "workspaces.main", "store", "models.main", "slack bot token: connected to Heddle as heddle", "slack socket mode"} {
		require.Contains(t, o.stdout, part)
	}
}

func TestDoctorFinds(t *testing.T) {
	healthy := llmtest.Say("pong")
	for name, c := range map[string]struct {
		answer llmtest.Reply
		harm   func(t *testing.T, c *clinic)
		code   int
		want   string
	}{
		"no workspace": {healthy, func(t *testing.T, c *clinic) {
			require.NoError(t, os.Remove(filepath.Join(c.dir, "w")))
		}, 1, "FAIL  workspaces.main: .* is not there: make the directory"},
		"a file as workspace": {healthy, func(t *testing.T, c *clinic) {
			require.NoError(t, os.Remove(filepath.Join(c.dir, "w")))
			require.NoError(t, os.WriteFile(filepath.Join(c.dir, "w"), nil, 0o600))
		}, 1, "FAIL  workspaces.main: .* is not a directory"},
		"an open log": {healthy, func(t *testing.T, c *clinic) {
			require.NoError(t, os.Chmod(filepath.Join(c.dir, "state/heddle.db"), 0o644))
		}, 0, "warn  store.path: others .* chmod 600"},
		"a damaged log": {healthy, func(t *testing.T, c *clinic) {
			require.NoError(t, os.WriteFile(filepath.Join(c.dir, "state/heddle.db"), []byte("no log"), 0o600))
		}, 1, "FAIL  store: "},
		"no log": {healthy, func(t *testing.T, c *clinic) {
			require.NoError(t, os.RemoveAll(filepath.Join(c.dir, "state")))
		}, 0, "ok    store: there is none yet"},
		"no place for a log": {healthy, func(t *testing.T, c *clinic) {
			require.NoError(t, os.RemoveAll(filepath.Join(c.dir, "state")))
			require.NoError(t, os.WriteFile(filepath.Join(c.dir, "state"), nil, 0o600))
		}, 1, "FAIL  store.path: "},
		"a refused key": {llmtest.Reply{Err: &llm.Error{Kind: llm.Auth, Status: 401}}, nil,
			1, "(?s)FAIL  models.main: .*401.*check the key"},
		"a missing token": {healthy, func(_ *testing.T, c *clinic) { c.env = c.env[:2] },
			1, "FAIL  slack.app_token: the environment variable SLACK_APP_TOKEN is not set"},
		"a refused token": {healthy, func(_ *testing.T, c *clinic) { c.env[1] = "xoxb-wrong" },
			1, "FAIL  slack bot token: .*invalid_auth.*copy both tokens"},
		"a refused app token": {healthy, func(_ *testing.T, c *clinic) { c.env[3] = "xapp-wrong" },
			1, "FAIL  slack socket mode: .*invalid_auth.*copy both tokens"},
		"an unreachable Slack": {healthy, func(_ *testing.T, c *clinic) {
			c.slack.API.Fail("auth.test", slacktest.Fault{Drop: true})
		}, 1, "FAIL  slack bot token: auth.test: .*EOF"},
		"Slack over HTTP": {healthy, func(t *testing.T, c *clinic) { c.overHTTP(t, "127.0.0.1:0") },
			0, "ok    slack.events_addr: 127.0.0.1:0 is free; .* Request URLs"},
		"Slack over HTTP without a secret": {healthy, func(t *testing.T, c *clinic) { c.overHTTP(t, "127.0.0.1:0"); c.env = c.env[:2] },
			1, "FAIL  slack.signing_secret: the environment variable SLACK_SIGNING_SECRET is not set"},
		"an address in use": {healthy, func(t *testing.T, c *clinic) { c.overHTTP(t, strings.Split(c.slack.URL, "/")[2]) },
			0, "warn  slack.events_addr: .* is in use: by the heddle that serves"},
		"an address elsewhere": {healthy, func(t *testing.T, c *clinic) { c.overHTTP(t, "192.0.2.1:80") },
			1, "FAIL  slack.events_addr: "},
	} {
		t.Run(name, func(t *testing.T) {
			clinic := newClinic(t, c.answer)
			if c.harm != nil {
				c.harm(t, &clinic)
			}
			o := runWith(clinic.env, "doctor", "-c", clinic.config)
			require.Equal(t, c.code, o.code, o)
			require.Regexp(t, c.want, o.stdout)
			require.NotContains(t, o.stdout, slacktest.BotToken)
		})
	}
}

func TestDoctorSaysHowToTestHTTP(t *testing.T) {
	c := newClinic(t, llmtest.Say("pong"))
	c.overHTTP(t, "127.0.0.1:0")
	o := runWith(c.env, "doctor", "-c", c.config)
	require.Zero(t, o.code, o)
	require.Regexp(t, "(?s)ok    slack signing secret: .*curl -i -X POST .* 401", o.stdout)
}

func TestDoctorLooksAtChannels(t *testing.T) {
	c := newClinic(t, llmtest.Say("pong"))
	c.channel(t, c.slack.AddChannel("general"), slacktest.Joined)
	c.channel(t, c.slack.AddChannel("absent"), slacktest.Absent)
	o := runWith(c.env, "doctor", "-c", c.config)
	require.Equal(t, 1, o.code, o)
	require.Contains(t, o.stdout, "ok    channel slack/T0HEDDLE/CGENERAL: the bot is in it\n")
	require.Contains(t, o.stdout, "FAIL  channel slack/T0HEDDLE/CABSENT: the bot is not in it: type “/invite @heddle” in the channel\n")
	require.NotContains(t, o.stdout, "channel default")
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
	health := slack.Health{Since: time.Unix(0, 0), LastError: "no route"}
	h := healthHandler(s, func() slack.Health { return health })
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
