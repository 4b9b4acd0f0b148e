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
	case Clicked:
		return b.clicked(ctx, e)
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
	ours := m.Mention || c.Mention == Always
	if !ours && m.Reply && (stop || c.Mention != Mentioned) {
		var err error
		if ours, err = b.takesPart(ctx, session); err != nil {
			return err
		}
	}
	switch text := strings.TrimSpace(m.Text); {
	case !ours:
		return nil
	case !c.allows(m.By):
		if !b.teller.told.before("not let in/" + m.Thread.ChannelID() + "/" + m.By.ID) {
			b.teller.tell(m.Thread, m.By, m.ID, notLetIn)
		}
		return nil
	case isStop(text):
		return b.stop(ctx, m, session)
	case text == "":
		if m.Mention {
			b.teller.say(m.Thread, Message{Key: "help/" + m.ID, Class: Notice, Text: help})
		}
		return nil
	}
	_, err := b.cfg.Agent.Say(ctx, session, m.ID, agent.UserSaid{By: user(m.By), Text: m.Text, Busy: c.Busy})
	if err != nil {
		b.teller.tell(m.Thread, m.By, m.ID, notTaken)
		return fmt.Errorf("taking in message %s: %w", m.ID, err)
	}
	return nil
}

// stop ends what runs. Without a mention it may be a word between people, so it is not answered if
// there is nothing to stop.
func (b *Bot) stop(ctx context.Context, m Said, session string) error {
	err := b.cfg.Agent.Stop(ctx, session, m.ID, agent.StopAsked{By: user(m.By)})
	if errors.Is(err, agent.ErrOver) {
		if m.Mention {
			b.teller.tell(m.Thread, m.By, m.ID, nothingRuns)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return nil
}

func isStop(text string) bool {
	return strings.EqualFold(strings.TrimRight(strings.TrimSpace(text), ".!"), "stop")
}

// takesPart reports whether the thread is a session.
func (b *Bot) takesPart(ctx context.Context, session string) (bool, error) {
	for _, err := range b.cfg.Log.Read(ctx, session, 0) {
		if err != nil {
			return false, fmt.Errorf("looking for session %s: %w", session, err)
		}
		return true, nil
	}
	return false, nil
}

func (c Channel) allows(p Person) bool {
	return len(c.Allow) == 0 || slices.Contains(c.Allow, p.ID)
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
	if !b.cfg.Channel(c.Thread).allows(c.By) {
		b.teller.tell(c.Thread, c.By, c.ID, notLetIn)
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
