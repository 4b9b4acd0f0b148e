package discord

import (
	"context"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// direct is the Workspace of direct conversations, as in Discord's own addresses.
const direct = "@me"

// A channel is what we keep of one. Threads are channels to Discord.
type channel struct {
	ID     string                `json:"id"`
	Guild  string                `json:"guild_id"`
	Parent string                `json:"parent_id"` // of a thread the channel, of a channel the category
	Name   string                `json:"name"`
	Kind   discordgo.ChannelType `json:"type"`
	Last   string                `json:"last_message_id"` // only up to date when a session begins
	Thread struct {
		Archived bool `json:"archived"`
	} `json:"thread_metadata"`
}

// thread reports whether c is one.
func (c channel) thread() bool {
	switch c.Kind {
	case discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

// places are the channels and active threads. Discord tells of them when a session begins and
// whenever one changes; a message does not tell whether it is in a thread.
type places struct {
	rest *rest

	mu  sync.Mutex
	all map[string]channel
}

func newPlaces(r *rest) *places { return &places{rest: r, all: map[string]channel{}} }

// learn takes in what Discord tells of channels. Threads that are archived are looked up when somebody
// comes back to them.
func (p *places) learn(guild string, all ...channel) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range all {
		if c.Guild == "" {
			c.Guild = guild
		}
		if c.Thread.Archived {
			delete(p.all, c.ID)
		} else if c.ID != "" {
			p.all[c.ID] = c
		}
	}
}

func (p *places) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, id)
}

func (p *places) get(id string) (channel, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.all[id]
	return c, ok
}

// find returns the channel of that id, if need be by asking Discord. Errors are *bots.Error.
func (p *places) find(ctx context.Context, id string) (channel, error) {
	if c, ok := p.get(id); ok {
		return c, nil
	}
	var c channel
	if err := p.rest.do(ctx, call{method: "GET", path: path(discordgo.EndpointChannel(id)), class: bots.Notice}, &c); err != nil {
		return channel{}, err
	}
	c.Thread.Archived = false // somebody has just come back to it
	p.learn("", c)
	return c, nil
}

// address returns the thread of a message: the one in which it was written, or that whose root it is.
// The message is empty where there is none; then a thread that does not exist yet has no ID.
func (p *places) address(ctx context.Context, guild, in, message string) (t bots.Thread, reply bool, err error) {
	if guild == "" {
		return bots.Thread{Platform: Name, Workspace: direct, Channel: in, ID: in}, true, nil
	}
	c, err := p.find(ctx, in)
	if err != nil {
		return bots.Thread{}, false, err
	}
	if c.thread() {
		return bots.Thread{Platform: Name, Workspace: guild, Channel: c.Parent, ID: in}, true, nil
	}
	return bots.Thread{Platform: Name, Workspace: guild, Channel: in, ID: message}, false, nil
}
