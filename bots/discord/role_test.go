package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// The roles of a person are those of the moment in which they write or press.
func TestRolesOfTheMoment(t *testing.T) {
	f := newFixture(t, quick)
	role := f.n.AddRole(discordtest.GuildID, "releaser", 0)
	f.listen()
	thread := f.say("one")
	require.Empty(t, f.accepted(1)[0].(bots.Said).By.Roles)
	card := f.post(thread, bots.Message{Key: "1/card/1.1.1/1", Class: bots.Approval, Text: "May I?", Buttons: []bots.Button{{Label: "Approve", Action: bots.Approve, Value: "1.1.1 d"}}})

	f.n.SetRoles(discordtest.GuildID, f.alice, role)
	f.say("two")
	require.Equal(t, []string{"role:" + role}, f.accepted(2)[1].(bots.Said).By.Roles)
	require.NoError(t, f.n.Interactions.Press(f.alice, thread.ID, card.ID, "Approve"))
	require.Equal(t, []string{"role:" + role}, f.accepted(3)[2].(bots.Clicked).By.Roles)

	f.n.SetRoles(discordtest.GuildID, f.alice)
	require.NoError(t, f.n.Interactions.Press(f.alice, thread.ID, card.ID, "Approve"))
	require.Empty(t, f.accepted(4)[3].(bots.Clicked).By.Roles)
}

// Messages that were missed come without the roles of who wrote them, so these are looked up, until Discord
// answers. Of whom it does not tell has none: whoever is let in by a role is refused.
func TestRolesOfMissedMessages(t *testing.T) {
	f := newFixture(t, quick)
	role := f.n.AddRole(discordtest.GuildID, "releaser", 0)
	f.n.SetRoles(discordtest.GuildID, f.alice, role)
	f.n.SetRoles(discordtest.GuildID, f.bob, role)
	f.listen()
	thread := f.say("one")
	f.accepted(1)
	f.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "an answer"})
	f.n.API.Fail("GET /guilds/{guild}/members/{user}", discordtest.Fault{Status: 404, Code: 10007}, discordtest.Fault{Status: 500})
	f.n.Gateway.Fail(discordtest.GatewayFaults{Refuse: 1})
	f.n.Gateway.Invalidate(false)
	f.n.Say(f.alice, thread.ID, "two")
	f.n.Say(f.bob, thread.ID, "three")
	events := f.accepted(3)
	require.Equal(t, []string{"role:" + role}, events[1].(bots.Said).By.Roles)
	require.Empty(t, events[2].(bots.Said).By.Roles, "Discord tells the newest first, so this is the one that failed")
}

func TestMentionsOfRoles(t *testing.T) {
	info := newFixture(t, quick).d.Info()
	for id, want := range map[string]string{
		"1100": "<@1100>", "role:1100": "<@&1100>", "role:": "role:", "role:admins": "role:admins", "alice": "alice", "": "",
	} {
		require.Equal(t, want, info.Mention(id))
	}
}
