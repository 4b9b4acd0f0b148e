package discord

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// This file is about the role that Discord makes for the bot in each guild. It has the bot's name, so people
// who type that are offered it beside the bot, and cannot tell the two apart: they mean the bot by it.

// own is the bot's own role in each guild.
type own struct {
	rest *rest

	mu  sync.Mutex
	all map[string]string // by guild; "" is none
}

func newOwn(r *rest) *own { return &own{rest: r, all: map[string]string{}} }

// forget lets the role be looked up again: whoever lets the bot in once more makes another one.
func (o *own) forget(guild string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.all, guild)
}

// in returns the role in a guild, or "" if there is none. Errors may pass.
func (o *own) in(ctx context.Context, guild, me string) (string, error) {
	o.mu.Lock()
	role, known := o.all[guild]
	o.mu.Unlock()
	if known {
		return role, nil
	}
	var roles []struct {
		ID   string `json:"id"`
		Tags struct {
			Bot string `json:"bot_id"`
		} `json:"tags"`
	}
	err := o.rest.do(ctx, call{method: "GET", path: path(discordgo.EndpointGuildRoles(guild)), class: bots.Notice}, &roles)
	if e, ok := errors.AsType[*bots.Error](err); err != nil && !(ok && e.Permanent) {
		return "", err
	}
	for _, r := range roles {
		if r.Tags.Bot == me {
			role = r.ID
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[guild] = role
	return role, nil
}

// byRole returns m with the bot mentioned where its own role is. Other roles of the bot's are shared with
// others, and mean all of them.
func (r *reader) byRole(ctx context.Context, m message) (message, error) {
	text := ""
	if m.Content != nil {
		text = *m.Content
	}
	if m.Guild == "" || len(m.Roles) == 0 && !strings.Contains(text, "<@&") {
		return m, nil
	}
	role, err := r.own.in(ctx, m.Guild, r.me.ID)
	if err != nil || role == "" {
		return m, err
	}
	text = strings.ReplaceAll(text, "<@&"+role+">", "<@"+r.me.ID+">")
	m.Content = &text
	if slices.Contains(m.Roles, role) {
		m.Mentions = append(slices.Clone(m.Mentions), mentioned{user: *r.me})
	}
	return m, nil
}
