package bots

import (
	"context"
	"errors"
	"fmt"

	"github.com/heddle-bot/heddle/agent"
)

// This file is what becomes of a message that somebody edits or deletes.

// edited passes on what a message says now. An edit that mentions us makes a message of one that was
// not for us until then; any other edit of such a message is none of our business.
func (b *Bot) edited(ctx context.Context, e Edited) error {
	m := e.Said
	if m.By.Bot {
		return nil
	}
	c := b.cfg.Channel(m.Thread)
	err := agent.ErrUnknown
	if c.refuses(m.By) == "" && m.Text != "" {
		said := agent.UserSaid{By: user(m.By), Text: m.Text, Busy: c.Busy}
		err = b.cfg.Agent.Amend(ctx, m.Thread.String(), e.ID, m.ID, said)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, agent.ErrUnknown) && m.Mention:
		return b.said(ctx, m)
	case errors.Is(err, agent.ErrUnknown):
		return nil
	}
	return fmt.Errorf("taking in the edit of message %s: %w", m.ID, err)
}

// deleted passes on that a message is gone. Whoever may delete it on the network may withdraw it here.
func (b *Bot) deleted(ctx context.Context, d Deleted) error {
	err := b.cfg.Agent.Withdraw(ctx, d.Thread.String(), d.ID)
	if err != nil && !errors.Is(err, agent.ErrUnknown) {
		return fmt.Errorf("taking in that message %s was deleted: %w", d.ID, err)
	}
	return nil
}
