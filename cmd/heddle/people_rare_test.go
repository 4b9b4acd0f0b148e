package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// This file is what people do in scripts more rarely than writing and pressing.

// message returns the newest message of the current thread whose words contain text, by that person;
// empty is anybody.
func message(w *world, by, text string) (id string, err error) {
	for _, m := range w.stage.lines(w.root()) {
		if (by == "" && m.by != "" || by != "" && m.by == by) && strings.Contains(m.words, text) {
			id = m.id
		}
	}
	if id == "" {
		return "", fmt.Errorf("nobody has said %q here", text)
	}
	return id, nil
}

// edit changes the words of p's newest message that contains old.
func (p person) edit(old, text string) error {
	id, err := message(p.world, p.id, old)
	if err == nil {
		p.stage.edit(p.root(), id, text)
	}
	return err
}

// delete takes p's newest message away that contains text.
func (p person) delete(text string) error {
	id, err := message(p.world, p.id, text)
	if err == nil {
		p.stage.erase(p.root(), id)
	}
	return err
}

// attach is say with files of the script. What is no text stands there in base 64, as NAME.base64.
func (p person) attach(names []string, text string) error {
	var all []upload
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(p.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			if data, err = os.ReadFile(filepath.Join(p.dir, name+".base64")); err == nil {
				data, err = base64.StdEncoding.DecodeString(strings.TrimSpace(string(data)))
			}
		}
		if err != nil {
			return err
		}
		all = append(all, upload{name, string(data)})
	}
	p.threads[p.current] = p.stage.say(p.id, p.root(), text, all)
	return nil
}

// command types the slash command in the channel, outside of threads.
func (p person) command(text string) error {
	if p.discord != nil {
		if err := commanded(p.world); err != nil {
			return err
		}
		return p.discord.Interactions.Command(p.id, p.channel, "/heddle "+text)
	}
	return p.slack.People.Command(p.id, p.channel, text)
}

// answered waits until p is told a text privately in the channel, outside of threads: that is where
// slash commands are answered. If neg it looks once.
func (p person) answered(neg bool, text string) error {
	has := func() bool { return p.hasAside(text) }
	if !neg {
		return p.wait(has)
	}
	if has() {
		return errors.New("is answered so")
	}
	return nil
}

// isAsked is "slack is asked for METHOD", after "slack holds METHOD": it waits for the call.
func isAsked(w *world, _ bool, args []string) error {
	method := args[len(args)-1]
	return w.eventually(func() bool { return len(w.slack.API.Calls(method)) > w.held.before })
}

// sends is "bot sends NAME TEXT": it waits for a file of that name, which must be the only one in the
// thread and contain the text.
func sends(w *world, neg bool, args []string) error {
	if len(args) != 2 {
		return errors.New("usage: bot sends NAME TEXT")
	}
	there := func() (all []upload) {
		for _, m := range w.found(func(m line) bool { return m.only == "" }) {
			for _, f := range m.files {
				if ok, err := filepath.Match(args[0], f.name); ok && err == nil {
					all = append(all, f)
				}
			}
		}
		return all
	}
	if neg {
		if len(there()) > 0 {
			return errors.New("it does")
		}
		return nil
	}
	if err := w.wait(func() bool { return len(there()) > 0 }); err != nil {
		return err
	}
	switch all := there(); {
	case len(all) != 1:
		return fmt.Errorf("it does so %d times", len(all))
	case !strings.Contains(all[0].content, args[1]):
		return fmt.Errorf("what it sends is %.2000q", all[0].content)
	}
	return nil
}
