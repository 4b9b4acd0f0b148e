package discord

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// A permission that the bot uses, as Discord's pages name it.
type permission struct {
	bit   int64
	title string
}

// portal is where an application's pages are, by its id.
const portal = "https://discord.com/developers/applications/"

// permissions are those that the bot uses, and no others.
func permissions() []permission {
	return []permission{
		{discordgo.PermissionViewChannel, "View Channels"},
		{discordgo.PermissionSendMessages, "Send Messages"},
		{discordgo.PermissionCreatePublicThreads, "Create Public Threads"},
		{discordgo.PermissionSendMessagesInThreads, "Send Messages in Threads"},
		{discordgo.PermissionReadMessageHistory, "Read Message History"},
		{discordgo.PermissionAttachFiles, "Attach Files"},
	}
}

// Invite returns the address at which a guild's owner lets the application's bot in, with exactly the
// permissions that it uses.
func Invite(app string) string {
	var all int64
	for _, p := range permissions() {
		all |= p.bit
	}
	return "https://discord.com/oauth2/authorize?" + url.Values{
		"client_id":   {app},
		"scope":       {"bot applications.commands"},
		"permissions": {strconv.FormatInt(all, 10)},
	}.Encode()
}

// WriteManifest tells people what to open and to set so that the application of that id can be used.
// content is whether the bot asks for the intent Message Content.
func WriteManifest(app string, content bool) string {
	var titles []string
	for _, p := range permissions() {
		titles = append(titles, p.title)
	}
	intents := "Guilds, Guild Messages, Direct Messages (nothing is to be set for these)"
	if content {
		intents = "Guilds, Guild Messages, Direct Messages, and Message Content:\n" +
			"             set “Message Content Intent” under “Bot” on " + portal + app + "/bot"
	}
	return fmt.Sprintf("Open this to let the bot into a server:\n\n  %s\n\nPermissions: %s\nIntents:     %s\nPrivacy:     so that nobody else lets it into a server of theirs,\n             %s\n",
		Invite(app), strings.Join(titles, ", "), intents, keepPrivate(app))
}

// keepPrivate says how to keep others from letting the bot into servers of theirs.
func keepPrivate(app string) string {
	return "on " + portal + app + "/installation choose the install link “None”, then under “Bot” switch “Public Bot” off"
}

// Application returns the id of the application that the token is of.
func (d *Discord) Application(ctx context.Context) (string, error) {
	app, err := d.rest.application(ctx)
	if err != nil {
		return "", fmt.Errorf("asking Discord for the application: %s", advice(err))
	}
	return app.ID, nil
}
