package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// A Finding is the outcome of one check.
type Finding struct {
	Name string // what was checked
	OK   bool
	Text string // what was found; if not OK, or if it is to be considered, what to do
	Warn bool   // it works, but should be considered
}

// The flags of an application that has the intent Message Content, before and after Discord's review.
const contentFlags = 1<<18 | 1<<19

// Check looks whether the token can do what is needed of it, and what the bot may in the channels of
// those addresses, which are like bots.Thread.ChannelID. It posts nothing. It ends with ctx or after
// half a minute, and two seconds more for each channel.
func (d *Discord) Check(ctx context.Context, channels ...string) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second+time.Duration(len(channels))*2*time.Second)
	defer cancel()
	me, err := d.rest.whoami(ctx)
	if err != nil {
		return []Finding{{Name: "discord bot token", Text: advice(err)}}
	}
	all := []Finding{{Name: "discord bot token", OK: true, Text: "connected as " + me.Username}}
	app, err := d.rest.application(ctx)
	switch {
	case err != nil:
		all = append(all, Finding{Name: "discord intents", Text: advice(err)})
	case d.cfg.WithoutContent:
		all = append(all, Finding{Name: "discord intents", OK: true, Text: "no privileged one is asked for"})
	case app.Flags&contentFlags == 0:
		all = append(all, Finding{Name: "discord intents", Text: remedy(4014)})
	default:
		all = append(all, Finding{Name: "discord intents", OK: true, Text: "Message Content is enabled"})
	}
	if app.Public {
		all = append(all, Finding{Name: "discord application", OK: true, Warn: true, Text: "anybody may let it into a server of theirs, and use it there. Unless that is meant, " + keepPrivate(app.ID)})
	}
	var guilds []struct{}
	if err := d.rest.do(ctx, call{method: "GET", path: "/users/@me/guilds"}, &guilds); err != nil {
		return append(all, Finding{Name: "discord guilds", Text: advice(err)})
	}
	if len(guilds) == 0 {
		return append(all, Finding{Name: "discord guilds", Text: "the bot is in no guild: open " + Invite(app.ID)})
	}
	all = append(all, Finding{Name: "discord guilds", OK: true, Text: fmt.Sprintf("in %d", len(guilds))})
	for _, address := range channels {
		f := Finding{Name: "channel " + address}
		if f.Text = d.rest.checkChannel(ctx, me.ID, address); f.Text == "" {
			f.OK, f.Text = true, "the bot may do there what it does"
		}
		all = append(all, f)
	}
	return all
}

// checkChannel returns what is to be done so that the bot can work in a channel, or "".
func (r *rest) checkChannel(ctx context.Context, me, address string) string {
	parts := strings.Split(address, "/")
	if len(parts) != 3 {
		return "this is not the address of a channel"
	}
	if parts[1] == direct {
		return "" // whoever shares a guild with the bot may write to it
	}
	may, err := r.permissions(ctx, me, parts[1], parts[2])
	switch {
	case codeOf(err) == discordgo.ErrCodeMissingAccess, codeOf(err) == discordgo.ErrCodeUnknownGuild:
		return "the bot is not in that server, or does not see the channel: let it in with “heddle manifest discord”, and allow it “View Channels” there"
	case codeOf(err) == discordgo.ErrCodeUnknownChannel:
		return "there is no such channel: copy its link again"
	case err != nil:
		return advice(err)
	}
	var missing []string
	for _, p := range permissions() {
		if may&p.bit == 0 {
			missing = append(missing, "“"+p.title+"”")
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "allow the bot " + strings.Join(missing, ", ") + ": Edit Channel, Permissions, or the role of the bot in the server's settings"
}

// permissions returns what the bot may do in a channel. The library works it out from what Discord
// tells of the guild's roles and of the channel.
func (r *rest) permissions(ctx context.Context, me, guild, channel string) (int64, error) {
	g, m, c := &discordgo.Guild{}, &discordgo.Member{}, &discordgo.Channel{}
	for _, ask := range []struct {
		endpoint string
		into     any
	}{
		{discordgo.EndpointGuild(guild), g},
		{discordgo.EndpointGuildMember(guild, me), m},
		{discordgo.EndpointChannel(channel), c},
	} {
		if err := r.do(ctx, call{method: "GET", path: path(ask.endpoint), class: bots.Notice}, ask.into); err != nil {
			return 0, err
		}
	}
	if c.GuildID != guild {
		return 0, errors.New("the channel is in another server: copy its link again")
	}
	m.GuildID, g.Members, g.Channels = guild, []*discordgo.Member{m}, []*discordgo.Channel{c}
	state := discordgo.NewState()
	if err := state.GuildAdd(g); err != nil {
		return 0, err
	}
	return state.UserChannelPermissions(me, channel)
}

// advice returns what to do about err.
func advice(err error) string {
	if hopeless := hopeless(err); hopeless != nil {
		return hopeless.Error()
	}
	return err.Error()
}
