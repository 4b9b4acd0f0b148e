package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// Whoever picks the bot's role from what Discord offers means the bot. Discord is asked for it once, and
// again if that fails.
func TestMentionOfTheBotsOwnRole(t *testing.T) {
	f := newFixture(t, quick)
	const own = "<@&" + discordtest.BotRole + ">"
	other := f.n.AddRole(discordtest.GuildID, "bots", 0)
	f.n.SetRoles(discordtest.GuildID, discordtest.BotUser, discordtest.BotRole, other)
	f.listen()
	f.n.API.Fail("GET /guilds/{guild}/roles", discordtest.Fault{Status: 500})
	f.n.Say(f.alice, f.c, own+" one")
	f.n.Say(f.alice, f.c, "two, "+own+"?")
	f.n.Say(f.alice, f.c, "<@&"+other+"> three")
	f.n.Say(f.alice, f.n.Direct(f.alice), "four")
	var got []string
	for _, e := range f.accepted(4) {
		said := e.(bots.Said)
		if said.Mention {
			got = append(got, said.Text)
		}
	}
	require.Equal(t, []string{"one", "two, ?", "four"}, got)
	require.Len(t, f.n.API.Calls("GET /guilds/{guild}/roles"), 2)
}

// The right to see the roles is nobody's to take away, but if Discord refuses them the words count all the same.
func TestOwnRoleIsNotTold(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.n.API.Fail("GET /guilds/{guild}/roles", discordtest.Fault{Status: 403, Code: 50001})
	f.n.Say(f.alice, f.c, "@heddle ask <@&"+discordtest.BotRole+">")
	said := f.accepted(1)[0].(bots.Said)
	require.True(t, said.Mention)
	require.Equal(t, "ask <@&"+discordtest.BotRole+">", said.Text)
}

// Without the intent Message Content a mention of the role is without words, but it is one.
func TestMentionOfTheOwnRoleWithoutWords(t *testing.T) {
	f := newFixture(t, quick)
	f.d = f.connect(discord.Config{WithoutContent: true})
	f.listen()
	f.n.Say(f.alice, f.c, "<@&"+discordtest.BotRole+"> help me")
	said := f.accepted(1)[0].(bots.Said)
	require.True(t, said.Mention)
	require.Empty(t, said.Text)
}
