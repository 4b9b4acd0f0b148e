package discord_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// findings are those of a check, by name. What is to be done is marked with "!".
func findings(t *testing.T, c discord.Config, channels ...string) map[string]string {
	t.Helper()
	d, err := discord.New(c)
	require.NoError(t, err)
	all := map[string]string{}
	for _, f := range d.Check(t.Context(), channels...) {
		all[f.Name] = f.Text
		if !f.OK {
			all[f.Name] = "! " + f.Text
		}
	}
	return all
}

func TestCheckFindsAllWell(t *testing.T) {
	n := discordtest.New(discordtest.Config{})
	defer n.Close()
	address := "discord/" + discordtest.GuildID + "/" + n.AddChannel(discordtest.GuildID, "general")
	require.Equal(t, map[string]string{
		"discord bot token":                       "connected as heddle",
		"discord intents":                         "Message Content is enabled",
		"discord guilds":                          "in 1",
		"channel " + address:                      "the bot may do there what it does",
		"channel discord/@me/1100000000000000009": "the bot may do there what it does",
	}, findings(t, discord.Config{Token: discordtest.BotToken, APIURL: n.URL}, address, "discord/@me/1100000000000000009"))
}

func TestCheckSaysWhatToDo(t *testing.T) {
	n := discordtest.New(discordtest.Config{NoContent: true})
	defer n.Close()
	mute := n.AddChannel(discordtest.GuildID, "mute")
	n.Allow(mute, discordtest.ViewChannel|discordtest.ReadMessageHistory|discordtest.CreatePublicThreads|discordtest.SendMessagesInThreads)
	hidden := n.AddChannel(discordtest.GuildID, "hidden")
	n.Allow(hidden, 0)
	other := n.AddGuild("tailors")
	in := func(guild, channel string) string { return "discord/" + guild + "/" + channel }
	const g = discordtest.GuildID

	all := findings(t, discord.Config{Token: discordtest.BotToken, APIURL: n.URL},
		in(g, mute), in(g, hidden), in(g, "1100000000000999999"), in("1100000000000999998", mute), in(other, mute))
	require.Contains(t, all["discord intents"], "! ")
	require.Contains(t, all["discord intents"], "enable “Message Content Intent” under “Bot”")
	require.Equal(t, "! allow the bot “Send Messages”, “Attach Files”: Edit Channel, Permissions, or the role of the bot in the server's settings", all["channel "+in(g, mute)])
	require.Contains(t, all["channel "+in(g, hidden)], "! the bot is not in that server, or does not see the channel")
	require.Contains(t, all["channel "+in(g, "1100000000000999999")], "! there is no such channel")
	require.Contains(t, all["channel "+in("1100000000000999998", mute)], "! the bot is not in that server")
	require.Contains(t, all["channel "+in(other, mute)], "! the channel is in another server")

	all = findings(t, discord.Config{Token: discordtest.BotToken, APIURL: n.URL, WithoutContent: true})
	require.Equal(t, "no privileged one is asked for", all["discord intents"])
	all = findings(t, discord.Config{Token: "of-another-app", APIURL: n.URL})
	require.Len(t, all, 1)
	require.Contains(t, all["discord bot token"], "! ")
	require.Contains(t, all["discord bot token"], "press “Reset Token” under “Bot”")
}

// An application that is not private works; yet whoever runs it should know who may use it.
func TestCheckWarnsOfAPublicBot(t *testing.T) {
	n := discordtest.New(discordtest.Config{})
	defer n.Close()
	n.API.Fail("GET /applications/@me", discordtest.Fault{Change: func(answer any) any {
		app := maps.Clone(answer.(map[string]any))
		app["bot_public"] = true
		return app
	}})
	d, err := discord.New(discord.Config{Token: discordtest.BotToken, APIURL: n.URL})
	require.NoError(t, err)
	var warned []discord.Finding
	for _, f := range d.Check(t.Context()) {
		require.True(t, f.OK, f)
		if f.Warn {
			warned = append(warned, f)
		}
	}
	require.Len(t, warned, 1)
	require.Equal(t, "discord application", warned[0].Name)
	require.Contains(t, warned[0].Text, "switch “Public Bot” off")
}

func TestManifest(t *testing.T) {
	link := discord.Invite("1100000000000000001")
	require.Equal(t, "https://discord.com/oauth2/authorize?client_id=1100000000000000001&permissions=309237746688&scope=bot+applications.commands", link)
	text := discord.WriteManifest("1100000000000000001", true)
	require.Contains(t, text, link)
	require.Contains(t, text, "View Channels, Send Messages, Create Public Threads, Send Messages in Threads, Read Message History, Attach Files")
	require.Contains(t, text, "set “Message Content Intent” under “Bot” on https://discord.com/developers/applications/1100000000000000001/bot")
	require.Contains(t, text, "switch “Public Bot” off")
	require.False(t, strings.Contains(discord.WriteManifest("1", false), "Message Content"))

	n := discordtest.New(discordtest.Config{})
	defer n.Close()
	d, err := discord.New(discord.Config{Token: discordtest.BotToken, APIURL: n.URL})
	require.NoError(t, err)
	app, err := d.Application(t.Context())
	require.NoError(t, err)
	require.Equal(t, discordtest.AppID, app)
	d, err = discord.New(discord.Config{Token: "of-another-app", APIURL: n.URL})
	require.NoError(t, err)
	_, err = d.Application(t.Context())
	require.ErrorContains(t, err, "press “Reset Token”")
}
