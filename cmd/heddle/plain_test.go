package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"words", "naïve 東京\n\tمرحبا 👩\u200d💻 �", "naïve 東京\n\tمرحبا 👩\u200d💻 �"},
		{"title of the terminal", "a\x1b]0;title\x07b", `a\x1b]0;title\ab`},
		{"colour", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"carriage return", "denied\rapproved", `denied\rapproved`},
		{"backspace, delete", "no\b\x7f", `no\b\x7f`},
		{"C1", "\u009b31m", `\u009b31m`},
		{"bytes", "a\x9b\xffb", `a\x9b\xffb`},
		{"bidi override", "rm \u202etxt.exe\u202c", `rm \u202etxt.exe\u202c`},
		{"bidi isolates, marks", "\u2066\u2069\u200f\u061c", `\u2066\u2069\u200f\u061c`},
		{"not to be seen", "a\u200bb\u2028c\ufeff\U000e0041", `a\u200bb\u2028c\ufeff\U000e0041`},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, plain(c.text)) })
	}
}

// Whatever field it comes in by, nothing of it reaches the terminal.
func TestShowKeepsControlCharactersFromTheTerminal(t *testing.T) {
	const bad = "\x1b]0;title\x07\r\u202e"
	s, err := bolt.Open(filepath.Join(t.TempDir(), "heddle.db"), bolt.Config{})
	require.NoError(t, err)
	defer s.Close()
	eve := agent.User{ID: "U1", Name: bad}
	var f store.Frame
	for _, v := range []any{
		agent.Opened{Format: agent.Format, Workspace: bad, Dir: bad},
		agent.UserSaid{By: eve, Text: bad},
		agent.TurnStarted{Turn: 1, Model: bad},
		agent.ModelSaid{Turn: 1, Step: 1, Text: bad, Calls: []agent.Call{{ID: bad, Tool: bad, Args: json.RawMessage("{\"x\":\"\u202e\"}")}}},
		agent.ApprovalAsked{Call: bad, Title: bad, Preview: bad},
		agent.Decided{Call: bad, By: eve, Reason: bad},
		agent.ToolStarted{Call: bad, Title: bad},
		agent.ToolFinished{Call: bad, Status: agent.Denied, Text: bad, Artefact: bad},
		agent.StopAsked{By: eve},
		agent.TurnEnded{Turn: 1, Reason: agent.Completed, Detail: bad},
	} {
		e, err := agent.Encode(v)
		require.NoError(t, err)
		f.Events = append(f.Events, e)
	}
	_, err = s.Append(context.Background(), "slack/T1/C1/"+bad, 0, f)
	require.NoError(t, err)
	var b bytes.Buffer
	d := desk{s, nil}
	require.NoError(t, d.answer(context.Background(), question{Ask: askShow, Session: "slack/T1/C1/" + bad}, &b))
	require.NoError(t, d.answer(context.Background(), question{Ask: askList}, &b))
	require.NotContains(t, b.String(), "\x1b")
	require.Equal(t, plain(b.String()), b.String())
	require.Contains(t, b.String(), `title\a\r\u202e asks to stop`)
}
