package bots

import (
	"strings"

	"github.com/heddle-bot/heddle/agent"
)

// This file tells the rules that the configuration sets for a channel.

// rules returns what holds in a channel: who may do what, what is for the bot, and what it asks about.
func rules(l look, c Channel, all []Tool) string {
	lines := []string{
		"Who may talk to me: " + names(l, c.Allow, "everybody here") + ".",
		"Who may approve: " + names(l, c.Approvers, "whoever may talk to me") + ".",
	}
	if len(c.Bots) > 0 {
		lines = append(lines, "Other bots that I hear: "+names(l, c.Bots, "")+".")
	}
	if c.Outside {
		lines = append(lines, "People of other organisations may talk to me too.")
	}
	lines = append(lines, "For me is "+map[Policy]string{
		Mentioned: "what mentions me.",
		Always:    "every message here.",
	}[c.Mention])
	if c.Mention != Mentioned && c.Mention != Always {
		lines[len(lines)-1] = "For me is what mentions me, and every reply in my threads."
	}
	switch c.Busy {
	case agent.Queue:
		lines = append(lines, "What is said while I work begins the next turn.")
	case agent.Interrupt:
		lines = append(lines, "What is said while I work interrupts me.")
	default:
		lines = append(lines, "What is said while I work is taken in at the next step.")
	}
	return strings.Join(append(lines, l.md(toolWords(all))), "\n")
}

// names returns the names of people or roles, or what no names mean.
func names(l look, ids []string, nobody string) string {
	if len(ids) == 0 {
		return nobody
	}
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = l.who(agent.User{ID: id})
	}
	return strings.Join(all, ", ")
}
