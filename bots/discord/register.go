package discord

import (
	"context"
	"encoding/json"
	"reflect"

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

type parameter struct {
	Kind        discordgo.ApplicationCommandOptionType `json:"type"`
	Name        string                                 `json:"name"`
	Description string                                 `json:"description"`
	Required    bool                                   `json:"required,omitempty"`
}

func commands() []command {
	return []command{
		{Name: askCommand, Kind: discordgo.ChatApplicationCommand, Description: "Ask me something; I answer in a thread", Options: []parameter{
			{Kind: discordgo.ApplicationCommandOptionString, Name: "request", Description: "What you want", Required: true},
		}},
		{Name: heddleCommand, Kind: discordgo.ChatApplicationCommand, Description: "Ask what I can do, or tell me what to do", Options: []parameter{
			{Kind: discordgo.ApplicationCommandOptionString, Name: "command", Description: "help, status, stop, model NAME, tools, export, …"},
		}},
		{Name: aboutCommand, Kind: discordgo.MessageApplicationCommand},
	}
}

// An application is what Discord tells of ours.
type application struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Flags int    `json:"flags"`
}

func (r *rest) application(ctx context.Context) (a application, err error) {
	return a, r.do(ctx, call{method: "GET", path: "/applications/@me", class: bots.Notice}, &a)
}

// register makes our commands known to Discord if they are not. Without them mentions still work, so a
// failure is only logged.
func register(ctx context.Context, d *Discord) {
	app, err := d.rest.application(ctx)
	var known []command
	at := path(discordgo.EndpointApplicationGlobalCommands(app.ID))
	if err == nil {
		err = d.rest.do(ctx, call{method: "GET", path: at, class: bots.Notice}, &known)
	}
	if err == nil && !same(known, commands()) {
		err = d.rest.do(ctx, call{method: "PUT", path: at, class: bots.Notice, body: commands()}, nil)
	}
	if err != nil && ctx.Err() == nil {
		d.cfg.Logger.Warn("the commands are not registered", "err", err)
	}
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
