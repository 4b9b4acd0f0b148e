package discord

import (
	"net/url"
	"strconv"

	"github.com/bwmarrin/discordgo"
)

// needed are the permissions that the bot uses, and no others.
const needed = discordgo.PermissionViewChannel | discordgo.PermissionSendMessages | discordgo.PermissionReadMessageHistory |
	discordgo.PermissionAttachFiles | discordgo.PermissionCreatePublicThreads | discordgo.PermissionSendMessagesInThreads

// Invite returns the address at which a guild's owner lets the application's bot in, with exactly the
// permissions that it uses.
func Invite(app string) string {
	return "https://discord.com/oauth2/authorize?" + url.Values{
		"client_id":   {app},
		"scope":       {"bot applications.commands"},
		"permissions": {strconv.FormatInt(needed, 10)},
	}.Encode()
}
