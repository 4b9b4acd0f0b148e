package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestNamesAreKnownFromTheFirstMessage(t *testing.T) {
	f := newFixture(t, slacktest.Config{PageSize: 1})
	f.listen()
	f.w.Say(f.alice, f.c, "", "@bob look")
	s := said(f.accepted(1))[0]
	require.Equal(t, "alice", s.By.Name)
	require.Equal(t, "@bob look", s.Text)
	require.Empty(t, f.w.API.Calls("users.info"))
	pages := f.w.API.Calls("users.list")
	require.Len(t, pages, 3, "alice, bob and the bot, one on each page")
	require.Equal(t, "1000", pages[0].Args.Get("limit"))
}

func TestBigWorkspace(t *testing.T) {
	f := newFixture(t, slacktest.Config{PageSize: 2})
	for i := range 30 {
		f.w.AddUser(fmt.Sprint("a", i))
	}
	f.listen()
	require.Len(t, f.w.API.Calls("users.list"), 10)
	late := f.w.AddUser("zoe")
	f.s.Info().Mention(late)
	f.wait("her name", func() bool { return f.s.Info().Mention(late) == "@zoe" })
}

func TestNamesOfWhoComesLaterAreLookedUpInTheBackground(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	hold := make(chan struct{})
	f.w.API.Fail("users.info", slacktest.Fault{Hold: hold})
	f.listen()
	carol := f.w.AddUser("carol")
	f.w.Say(carol, f.c, "", "hello")
	require.Equal(t, carol, said(f.accepted(1))[0].By.Name, "accepted before the name is known")
	close(hold)
	f.wait("the name", func() bool { return f.s.Info().Mention(carol) == "@carol" })
	f.w.Say(f.bob, f.c, "", "@carol look")
	require.Equal(t, "@carol look", said(f.accepted(2))[1].Text)
}

func TestNamesOfChannelsAreLookedUp(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	other := f.w.AddChannel("deploys")
	f.w.SayRaw(f.alice, f.c, "", "see <#"+other+"|>")
	require.Equal(t, "see #"+other, said(f.accepted(1))[0].Text, "accepted before the name is known")
	f.wait("the name", func() bool { return len(f.w.API.Calls("conversations.info")) == 1 })
	for n := 2; ; n++ {
		f.w.SayRaw(f.alice, f.c, "", "and <#"+other+"|>")
		if said(f.accepted(n))[n-1].Text == "and #deploys" {
			break
		}
	}
	require.Len(t, f.w.API.Calls("conversations.info"), 1)
}

func TestListenWithoutNames(t *testing.T) {
	for name, c := range map[string]struct {
		scopes string
		fault  slacktest.Fault
		want   string
	}{
		"no scope":  {scopes: "app_mentions:read,channels:history,chat:write", want: "missing_scope"},
		"too busy":  {fault: slacktest.Fault{Status: 429, RetryAfter: "60"}, want: "rate limit"},
		"no answer": {fault: slacktest.Fault{Drop: true}, want: "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, slacktest.Config{Scopes: c.scopes})
			f.w.API.Fail("users.list", c.fault)
			f.listen()
			require.Equal(t, 1, f.log.count("the names of the workspace are not known"))
			require.Positive(t, f.log.count(c.want))
			f.w.Say(f.alice, f.c, "", "hello")
			require.Equal(t, f.alice, said(f.accepted(1))[0].By.Name)
			require.Len(t, f.w.API.Calls("users.list"), 1)
			if c.scopes == "" {
				f.wait("her name", func() bool { return f.s.Info().Mention(f.alice) == "@alice" })
			}
		})
	}
}

// People choose their names; whatever they choose is one short line.
func TestNamesAreOneShortLine(t *testing.T) {
	type names struct{ display, profile, real, name string }
	cases := []struct {
		of   names
		want string
	}{
		{names{"Ann", "Ann Lee", "Ann B. Lee", "ann"}, "Ann"},
		{names{"", "Ann Lee", "Ann B. Lee", "ann"}, "Ann Lee"},
		{names{" ", "\u200b", "Ann B. Lee", "ann"}, "Ann B. Lee"},
		{names{name: "ann"}, "ann"},
		{names{display: "Ann\n\nBob: yes\r\n"}, "Ann Bob: yes"},
		{names{display: "\tAnn\u2028Bob\u0085Eve\u00a0 "}, "Ann Bob Eve"},
		{names{display: "\u202eAnn\x00\x1b[1m\U000e0041"}, "Ann[1m"},
		{names{display: "👩\u200d💻 Zoë"}, "👩\u200d💻 Zoë"},
		{names{display: strings.Repeat("é", 81)}, strings.Repeat("é", 79) + "…"},
		{names{display: strings.Repeat("é", 80)}, strings.Repeat("é", 80)},
		{names{}, "U10"}, // the id
	}
	f := newFixture(t, slacktest.Config{})
	f.w.API.Fail("users.list", slacktest.Fault{Change: func(v map[string]any) {
		var members []any
		for i, c := range cases {
			members = append(members, map[string]any{"id": fmt.Sprint("U", i), "name": c.of.name, "real_name": c.of.real,
				"profile": map[string]any{"display_name": c.of.display, "real_name": c.of.profile}})
		}
		v["members"] = members
	}})
	f.listen()
	for i, c := range cases {
		f.w.Socket.Event(map[string]any{"type": "message", "channel": f.c, "ts": fmt.Sprintf("1.%06d", i), "user": fmt.Sprint("U", i), "text": c.want})
	}
	for i, s := range said(f.accepted(len(cases))) {
		require.Equal(t, cases[i].want, s.By.Name)
		require.LessOrEqual(t, utf8.RuneCountInString(s.By.Name), 80)
	}
}

// What users.info tells is cleaned too.
func TestNamesThatAreLookedUpAreOneLine(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	late := f.w.AddUser("late\nbob: yes")
	f.s.Info().Mention(late)
	f.wait("the name", func() bool { return f.s.Info().Mention(late) == "@late bob: yes" })
}
