package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
)

// What Slack's ids look like. Elsewhere they are compared byte by byte, so one that is written in
// another way would never match, and nobody would be told.
var (
	slackTeam    = regexp.MustCompile(`^[TE][A-Z0-9]+$`)
	slackChannel = regexp.MustCompile(`^[CDG][A-Z0-9]+$`)
	slackPerson  = regexp.MustCompile(`^[UW][A-Z0-9]+$`)
)

// channel checks what was written for one channel. What it has from [channels.default] is told there,
// and what it has from the limits is told there.
func (k *checker) channel(name string, ch Channel, c *Config) {
	table := keyName("channels", name)
	if name != "default" {
		k.address(table, name)
	}
	_, inherits := c.Channels["default"]
	inherits = inherits && name != "default"
	told := func(key string) bool { return inherits && !k.written.has(table+"."+key) }
	if !told("workspace") {
		k.known(table+".workspace", ch.Workspace, slices.Sorted(maps.Keys(c.Workspaces)), "workspaces")
	}
	if !told("model") {
		k.known(table+".model", ch.Model, slices.Sorted(maps.Keys(c.Models)), "models")
	}
	if !told("mention") {
		k.oneOf(table+".mention", string(ch.Mention), string(bots.Mentioned), string(bots.InThread), string(bots.Always))
	}
	if !told("busy") {
		k.oneOf(table+".busy", string(ch.Busy), string(agent.Steer), string(agent.Queue), string(agent.Interrupt))
	}
	if k.written.has(table + ".steps") {
		k.steps(table+".steps", ch.Steps, c.Limits.HardSteps)
	}
	if !told("approvers") {
		k.people(table+".approvers", ch.Approvers)
	}
	if !told("allow") {
		k.people(table+".allow", ch.Allow)
	}
	if len(ch.Allow) == 0 || told("approvers") && told("allow") {
		return
	}
	for _, id := range ch.Approvers {
		if slackPerson.MatchString(id) && !slices.Contains(ch.Allow, id) {
			k.add(table+".approvers", "%s may approve but is not in allow: add them there, or their clicks are refused", id)
		}
	}
}

func (k *checker) steps(key string, n, most int) {
	switch {
	case n <= 0:
		k.add(key, "must be more than 0: nothing could be done; leave it out for that of [channels.default] or limits.steps")
	case most > 0 && n > most:
		k.add(key, "%d is more than limits.hard_steps (%d): lower the one or raise the other", n, most)
	}
}

// address checks the name of a channel's table.
func (k *checker) address(table, name string) {
	const form = `write "slack/T012AB3CD/C012AB3CD"; both ids are in the address of the channel when Slack is open in a browser: https://app.slack.com/client/T.../C...`
	p := strings.Split(name, "/")
	switch {
	case strings.EqualFold(name, "default"):
		k.add(table, `write it in lower case: [channels.default]`)
	case len(p) != 3 || slices.Contains(p, ""):
		k.add(table, "is not the address of a channel: %s", form)
	case p[0] != "slack" && strings.EqualFold(p[0], "slack"):
		k.add(table, `write the network in lower case: "slack"`)
	case p[0] != "slack":
		k.add(table, "%q is not a network of this release, which knows only Slack: %s", p[0], form)
	case !slackTeam.MatchString(p[1]):
		k.add(table, "%q is not the id of a Slack workspace, which is T or E and then upper case letters and digits: %s", p[1], form)
	case !slackChannel.MatchString(p[2]):
		k.add(table, "%q is not the id of a Slack channel, which is C, D or G and then upper case letters and digits, not its name: %s", p[2], form)
	}
}

func (k *checker) people(key string, ids []string) {
	for _, id := range ids {
		if !slackPerson.MatchString(id) {
			k.add(key, `%q is not the id of a person, which is U or W and then upper case letters and digits, like "U012AB3CD" (in Slack: profile, ⋮, Copy member ID)`, id)
		}
	}
}
