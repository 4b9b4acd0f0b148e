package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/bots/web"
)

// A form is what the ids of a network look like. Elsewhere they are compared byte by byte, so one that
// is written in another way would never match, and nobody would be told.
type form struct {
	place, channel, person *regexp.Regexp
	example                string // of an address, and where its ids are found
	places, channels       string // what the ids are of, and what they look like
	people                 string // likewise of a person, and where it is found
}

// forms returns the networks' forms, by the name that begins the addresses of their channels.
func forms() map[string]form {
	return map[string]form{
		slack.Name: {
			place:    regexp.MustCompile(`^[TE][A-Z0-9]+$`),
			channel:  regexp.MustCompile(`^[CDG][A-Z0-9]+$`),
			person:   regexp.MustCompile(`^[UWB][A-Z0-9]+$`),
			example:  `write "slack/T012AB3CD/C012AB3CD"; both ids are in the address of the channel when Slack is open in a browser: https://app.slack.com/client/T.../C...`,
			places:   "a Slack workspace, which is T or E and then upper case letters and digits",
			channels: "a Slack channel, which is C, D or G and then upper case letters and digits, not its name",
			people:   `on Slack U, W or (of a bot) B and then upper case letters and digits, like "U012AB3CD" (profile, ⋮, Copy member ID)`,
		},
		discord.Name: {
			place:    regexp.MustCompile(`^([0-9]{15,20}|@me)$`),
			channel:  regexp.MustCompile(`^[0-9]{15,20}$`),
			person:   regexp.MustCompile(`^(role:)?[0-9]{15,20}$`),
			example:  `write "discord/1100000000000000001/1100000000000000002"; both ids are in the link of the channel (right click, Copy Link): https://discord.com/channels/SERVER/CHANNEL`,
			places:   "a Discord server, which is 15 to 20 digits, or @me for direct messages",
			channels: "a Discord channel, which is 15 to 20 digits, not its name",
			people:   `on Discord 15 to 20 digits, behind "role:" for a role (Developer Mode on, right click, Copy User ID or Copy Role ID)`,
		},
		web.Name: {
			place:    regexp.MustCompile(`^local$`),
			channel:  regexp.MustCompile(`^page$`),
			person:   regexp.MustCompile(`^web:.`),
			example:  `write "web/local/page"`,
			places:   `the page, which is "local"`,
			channels: `the page's one channel, which is "page"`,
			people:   `on the page "web:" and the name, like "web:alice"`,
		},
	}
}

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
		k.people(table+".approvers", name, ch.Approvers)
	}
	if !told("bots") {
		k.people(table+".bots", name, ch.Bots)
	}
	if !told("allow") {
		k.people(table+".allow", name, ch.Allow)
	}
	if len(ch.Allow) == 0 || told("approvers") && told("allow") {
		return
	}
	for _, id := range ch.Approvers {
		if someone(forms(), id) && !strings.HasPrefix(id, "role:") && !slices.Contains(ch.Allow, id) && !anyRole(ch.Allow) {
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
	p := strings.Split(name, "/")
	all := forms()
	f, known := all[p[0]]
	lower, miswritten := all[strings.ToLower(p[0])]
	switch {
	case strings.EqualFold(name, "default"):
		k.add(table, `write it in lower case: [channels.default]`)
	case !known && miswritten && len(p) == 3:
		k.add(table, `write the network in lower case: %q: %s`, strings.ToLower(p[0]), lower.example)
	case !known:
		k.add(table, "is not the address of a channel on a network that there is: for Slack %s; for Discord %s; for the page %s", all[slack.Name].example, all[discord.Name].example, all[web.Name].example)
	case len(p) != 3 || slices.Contains(p, ""):
		k.add(table, "is not the address of a channel: %s", f.example)
	case !f.place.MatchString(p[1]):
		k.add(table, "%q is not the id of %s: %s", p[1], f.places, f.example)
	case !f.channel.MatchString(p[2]):
		k.add(table, "%q is not the id of %s: %s", p[2], f.channels, f.example)
	}
}

// people checks the ids of people that are named for a channel: those of its network, or of any for
// [channels.default].
func (k *checker) people(key, channel string, ids []string) {
	all := forms()
	network, _, _ := strings.Cut(channel, "/")
	if f, ok := all[network]; ok {
		all = map[string]form{network: f}
	}
	var known []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		known = append(known, all[name].people)
	}
	for _, id := range ids {
		if !someone(all, id) {
			k.add(key, `%q is not the id of a person, which is %s`, id, strings.Join(known, "; "))
		}
	}
}

// someone reports whether the id can be of a person or a role.
func someone(all map[string]form, id string) bool {
	for _, f := range all {
		if f.person.MatchString(id) {
			return true
		}
	}
	return false
}

// anyRole reports whether a role is among ids: who has it is not known here.
func anyRole(ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, "role:") })
}
