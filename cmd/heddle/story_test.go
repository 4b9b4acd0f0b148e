package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
)

func TestStoryOfRevisions(t *testing.T) {
	alice := agent.User{ID: "U1", Name: "Alice"}
	for want, v := range map[string]any{
		"Alice changes message 17.1: do that":       agent.Amended{Of: "17.1", By: alice, Text: "do that"},
		"message 17.1 was deleted":                  agent.Withdrawn{Of: "17.1"},
		"Alice has the conversation begin anew":     agent.Forgotten{By: alice},
		"Alice chooses model slow":                  agent.ModelChosen{By: alice, Model: "slow"},
		"turn 1 ends: withdrawn, 0 steps, 0 tokens": agent.TurnEnded{Turn: 1, Reason: agent.TakenBack},
	} {
		e, err := agent.Encode(v)
		require.NoError(t, err)
		got, err := story(e)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
