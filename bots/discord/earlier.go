package discord

import (
	"context"
	"fmt"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// Limits of what is read of a thread.
const (
	earlierPage  = 100
	earlierPages = 10
)

// earlier implements bots.Info.Earlier. Discord tells a thread from its end, and the message at the
// root stands in the channel.
func (d *Discord) earlier(ctx context.Context, t bots.Thread, before string, most int) (all []bots.Said, cut bool, err error) {
	me, err := d.rest.whoami(ctx)
	if err != nil {
		return nil, false, err
	}
	r := &reader{d, me}
	for range earlierPages {
		page, err := d.rest.before(ctx, t.ID, before)
		if err != nil {
			return nil, false, err
		}
		for _, m := range page {
			before = m.ID
			if one, ok, err := r.one(ctx, t, m); err != nil {
				return nil, false, err
			} else if ok {
				all = append(all, one)
			}
		}
		if cut = len(page) == earlierPage; !cut || len(all) > most {
			break
		}
	}
	root, err := r.root(ctx, t)
	if err != nil {
		return nil, false, err
	}
	if room := max(most-len(root), 0); len(all) > room {
		all, cut = all[:room], true
	}
	slices.Reverse(all)
	return append(root, all...), cut, nil
}

// one decodes a message of the thread; ok is whether it has words of somebody else.
func (r *reader) one(ctx context.Context, t bots.Thread, m message) (said bots.Said, ok bool, err error) {
	if m.Guild = t.Workspace; m.Guild == direct {
		m.Guild = ""
	}
	if !r.theirs(m) {
		return bots.Said{}, false, nil
	}
	said, err = r.said(ctx, m)
	said.Thread = t
	return said, err == nil && (said.Text != "" || len(said.Files) > 0), err
}

// root returns the message at the root of a thread, if there is one.
func (r *reader) root(ctx context.Context, t bots.Thread) ([]bots.Said, error) {
	if t.Workspace == direct {
		return nil, nil
	}
	var m message
	err := r.rest.do(ctx, call{method: "GET", path: path(discordgo.EndpointChannelMessage(t.Channel, t.ID)), class: bots.Notice}, &m)
	switch codeOf(err) {
	case discordgo.ErrCodeUnknownMessage, discordgo.ErrCodeMissingAccess, discordgo.ErrCodeCannotExecuteActionOnThisChannelType:
		return nil, nil // it was deleted, or the thread has begun without one
	}
	if err != nil {
		return nil, err
	}
	said, ok, err := r.one(ctx, t, m)
	if !ok || err != nil {
		return nil, err
	}
	return []bots.Said{said}, nil
}

// before returns the newest messages of a channel before one, the newest first.
func (r *rest) before(ctx context.Context, channel, than string) (all []message, err error) {
	p := fmt.Sprintf("%s?limit=%d", path(discordgo.EndpointChannelMessages(channel)), earlierPage)
	if than != "" {
		p += "&before=" + than
	}
	err = r.do(ctx, call{method: "GET", path: p, class: bots.Notice}, &all)
	return all, err
}
