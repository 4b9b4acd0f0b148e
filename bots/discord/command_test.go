package discord_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// registered waits until the commands are there, and returns how often they were set.
func (f *fixture) registered(route string, n int) {
	f.t.Helper()
	f.wait("commands", func() bool { return len(f.n.API.Calls(route)) == n })
}

const setCommands = "PUT /applications/{app}/commands"

func TestRegistersOnlyWhatDiffers(t *testing.T) {
	f := newFixture(t, quick)
	stop := f.listen()
	f.registered(setCommands, 1)
	stop()
	f.d = f.connect(discord.Config{})
	f.listen()
	f.registered("GET /applications/{app}/commands", 2)
	require.Len(t, f.n.API.Calls(setCommands), 1, "they are there already")

	const ofGuild = "PUT /applications/{app}/guilds/{guild}/commands"
	g := newFixture(t, quick)
	g.d = g.connect(discord.Config{Guilds: []string{discordtest.GuildID}})
	g.listen()
	g.registered(ofGuild, 1)
	require.Empty(t, g.n.API.Calls(setCommands))
}

func TestCommands(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.registered(setCommands, 1)
	thread := f.say("hello")
	f.accepted(1)
	f.n.Places.Thread(f.bob, f.c, thread.ID, "talk")
	for i, c := range []struct {
		in, line string
		options  []discordtest.Option
		want     string
		thread   bots.Thread
	}{
		{f.c, "/heddle status", nil, "status", f.thread("")},
		{thread.ID, "/heddle stop", nil, "stop", thread},
		{thread.ID, "/heddle model", nil, "model", thread},
		{thread.ID, "/heddle model", []discordtest.Option{{Name: "name", Value: "fast"}}, "model fast", thread},
		{f.n.Direct(f.bob), "/heddle help", nil, "help", bots.Thread{Platform: "discord", Workspace: "@me", Channel: f.n.Direct(f.bob), ID: f.n.Direct(f.bob)}},
	} {
		require.NoError(t, f.n.Interactions.Command(f.bob, c.in, c.line, c.options...), c.line)
		got, ok := f.accepted(2 + i)[1+i].(bots.Commanded)
		require.True(t, ok)
		require.Equal(t, c.want, got.Text)
		require.Equal(t, c.thread, got.Thread)
		require.Equal(t, f.bob, got.By.ID)
	}
	for _, c := range bots.Commands() {
		require.NoError(t, f.n.Interactions.Command(f.bob, thread.ID, "/heddle "+c.Name))
	}
}

func TestModelsAreCompleted(t *testing.T) {
	f := newFixture(t, quick)
	models := []string{"default", "fast", "most-careful", "fastest"}
	for i := range 30 {
		models = append(models, fmt.Sprint("experiment-", i))
	}
	f.d = f.connect(discord.Config{Models: models})
	f.listen()
	f.registered(setCommands, 1)
	offered := func(typed string) (names []string) {
		choices, err := f.n.Interactions.Complete(f.alice, f.c, "/heddle model", discordtest.Option{Name: "name", Value: typed})
		require.NoError(t, err)
		for _, c := range choices {
			names = append(names, c.Name)
			require.Equal(t, c.Name, c.Value)
		}
		return names
	}
	require.Equal(t, []string{"fast", "fastest"}, offered("FA")[:2])
	require.Equal(t, []string{"fast", "fastest", "default"}, offered("fa"), "those that begin so come first")
	require.Empty(t, offered("nothing"))
	require.Len(t, offered(""), 25, "Discord takes no more")
	require.Empty(t, f.got(), "nobody has asked for anything yet")
}

// What is asked by command is there for all to see, and is the root of the thread.
func TestAsk(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.registered(setCommands, 1)
	require.NoError(t, f.n.Interactions.Command(f.alice, f.c, "/ask", discordtest.Option{Name: "request", Value: "what is <@1> & **this**?"}))
	said := f.accepted(1)[0].(bots.Said)
	require.Equal(t, "what is <@1> & **this**?", said.Text)
	require.True(t, said.Mention)
	require.False(t, said.Reply)
	shown := f.n.Messages(f.c)
	require.Len(t, shown, 1)
	require.Equal(t, shown[0].ID, said.ID)
	require.Contains(t, shown[0].Content, "> what is")
	require.Empty(t, shown[0].Pinged)
	require.Equal(t, f.thread(said.ID), said.Thread)
	f.post(said.Thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "That."})
}

func TestAskAboutAMessage(t *testing.T) {
	f := newFixture(t, quick)
	f.listen()
	f.registered(setCommands, 1)
	id := f.n.Say(f.bob, f.c, "the build is red\nagain")
	require.NoError(t, f.n.Interactions.Menu(f.alice, f.c, id, "Ask Heddle about this"))
	var said []bots.Said
	f.wait("question", func() bool {
		said = nil
		for _, e := range f.got() {
			if s, ok := e.(bots.Said); ok && s.Mention {
				said = append(said, s)
			}
		}
		return len(said) > 0
	})
	require.Len(t, said, 1)
	require.Equal(t, "> the build is red\n> again", said[0].Text)
	require.Equal(t, f.alice, said[0].By.ID)
	require.Equal(t, f.thread(id), said[0].Thread)
}
