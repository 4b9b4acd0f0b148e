package main

import (
	"errors"
	"time"

	"github.com/heddle-bot/heddle/bots/discord/discordtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// This file is trouble that any network can make, as each of them makes it.

// troubles are further verbs of the network.
func troubles() map[string]verb {
	return map[string]verb{
		// "network sends again N": so many of the next events. Slack does when acknowledgements get lost.
		"sends": trouble(func(w *world, args []string) error {
			n, err := number(args)
			w.slack.Socket.Fail(slacktest.SocketFaults{LoseAcks: n})
			return err
		}, func(w *world, args []string) error {
			n, err := number(args)
			w.stage.repeat(n)
			return err
		}),
		// "network limits posts": the next one comes too early.
		"limits": trouble(onSlackCall("chat.postMessage", slacktest.Fault{Status: 429, RetryAfter: "1"}),
			onDiscordCall("POST /channels/{channel}/messages", discordtest.Fault{Status: 429, RetryAfter: time.Second})),
		// "network refuses a thread": what was said in it before cannot be read the next time.
		"refuses": trouble(onSlackCall("conversations.replies", slacktest.Fault{Error: "internal_error"}),
			onDiscordCall("GET /channels/{channel}/messages", discordtest.Fault{Status: 403, Code: 50001})),
		// "network holds edits", "network holds files": the answer to the next one waits for "network releases".
		"holds": func(w *world, _ bool, args []string) error {
			w.held = hold{release: make(chan struct{})}
			on := calls()[args[len(args)-1]]
			return trouble(onSlackCall(on[0], slacktest.Fault{Hold: w.held.release}), onDiscordCall(on[1], discordtest.Fault{Hold: w.held.release}))(w, false, nil)
		},
		// "network drops files": it takes the next one, but the answer gets lost.
		"drops": trouble(onSlackCall(calls()["files"][0], slacktest.Fault{Drop: true, Applied: true}),
			onDiscordCall(calls()["files"][1], discordtest.Fault{Drop: true, Applied: true})),
		"releases": func(w *world, _ bool, _ []string) error {
			if w.held.release == nil {
				return errors.New("nothing is held")
			}
			close(w.held.release)
			w.held = hold{}
			return nil
		},
		// "network unfurls TEXT": what is behind the links of that message is shown.
		"unfurls": func(w *world, _ bool, args []string) error {
			id, err := message(w, "", args[0])
			switch {
			case err != nil:
				return err
			case w.discord != nil:
				w.discord.People.Unfurl(hall{w, w.discord}.place(w.root(), id), id)
			default:
				w.slack.People.Unfurl(w.channel, id)
			}
			return nil
		},
		// "network withholds files": those that are attached from now on cannot be fetched. On Slack they lead
		// to a page for people to sign in, as if the bot had no right to them.
		"withholds": trouble(func(w *world, _ []string) error { w.astray = true; return nil },
			onDiscordCall("GET /channels/{channel}/messages/{message}", discordtest.Fault{Status: 403, Code: 50001})),
	}
}

// calls are what the networks call what is done with a thing: Slack a method, Discord a route. On Discord a file
// comes with a message, so no other is to be posted before it.
func calls() map[string][2]string {
	return map[string][2]string{
		"edits": {"chat.update", "PATCH /channels/{channel}/messages/{message}"},
		"files": {"files.completeUploadExternal", "POST /channels/{channel}/messages"},
	}
}

// trouble is a verb that is done on each network in its own way.
func trouble(slack, discord func(w *world, args []string) error) verb {
	return func(w *world, _ bool, args []string) error {
		if w.discord != nil {
			return discord(w, args)
		}
		return slack(w, args)
	}
}

// onSlackCall lets the next call of a method meet a fault.
func onSlackCall(method string, f slacktest.Fault) func(*world, []string) error {
	return func(w *world, _ []string) error { w.slack.API.Fail(method, f); return nil }
}

// onDiscordCall lets the next call of a route meet a fault.
func onDiscordCall(route string, f discordtest.Fault) func(*world, []string) error {
	return func(w *world, _ []string) error { w.discord.API.Fail(route, f); return nil }
}
