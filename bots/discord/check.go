package discord

import (
	"context"
	"fmt"
	"time"
)

// A Finding is the outcome of one check.
type Finding struct {
	Name string // what was checked
	OK   bool
	Text string // what was found; if not OK, what to do
}

// The flags of an application that has the intent Message Content, before and after Discord's review.
const contentFlags = 1<<18 | 1<<19

// Check looks whether the token can do what is needed of it. It posts nothing. It ends with ctx or
// after half a minute.
func (d *Discord) Check(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	me, err := d.rest.whoami(ctx)
	if err != nil {
		return []Finding{{Name: "discord bot token", Text: advice(err)}}
	}
	all := []Finding{{"discord bot token", true, "connected as " + me.Username}}
	app, err := d.rest.application(ctx)
	switch {
	case err != nil:
		all = append(all, Finding{Name: "discord intents", Text: advice(err)})
	case d.cfg.WithoutContent:
		all = append(all, Finding{"discord intents", true, "no privileged one is asked for"})
	case app.Flags&contentFlags == 0:
		all = append(all, Finding{Name: "discord intents", Text: remedy(4014)})
	default:
		all = append(all, Finding{"discord intents", true, "Message Content is enabled"})
	}
	var guilds []struct{}
	if err := d.rest.do(ctx, call{method: "GET", path: "/users/@me/guilds"}, &guilds); err != nil {
		return append(all, Finding{Name: "discord guilds", Text: advice(err)})
	}
	if len(guilds) == 0 {
		return append(all, Finding{Name: "discord guilds", Text: "the bot is in no guild: open " + Invite(app.ID)})
	}
	return append(all, Finding{"discord guilds", true, fmt.Sprintf("in %d", len(guilds))})
}

// advice returns what to do about err.
func advice(err error) string {
	if hopeless := hopeless(err); hopeless != nil {
		return hopeless.Error()
	}
	return err.Error()
}
