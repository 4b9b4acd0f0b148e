package slack

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// checkChannel looks whether the bot can read and write in a channel, by asking for its newest message:
// conversations.info tells more plainly, but not of conversations with one or several people, for which it
// needs scopes that nothing else does.
func (w *web) checkChannel(ctx context.Context, me *identity, address string) (ok bool, text string) {
	team, channel, _ := strings.Cut(strings.TrimPrefix(address, Name+"/"), "/")
	if team != me.team {
		return false, fmt.Sprintf("it is of the workspace %s, but the tokens are for %s (%s): correct the address", team, me.team, me.teamName)
	}
	var page *slack.GetConversationHistoryResponse
	err := w.call(ctx, request{method: "conversations.history", class: bots.Notice}, func(ctx context.Context) (err error) {
		page, err = w.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: channel, Limit: 1})
		return err
	})
	if err != nil {
		return false, noAccess(err, cmp.Or(me.name, "heddle"))
	}
	if len(page.Messages) > 0 && archived(page.Messages[0].SubType) {
		return false, isArchived
	}
	return true, "the bot is in it"
}

const isArchived = "it is archived: unarchive it, or take it out of the configuration"

// archived reports whether a message of that subtype tells that its channel was archived. In such a
// channel nothing is said after it.
func archived(subtype string) bool {
	return subtype == slack.MsgSubTypeChannelArchive || subtype == slack.MsgSubTypeGroupArchive
}

// noAccess says what to do about a channel that cannot be read.
func noAccess(err error, bot string) string {
	code := refusedFor(err)
	switch code {
	case "not_in_channel":
		return fmt.Sprintf("the bot is not in it: type “/invite @%s” in the channel", bot)
	case "channel_not_found":
		return fmt.Sprintf("there is no such channel that the bot could see: compare the id with the one at the end of “About” in the "+
			"channel's details; if it is right the channel is private, so type “/invite @%s” there", bot)
	case "is_archived":
		return isArchived
	}
	if do := remedy(code); do != "" {
		return err.Error() + ": " + do
	}
	return err.Error()
}
