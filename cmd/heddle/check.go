package main

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
)

// A checker collects what is wrong with a configuration. Each problem names the key and says what
// to do.
type checker struct{ problems []string }

func (k *checker) add(key, format string, args ...any) {
	k.problems = append(k.problems, key+": "+fmt.Sprintf(format, args...))
}

// check returns what is wrong with the filled-in configuration, as far as that can be told without
// looking at the world; doctor does that.
func (c *Config) check() []string {
	var k checker
	if _, _, err := net.SplitHostPort(c.HTTP.Addr); err != nil {
		k.add("http.addr", "%q is not host:port: write \"127.0.0.1:8787\"", c.HTTP.Addr)
	}
	k.limits(c.Limits)
	k.slack(c.Slack)
	if len(c.Models) == 0 {
		k.add("models", "there is no model: add a table [models.main] with base_url and model")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		k.model("models."+name, c.Models[name])
	}
	if len(c.Workspaces) == 0 {
		k.add("workspaces", "there is no workspace: add a table [workspaces.main] with the path of a directory")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workspaces)) {
		if c.Workspaces[name].Path == "" {
			k.add("workspaces."+name+".path", "is missing: write the path of a directory")
		}
	}
	if len(c.Channels) == 0 {
		k.add("channels", "there is no channel: add [channels.default], or a table like [channels.\"slack/T123/C123\"]")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Channels)) {
		k.channel(name, c.Channels[name], c)
	}
	return k.problems
}

func (k *checker) limits(l Limits) {
	for _, v := range []struct {
		key string
		n   int64
	}{
		{"steps", int64(l.Steps)},
		{"hard_steps", int64(l.HardSteps)},
		{"turn_time", int64(l.TurnTime)},
		{"turn_tokens", int64(l.TurnTokens)},
		{"concurrent_turns", int64(l.ConcurrentTurns)},
		{"approval_time", int64(l.ApprovalTime)},
	} {
		if v.n < 0 {
			k.add("limits."+v.key, "must not be negative; leave it out for the default")
		}
	}
	if l.ToolOutput < minOutput {
		k.add("limits.tool_output", "%d bytes are too few to be of use: write at least %d", l.ToolOutput, minOutput)
	}
	if l.Steps > l.HardSteps {
		k.add("limits.steps", "%d is more than limits.hard_steps (%d): lower the one or raise the other", l.Steps, l.HardSteps)
	}
}

// minOutput is the least limits.tool_output: the tools need it for a header, one long line and a note.
const minOutput = 4000

func (k *checker) slack(s Slack) {
	if s.Mode == "http" {
		k.add("slack.mode", `"http" is not in this release: use "socket", which needs no public address`)
	} else {
		k.oneOf("slack.mode", s.Mode, "socket")
	}
	k.url("slack.api_url", s.APIURL)
	k.oneSource("slack.bot_token", s.BotTokenEnv, s.BotTokenFile)
	k.oneSource("slack.app_token", s.AppTokenEnv, s.AppTokenFile)
	k.oneSource("slack.signing_secret", s.SigningSecretEnv, s.SigningSecretFile)
}

func (k *checker) model(key string, m Model) {
	k.url(key+".base_url", m.BaseURL)
	k.oneOf(key+".api", m.API, "chat", "responses")
	k.oneOf(key+".tools", m.Tools, "native", "text")
	k.oneSource(key+".api_key", m.APIKeyEnv, m.APIKeyFile)
	if m.Model == "" {
		k.add(key+".model", "is missing: write the model's name as the server knows it")
	}
	if m.Temperature != nil && !(*m.Temperature >= 0 && *m.Temperature <= 2) {
		k.add(key+".temperature", "must be between 0 and 2, not %v", *m.Temperature)
	}
	if m.ContextWindow < 0 || m.MaxOutputTokens < 0 {
		k.add(key, "context_window and max_output_tokens must not be negative; leave out what is unknown")
	}
	if m.ContextWindow > 0 && m.MaxOutputTokens >= m.ContextWindow {
		k.add(key+".max_output_tokens", "%d leaves no room in a context_window of %d", m.MaxOutputTokens, m.ContextWindow)
	}
}

func (k *checker) channel(name string, ch Channel, c *Config) {
	key := "channels." + name
	if name != "default" {
		key = fmt.Sprintf("channels.%q", name)
		if p := strings.Split(name, "/"); len(p) != 3 || slices.Contains(p, "") {
			k.add(key, `is not the address of a channel: write "slack/T123/C123", with the ids of the workspace and the channel (see README.md)`)
		}
	}
	k.known(key+".workspace", ch.Workspace, slices.Sorted(maps.Keys(c.Workspaces)), "workspaces")
	k.known(key+".model", ch.Model, slices.Sorted(maps.Keys(c.Models)), "models")
	k.oneOf(key+".mention", string(ch.Mention), string(bots.Mentioned), string(bots.InThread), string(bots.Always))
	k.oneOf(key+".busy", string(ch.Busy), string(agent.Steer), string(agent.Queue), string(agent.Interrupt))
	if ch.Steps < 0 || ch.Steps > c.Limits.HardSteps {
		k.add(key+".steps", "%d is not between 1 and limits.hard_steps (%d)", ch.Steps, c.Limits.HardSteps)
	}
	for list, ids := range map[string][]string{"approvers": ch.Approvers, "allow": ch.Allow} {
		for _, id := range ids {
			if id == "" || strings.ContainsAny(id, "@ <>") {
				k.add(key+"."+list, `%q is not a user id: write it like "U012AB3CD" (in Slack: profile, ⋮, Copy member ID)`, id)
			}
		}
	}
	if len(ch.Allow) > 0 {
		for _, id := range ch.Approvers {
			if !slices.Contains(ch.Allow, id) {
				k.add(key+".approvers", "%s may approve but is not in allow: add them there, or their clicks are refused", id)
			}
		}
	}
}

func (k *checker) known(key, name string, names []string, table string) {
	switch {
	case len(names) == 0 || slices.Contains(names, name): // no names at all is told elsewhere
	case name == "":
		k.add(key, "is missing, and there is more than one: write one of %s", strings.Join(names, ", "))
	default:
		hint := "known are " + strings.Join(names, ", ")
		if near := nearest(name, names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		k.add(key, "there is no [%s.%s]; %s", table, name, hint)
	}
}

func (k *checker) oneOf(key, value string, values ...string) {
	if !slices.Contains(values, value) {
		k.add(key, "%q is not known: write \"%s\"", value, strings.Join(values, `" or "`))
	}
}

func (k *checker) oneSource(key, env, file string) {
	if env != "" && file != "" {
		k.add(key+"_env and "+key+"_file", "both are given, keep one")
	}
}

func (k *checker) url(key, value string) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		k.add(key, "%q is not an http or https URL", value)
		return
	}
	if u.User != nil {
		k.add(key, "must not hold a user or password: secrets are named with *_env or *_file")
	}
}
