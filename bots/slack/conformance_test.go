package slack_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestConformance(t *testing.T) {
	botstest.Run(t, func(t *testing.T) (bots.Platform, botstest.Fixture) {
		f := newFixture(t, slacktest.Config{AckWithin: time.Second})
		f.w.AddUser("ann")
		return f.s, conformance{f}
	})
}

func TestConformanceOverHTTP(t *testing.T) {
	botstest.Run(t, func(t *testing.T) (bots.Platform, botstest.Fixture) {
		f := newFixture(t, slacktest.Config{AckWithin: time.Second})
		f.w.AddUser("ann")
		f.overHTTP()
		return f.s, conformance{f}
	})
}

// conformance lets the suite play the people of a workspace.
type conformance struct{ f *fixture }

func (c conformance) Person(name string) bots.Person {
	return bots.Person{ID: "U" + strings.ToUpper(name)} // as the workspace names them
}

func (c conformance) Say(s bots.Said) bots.Said {
	c.f.wait("readiness", func() bool { return c.f.s.Health().Connected })
	text := s.Text
	if s.Mention {
		text = "@" + slacktest.BotName + " " + text
	}
	s.ID = c.f.w.Say(s.By.ID, c.f.c, s.Thread.ID, text)
	if s.Reply = s.Thread.ID != ""; !s.Reply {
		s.Thread = c.f.thread(s.ID)
	}
	return s
}

func (c conformance) Click(by bots.Person, t bots.Thread, id bots.MessageID, label, reason string) error {
	if err := c.f.w.Click(by.ID, t.Channel, string(id), label); err != nil || reason == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(c.f.t.Context(), 10*time.Second)
	defer cancel()
	err := c.f.w.Wait(ctx, func() bool { _, ok := c.f.w.View(by.ID); return ok })
	if err != nil {
		return err
	}
	return c.f.w.Submit(by.ID, reason)
}

func (c conformance) Shown(t bots.Thread, person string) []botstest.Shown {
	var all []botstest.Shown
	for _, m := range c.f.w.Thread(t.Channel, t.ID) {
		if m.User == slacktest.BotUser && (m.For == "" || m.For == person) {
			all = append(all, botstest.Shown{ID: bots.MessageID(m.TS), Text: m.Text, Buttons: m.Labels(), Private: m.For != ""})
		}
	}
	return all
}
