package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
)

func TestChoose(t *testing.T) {
	play(t, func(s *stage) {
		var slow model
		s.settings.Models = map[string]agent.Choice{"slow": {Model: &slow, ID: "acme-9"}, "fast": {Model: &s.model, ID: "acme-1"}}
		s.model.says("fast one", time.Minute)
		slow.says("slow one", 0)
		slow.says("slow two", 0)
		s.model.says("fast two", 0)
		s.start()
		choose := func(id, model string) error {
			return s.agent.Choose(t.Context(), thread, id, agent.ModelChosen{By: bob, Model: model})
		}
		s.say("m1", "one")
		var unknown *agent.UnknownModelError
		require.ErrorAs(t, choose("c0", "slwo"), &unknown)
		require.Equal(t, []string{"slow"}, unknown.Near)
		require.NoError(t, choose("c1", "slow"))
		s.say("m2", "two", agent.Queue)
		pass(time.Minute)
		require.Equal(t, 1, s.model.requests(), "what runs goes on with the model that it began with")
		require.Equal(t, 1, slow.requests())
		require.Contains(t, slow.asked[0].System, "acme-9", "the model is told who it is")
		s.halt()
		s.start()
		s.say("m3", "three")
		require.Equal(t, 2, slow.requests(), "the choice outlives a restart")
		require.NoError(t, choose("c2", "fast"))
		require.NoError(t, choose("c1", "slow"), "delivered again")
		s.say("m4", "four")
		require.Equal(t, 2, s.model.requests())
		var models []string
		for _, e := range events[agent.TurnStarted](s) {
			models = append(models, e.Model)
		}
		require.Equal(t, []string{"fast", "slow", "slow", "fast"}, models)

		// A choice that the configuration does not have any more is told, not silently replaced.
		require.NoError(t, choose("c3", "slow"))
		s.settings.Models = nil
		s.say("m5", "five")
		ends := events[agent.TurnEnded](s)
		require.Equal(t, agent.Broken, ends[4].Reason)
		require.Contains(t, ends[4].Detail, "slow, which was chosen for this thread, is not configured any more")
	})
}

// A model may be chosen before anything is said.
func TestChooseFirst(t *testing.T) {
	play(t, func(s *stage) {
		var slow model
		s.settings.Models = map[string]agent.Choice{"slow": {Model: &slow}}
		slow.says("hi", 0)
		s.start()
		require.NoError(t, s.agent.Choose(t.Context(), thread, "c1", agent.ModelChosen{By: bob, Model: "slow"}))
		s.say("m1", "hello")
		require.Equal(t, 1, slow.requests())
		require.Equal(t, []agent.Reason{agent.Completed}, s.ended())
	})
}

func TestForget(t *testing.T) {
	play(t, func(s *stage) {
		s.model.says("the secret is blue", time.Minute)
		s.model.says("what secret?", 0)
		s.start()
		forget := func(id string) error {
			return s.agent.Forget(t.Context(), thread, id, agent.Forgotten{By: bob})
		}
		require.NoError(t, forget("f0"))
		require.Empty(t, events[agent.Forgotten](s), "there is nothing to forget")
		s.say("m1", "a secret?")
		require.ErrorIs(t, forget("f1"), agent.ErrRuns)
		pass(time.Minute)
		s.amend("e1", "m1", "the secret?")
		require.NoError(t, forget("f2"))
		require.NoError(t, forget("f2"), "delivered again")
		require.Len(t, events[agent.Forgotten](s), 1)
		require.ErrorIs(t, s.agent.Amend(t.Context(), thread, "e2", "m1", agent.UserSaid{By: alice, Text: "x"}), agent.ErrUnknown)
		require.True(t, s.say("m1", "a secret?").Duplicate, "what is forgotten is not said anew")
		s.say("m2", "tell me")
		require.Equal(t, []string{"Alice: tell me"}, s.model.read(2))
		require.Len(t, s.model.asked[1].Messages, 1)
		require.Empty(t, s.open())
	})
}
