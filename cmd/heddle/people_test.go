package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// A person is somebody on the network.
type person struct {
	*world
	id string // empty is anybody
}

// somebody is a line of which the subject is that person; an empty name is anybody.
func somebody(name string) verb {
	return func(w *world, neg bool, args []string) error {
		p := person{w, w.ids[strings.ToUpper(name)]}
		usage := errors.New(`usage: NAME says TEXT | edits OLD to TEXT | deletes TEXT | attaches FILE... TEXT | commands TEXT | ` +
			`clicks LABEL | and NAME click LABEL | denies with TEXT | sees the form | closes the form | sends the form TEXT | answers with TEXT | is told TEXT | is answered TEXT | finds at home TEXT | or, on Discord, the deeds in discord_verbs_test.go`)
		if len(args) < 2 {
			return usage
		}
		if do, rest := deedOf(args); do != nil && w.discord != nil {
			return do(p, neg, rest)
		}
		rest := args[len(args)-1]
		switch verb := strings.Join(args[:len(args)-1], " "); {
		case verb == "says":
			return p.say(rest)
		case args[0] == "edits" && len(args) == 4 && args[2] == "to":
			return p.edit(args[1], rest)
		case verb == "deletes":
			return p.delete(rest)
		case args[0] == "attaches":
			return p.attach(args[1:len(args)-1], rest)
		case verb == "commands":
			return p.command(rest)
		case verb == "is answered":
			return p.answered(neg, rest)
		case args[0] == "clicks":
			return p.click(strings.Join(args[1:], " "))
		case verb == "denies with":
			return p.fill("Deny with reason", rest)
		case verb == "sees the": // form
			return p.sees()
		case verb == "closes the": // form
			return p.dismiss()
		case verb == "sends the form":
			return p.submit(rest)
		case verb == "answers with":
			return p.fill("Other…", rest)
		case verb == "is told":
			return p.told(neg, rest)
		case verb == "finds at home":
			return p.home(neg, rest)
		case args[0] == "and" && len(args) >= 4 && args[2] == "click":
			return p.clickWith(w.ids[strings.ToUpper(args[1])], strings.Join(args[3:], " "))
		}
		return usage
	}
}

// say writes into the current thread, or begins it.
func (p person) say(text string) error {
	p.threads[p.current] = p.stage.say(p.id, p.root(), text, nil)
	return nil
}

// button waits for a button and returns the newest message that has it.
func (w *world) button(label string) (id string, err error) {
	with := func(m line) bool { return slices.Contains(m.labels, label) }
	err = w.wait(func() bool {
		for _, m := range w.found(with) {
			id = m.id
		}
		return id != ""
	})
	return id, err
}

func (p person) click(label string) error {
	id, err := p.button(label)
	if err != nil {
		return err
	}
	return p.stage.press(p.id, p.root(), id, label)
}

// clickWith lets p and another press the same button of the same message at once.
func (p person) clickWith(other, label string) error {
	id, err := p.button(label)
	if err != nil {
		return err
	}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i, who := range []string{p.id, other} {
		wg.Go(func() { errs[i] = p.stage.press(who, p.root(), id, label) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// fill presses a button that opens a form, and fills it in.
func (p person) fill(label, text string) error {
	if err := p.click(label); err != nil {
		return err
	}
	return p.submit(text)
}

// submit fills in the form that p sees, or is about to see.
func (p person) submit(text string) error {
	var refused error
	err := p.wait(func() (open bool) {
		open, refused = p.stage.fill(p.id, text)
		return open
	})
	if err != nil {
		return fmt.Errorf("no form opens: %w", err)
	}
	return refused
}

// sees waits for a form that a button opens.
func (p person) sees() error {
	return p.wait(func() (open bool) {
		if p.discord != nil {
			_, open = p.discord.Interactions.Form(p.id)
		} else {
			_, open = p.slack.View(p.id)
		}
		return open
	})
}

// dismiss closes the form that p sees or is about to see. Discord tells nobody of it.
func (p person) dismiss() error {
	if err := p.sees(); err != nil {
		return err
	}
	if p.discord != nil {
		p.discord.Interactions.Dismiss(p.id)
		return nil
	}
	return p.slack.People.Close(p.id)
}

// told waits until p is told a text privately. If neg it looks once.
func (p person) told(neg bool, text string) error {
	private := func(m line) bool {
		return m.only != "" && (p.id == "" || m.only == p.id) && strings.Contains(m.text, text)
	}
	if neg {
		if found := p.found(private); len(found) > 0 {
			return fmt.Errorf("is told: %s", found[0])
		}
		return nil
	}
	return p.wait(func() bool { return len(p.found(private)) > 0 })
}

// home opens the app's home and, when heddle has shown it, looks whether it has a text.
func (p person) home(neg bool, text string) error {
	before, _ := p.slack.People.Home(p.id)
	p.slack.People.OpenHome(p.id)
	var now slacktest.View
	err := p.wait(func() bool {
		now, _ = p.slack.People.Home(p.id)
		return now.Hash != before.Hash
	})
	switch {
	case err != nil:
		return fmt.Errorf("the home is not shown: %w", err)
	case strings.Contains(now.Text, text) == neg:
		return fmt.Errorf("the home is:\n%s", now.Text)
	}
	return nil
}
