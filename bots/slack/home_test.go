package slack_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestHome(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	f.w.People.OpenHome(f.alice)
	opened, ok := f.accepted(1)[0].(bots.HomeOpened)
	require.True(t, ok)
	require.Equal(t, bots.HomeOpened{ID: opened.ID, Workspace: slacktest.TeamID, By: bots.Person{ID: f.alice, Name: "alice"}}, opened)
	f.w.People.OpenHome(f.alice)
	f.accepted(2) // each look counts

	info := f.s.Info()
	pieces := append(info.Render("**Waiting**\n\n[the thread](https://heddle.slack.com/x?a=1&b=2)"), strings.Repeat("x", info.MaxText))
	require.NoError(t, info.Home(t.Context(), f.alice, pieces))
	v, ok := f.w.People.Home(f.alice)
	require.True(t, ok)
	require.Contains(t, v.Text, "*Waiting*")
	require.Contains(t, v.Text, "<https://heddle.slack.com/x?a=1&amp;b=2|the thread>")
	require.Contains(t, v.Text, pieces[len(pieces)-1])
	_, ok = f.w.People.Home("UBOB")
	require.False(t, ok)

	// As much as there may be, and more.
	var many []string
	for i := range info.MaxHome + 10 {
		many = append(many, fmt.Sprint("piece ", i))
	}
	require.NoError(t, info.Home(t.Context(), f.alice, many))
	v, _ = f.w.People.Home(f.alice)
	require.Contains(t, v.Text, "piece 99")
	require.NotContains(t, v.Text, "piece 100")

	f.w.API.Fail("views.publish", slacktest.Fault{Status: 429, RetryAfter: "3"})
	require.NotZero(t, failure(t, info.Home(t.Context(), f.alice, many)).RetryAfter)
}

func TestLink(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	info := f.s.Info()
	at := bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "1700000000.000100"}
	require.Empty(t, info.Link(at, "1700000000.000100"), "before Slack has told where the workspace is")
	f.listen()
	f.root()
	f.accepted(1)
	root := strings.TrimSuffix(f.w.URL, "api/") + "archives/C1/p1700000000000100"
	require.Equal(t, root, info.Link(at, "1700000000.000100"))
	reply := strings.Replace(root, "0100", "0200", 1) + "?cid=C1&thread_ts=1700000000.000100"
	require.Equal(t, reply, info.Link(at, "1700000000.000200"))
	require.True(t, info.Direct("D1"))
	require.False(t, info.Direct("C1"))
}
