package bots

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-bot/heddle/agent"
)

// accept decides whether an event is for us and makes it durable. An error means that the network is
// to deliver it again. It runs before the network gets its acknowledgement, so it waits for nothing
// but the log; answers to the person are told later, by teller.
func (b *Bot) accept(ctx context.Context, e Event) error {
	switch e := e.(type) {
	case Said:
		return b.said(ctx, e)
	case Edited:
		return b.edited(ctx, e)
	case Deleted:
		return b.deleted(ctx, e)
	case Clicked:
		return b.clicked(ctx, e)
	case Commanded:
		return b.commanded(ctx, e)
	}
	return fmt.Errorf("unknown event %T", e)
}

// said gates first and marks after: the key of a message is in the log only if the message was for us,
// so that the same message may come again by another event which mentions us.
func (b *Bot) said(ctx context.Context, m Said) error {
	if m.By.Bot {
		return nil
	}
	c := b.cfg.Channel(m.Thread)
	session := m.Thread.String()
	stop := !m.Mention && isStop(m.Text)
	ours, err := b.ours(ctx, m, c, stop)
	if err != nil {
		return err
	}
	refused := c.refuses(m.By)
	switch text := strings.TrimSpace(m.Text); {
	case !ours:
		return nil
	case refused != "":
		if !b.teller.told.before("not let in/" + m.Thread.ChannelID() + "/" + m.By.ID) {
			b.teller.tell(m.Thread, m.By, m.ID, refused)
		}
		return nil
	case (m.Mention || stop) && isCommand(text) && len(m.Files) == 0:
		c, _ := parseCommand(text)
		return b.obey(ctx, order{command: c, id: m.ID, at: m.Thread, by: m.By, quiet: !m.Mention})
	case text == "" && len(m.Files) == 0:
		if m.Mention {
			b.teller.say(m.Thread, Message{Key: "help/" + m.ID, Class: Notice, Text: help})
		}
		return nil
	}
	_, err = b.cfg.Agent.Say(ctx, session, m.ID, agent.UserSaid{
		By:    user(m.By),
		Text:  m.Text,
		Busy:  c.Busy,
		Reply: m.Reply,
		Files: attached(m.Files),
	})
	if err != nil {
		b.teller.tell(m.Thread, m.By, m.ID, notTaken)
		return fmt.Errorf("taking in message %s: %w", m.ID, err)
	}
	return nil
}

// ours reports whether a message is for us. Where the bot was sent away only a mention is, and a stop.
func (b *Bot) ours(ctx context.Context, m Said, c Channel, stop bool) (bool, error) {
	switch {
	case m.Mention, c.Mention == Always && !m.Reply:
		return true, nil
	case !m.Reply, c.Mention == Mentioned && !stop:
		return false, nil
	}
	p, err := b.places.of(ctx, b.cfg.Log, m.Thread.String())
	if err != nil {
		return false, err
	}
	part := p.pos != 0 || c.Mention == Always
	return part && (stop || !p.silent), nil
}

// refuses returns why a person may not talk to us or click here, or "".
func (c Channel) refuses(p Person) string {
	switch {
	case len(c.Allow) > 0 && !slices.Contains(c.Allow, p.ID):
		return notLetIn
	case p.Outside && !c.Outside:
		return notOutside
	}
	return ""
}

func user(p Person) agent.User {
	u := agent.User{ID: p.ID}
	if p.Name != p.ID {
		u.Name = p.Name
	}
	return u
}

// clicked checks who clicks here as it does for messages: a card is seen by more people than may talk
// to the bot.
func (b *Bot) clicked(ctx context.Context, c Clicked) error {
	if c.By.Bot {
		return nil
	}
	if refused := b.cfg.Channel(c.Thread).refuses(c.By); refused != "" {
		b.teller.tell(c.Thread, c.By, c.ID, refused)
		return nil
	}
	var err error
	switch c.Action {
	case Approve, Deny:
		call, digest, _ := strings.Cut(c.Value, " ")
		err = b.cfg.Agent.Decide(ctx, c.Thread.String(), agent.Decided{
			Call:   call,
			Digest: digest,
			Yes:    c.Action == Approve,
			By:     user(c.By),
			Reason: c.Reason,
		})
	case Stop:
		err = b.stopTurn(ctx, c)
	default:
		b.cfg.Logger.Warn("unknown button", "session", c.Thread.String(), "action", c.Action)
		err = agent.ErrOver
	}
	var decided *agent.DecidedError
	switch {
	case err == nil:
	case errors.As(err, &decided):
		b.teller.tell(c.Thread, c.By, c.ID, decidedBefore(b.cfg.look(), decided.Decided, c.By))
	case errors.Is(err, agent.ErrNotAllowed):
		b.teller.tell(c.Thread, c.By, c.ID, mayNotDecide)
	case errors.Is(err, agent.ErrOver) && c.Action == Stop:
		b.teller.tell(c.Thread, c.By, c.ID, turnIsOver)
	case errors.Is(err, agent.ErrOver):
		b.teller.tell(c.Thread, c.By, c.ID, isOver)
	default:
		b.teller.tell(c.Thread, c.By, c.ID, notDone)
		return fmt.Errorf("button %s: %w", c.Action, err)
	}
	return nil
}

// stopTurn stops the turn whose button was pressed, and no later one.
func (b *Bot) stopTurn(ctx context.Context, c Clicked) error {
	turn, err := strconv.Atoi(c.Value)
	if err != nil {
		return agent.ErrOver // no button of ours
	}
	return b.cfg.Agent.Stop(ctx, c.Thread.String(), c.ID, agent.StopAsked{By: user(c.By), Turn: turn})
}

// decidedBefore tells a person who was first.
func decidedBefore(l look, d agent.Decided, by Person) string {
	who := "You have"
	if d.By.ID != by.ID {
		who = l.who(d.By) + " has"
	}
	if d.Yes {
		return who + " approved this already."
	}
	return who + " denied this already."
}
