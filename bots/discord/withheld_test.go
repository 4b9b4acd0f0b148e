package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// Without the intent Message Content words in a thread that do not mention the bot are known to be there.
// Those in a channel are nobody's business, nor is a message without words where the intent is there.
func TestWithheldWords(t *testing.T) {
	for without, want := range map[bool][]bots.Said{
		true:  {{Text: "one", Mention: true}, {Reply: true, Withheld: true}, {Text: "four", Mention: true, Reply: true}},
		false: {{Text: "one", Mention: true}, {Text: "two"}, {Text: "three", Reply: true}, {Text: "four", Mention: true, Reply: true}},
	} {
		f := newFixture(t, quick)
		f.d = f.connect(discord.Config{WithoutContent: without})
		f.listen()
		root := f.n.Say(f.alice, f.c, "@heddle one")
		f.n.Say(f.bob, f.c, "two")
		thread := f.n.Places.Thread(f.alice, f.c, root, "talk")
		f.n.Say(f.bob, thread, "three")
		f.n.People.Show(discordtest.Owner, f.c, "") // as a sticker comes
		f.n.Say(f.bob, thread, "@heddle four")
		var got []bots.Said
		for _, e := range f.accepted(len(want)) {
			s := e.(bots.Said)
			got = append(got, bots.Said{Text: s.Text, Mention: s.Mention, Reply: s.Reply, Withheld: s.Withheld})
		}
		require.Equal(t, want, got)
	}
}
