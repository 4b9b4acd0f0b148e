package slack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestCheckChannels(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	const team = "slack/" + slacktest.TeamID + "/"
	absent, old, again := f.w.AddChannel("absent"), f.w.AddChannel("old"), f.w.AddChannel("again")
	f.w.Say(f.alice, old, "", "hello")
	f.w.SetState(absent, slacktest.Absent)
	f.w.SetState(old, slacktest.Archived)
	f.w.SetState(again, slacktest.Archived)
	f.w.SetState(again, slacktest.Joined)
	for _, c := range []struct {
		address string
		ok      bool
		text    string
	}{
		{team + f.c, true, "the bot is in it"},
		{team + f.w.Direct(f.alice), true, "the bot is in it"},
		{team + again, true, "the bot is in it"},
		{team + absent, false, "type “/invite @heddle” in the channel"},
		{team + old, false, "it is archived: unarchive it"},
		{team + "C404", false, "compare the id"},
		{"slack/T404/" + f.c, false, "it is of the workspace T404, but the tokens are for T0HEDDLE (Heddle)"},
	} {
		all := f.s.Check(t.Context(), c.address)
		require.Len(t, all, 4)
		require.Equal(t, "channel "+c.address, all[3].Name)
		require.Equal(t, c.ok, all[3].OK, all[3])
		require.Contains(t, all[3].Text, c.text)
	}
	require.Empty(t, f.w.Channel(f.c), "nothing is posted")

	f.w.API.Fail("conversations.history", slacktest.Fault{Error: "missing_scope"})
	all := f.s.Check(t.Context(), team+f.c, team+absent)
	require.Contains(t, all[3].Text, "add the scope to the token")
	require.Contains(t, all[4].Text, "/invite", "the others are looked at all the same")

	f.w.API.Fail("auth.test", slacktest.Fault{Error: "invalid_auth"})
	require.Len(t, f.connect(time.Second).Check(t.Context(), team+f.c), 2, "nothing can be said of channels")
}
