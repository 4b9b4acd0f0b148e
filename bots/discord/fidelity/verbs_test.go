//go:build fidelity

package fidelity

import (
	"time"

	"github.com/heddle-bot/heddle/bots/discord/discordtest"
	"github.com/heddle-bot/heddle/internal/nodetest"
)

// verbs is what a program may ask for.
func verbs(n *discordtest.Network) map[string]nodetest.Verb {
	nothing := nodetest.Nothing
	return map[string]nodetest.Verb{
		"addUser":    func(a []string) (any, error) { return n.AddUser(a[0]), nil },
		"addRole":    func(a []string) (any, error) { return n.AddRole(discordtest.GuildID, a[0], 0), nil },
		"setRole":    nothing(func(a []string) { n.SetRoles(discordtest.GuildID, a[0], a[1]) }),
		"addChannel": func(a []string) (any, error) { return n.AddChannel(discordtest.GuildID, a[0]), nil },
		"direct":     func(a []string) (any, error) { return n.Direct(a[0]), nil },
		"say":        func(a []string) (any, error) { return n.Say(a[0], a[1], a[2]), nil },
		"attach": func(a []string) (any, error) {
			return n.People.Attach(a[0], a[1], a[2], discordtest.File{Name: a[3], Data: []byte(a[4])}), nil
		},
		"edit":    nothing(func(a []string) { n.People.Edit(a[0], a[1], a[2]) }),
		"delete":  nothing(func(a []string) { n.People.Delete(a[0], a[1]) }),
		"thread":  func(a []string) (any, error) { return n.Places.Thread(a[0], a[1], a[2], a[3]), nil },
		"post":    func(a []string) (any, error) { return n.Places.Post(a[0], a[1], a[2], a[3]), nil },
		"archive": nothing(func(a []string) { n.Places.Archive(a[0], a[1] == "true") }),

		"press": func(a []string) (any, error) { return nil, n.Interactions.Press(a[0], a[1], a[2], a[3]) },
		"submit": func(a []string) (any, error) {
			return nil, n.Interactions.Submit(a[0], map[string]string{a[1]: a[2]})
		},
		"form": func(a []string) (any, error) {
			f, open := n.Interactions.Form(a[0])
			return map[string]any{"open": open, "title": f.Title, "fields": f.Fields}, nil
		},
		"command": func(a []string) (any, error) {
			var given []discordtest.Option
			if a[3] != "" {
				given = append(given, discordtest.Option{Name: a[3], Value: a[4]})
			}
			return nil, n.Interactions.Command(a[0], a[1], a[2], given...)
		},
		"complete": func(a []string) (any, error) {
			return n.Interactions.Complete(a[0], a[1], a[2], discordtest.Option{Name: a[3], Value: a[4]})
		},
		"menu": func(a []string) (any, error) { return nil, n.Interactions.Menu(a[0], a[1], a[2], a[3]) },

		"messages": func(a []string) (any, error) {
			var all []map[string]any
			for _, m := range n.Messages(a[0]) {
				all = append(all, map[string]any{"id": m.ID, "author": m.Author, "content": m.Content, "labels": m.Labels(), "files": m.Files, "for": m.For, "edits": m.Edits})
			}
			return all, nil
		},
		"stats":      func([]string) (any, error) { return n.Gateway.Stats(), nil },
		"kill":       nothing(func([]string) { n.Gateway.Kill() }),
		"reconnect":  nothing(func([]string) { n.Gateway.Reconnect() }),
		"lose":       nothing(func([]string) { n.Gateway.Fail(discordtest.GatewayFaults{Lose: 1}) }),
		"invalidate": nothing(func(a []string) { n.Gateway.Invalidate(a[0] == "true") }),
		"limit": nothing(func(a []string) {
			n.API.Fail(a[0], discordtest.Fault{Status: 429, RetryAfter: 200 * time.Millisecond})
		}),
	}
}
