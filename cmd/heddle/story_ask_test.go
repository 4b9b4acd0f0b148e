package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
)

func TestStoryOfQuestions(t *testing.T) {
	until := time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)
	for want, v := range map[string]any{
		"call 1.1.1 asks the people: Which? (until 2026-12-02 00:00:00)\n1. main released on Friday\n2. v2": agent.QuestionAsked{
			Call: "1.1.1", Question: "Which?", Expires: until, Options: []agent.Option{{Label: "main", Description: "released on Friday"}, {Label: "v2"}},
		},
		"bob answers call 1.1.1: v2":                 agent.Answered{Call: "1.1.1", By: agent.User{Name: "bob"}, Text: "v2"},
		"nobody answered the question of call 1.1.1": agent.QuestionExpired{Call: "1.1.1"},
	} {
		e, err := agent.Encode(v)
		require.NoError(t, err)
		got, err := story(e)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
