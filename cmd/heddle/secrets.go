package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// secrets are the values that the configuration names. They are kept apart from it, so that a
// configuration may be printed.
type secrets struct {
	slackBot     string
	slackApp     string
	slackSigning string
	discordBot   string
	models       map[string]string // by name of the model
	web          map[string]string // tokens of people, by name
	page         bool              // the page is served: no other network is needed
	slack        bool              // it is to be connected: at least one of its secrets is there
	discord      bool
	problems     []string // what could not be read, by key; the value is then empty
	noToken      bool     // a problem is that a token of a network is not configured at all
	noKey        bool     // the same of a model's key
}

// errUnset says that the variable which is to hold a secret is not set.
var errUnset = errors.New("is not set")

// A reading is the secrets that one thing needs, and what was wrong with them.
type reading struct {
	getenv   func(string) string
	problems []string
	found    bool // one is there, or named by a file, so that the thing is wanted
	unset    bool // the variable of one is not set
}

// read returns a secret, "" if it cannot be read.
func (r *reading) read(key, env, file string) string {
	value, err := secret(env, file, r.getenv)
	if err != nil {
		r.problems = append(r.problems, fmt.Sprintf("%s: %v", key, err))
	}
	r.found = r.found || !errors.Is(err, errUnset)
	r.unset = r.unset || errors.Is(err, errUnset)
	return value
}

// secrets reads the values that c names. A network of which none is there is not wanted, unless none
// is. What else is missing is a problem only for whoever needs it.
func (c *Config) secrets(getenv func(string) string) secrets {
	s := secrets{models: map[string]string{}}
	slack := reading{getenv: getenv}
	s.slackBot = slack.read("slack.bot_token", c.Slack.BotTokenEnv, c.Slack.BotTokenFile)
	if k := c.Slack; k.Mode == "http" { // what the mode does not need is masked all the same
		s.slackSigning = slack.read("slack.signing_secret", k.SigningSecretEnv, k.SigningSecretFile)
		s.slackApp, _ = secret(k.AppTokenEnv, k.AppTokenFile, getenv)
	} else {
		s.slackApp = slack.read("slack.app_token", k.AppTokenEnv, k.AppTokenFile)
		s.slackSigning, _ = secret(k.SigningSecretEnv, k.SigningSecretFile, getenv)
	}
	discord := reading{getenv: getenv}
	s.discordBot = discord.read("discord.bot_token", c.Discord.BotTokenEnv, c.Discord.BotTokenFile)
	s.slack, s.discord, s.page = slack.found, discord.found, c.Web.Addr != ""
	s.web = map[string]string{}
	people := reading{getenv: getenv}
	for _, p := range c.Web.People {
		name, env, _ := strings.Cut(p, ":")
		s.web[name] = people.read("web.people of "+name, env, "")
	}
	if s.page {
		s.problems = append(s.problems, people.problems...)
	}
	for _, r := range []reading{slack, discord} {
		if r.found || !s.slack && !s.discord && !s.page {
			s.problems = append(s.problems, r.problems...)
			s.noToken = s.noToken || r.unset
		}
	}
	keys := reading{getenv: getenv}
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		m := c.Models[name]
		if m.API == "tour" {
			continue
		}
		s.models[name] = keys.read(keyName("models", name, "api_key"), m.APIKeyEnv, m.APIKeyFile)
	}
	s.problems, s.noKey = append(s.problems, keys.problems...), keys.unset
	return s
}

// values returns all that must be masked.
func (s secrets) values() []string {
	all := append(slices.Collect(maps.Values(s.models)), s.slackBot, s.slackApp, s.slackSigning, s.discordBot)
	return append(all, slices.Collect(maps.Values(s.web))...)
}

// secret returns the value of the variable env, or the content of file. With neither it is "".
func secret(env, file string, getenv func(string) string) (string, error) {
	if file == "" {
		value := strings.TrimSpace(getenv(env))
		if env != "" && value == "" {
			return "", fmt.Errorf("the environment variable %s %w", printable(env), errUnset)
		}
		return value, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return "", fmt.Errorf("%s is a directory: name the file in it that holds the secret and nothing else", file)
	}
	if info.Mode().Perm()&0o007 != 0 { // a group of its own is how some systems hand over secrets
		return "", fmt.Errorf("%s is open to everybody on this machine (mode %04o): run chmod 600 %[1]s", file, info.Mode().Perm())
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(string(data))
	if value == "" {
		return "", fmt.Errorf("%s is empty", file)
	}
	return value, nil
}

// printable returns the name of a variable, or words for one that may be a secret in its place: names
// of variables are in upper case almost always, and tokens and keys almost never.
func printable(env string) string {
	if env == strings.ToUpper(env) {
		return env
	}
	return "that the configuration names (not shown here, it is not in upper case: is it the secret itself, which must not stand there?)"
}

// complete returns an error that says which secrets are missing and how to get them, or nil.
func (s secrets) complete() error {
	if len(s.problems) == 0 {
		return nil
	}
	text := "some secrets are missing:\n  " + strings.Join(s.problems, "\n  ")
	if s.noToken && !s.slack && !s.discord {
		text += "\n" + oneIsEnough
	}
	if s.noToken { // of Slack in any case: Discord has but one, so it is not missing where it is wanted
		text += "\n" + howToSlack
	}
	if s.noToken && !s.slack {
		text += "\n" + howToDiscord
	}
	if s.noKey {
		text += "\n" + howToModel
	}
	if s.noToken || s.noKey {
		text += "\n" + howToCheck
	}
	return errors.New(text)
}

const oneIsEnough = `
One network is enough, Slack or Discord.`

const howToDiscord = `
How to get the Discord token:
  1. Open https://discord.com/developers/applications, "New Application". Under "Bot", "Reset Token"
     shows the token, and "Message Content Intent" below has to be on. So that nobody else lets it into
     a server of theirs: under "Installation" the install link "None", then "Public Bot" off under "Bot".
  2. "heddle manifest discord APPLICATION_ID" prints the link with which you let the bot into a server;
     the id is under "General Information".
  3. Set the token in the environment of heddle and start it again:
       export DISCORD_BOT_TOKEN=...`

const howToSlack = `
How to get the two Slack tokens:
  1. Open https://api.slack.com/apps, "Create New App", "From a manifest", and paste what
     "heddle manifest slack" prints: it sets the scopes, the events and Socket Mode.
  2. "Install App": the Bot User OAuth Token, which begins with xoxb-, is the bot token.
  3. "Basic Information", "App-Level Tokens", generate one with the scope connections:write. It
     begins with xapp- and is the app token.
  4. Set both in the environment of heddle and start it again:
       export SLACK_BOT_TOKEN=xoxb-... SLACK_APP_TOKEN=xapp-...
Of mode "http" only: instead of the app token, "Basic Information", "App Credentials" has the Signing
Secret, for SLACK_SIGNING_SECRET.`

const howToModel = `
How to get a model:
  - The key comes from the provider whose address is base_url: that of OpenAI from
    https://platform.openai.com/api-keys, and then
       export OPENAI_API_KEY=sk-...
  - A server of your own (llama.cpp, Ollama, vLLM) needs none: remove api_key_env, and set base_url
    and model, for Ollama "http://127.0.0.1:11434/v1" and what "ollama list" shows.`

const howToCheck = `
"heddle doctor" checks all of it; give it the same -c. In a checkout, heddle is bin/heddle after make build:
       make build && bin/heddle doctor -c config.example.toml`
