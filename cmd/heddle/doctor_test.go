package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

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
	c.add(t, fmt.Sprintf("mode = \"http\"\nevents_addr = %q\n", addr))
	c.env = []string{c.env[0], c.env[1], "SLACK_SIGNING_SECRET", slacktest.SigningSecret}
}

// channel puts a channel into the configuration, where the bot has that state.
func (c *clinic) channel(t *testing.T, id string, s slacktest.State) {
	c.slack.SetState(id, s)
	c.add(t, fmt.Sprintf("[channels.\"slack/%s/%s\"]\n", slacktest.TeamID, id))
}

// add adds to the configuration.
func (c *clinic) add(t *testing.T, more string) {
	text, err := os.ReadFile(c.config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.config, append(text, more...), 0o600))
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
