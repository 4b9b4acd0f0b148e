package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// This file is what scripts say of things that only Discord has.

// discordVerbs let things happen on Discord that are nobody's words.
func discordVerbs() map[string]verb {
	return map[string]verb{
		// "discord hides words", before heddle starts: it does without the intent Message Content.
		"hides": func(w *world, _ bool, _ []string) error {
			w.ids["DISCORD_MODE"] = "message_content = false"
			return nil
		},
		// "discord has role NAME", of which config.toml knows the id by its name in capitals.
		"has": func(w *world, _ bool, args []string) error {
			name := args[len(args)-1]
			w.ids[strings.ToUpper(name)] = w.discord.AddRole(discordtest.GuildID, name, 0)
			return nil
		},
		// "discord gives PERSON ROLE...": these and no others.
		"gives": func(w *world, _ bool, args []string) error {
			var roles []string
			for _, name := range args[1:] {
				roles = append(roles, w.ids[strings.ToUpper(name)])
			}
			w.discord.SetRoles(discordtest.GuildID, w.ids[strings.ToUpper(args[0])], roles...)
			return nil
		},
		// "discord locks the thread", "unlocks", "archives", "deletes" it: somebody does who may.
		"locks":    onThread(func(w *world, id string) { w.discord.Places.Lock(id, true) }),
		"unlocks":  onThread(func(w *world, id string) { w.discord.Places.Lock(id, false) }),
		"archives": onThread(func(w *world, id string) { w.discord.Places.Archive(id, true) }),
		"deletes":  onThread(func(w *world, id string) { w.discord.Places.DeleteChannel(id) }),
	}
}

// onThread is a verb that does something to the current thread, which the bot has opened.
func onThread(do func(w *world, id string)) verb {
	return func(w *world, _ bool, _ []string) error {
		err := w.wait(func() bool { return w.discord.Places.Exists(w.root()) })
		if err == nil {
			do(w, w.root())
		}
		return err
	}
}

// A deed is what a person does that only Discord lets them do.
type deed func(p person, neg bool, args []string) error

// deeds go by the words that begin them.
func deeds() map[string]deed {
	return map[string]deed{
		"asks":       asks,
		"asks about": asksAbout,
		"runs":       runs,
		"is offered": isOffered,
		"posts":      posts,
		"writes": func(p person, _ bool, args []string) error { // directly to the bot
			p.threads[p.current] = p.discord.Direct(p.id)
			p.discord.Say(p.id, p.root(), args[0])
			return nil
		},
	}
}

// deedOf returns what the words of a line mean on Discord, and the rest of them; nil is nothing.
func deedOf(args []string) (deed, []string) {
	all := deeds()
	for n := min(2, len(args)-1); n > 0; n-- {
		if do := all[strings.Join(args[:n], " ")]; do != nil {
			return do, args[n:]
		}
	}
	return nil, nil
}

// commanded returns when Discord knows heddle's commands: before, it offers people none.
func commanded(w *world) error {
	return w.eventually(func() bool {
		set := w.discord.API.Calls("PUT /applications/{app}/commands")
		return slices.ContainsFunc(set, func(c discordtest.Call) bool { return c.Status == http.StatusOK })
	})
}

// here is the channel or the thread in which the story goes on.
func here(w *world) string {
	if w.root() != "" && w.discord.Places.Exists(w.root()) {
		return w.root()
	}
	return w.channel
}

// asks is "NAME asks TEXT": by the command /ask. In a channel the message that it leaves begins a thread.
func asks(p person, _ bool, args []string) error {
	in := here(p.world)
	if err := commanded(p.world); err != nil {
		return err
	}
	if err := p.discord.Interactions.Command(p.id, in, "/ask", discordtest.Option{Name: "request", Value: args[0]}); err != nil {
		return err
	}
	if in != p.channel {
		return nil
	}
	for _, m := range p.discord.Messages(in) {
		if m.Author == discordtest.BotUser && m.For == "" && strings.Contains(m.Content, args[0]) {
			p.threads[p.current] = m.ID
		}
	}
	if p.root() == "" {
		return errors.New("nothing is left in the channel")
	}
	return nil
}

// asksAbout is "NAME asks about TEXT": by the menu of the newest message that contains it.
func asksAbout(p person, _ bool, args []string) error {
	var in, id string
	for _, c := range []string{p.channel, here(p.world)} {
		for _, m := range p.discord.Messages(c) {
			if strings.Contains(m.Content, args[0]) {
				in, id = c, m.ID
			}
		}
	}
	if id == "" {
		return fmt.Errorf("nobody has said %q here", args[0])
	}
	if err := commanded(p.world); err != nil {
		return err
	}
	return p.discord.Interactions.Menu(p.id, in, id, "Ask Heddle about this")
}

// runs is "NAME runs LINE [OPTION=VALUE]...": a slash command, in the thread if there is one.
func runs(p person, _ bool, args []string) error {
	if err := commanded(p.world); err != nil {
		return err
	}
	return p.discord.Interactions.Command(p.id, here(p.world), args[0], optionsOf(args[1:])...)
}

// isOffered is "NAME is offered LINE OPTION=TYPED TEXT": what Discord shows while the last option is typed.
func isOffered(p person, _ bool, args []string) error {
	last := len(args) - 1
	if last < 1 {
		return errors.New("usage: is offered LINE OPTION=TYPED TEXT")
	}
	if err := commanded(p.world); err != nil {
		return err
	}
	choices, err := p.discord.Interactions.Complete(p.id, here(p.world), args[0], optionsOf(args[1:last])...)
	var all []string
	for _, c := range choices {
		all = append(all, c.Name)
	}
	if got := strings.Join(all, " "); err == nil && got != args[last] {
		return fmt.Errorf("what is offered is %q", got)
	}
	return err
}

func optionsOf(args []string) (all []discordtest.Option) {
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		all = append(all, discordtest.Option{Name: name, Value: value})
	}
	return all
}

// posts is "NAME posts TITLE TEXT": into a forum, which begins a thread.
func posts(p person, _ bool, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: posts TITLE TEXT")
	}
	if p.ids["FORUM"] == "" {
		p.ids["FORUM"] = p.discord.AddChannel(discordtest.GuildID, "forum")
	}
	p.threads[p.current] = p.discord.Places.Post(p.id, p.ids["FORUM"], args[0], args[1])
	return nil
}

// asides are what a person alone is shown in the channel, outside of threads.
func asides(w *world, user string) (all []string) {
	if w.discord != nil {
		for _, m := range w.discord.Messages(w.channel) {
			if m.For == user && !m.Thinking {
				all = append(all, m.Content)
			}
		}
		return all
	}
	for _, m := range w.slack.Channel(w.channel) {
		if m.Thread == "" && m.For == user {
			all = append(all, m.Text)
		}
	}
	return all
}

// hasAside reports whether one of them contains a text.
func (p person) hasAside(text string) bool {
	return slices.ContainsFunc(asides(p.world, p.id), func(s string) bool { return strings.Contains(s, text) })
}
