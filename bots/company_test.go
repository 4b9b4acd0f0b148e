package bots_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// Two bots that answer each other come to an end, and a person lets them go on.
func TestBotsComeToAnEnd(t *testing.T) {
	robot := bots.Person{ID: "B1", Name: "deploy", Bot: true}
	gated(t, bots.Channel{Bots: []string{"B1"}}, func(b *board) {
		first := b.chat.Say(bots.Said{By: robot, Text: "deployed", Mention: true})
		for range 20 {
			said := b.chat.Say(bots.Said{By: robot, Text: "thank you", Thread: first.Thread})
			b.chat.Repeat(said)
		}
		synctest.Wait()
		require.Len(t, b.heard(first.Thread.String()), 5)
		require.ElementsMatch(t, []string{"Working…", "I hear no more from bots here until a person says something."}, texts(b.chat, first.Thread, ann.ID), "told once")

		b.chat.Say(bots.Said{By: ann, Text: "go on", Thread: first.Thread})
		b.chat.Say(bots.Said{By: robot, Text: "thank you", Thread: first.Thread})
		synctest.Wait()
		require.Len(t, b.heard(first.Thread.String()), 7)
	})
}

// What is for people is not for bots: they stop nothing, choose nothing and approve nothing.
func TestBotsOnlyAsk(t *testing.T) {
	robot := bots.Person{ID: "B1", Name: "deploy", Bot: true}
	gated(t, bots.Channel{Bots: []string{"B1"}}, func(b *board) {
		first := b.chat.Say(bots.Said{By: ann, Text: "do it", Mention: true})
		for _, text := range []string{"approve 1", "stop", "new"} {
			b.chat.Say(bots.Said{By: robot, Text: text, Thread: first.Thread, Mention: true})
		}
		synctest.Wait()
		var got []string
		for _, s := range b.heard(first.Thread.String()) {
			got = append(got, s.Text)
		}
		require.Equal(t, []string{"do it", "approve 1", "stop", "new"}, got, "they are words to the model")
	})
}
