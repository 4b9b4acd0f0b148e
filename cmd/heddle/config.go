package main

import (
	"fmt"
	"reflect"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
)

// Config is the configuration file. An unknown key is an error, and a key that is left out has the
// default that defaults gives it. Paths are relative to the directory of the file. Secrets are not
// written in it but named: *_env is an environment variable, *_file a file that its owner can read,
// and perhaps a group, but not everybody; one of the two.
type Config struct {
	Store      Store                `toml:"store"`
	HTTP       HTTP                 `toml:"http"`
	Limits     Limits               `toml:"limits"`
	Slack      Slack                `toml:"slack"`
	Discord    Discord              `toml:"discord"`
	Web        Web                  `toml:"web"`
	Models     map[string]Model     `toml:"models"`     // by the name that channels use
	Workspaces map[string]Workspace `toml:"workspaces"` // by the name that channels use
	// Channels is by address, "slack/T123/C123". The channel named "default" says what holds in every
	// channel, direct messages included, that is not listed or leaves a key out. Without it the bot
	// works in the listed channels only.
	Channels map[string]Channel `toml:"channels"`
}

// Store is where everything is kept that must survive.
type Store struct {
	Path string `toml:"path"` // the log; its artefacts and its socket lie beside it, in a directory that neither is nor holds a workspace. The tools for files cannot reach into its directory; a shell command that a person approves can.
}

// HTTP is the address for health checks.
type HTTP struct {
	Addr string `toml:"addr"` // host:port of /healthz and /readyz; "" serves neither
}

// Limits hold for every turn, which is one request until its end.
type Limits struct {
	Steps           int      `toml:"steps"`            // model requests of a turn
	HardSteps       int      `toml:"hard_steps"`       // that no channel may exceed
	TurnTime        Duration `toml:"turn_time"`        // at work, not counting the wait for people
	TurnTokens      int      `toml:"turn_tokens"`      // input and output of all its requests
	ToolOutput      int      `toml:"tool_output"`      // bytes of one output that the model is shown; the whole is kept
	ConcurrentTurns int      `toml:"concurrent_turns"` // that work at once; the others wait in line
	ApprovalTime    Duration `toml:"approval_time"`    // that an approval or a question waits for a person
}

// Slack is one Slack app.
type Slack struct {
	BotTokenEnv       string `toml:"bot_token_env"` // the token that begins with xoxb-
	BotTokenFile      string `toml:"bot_token_file"`
	AppTokenEnv       string `toml:"app_token_env"` // the token that begins with xapp-, for mode "socket"
	AppTokenFile      string `toml:"app_token_file"`
	SigningSecretEnv  string `toml:"signing_secret_env"` // for mode "http"
	SigningSecretFile string `toml:"signing_secret_file"`
	Mode              string `toml:"mode"`        // "socket": the service connects to Slack, nothing needs to reach it; "http": Slack sends requests to events_addr
	EventsAddr        string `toml:"events_addr"` // host:port where mode "http" takes them, behind a proxy that speaks TLS
	APIURL            string `toml:"api_url"`     // of the Web API; another one than Slack's for tests and proxies
}

// Discord is one Discord application.
type Discord struct {
	BotTokenEnv    string   `toml:"bot_token_env"`
	BotTokenFile   string   `toml:"bot_token_file"`
	Guilds         []string `toml:"guilds"`          // ids of the servers where the slash commands are registered; empty: everywhere
	MessageContent bool     `toml:"message_content"` // ask for the intent of that name; without it only mentions, direct messages and commands are heard
	Shards         int      `toml:"shards"`          // connections that the bot is spread over, each a heddle of its own; Discord wants one for each 2,500 guilds
	Shard          int      `toml:"shard"`           // which of them this is, from 0
	APIURL         string   `toml:"api_url"`         // of the REST API, without the version; another one than Discord's for tests and proxies
}

// Web is the page, on which people talk to the agent with a browser.
type Web struct {
	Addr      string   `toml:"addr"`      // host:port; "" is no page
	People    []string `toml:"people"`    // who may log in, each as NAME:VARIABLE, of which the variable holds the token of their link; others use the link that is printed at each start, which works once
	Operators []string `toml:"operators"` // those of people who may see the console, which shows the sessions of all networks
	Public    bool     `toml:"public"`    // addr may be one that other machines reach; that needs people
	Hosts     []string `toml:"hosts"`     // names in browsers' addresses that lead here, beside those of loopback
	HTTPS     bool     `toml:"https"`     // browsers come over TLS, which a proxy ends: cookies are for that alone
}

// Model is one language model behind an OpenAI-compatible server.
type Model struct {
	BaseURL         string   `toml:"base_url"`          // up to the version: "https://api.openai.com/v1"
	API             string   `toml:"api"`               // "chat", "responses", or "tour" for the script that is no AI and needs nothing else
	APIKeyEnv       string   `toml:"api_key_env"`       // neither this nor the next: no key is sent
	APIKeyFile      string   `toml:"api_key_file"`      //
	Model           string   `toml:"model"`             // as the server names it
	ContextWindow   int      `toml:"context_window"`    // tokens; 0 is unknown
	MaxOutputTokens int      `toml:"max_output_tokens"` // of one reply; 0 leaves it to the server
	Temperature     *float64 `toml:"temperature"`       // 0 to 2; left out: the server's own
	Images          bool     `toml:"images"`            // it takes images: those that people attach are shown to it
	Tools           string   `toml:"tools"`             // "native", or "text" for models without tool calling
}

// Workspace is a directory that sessions work in, usually a git checkout.
type Workspace struct {
	Path string `toml:"path"`
}

// Channel is what holds in one channel. An empty list of people means everybody in the channel.
type Channel struct {
	Workspace string      `toml:"workspace"` // may be left out if there is only one
	Model     string      `toml:"model"`     // may be left out if there is only one
	Mention   bots.Policy `toml:"mention"`   // what is for the bot: "mention", "thread" (replies too, where it takes part), "always"
	Busy      agent.Busy  `toml:"busy"`      // a message during a turn: "steer", "queue" or "interrupt"
	Approvers []string    `toml:"approvers"` // user ids of who may approve
	Allow     []string    `toml:"allow"`     // user ids of who may talk to the bot
	Bots      []string    `toml:"bots"`      // ids of other bots that may talk to the bot: five messages in a row, then a person has to
	Outside   *bool       `toml:"outside"`   // people of other organisations may too, in a channel that is shared with them
	Steps     int         `toml:"steps"`     // instead of limits.steps
}

// defaults returns the configuration in which every key has its default. Under Models and Channels
// it has what holds for each of them, named "default".
func defaults() Config {
	limits := agent.Limits{}.WithDefaults()
	return Config{
		Store: Store{Path: "state/heddle.db"},
		HTTP:  HTTP{Addr: "127.0.0.1:8787"},
		Limits: Limits{
			Steps:           limits.Steps,
			HardSteps:       50,
			TurnTime:        Duration(limits.Time),
			TurnTokens:      limits.Tokens,
			ToolOutput:      limits.Output,
			ConcurrentTurns: 64,
			ApprovalTime:    Duration(limits.Approval),
		},
		Slack: Slack{
			BotTokenEnv:      "SLACK_BOT_TOKEN",
			AppTokenEnv:      "SLACK_APP_TOKEN",
			SigningSecretEnv: "SLACK_SIGNING_SECRET",
			Mode:             "socket",
			EventsAddr:       "127.0.0.1:3000",
			APIURL:           "https://slack.com/api/",
		},
		Discord: Discord{
			BotTokenEnv:    "DISCORD_BOT_TOKEN",
			Guilds:         []string{},
			MessageContent: true,
			Shards:         1,
			APIURL:         "https://discord.com/api",
		},
		Web:      Web{People: []string{}, Operators: []string{}, Hosts: []string{}},
		Models:   map[string]Model{"default": {BaseURL: "https://api.openai.com/v1", API: "chat", Tools: "native"}},
		Channels: map[string]Channel{"default": {Mention: bots.InThread, Busy: agent.Steer, Outside: new(bool)}},
	}
}

// fill gives every key that was not written its default.
func (c *Config) fill(written *survey) {
	d := defaults()
	// A file instead of a variable leaves no default for the variable.
	if c.Slack.BotTokenFile != "" {
		d.Slack.BotTokenEnv = ""
	}
	if c.Slack.AppTokenFile != "" {
		d.Slack.AppTokenEnv = ""
	}
	if c.Slack.SigningSecretFile != "" {
		d.Slack.SigningSecretEnv = ""
	}
	if c.Discord.BotTokenFile != "" {
		d.Discord.BotTokenEnv = ""
	}
	merge(written, "store", &c.Store, d.Store)
	merge(written, "http", &c.HTTP, d.HTTP)
	merge(written, "limits", &c.Limits, d.Limits)
	merge(written, "slack", &c.Slack, d.Slack)
	merge(written, "discord", &c.Discord, d.Discord)
	merge(written, "web", &c.Web, d.Web)
	for name, m := range c.Models {
		merge(written, keyName("models", name), &m, d.Models["default"])
		c.Models[name] = m
	}
	base := d.Channels["default"]
	base.Workspace, base.Model, base.Steps = only(c.Workspaces), only(c.Models), c.Limits.Steps
	if ch, ok := c.Channels["default"]; ok {
		merge(written, "channels.default", &ch, base)
		c.Channels["default"], base = ch, ch
	}
	for name, ch := range c.Channels {
		merge(written, keyName("channels", name), &ch, base)
		c.Channels[name] = ch
	}
}

// merge sets the fields of v, which is the table of that name, to those of def where their keys were
// not written.
func merge[T any](written *survey, table string, v *T, def T) {
	to, from := reflect.ValueOf(v).Elem(), reflect.ValueOf(def)
	for i, key := range keys(to.Type()) {
		if !written.has(table + "." + key) {
			to.Field(i).Set(from.Field(i))
		}
	}
}

// only returns the one key of m, or "" if it has none or several.
func only[T any](m map[string]T) string {
	if len(m) != 1 {
		return ""
	}
	for name := range m {
		return name
	}
	return ""
}

// A Duration is a time span, written like "90s", "10m" or "168h".
type Duration time.Duration

// UnmarshalText parses what time.ParseDuration does.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf(`%q is not a time span: write "90s", "10m" or "168h"`, text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText is the reverse of UnmarshalText.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }
