package bots

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
)

func TestRules(t *testing.T) {
	l := look{info: Info{Mention: func(id string) string { return "@" + id }, Render: func(s string) []string { return []string{s} }}}
	tools := []Tool{{Name: "read"}, {Name: "shell", Asks: true}}
	const end = "\nI use these tools without asking: `read`.\nI ask here each time before I use these: `shell`."
	require.Equal(t, "Who may talk to me: everybody here.\nWho may approve: whoever may talk to me.\n"+
		"For me is what mentions me, and every reply in my threads.\nWhat is said while I work is taken in at the next step."+end, rules(l, Channel{}, tools))
	require.Equal(t, "Who may talk to me: @UA, @role:1.\nWho may approve: @UB.\nOther bots that I hear: @B1.\nPeople of other organisations may talk to me too.\n"+
		"For me is what mentions me.\nWhat is said while I work begins the next turn."+end,
		rules(l, Channel{Allow: []string{"UA", "role:1"}, Approvers: []string{"UB"}, Bots: []string{"B1"}, Outside: true, Mention: Mentioned, Busy: agent.Queue}, tools))
	require.Contains(t, rules(l, Channel{Mention: Always, Busy: agent.Interrupt}, nil), "For me is every message here.\nWhat is said while I work interrupts me.\nI have no tools.")
}
