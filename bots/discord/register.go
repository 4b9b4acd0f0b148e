package discord

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// The names of our commands. They are what people type.
const (
	askCommand    = "ask"
	heddleCommand = "heddle"
	aboutCommand  = "Ask Heddle about this"
)

// A command is one as Discord knows it, without what it adds itself.
type command struct {
	Name        string                           `json:"name"`
	Description string                           `json:"description"`
	Kind        discordgo.ApplicationCommandType `json:"type"`
	Options     []parameter                      `json:"options,omitempty"`
}

// A parameter is what is given to a command, or a command below one.
type parameter struct {
	Kind        discordgo.ApplicationCommandOptionType `json:"type"`
	Name        string                                 `json:"name"`
	Description string                                 `json:"description"`
	Required    bool                                   `json:"required,omitempty"`
	Completed   bool                                   `json:"autocomplete,omitempty"` // we say what it may be while it is typed
	Options     []parameter                            `json:"options,omitempty"`
}

// Discord's limits on commands.
const (
	maxDescription = 100 // characters
	maxChoices     = 25  // that are offered while something is typed
	maxChoice      = 100 // characters of one
)

func commands() []command {
	ours := command{Name: heddleCommand, Kind: discordgo.ChatApplicationCommand, Description: "Ask what I can do, or tell me what to do"}
	for _, c := range bots.Commands() {
		sub := parameter{Kind: discordgo.ApplicationCommandOptionSubCommand, Name: c.Name, Description: clip(strings.ReplaceAll(c.About, "`", ""), maxDescription)}
		if c.Arg != "" {
			sub.Options = []parameter{{Kind: discordgo.ApplicationCommandOptionString, Name: c.Arg, Description: "Which; left out: all that there are", Completed: true}}
		}
		ours.Options = append(ours.Options, sub)
	}
	return []command{
		{Name: askCommand, Kind: discordgo.ChatApplicationCommand, Description: "Ask me something; I answer in a thread", Options: []parameter{
			{Kind: discordgo.ApplicationCommandOptionString, Name: "request", Description: "What you want", Required: true},
		}},
		ours,
		{Name: aboutCommand, Kind: discordgo.MessageApplicationCommand},
	}
}

// complete returns those of the models whose names hold what is typed, the ones that begin so first.
func complete(models []string, typed string) []string {
	var begin, hold []string
	typed = strings.ToLower(strings.TrimSpace(typed))
	for _, m := range models {
		switch name := strings.ToLower(m); {
		case len([]rune(m)) > maxChoice:
		case strings.HasPrefix(name, typed):
			begin = append(begin, m)
		case strings.Contains(name, typed):
			hold = append(hold, m)
		}
	}
	all := append(begin, hold...)
	return all[:min(len(all), maxChoices)]
}

// An application is what Discord tells of ours.
type application struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Flags  int    `json:"flags"`
	Public bool   `json:"bot_public"` // anybody may let it into a guild
}

func (r *rest) application(ctx context.Context) (a application, err error) {
	return a, r.do(ctx, call{method: "GET", path: "/applications/@me", class: bots.Notice}, &a)
}

// register makes our commands known to Discord: in the configured guilds, or everywhere. Without them
// mentions still work, so a failure is only logged.
func register(ctx context.Context, d *Discord) {
	app, err := d.rest.application(ctx)
	if err == nil && len(d.cfg.Guilds) == 0 {
		err = d.rest.setCommands(ctx, path(discordgo.EndpointApplicationGlobalCommands(app.ID)))
	}
	for _, guild := range d.cfg.Guilds {
		if err == nil {
			err = d.rest.setCommands(ctx, path(discordgo.EndpointApplicationGuildCommands(app.ID, guild)))
		}
	}
	if err != nil && ctx.Err() == nil {
		d.cfg.Logger.Warn("the commands are not registered", "err", err)
	}
}

// setCommands registers our commands at one place, unless they are there: Discord allows 200 a day.
func (r *rest) setCommands(ctx context.Context, at string) error {
	var known []command
	err := r.do(ctx, call{method: "GET", path: at, class: bots.Notice}, &known)
	if err != nil || same(known, commands()) {
		return err
	}
	return r.do(ctx, call{method: "PUT", path: at, class: bots.Notice, body: commands()}, nil)
}

// same reports whether the commands are the same, in any order.
func same(a, b []command) bool {
	named := func(all []command) map[string]string {
		m := map[string]string{}
		for _, c := range all {
			text, _ := json.Marshal(c) // strings encode
			m[c.Name] = string(text)
		}
		return m
	}
	return len(a) == len(b) && reflect.DeepEqual(named(a), named(b))
}
