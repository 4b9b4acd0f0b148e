package botstest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// This file is the Fixture that plays the people of a Chat.

// Person returns somebody of that name: "UANN" is the id of ann.
func (c *Chat) Person(name string) bots.Person {
	return bots.Person{ID: "U" + strings.ToUpper(name), Name: name}
}

// Say makes somebody write. It returns what Listen delivers.
func (c *Chat) Say(s bots.Said) bots.Said {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	s.ID = fmt.Sprint(c.last)
	s.Time = time.Now()
	s.Reply = s.Thread.ID != ""
	if !s.Reply {
		s.Thread = bots.Thread{Platform: Name, Workspace: "W", Channel: "general", ID: s.ID}
	}
	c.Archive.add(s)
	c.queue.put(s)
	return s
}

// Click makes somebody press the button of that label.
func (c *Chat) Click(by bots.Person, t bots.Thread, id bots.MessageID, label, reason string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := find(c.messages, t, id)
	if i < 0 {
		return errNoButton
	}
	for _, b := range c.messages[i].m.Buttons {
		if b.Label != label {
			continue
		}
		c.last++
		click := bots.Clicked{ID: fmt.Sprint(c.last), Thread: t, Message: id, By: by, Action: b.Action, Value: b.Value}
		if b.Ask != "" {
			click.Reason = reason
		}
		c.queue.put(click)
		return nil
	}
	return errNoButton
}

// Shown returns the bot's messages that a person sees in a thread, oldest first.
func (c *Chat) Shown(t bots.Thread, person string) []Shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Shown
	for _, m := range c.messages {
		if m.thread != t || m.m.For != "" && m.m.For != person {
			continue
		}
		s := Shown{ID: m.id, Text: m.m.Text, Private: m.m.For != ""}
		if code := m.m.Code; code != "" {
			if len(code) > maxCode {
				code = code[:maxCode] + "\n(cut)"
			}
			s.Text += "\n" + code
		}
		for _, b := range m.m.Buttons {
			s.Buttons = append(s.Buttons, b.Label)
		}
		s.Buttons = slices.Clip(s.Buttons)
		all = append(all, s)
	}
	return all
}

// errNoButton says that a person found nothing to press.
var errNoButton = errors.New("there is no such button")
