package discord_test

import (
	"errors"
	"testing"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

func TestConformance(t *testing.T) {
	botstest.Run(t, func(t *testing.T) (bots.Platform, botstest.Fixture) {
		f := newFixture(t, quick)
		return f.d, conformance{f}
	})
}

// conformance lets the suite play the people of a guild.
type conformance struct{ f *fixture }

func (c conformance) Person(name string) bots.Person { return bots.Person{ID: c.f.n.AddUser(name)} }

func (c conformance) Say(s bots.Said) bots.Said {
	c.f.wait("readiness", func() bool { return c.f.d.Health().Connected })
	text := s.Text
	if s.Mention {
		text = "@" + discordtest.BotName + " " + text
	}
	if s.Reply = s.Thread.ID != ""; s.Reply {
		in := c.f.n.Places.Thread(s.By.ID, c.f.c, s.Thread.ID, "talk")
		s.ID = c.f.n.Say(s.By.ID, in, text)
		return s
	}
	s.ID = c.f.n.Say(s.By.ID, c.f.c, text)
	s.Thread = c.f.thread(s.ID)
	return s
}

func (c conformance) Click(by bots.Person, t bots.Thread, id bots.MessageID, label, reason string) error {
	if err := c.f.n.Interactions.Press(by.ID, t.ID, string(id), label); err != nil || reason == "" {
		return err
	}
	c.f.wait("form", func() bool { _, open := c.f.n.Interactions.Form(by.ID); return open })
	f, _ := c.f.n.Interactions.Form(by.ID)
	if len(f.Fields) != 1 {
		return errors.New("the form has not one field")
	}
	return c.f.n.Interactions.Submit(by.ID, map[string]string{f.Fields[0].CustomID: reason})
}

func (c conformance) Shown(t bots.Thread, person string) []botstest.Shown {
	seen := c.f.n.Messages(c.f.n.Direct(person)) // where somebody is told what no interaction has asked for
	for i := range seen {
		seen[i].For = person
	}
	if c.f.n.Places.Exists(t.ID) {
		seen = append(seen, c.f.n.Messages(t.ID)...)
	}
	var all []botstest.Shown
	for _, m := range seen {
		if m.Author == discordtest.BotUser && (m.For == "" || m.For == person) {
			all = append(all, botstest.Shown{ID: bots.MessageID(m.ID), Text: m.Content, Buttons: m.Labels(), Private: m.For != ""})
		}
	}
	return all
}
