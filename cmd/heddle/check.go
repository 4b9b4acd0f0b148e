package main

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/web"
)

// A checker collects what is wrong with a configuration. Each problem names the key and its place, and
// says what to do.
type checker struct {
	written  *survey
	problems []string
}

func (k *checker) add(key, format string, args ...any) {
	k.problems = append(k.problems, k.written.where(key)+": "+key+": "+fmt.Sprintf(format, args...))
}

// check returns what is wrong with the filled-in configuration, as far as that can be told without
// looking at more of the world than where links lead; doctor does that.
func (c *Config) check(written *survey) []string {
	k := checker{written: written}
	k.store(c)
	if c.HTTP.Addr != "" {
		if _, _, err := net.SplitHostPort(c.HTTP.Addr); err != nil {
			k.add("http.addr", "%q is not host:port: write \"127.0.0.1:8787\", or \"\" for no health checks", c.HTTP.Addr)
		}
	}
	k.limits(c.Limits)
	k.slack(c.Slack)
	k.discord(c.Discord)
	k.web(c.Web)
	if len(c.Models) == 0 {
		k.add("models", "there is no model: add a table [models.main] with base_url and model")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		k.model(keyName("models", name), c.Models[name])
	}
	if len(c.Workspaces) == 0 {
		k.add("workspaces", "there is no workspace: add a table [workspaces.main] with the path of a directory")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workspaces)) {
		if c.Workspaces[name].Path == "" {
			k.add(keyName("workspaces", name, "path"), "is missing: write the path of a directory")
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

// store makes sure that the tools can work: they are kept out of the log's directory.
func (k *checker) store(c *Config) {
	if c.Store.Path == "" {
		k.add("store.path", "is empty: write the path of a file, or leave it out for the default")
		return
	}
	dir := resolved(filepath.Dir(c.Store.Path))
	for _, name := range slices.Sorted(maps.Keys(c.Workspaces)) {
		path := c.Workspaces[name].Path
		if path == "" {
			continue
		}
		if within(dir, resolved(path)) {
			k.add("store.path", "no tool may reach into the directory of the log, %s, and it is or holds that of workspaces.%s: give the log a directory of its own, like \"state/heddle.db\"; that may lie in the workspace", dir, name)
		}
	}
}

// resolved returns an absolute path without symbolic links, as far as it is there.
func resolved(path string) string {
	real := string(filepath.Separator)
	parts := strings.Split(filepath.Clean(path), real)
	for i, p := range parts {
		next, err := filepath.EvalSymlinks(filepath.Join(real, p))
		if err != nil {
			return filepath.Join(real, filepath.Join(parts[i:]...))
		}
		real = next
	}
	return real
}

// within reports whether path is dir or in it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
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
		if v.n <= 0 {
			k.add("limits."+v.key, "must be more than 0: nothing could be done; leave it out for the default")
		}
	}
	if l.ToolOutput < minOutput {
		k.add("limits.tool_output", "%d bytes are too few to be of use: write at least %d", l.ToolOutput, minOutput)
	}
	if l.HardSteps > 0 && l.Steps > l.HardSteps {
		k.add("limits.steps", "%d is more than limits.hard_steps (%d): lower the one or raise the other", l.Steps, l.HardSteps)
	}
}

// minOutput is the least limits.tool_output: the tools need it for a header, one long line and a note.
const minOutput = 4000

func (k *checker) slack(s Slack) {
	k.oneOf("slack.mode", s.Mode, "socket", "http")
	if _, _, err := net.SplitHostPort(s.EventsAddr); err != nil {
		k.add("slack.events_addr", "%q is not host:port: write \"127.0.0.1:3000\"", s.EventsAddr)
	}
	k.url("slack.api_url", s.APIURL)
	k.oneSource("slack.bot_token", s.BotTokenEnv, s.BotTokenFile)
	if s.BotTokenEnv == "" && s.BotTokenFile == "" {
		k.add("slack.bot_token_env", noSource)
	}
	k.oneSource("slack.app_token", s.AppTokenEnv, s.AppTokenFile)
	if s.AppTokenEnv == "" && s.AppTokenFile == "" {
		k.add("slack.app_token_env", noSource)
	}
	k.oneSource("slack.signing_secret", s.SigningSecretEnv, s.SigningSecretFile)
}

func (k *checker) discord(d Discord) {
	k.url("discord.api_url", d.APIURL)
	k.oneSource("discord.bot_token", d.BotTokenEnv, d.BotTokenFile)
	if d.BotTokenEnv == "" && d.BotTokenFile == "" {
		k.add("discord.bot_token_env", noSource)
	}
	for _, id := range d.Guilds {
		if !forms()[discord.Name].channel.MatchString(id) {
			k.add("discord.guilds", "%q is not the id of a server, which is 15 to 20 digits (Developer Mode on, right click, Copy Server ID)", id)
		}
	}
	if d.Shards < 1 {
		k.add("discord.shards", "must be at least 1; leave it out unless Discord asks for more")
	} else if d.Shard < 0 || d.Shard >= d.Shards {
		k.add("discord.shard", "the shards are numbered from 0: %d is none of %d", d.Shard, d.Shards)
	}
}

func (k *checker) web(w Web) {
	for _, p := range w.People {
		name, env, ok := strings.Cut(p, ":")
		if !ok || name == "" || !variable.MatchString(env) {
			k.add("web.people", "%q is not NAME:VARIABLE: write \"alice:HEDDLE_TOKEN_ALICE\", and the token into the environment under that name", name+":…")
		}
	}
	for _, name := range w.Operators {
		if !slices.ContainsFunc(w.People, func(p string) bool { return strings.HasPrefix(p, name+":") }) {
			k.add("web.operators", "%q is none of web.people: add them there, with the variable of their token", name)
		}
	}
	if w.Addr == "" {
		return
	}
	if err := web.CheckAddr(w.Addr, len(w.People), w.Public); err != nil {
		k.add("web.addr", "%v", err)
	}
}

func (k *checker) model(key string, m Model) {
	if m.API == "tour" {
		return
	}
	k.url(key+".base_url", m.BaseURL)
	k.oneOf(key+".api", m.API, "chat", "responses", "tour")
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

func (k *checker) known(key, name string, names []string, table string) {
	switch {
	case len(names) == 0 || slices.Contains(names, name): // no names at all is told elsewhere
	case name == "" && len(names) == 1:
		k.add(key, "is empty: write %q, or leave it out", names[0])
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

const noSource = "is empty: write the name of an environment variable, or leave it out for the default"

// variable is what the names of environment variables look like.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// oneSource checks the keys *_env and *_file of a secret. It does not repeat what may be one.
func (k *checker) oneSource(key, env, file string) {
	if env != "" && !variable.MatchString(env) {
		k.add(key+"_env", "this is not the name of an environment variable. If it is the secret: it must not stand in the file; put it into the environment, and the name of its variable here")
	}
	if env != "" && file != "" {
		k.add(key+"_env", "both this and %s_file are given, keep one", key)
	}
}

func (k *checker) url(key, value string) {
	u, err := url.Parse(value)
	switch {
	case err == nil && u.User != nil, strings.Contains(value, "@"): // which may be a password, so it is not repeated
		k.add(key, "must not hold a user or password: secrets are named with *_env or *_file")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		k.add(key, "%q is not an http or https URL", value)
	}
}
