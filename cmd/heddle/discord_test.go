package main

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// newWard is a clinic where Discord is wanted too.
func newWard(t *testing.T) (clinic, *discordtest.Network) {
	t.Helper()
	c := newClinic(t, llmtest.Reply{Text: "pong", Repeat: true})
	n := discordtest.New(discordtest.Config{})
	t.Cleanup(n.Close)
	c.add(t, "[discord]\napi_url = \""+n.URL+"\"\n")
	c.env = append(c.env, "DISCORD_BOT_TOKEN", discordtest.BotToken)
	return c, n
}

func TestDoctorLooksAtDiscord(t *testing.T) {
	c, n := newWard(t)
	channel := "discord/" + discordtest.GuildID + "/" + n.AddChannel(discordtest.GuildID, "general")
	c.add(t, "[channels.\""+channel+"\"]\n")
	o := runWith(c.env, "doctor", "-c", c.config)
	require.Zero(t, o.code, o)
	for _, line := range []string{"slack bot token: connected", "discord bot token: connected as heddle", "discord intents: Message Content is enabled",
		"discord guilds: in 1", "channel " + channel + ": the bot may do there what it does"} {
		require.Contains(t, o.stdout, "ok    "+line)
	}

	n.API.Fail("GET /applications/@me", discordtest.Fault{Change: func(answer any) any {
		app := maps.Clone(answer.(map[string]any))
		app["bot_public"] = true
		return app
	}})
	o = runWith(c.env, "doctor", "-c", c.config)
	require.Zero(t, o.code, "what works is no failure: %v", o)
	require.Regexp(t, "warn  discord application: anybody may let it into a server of theirs.*“Public Bot” off", o.stdout)

	c.env[len(c.env)-1] = "of-another-app"
	o = runWith(c.env, "doctor", "-c", c.config)
	require.Equal(t, 1, o.code, o)
	require.Regexp(t, "FAIL  discord bot token: .*press “Reset Token”", o.stdout)
	require.NotContains(t, o.stdout, "of-another-app")

	o = runWith(c.env[:4], "doctor", "-c", c.config)
	require.Zero(t, o.code, o)
	require.Contains(t, o.stdout, "ok    discord: not wanted, for its token is not there")
	o = runWith([]string{"DISCORD_BOT_TOKEN", discordtest.BotToken}, "doctor", "-c", c.config)
	require.Zero(t, o.code, o)
	require.Contains(t, o.stdout, "ok    slack: not wanted, for none of its tokens is there")
}

func TestServeWithADiscordTokenThatIsRefused(t *testing.T) {
	c, _ := newWard(t)
	o := runWith([]string{"DISCORD_BOT_TOKEN", "of-another-app"}, "serve", "-c", c.config)
	require.Equal(t, 1, o.code, "it is the only network")
	require.Contains(t, o.stderr, "discord refuses the token")
	require.Contains(t, o.stderr, "press “Reset Token”")
	require.NotContains(t, o.stderr, "of-another-app")
}

func TestManifestOfDiscord(t *testing.T) {
	o := runWith(nil, "manifest", "discord", "1100000000000000001")
	require.Zero(t, o.code, o)
	require.Contains(t, o.stdout, "https://discord.com/oauth2/authorize?client_id=1100000000000000001&")

	c, _ := newWard(t)
	o = runWith(c.env, "manifest", "discord", "-c", c.config)
	require.Zero(t, o.code, o)
	require.Contains(t, o.stdout, "client_id="+discordtest.AppID)
	o = runWith(nil, "manifest", "discord", "-c", c.config)
	require.Equal(t, 1, o.code)
	require.Contains(t, o.stderr, "name the application: heddle manifest discord ID")
}

func TestDiscordConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"shards = 0\n":                           "discord.shards: must be at least 1",
		"shard = 1\n":                            "discord.shard: the shards are numbered from 0: 1 is none of 1",
		"guilds = [\"weavers\"]\n":               `discord.guilds: "weavers" is not the id of a server`,
		"guilds = [\"110000000000000005\"]\n":    "",
		"shards = 2\nshard = 1\n":                "",
		"api_url = \"discord.com\"\n":            `discord.api_url: "discord.com" is not an http or https URL`,
		"bot_token_env = \"\"\n":                 "discord.bot_token_env: is empty",
		"bot_token_file = \"t\"\n":               "",
		"bot_token_env = \"MTIz.abc.def-ghi\"\n": "discord.bot_token_env: this is not the name of an environment variable",
	} {
		c, err := load(write(t, minimal+"[discord]\n"+text))
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.True(t, c.Discord.MessageContent)
	}
}

// Ids of both networks may stand in [channels.default]; elsewhere only those of the channel's own.
func TestIdsOfPeople(t *testing.T) {
	const here, role = "110000000000000005", "role:110000000000000006"
	for text, want := range map[string]string{
		minimal + "approvers = [\"U1\", \"" + here + "\", \"" + role + "\"]\n":             "",
		minimal + "allow = [\"role:admins\"]\n":                                            `"role:admins" is not the id of a person, which is on Discord 15 to 20 digits`,
		minimal + "[channels.\"slack/T1/C1\"]\nallow = [\"" + here + "\"]\n":               `is not the id of a person, which is on Slack U, W`,
		minimal + "[channels.\"discord/" + here + "/" + here + "\"]\nallow = [\"U1\"]\n":   `is not the id of a person, which is on Discord 15`,
		minimal + "allow = [\"" + role + "\"]\napprovers = [\"" + here + "\"]\n":           "",
		minimal + "allow = [\"110000000000000007\"]\napprovers = [\"" + here + "\"]\n":     here + " may approve but is not in allow",
		minimal + "allow = [\"110000000000000007\"]\napprovers = [\"" + role + "\"]\n":     "",
		minimal + "[channels.\"discord/@me/" + here + "\"]\nallow = [\"" + here + "\"]\n":  "",
		minimal + "[channels.\"discord/" + here + "/" + here + "\"]\nallow = [\"@you\"]\n": `"@you" is not the id of a person`,
	} {
		_, err := load(write(t, text))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
	}
}
