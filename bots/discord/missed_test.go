package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// Discord may be out of order for a moment just when what was missed is to be read.
func TestMissedMessagesAreAskedForAgain(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	thread := f.say("one")
	f.accepted(1)
	f.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "an answer"})
	bad := discordtest.Fault{Status: 502}
	f.n.API.Fail("GET /channels/{channel}/messages", bad, bad, bad)
	f.n.Gateway.Fail(discordtest.GatewayFaults{Refuse: 1})
	f.n.Gateway.Invalidate(false)
	f.n.Say(f.alice, thread.ID, "two")
	require.Equal(t, []string{"one", "two"}, f.texts(2))
}

// A place that Discord does not let us read, for whatever reason, does not keep the others waiting.
func TestMissedMessagesThatAreRefusedAreGivenUp(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	thread := f.say("one")
	f.accepted(1)
	f.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "an answer"})
	odd := discordtest.Fault{Status: 403, Code: 20031}
	f.n.API.Fail("GET /channels/{channel}/messages", odd, odd)
	f.n.Gateway.Fail(discordtest.GatewayFaults{Refuse: 1})
	f.n.Gateway.Invalidate(false)
	f.wait("warning", func() bool { return f.log.has("missed messages are not read") })
	f.wait("session", func() bool { return f.d.Health().Connected })
	f.n.Say(f.alice, f.c, "@heddle two")
	require.Equal(t, []string{"one", "two"}, f.texts(2))
}

// A press in a thread that has to be looked up is not lost because Discord cannot tell of it just now. If
// it refuses to, the person sees that the press has failed.
func TestPressInAThreadThatIsNotKnown(t *testing.T) {
	for _, c := range []struct {
		fault    discordtest.Fault
		accepted int
		answered bool
	}{
		{discordtest.Fault{Status: 503}, 2, true},
		{discordtest.Fault{Status: 403, Code: 50001}, 1, false},
	} {
		f := newFixture(t, quick)
		f.listen()
		thread := f.say("one")
		f.accepted(1)
		card := f.post(thread, bots.Message{Key: "1/card/1.1.1/1", Class: bots.Approval, Text: "May I?", Buttons: []bots.Button{{Label: "Approve", Action: bots.Approve, Value: "1.1.1 d"}}})
		f.n.Places.Archive(thread.ID, true)
		f.n.API.Fail("GET /channels/{channel}", c.fault)
		err := f.n.Interactions.Press(f.alice, thread.ID, card.ID, "Approve")
		require.Equal(t, c.answered, err == nil, "%v", err)
		require.Len(t, f.accepted(c.accepted), c.accepted)
	}
}
