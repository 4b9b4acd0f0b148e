package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// A pair is one heddle on Slack and on Discord at once. The process and the model are Slack's world's.
type pair struct {
	slack, discord *world
}

// newPair makes both. What env sets is so in place of what the networks need.
func newPair(t *testing.T, env ...string) pair {
	t.Helper()
	slack, err := newWorldOn(onSlack, t.TempDir(), llmtest.Reply{From: lists, Repeat: true})
	require.NoError(t, err)
	t.Cleanup(slack.close)
	discord, err := newWorldOn(onDiscord, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(discord.close)
	slack.ids["DISCORD_URL"] = discord.ids["DISCORD_URL"]
	slack.stage.config += discord.stage.config
	slack.env = slices.Concat(os.Environ(), slack.env, discord.stage.env, env) // the last one of a name counts
	require.NoError(t, slack.configure())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("slack: %s\ndiscord: %s", slack, discord)
		}
	})
	return pair{slack, discord}
}

// lists is a model that says which of the fruits it has been told of.
func lists(r *llm.Request) llmtest.Reply {
	said := "I see"
	for _, m := range r.Messages {
		for _, fruit := range []string{"apples", "pears"} {
			if m.Role == llm.User && strings.Contains(m.Text, fruit) {
				said += " " + fruit
			}
		}
	}
	return llmtest.Say(said + ".")
}

// serve starts heddle and waits until each network of those is connected.
func (p pair) serve(t *testing.T, connected ...*world) {
	t.Helper()
	var err error
	p.slack.process, err = startProcess(p.slack.dir, p.slack.env)
	require.NoError(t, err)
	for _, w := range connected {
		require.NoError(t, w.wait(func() bool { return w.stage.opened() > 0 }))
	}
}

// answered has alice ask something new on a network, and waits for the answer.
func (p pair) answered(t *testing.T, w *world, files []upload, want string) {
	t.Helper()
	root := w.stage.say(w.ids["ALICE"], "", "@heddle what is it?", files)
	answers := func(l line) bool { return l.by == "" && l.text == want }
	require.NoError(t, w.wait(func() bool { return slices.ContainsFunc(w.stage.lines(root), answers) }))
}

// ready asks whether heddle can work.
func (p pair) ready(t *testing.T) (status int, text string) {
	t.Helper()
	addr := regexp.MustCompile(`msg=serving .*health=(\S+)`).FindStringSubmatch(p.slack.process.logged())
	require.NotNil(t, addr)
	resp, err := http.Get("http://" + addr[1] + "/readyz")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// Each network is asked for the files of its own messages, though both are served by one agent.
func TestBothNetworks(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.serve(t, p.slack, p.discord)
	p.answered(t, p.slack, []upload{{"list.txt", "apples"}}, "I see apples.")
	p.answered(t, p.discord, []upload{{"list.txt", "pears"}}, "I see pears.")
	require.NoError(t, p.slack.eventually(func() bool { status, _ := p.ready(t); return status == http.StatusOK }))
	require.NoError(t, p.slack.halt(syscall.SIGTERM))
}

// A network whose token is refused, from the start or all of a sudden, is told of with what to do, and the
// other one goes on.
func TestOneNetworkIsRefused(t *testing.T) {
	for name, of := range map[string]struct {
		env    string
		refuse func(pair)
		goesOn func(pair) *world
		log    string
		reason string
	}{
		"discord": {
			env:    "DISCORD_BOT_TOKEN=of-another-app",
			goesOn: func(p pair) *world { return p.slack },
			log:    "network=Discord",
			reason: "not connected to Discord since .*: discord refuses the token.*press “Reset Token”",
		},
		"slack": {
			env:    "SLACK_BOT_TOKEN=xoxb-of-another-app",
			goesOn: func(p pair) *world { return p.discord },
			log:    "network=Slack",
			reason: "not connected to Slack since .*: .*invalid_auth",
		},
		"discord, while it works": {
			env:    "DISCORD_BOT_TOKEN=" + discordtest.BotToken,
			refuse: func(p pair) { p.discord.discord.Gateway.CloseWith(4004) },
			goesOn: func(p pair) *world { return p.slack },
			log:    "network=Discord",
			reason: "not connected to Discord since .*: .*press “Reset Token”",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, of.env)
			on := of.goesOn(p)
			if of.refuse == nil {
				p.serve(t, on)
			} else {
				p.serve(t, p.slack, p.discord)
				p.answered(t, p.discord, nil, "I see.")
				of.refuse(p)
			}
			failed := `msg="network failed, the others go on" ` + of.log
			require.NoError(t, p.slack.eventually(func() bool { return strings.Contains(p.slack.process.logged(), failed) }))
			p.answered(t, on, []upload{{"list.txt", "apples"}}, "I see apples.")
			status, text := p.ready(t)
			require.Equal(t, http.StatusServiceUnavailable, status)
			require.Regexp(t, of.reason, text)
			require.Equal(t, 1, strings.Count(text, "\n"), "of the other there is nothing to be said: %s", text)
			require.NotContains(t, text+p.slack.process.logged(), "of-another-app")
			require.NoError(t, p.slack.halt(syscall.SIGTERM))
		})
	}
}
