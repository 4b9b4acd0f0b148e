package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// What was said in a thread that is gone when a session begins anew is nobody's loss, and no news at each start.
func TestNothingIsMissedInAThreadThatIsGone(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	thread := f.say("one")
	f.accepted(1)
	f.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "an answer"})
	f.n.Places.DeleteChannel(thread.ID)
	f.n.Gateway.Fail(discordtest.GatewayFaults{Refuse: 1})
	f.n.Gateway.Invalidate(false)
	f.n.Say(f.alice, f.c, "@heddle two")
	require.Equal(t, []string{"one", "two"}, f.texts(2))
	var statuses []int
	for _, c := range f.n.API.Calls("GET /channels/{channel}/messages") {
		statuses = append(statuses, c.Status)
	}
	require.Contains(t, statuses, 404, "it was asked for")
	require.False(t, f.log.has("missed messages are not read"))
}
