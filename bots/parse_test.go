package bots

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
)

func TestParseCommand(t *testing.T) {
	for text, want := range map[string]command{
		"help":              {name: "help"},
		" Status? ":         {name: "status"},
		"!stop":             {name: "stop"},
		"/export":           {name: "export"},
		"STOP.":             {name: "stop"},
		"new!":              {name: "new"},
		"model":             {name: "model"},
		"model slow":        {name: "model", arg: "slow"},
		"Model `gpt-5.1`":   {name: "model", arg: "gpt-5.1"},
		"!model slow.":      {name: "model", arg: "slow"},
		"compact":           {name: "compact"},
		"leave":             {name: "leave"},
		"new ideas please":  {},
		"stop the server":   {},
		"stop it":           {},
		"stop?":             {},
		"help me":           {},
		"model the data":    {},
		"model ``":          {},
		"modelslow":         {},
		"export\nthe table": {},
		"tools\nstatus":     {},
		"":                  {},
		"!":                 {},
		"?":                 {},
		"leaves":            {},
		"do it":             {},
	} {
		got, ok := parseCommand(text)
		require.Equal(t, want.name != "", ok, text)
		if ok {
			require.Equal(t, want, got, text)
		}
	}
	for _, c := range Commands() {
		got, ok := parseCommand(c.Name)
		require.True(t, ok)
		require.Equal(t, command{name: c.Name}, got)
	}
}

// What is more than a word, or a word and the name of a model, is for the model.
func FuzzParseCommand(f *testing.F) {
	for _, s := range []string{"help", "model x", "stop the server", "! status", "\u00a0new\u2028", "/model “x”?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := parseCommand(text)
		words := len(strings.Fields(text))
		if !ok {
			return
		}
		require.True(t, slices.ContainsFunc(Commands(), func(k Command) bool { return k.Name == c.name }))
		require.Equal(t, map[bool]int{false: 1, true: 2}[c.arg != ""], words)
		require.True(t, c.arg == "" || c.name == "model")
		require.Contains(t, text, c.arg)
	})
}

// The place of the bot in a thread is remembered, read on from where it was, and bounded.
func TestPresences(t *testing.T) {
	log := &counted{Log: storetest.NewMemory()}
	var p presences
	place := func(session string) presence {
		at, err := p.of(t.Context(), log, session)
		require.NoError(t, err)
		return at
	}
	add := func(session, kind string) {
		pos := place(session).pos
		_, err := log.Append(t.Context(), session, pos, store.Frame{Events: []store.Event{{Kind: kind, Data: []byte("{}")}}})
		require.NoError(t, err)
	}
	require.Equal(t, presence{}, place("s"))
	add("s", "agent.UserSaid")
	require.False(t, place("s").silent)
	add("s", "bots.Left")
	require.True(t, place("s").silent)
	add("s", "agent.TurnEnded")
	require.True(t, place("s").silent)
	log.read = 0
	require.True(t, place("s").silent)
	require.Zero(t, log.read, "what was read is not read again")
	add("s", "agent.UserSaid")
	require.False(t, place("s").silent)
	for i := range maxPresences {
		add(fmt.Sprint(i), "agent.UserSaid")
		place(fmt.Sprint(i))
	}
	require.LessOrEqual(t, len(p.all), maxPresences)
	require.False(t, place("s").silent)
}

// A counted log counts the entries that are read.
type counted struct {
	store.Log
	read int
}

func (c *counted) Read(ctx context.Context, session string, after store.Pos) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for e, err := range c.Log.Read(ctx, session, after) {
			c.read++
			if !yield(e, err) {
				return
			}
		}
	}
}
