package bots

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent"
)

// A command is a word that is for the bot itself and not for the model.
type command struct {
	name string // of one of Commands
	arg  string // of model: the name of one
}

// A Command is a word that is for the bot itself, for networks that want to know them all.
type Command struct {
	Name  string
	About string // what it does, in Markdown
	Arg   string // names what may follow the word; empty: nothing
}

// Commands returns the words that there are, in the order of help.
func Commands() []Command {
	return []Command{
		{"help", "this", ""},
		{"status", "what runs here, what it waits for, and what it has used", ""},
		{"stop", "ends what runs", ""},
		{"model", "the models that there are; `model NAME` chooses one for this thread", "name"},
		{"compact", "I sum up what was said here, to make room", ""},
		{"new", "I forget what was said here", ""},
		{"rules", "who may talk to me and approve here, and what I ask about", ""},
		{"budget", "what a turn here may use, and what has been used", ""},
		{"tools", "what I can use, and what I ask about before", ""},
		{"export", "what happened here, as a file", ""},
		{"leave", "I am silent here until somebody mentions me", ""},
	}
}

// parseCommand returns the command that text is, if it is nothing but one: what only begins with such a
// word is a request. People write commands in their way, as "!stop" or "Status?".
func parseCommand(text string) (c command, ok bool) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return command{}, false
	}
	last := len(words) - 1
	words[last] = strings.TrimRight(words[last], ".!?")
	c.name = strings.ToLower(strings.TrimLeft(words[0], "!/"))
	switch {
	case last == 1 && c.name == "model":
		c.arg = strings.Trim(words[1], "`\"'“”‘’*_")
	case last > 0, c.name == "stop" && strings.HasSuffix(strings.TrimSpace(text), "?"):
		return command{}, false
	}
	for _, known := range Commands() {
		if known.Name == c.name {
			return c, last == 0 || c.arg != ""
		}
	}
	return command{}, false
}

func isCommand(text string) bool {
	_, ok := parseCommand(text)
	return ok
}

// isStop reports whether text is nothing but the word that stops.
func isStop(text string) bool {
	c, ok := parseCommand(text)
	return ok && c.name == "stop"
}

// An order is a command in its place.
type order struct {
	command
	id      string // of what brought it
	at      Thread // its ID is empty if it is not known
	by      Person
	private bool // what is only shown is shown to who asked
	quiet   bool // it may be a word between people: if there is nothing to be done nothing is told
}

// commanded takes a command that was typed apart from the messages. Who types one is always answered.
func (b *Bot) commanded(ctx context.Context, e Commanded) error {
	if e.By.Bot {
		return nil
	}
	if refused := b.cfg.Channel(e.Thread).refuses(e.By); refused != "" {
		b.teller.tell(e.Thread, e.By, e.ID, refused)
		return nil
	}
	text := strings.TrimSpace(e.Text)
	c, ok := parseCommand(text)
	if text == "" {
		c, ok = command{name: "help"}, true
	}
	o := order{command: c, id: e.ID, at: e.Thread, by: e.By, private: true}
	switch {
	case !ok:
		b.teller.tell(e.Thread, e.By, e.ID, noCommand)
		return nil
	case e.Thread.ID == "" && !o.anywhere():
		b.teller.tell(e.Thread, e.By, e.ID, inThread)
		return nil
	}
	return b.obey(ctx, o)
}

// anywhere reports whether the command means something outside of a thread.
func (o order) anywhere() bool {
	return slices.Contains([]string{"help", "status", "tools", "model", "rules", "budget"}, o.name) && o.arg == ""
}

// obey does what a command says, or has the answer told.
func (b *Bot) obey(ctx context.Context, o order) error {
	session, by := o.at.String(), user(o.by)
	var err error
	var done string
	switch {
	case o.name == "stop":
		err = b.cfg.Agent.Stop(ctx, session, o.id, agent.StopAsked{By: by})
	case o.name == "model" && o.arg != "":
		err = b.cfg.Agent.Choose(ctx, session, o.id, agent.ModelChosen{By: by, Model: o.arg})
		done = fmt.Sprintf("From the next request on I answer here with `%s`.", o.arg)
	case o.name == "compact":
		err = b.cfg.Agent.Compact(ctx, session, o.id, by)
	case o.name == "new":
		err = b.cfg.Agent.Forget(ctx, session, o.id, agent.Forgotten{By: by})
		done = "I have forgotten what was said here. What happened is still in my log."
	case o.name == "leave":
		err = b.cfg.Agent.Record(ctx, session, "bots.left/"+o.id, 0, encode(Left{by}))
		done = "I am silent here until somebody mentions me. What runs goes on to its end; “stop” ends it."
	default: // the answer is made later, so that the network need not wait
		m := Message{Key: "told/" + o.id, Class: Notice}
		if o.private {
			m.For = o.by.ID
		}
		b.teller.later(o.at, m, func(ctx context.Context) (Message, error) { return clerk{&b.cfg}.answer(ctx, o, m) })
		return nil
	}
	var unknown *agent.UnknownModelError
	switch {
	case errors.As(err, &unknown):
		b.teller.tell(o.at, o.by, o.id, noModel(b.cfg.look(), unknown))
	case errors.Is(err, agent.ErrRuns):
		b.teller.tell(o.at, o.by, o.id, stopFirst)
	case errors.Is(err, agent.ErrOver) && o.name == "compact":
		b.teller.tell(o.at, o.by, o.id, nothingSaid)
	case errors.Is(err, agent.ErrOver) && o.quiet:
	case errors.Is(err, agent.ErrOver):
		b.teller.tell(o.at, o.by, o.id, nothingRuns)
	case err != nil:
		b.teller.tell(o.at, o.by, o.id, notDone)
		return fmt.Errorf("command %s: %w", o.name, err)
	case done != "":
		l := b.cfg.look()
		b.teller.say(o.at, Message{Key: "done/" + o.id, Class: Notice, Text: l.md(done)})
	}
	return nil
}
