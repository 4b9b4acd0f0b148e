package slack

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"
)

// methods returns the Web API methods that are called, with the scopes of the bot token that Slack
// demands for them. A test finds a call that is not listed.
func methods() map[string][]string {
	return map[string][]string{
		"apps.connections.open":        nil, // with the app token
		"assistant.threads.setStatus":  {"chat:write"},
		"auth.test":                    nil,
		"chat.appendStream":            {"chat:write"},
		"chat.delete":                  {"chat:write"},
		"chat.postEphemeral":           {"chat:write"},
		"chat.postMessage":             {"chat:write"},
		"chat.startStream":             {"chat:write"},
		"chat.stopStream":              {"chat:write"},
		"chat.update":                  {"chat:write"},
		"conversations.history":        history(),
		"conversations.info":           {"channels:read", "groups:read"},
		"conversations.replies":        history(),
		"files.completeUploadExternal": {"files:write"},
		"files.getUploadURLExternal":   {"files:write"},
		"files.info":                   {"files:read"}, // and for what is at url_private
		"users.info":                   {"users:read"},
		"users.list":                   {"users:read"},
		"views.open":                   nil,
		"views.publish":                nil,
	}
}

// history returns the scopes for what is said in public and private channels, in direct messages and
// in those of several people.
func history() []string {
	return []string{"channels:history", "groups:history", "im:history", "mpim:history"}
}

// events returns the events that are subscribed to, with the scope that Slack demands for them, or "".
func events() map[string]string {
	return map[string]string{
		"app_home_opened":  "",
		"app_mention":      "app_mentions:read",
		"message.channels": "channels:history",
		"message.groups":   "groups:history",
		"message.im":       "im:history",
		"message.mpim":     "mpim:history",
	}
}

// needed returns the scopes that the bot token must have.
func needed() []string {
	all := slices.Concat(slices.Collect(maps.Values(methods()))...)
	all = slices.AppendSeq(all, maps.Values(events()))
	all = append(all, "commands")
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(scope string) bool { return scope == "" })
}

// Manifest returns the manifest from which Slack makes the app: what it is called, and exactly the
// scopes and events that this package uses. With an empty url the app uses Socket Mode, else Slack
// sends events there, to an address that it can reach (https://heddle.example.com/slack).
func Manifest(url string) slack.Manifest {
	return slack.Manifest{
		Display: slack.Display{
			Name:        "Heddle",
			Description: "An agent that works with the team, and asks before it acts",
		},
		Features: slack.Features{
			AppHome: slack.AppHome{HomeTabEnabled: true, MessagesTabEnabled: true},
			BotUser: slack.BotUser{DisplayName: "heddle", AlwaysOnline: true},
			SlashCommands: []slack.ManifestSlashCommand{
				{Command: "/heddle", Description: "Ask what I can do, or tell me what to do", UsageHint: "help", ShouldEscape: true, Url: url},
			},
		},
		OAuthConfig: slack.OAuthConfig{Scopes: slack.OAuthScopes{Bot: needed()}},
		Settings: slack.Settings{
			EventSubscriptions: &slack.EventSubscriptions{RequestUrl: url, BotEvents: slices.Sorted(maps.Keys(events()))},
			Interactivity:      &slack.Interactivity{IsEnabled: true, RequestUrl: url},
			SocketModeEnabled:  url == "",
		},
	}
}

// WriteManifest returns Manifest as Slack's page takes it, as JSON or YAML.
func WriteManifest(url string, asYAML bool) ([]byte, error) {
	var b bytes.Buffer
	if asYAML {
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		if err := enc.Encode(Manifest(url)); err != nil {
			return nil, err
		}
		return b.Bytes(), enc.Close()
	}
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(Manifest(url))
	return b.Bytes(), err
}
