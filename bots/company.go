package bots

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// This file is about other bots, which are heard only where the configuration lets them in. They may
// ask for something, and that is all: commands, answers and approvals are for people.

// maxBotWords is how many messages of other bots in a row are heard in a thread. Two bots that answer each
// other would go on for ever: after these a person has to say something.
const maxBotWords = 5

// machine takes in what another bot says.
func machine(ctx context.Context, b *Bot, m Said) error {
	c := b.cfg.Channel(m.Thread)
	if !slices.Contains(c.Bots, m.By.ID) || m.By.Outside && !c.Outside || strings.TrimSpace(m.Text) == "" && len(m.Files) == 0 {
		return nil
	}
	ours, err := b.ours(ctx, m, c, false)
	if err != nil || !ours {
		return err
	}
	switch n := b.company.heard(m); {
	case n > maxBotWords+1:
		return nil
	case n > maxBotWords:
		b.teller.say(m.Thread, Message{Key: "bots/" + m.ID, Class: Notice, Text: b.cfg.look().md(enoughBots)})
		return nil
	}
	return take(ctx, b, m, c.Busy)
}

// A company counts the words of other bots in each thread since a person spoke there. What is lost with
// the program is not worth keeping.
type company struct {
	mu   sync.Mutex
	rows map[string]row
}

type row struct {
	n    int
	last string // id of a message: it may come again
}

// maxRows is how many threads are counted before all are forgotten.
const maxRows = 10_000

// heard notes a message and returns how many other bots have said in its thread, this one included.
func (c *company) heard(m Said) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := m.Thread.String()
	r := c.rows[at]
	if r.last == m.ID {
		return r.n
	}
	if c.rows == nil || len(c.rows) >= maxRows {
		c.rows = map[string]row{}
	}
	c.rows[at] = row{r.n + 1, m.ID}
	return r.n + 1
}

// person notes that a person speaks in a thread.
func (c *company) person(at Thread) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.rows, at.String())
}
