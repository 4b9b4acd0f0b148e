package discord_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// This file has those faults of the library, of which its session and client are not used, that are not among
// the openings and resumes of gateway_test.go.

// A message with components of kinds that nobody knows arrives whole.
func TestUnknownComponents(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	for kind := range 40 {
		f.n.People.Show(f.alice, f.c, "@heddle look", map[string]any{"type": kind, "custom_id": "x", "components": []any{map[string]any{"type": 99}}})
	}
	for _, e := range f.accepted(40) {
		require.Equal(t, "look", e.(bots.Said).Text)
		require.Equal(t, f.alice, e.(bots.Said).By.ID)
	}
}

// What no release knows of yet passes by, and what comes after it arrives.
func TestUnknownEvents(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.n.Gateway.Event("SOUNDBOARD_MIGRATED", map[string]any{"id": 7, "guild": []any{nil}})
	f.n.Gateway.Event("MESSAGE_CREATE", map[string]any{"id": nil, "author": nil})
	f.n.Gateway.Event("MESSAGE_CREATE", []any{"no object"})
	f.n.Gateway.Event("INTERACTION_CREATE", map[string]any{"type": 77})
	f.say("hello")
	require.Equal(t, []string{"hello"}, f.texts(1))
}

// The session is resumed where Discord says, not at the common address.
func TestResumesWhereDiscordSays(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.n.Gateway.Kill()
	f.wait("a resume", func() bool { return f.n.Gateway.Stats().Resumed == 1 })
	require.Equal(t, 1, f.n.Gateway.Stats().ResumeURL)
}

// The end of Listen is the end, whatever it was doing: nothing opens afterwards.
func TestEndsInTheMiddleOfConnecting(t *testing.T) {
	for name, faults := range map[string]discordtest.GatewayFaults{
		"while it waits to try again": {Refuse: 1000},
		"while nobody says hello":     {Mute: 1000},
		"before ready":                {ReconnectFirst: 1000},
		"between sessions":            {InvalidFirst: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, quick)
			f.n.Gateway.Fail(faults)
			stop := f.start()
			f.wait("a try", func() bool { return f.n.Gateway.Stats().Opened > 0 || f.d.Health().LastError != "" })
			stop()
			opened := f.n.Gateway.Stats().Opened
			f.n.Gateway.Fail(discordtest.GatewayFaults{})
			time.Sleep(100 * time.Millisecond) // an opening that must not happen cannot be waited for
			require.Equal(t, opened, f.n.Gateway.Stats().Opened)
			f.wait("the end of the connections", func() bool { return f.n.Gateway.Stats().Open == 0 })
		})
	}
}

// A connection that was given up does nothing to the one after it.
func TestManyConnectionsInARow(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	for n := range 20 {
		f.n.Gateway.Kill()
		f.wait("a resume", func() bool { return f.n.Gateway.Stats().Resumed == n+1 })
	}
	f.alone()
	opened := f.n.Gateway.Stats().Opened
	time.Sleep(300 * time.Millisecond) // three intervals of heartbeats
	require.Equal(t, opened, f.n.Gateway.Stats().Opened, "the last one lasts")
	f.say("hello")
	require.Equal(t, []string{"hello"}, f.texts(1))
}

// Each post has a name by which Discord makes one message of it, calls nobody, and is not sent again blindly.
func TestPostsAreSafeToRepeat(t *testing.T) {
	const route = "POST /channels/{channel}/messages"
	f := newFixture(t, quick)
	f.listen()
	thread := f.say("hello")
	f.accepted(1)
	f.n.API.Fail(route, discordtest.Fault{Drop: true, Applied: true})
	m := bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "@everyone <@" + f.alice + "> an answer"}
	_, err := f.d.Post(t.Context(), thread, m)
	var failed *bots.Error
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Unsure)
	require.Len(t, f.n.API.Calls(route), 1, "it is for the painter to try again")
	m.Unsure = true
	first := f.post(thread, m)
	m.Unsure = false
	require.Equal(t, first.ID, f.post(thread, m).ID, "the name makes it one message")
	require.Empty(t, first.Pinged)
	for _, c := range f.n.API.Calls(route) {
		require.NotEmpty(t, c.Body["nonce"])
		require.Equal(t, true, c.Body["enforce_nonce"])
		require.Equal(t, map[string]any{"parse": []any{}}, c.Body["allowed_mentions"])
	}
	require.Len(t, f.n.Messages(thread.ID), 1)
	for _, status := range []int{500, 502, 503, 504} {
		before := len(f.n.API.Calls(route))
		f.n.API.Fail(route, discordtest.Fault{Status: status})
		_, err := f.d.Post(t.Context(), thread, bots.Message{Key: "2/answer/0", Text: "another"})
		require.ErrorAs(t, err, &failed)
		require.True(t, failed.Unsure)
		require.False(t, failed.Permanent)
		require.Len(t, f.n.API.Calls(route), before+1)
	}
	_, err = f.d.Post(t.Context(), thread, bots.Message{Key: "3/file/1", Upload: &bots.Upload{Name: "a", Content: make([]byte, 10<<20+1)}})
	require.ErrorAs(t, err, &failed)
	require.True(t, failed.Permanent)
	require.ErrorContains(t, err, "at most 10485760 are allowed")
}
