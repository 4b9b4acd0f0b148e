package bots_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
)

// A forgetful network does not deliver what was missed by itself. It ends as soon as it listens.
type forgetful struct {
	*botstest.Chat
	followed []string
}

func (f *forgetful) Info() bots.Info {
	i := f.Chat.Info()
	i.Follow = func(t bots.Thread, latest bots.MessageID) {
		f.followed = append(f.followed, fmt.Sprintf("%s up to %s", t.ID, latest))
	}
	return i
}

func (f *forgetful) Listen(context.Context, func(context.Context, bots.Event) error) error {
	f.followed = append(f.followed, "listen")
	return context.Canceled
}

// At a start such a network is told what is known of the threads, those that were active last first:
// the newest message, be it a person's or ours.
func TestFollowsThreadsOfBefore(t *testing.T) {
	converse(t, func(o *office) {
		first := o.say(bots.Thread{}, "one")
		second := o.say(bots.Thread{}, "two")
		shown := o.chat.Shown(first, ann.ID)
		answer := shown[len(shown)-1].ID
		o.stop() // else an answer may be the latest
		o.stop = func() {}
		_, err := o.agent.Say(o.t.Context(), second.String(), "99", agent.UserSaid{By: agent.User{ID: ann.ID}, Text: "nobody answers this"})
		require.NoError(t, err)
		_, err = o.agent.Say(o.t.Context(), "elsewhere/W/general/1", "1", agent.UserSaid{By: agent.User{ID: ann.ID}, Text: "on another network"})
		require.NoError(t, err)

		f := &forgetful{Chat: &botstest.Chat{}}
		b, err := bots.New(bots.Config{Platform: f, Agent: o.agent, Log: o.log})
		require.NoError(t, err)
		require.ErrorIs(t, b.Run(o.t.Context()), context.Canceled)
		require.Equal(t, []string{second.ID + " up to 99", fmt.Sprintf("%s up to %s", first.ID, answer), "listen"}, f.followed)
	}, llmtest.Say("First."), llmtest.Say("Second."), llmtest.Say("Third."), llmtest.Say("Fourth."))
}
