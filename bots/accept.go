package bots

import (
	"context"
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
	case HomeOpened:
		b.teller.home(e)
		return nil
	}
	return fmt.Errorf("unknown event %T", e)
}

// said gates first and marks after: the key of a message is in the log only if the message was for us,
// so that the same message may come again by another event which mentions us.
func (b *Bot) said(ctx context.Context, m Said) error {
	if m.By.Bot {
		return machine(ctx, b, m)
	}
	b.company.person(m.Thread)
	c := b.cfg.Channel(m.Thread)
	stop := !m.Mention && isStop(m.Text)
	r, isResponse := parseResponse(m.Text)
	isResponse = isResponse && len(m.Files) == 0 // else the files would be lost
	words, err := b.ours(ctx, m, c, stop)        // it is for us whatever it says
	ours := words
	if err == nil && !ours && isResponse {
		ours, err = b.ours(ctx, m, c, true)
	}
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
	case isResponse:
		if done, err := b.respond(ctx, m, r); done || err != nil || !words {
			return err
		}
	case text == "" && len(m.Files) == 0:
		switch {
		case m.Mention:
			b.teller.say(m.Thread, Message{Key: "help/" + m.ID, Class: Notice, Text: help})
		case m.Withheld:
			b.teller.say(m.Thread, Message{Key: "withheld", Class: Notice, Text: withheld}) // once is enough
		}
		return nil
	}
	return b.hear(ctx, m, c.Busy)
}

// hear takes a message in: as the answer to the question that waits, or as words to the model. It is
// never both, since either is kept under its id.
func (b *Bot) hear(ctx context.Context, m Said, busy agent.Busy) error {
	done, err := answered(ctx, b.cfg.Agent, m)
	if err == nil && !done {
		return take(ctx, b, m, busy)
	}
	return untaken(b, m, err)
}

// take takes a message in as words to the model.
func take(ctx context.Context, b *Bot, m Said, busy agent.Busy) error {
	_, err := b.cfg.Agent.Say(ctx, m.Thread.String(), m.ID, agent.UserSaid{
		By:    user(m.By),
		Text:  m.Text,
		Busy:  busy,
		Reply: m.Reply,
		Files: attached(m.Files),
	})
	return untaken(b, m, err)
}

// untaken tells of a message that could not be taken in, if err is not nil.
func untaken(b *Bot, m Said, err error) error {
	if err == nil {
		return nil
	}
	b.teller.tell(m.Thread, m.By, m.ID, notTaken)
	return fmt.Errorf("taking in message %s: %w", m.ID, err)
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
	case len(c.Allow) > 0 && !slices.Contains(c.Allow, p.ID) && !slices.ContainsFunc(p.Roles, func(r string) bool { return slices.Contains(c.Allow, r) }):
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
	over := isOver
	switch c.Action {
	case Approve, Deny:
		call, digest, _ := strings.Cut(c.Value, " ")
		err = b.cfg.Agent.Decide(ctx, c.Thread.String(), agent.Decided{
			Call:   call,
			Digest: digest,
			Yes:    c.Action == Approve,
			By:     user(c.By),
			Reason: c.Reason,
			As:     c.By.Roles,
		})
	case Choose:
		err = choose(ctx, b.cfg.Agent, c)
	case Stop:
		err, over = b.stopTurn(ctx, c), turnIsOver
	default:
		b.cfg.Logger.Warn("unknown button", "session", c.Thread.String(), "action", c.Action)
		err = agent.ErrOver
	}
	if err := b.teller.refuse(c.Thread, c.By, c.ID, over, err); err != nil {
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
