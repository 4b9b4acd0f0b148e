// Package botstest checks that a bots.Platform keeps its promises, and has one in memory for the
// tests of package bots.
//
// Run is the suite; every Platform passes it through a Fixture, which plays the people on the
// network. Chat is the simplest network that passes, with faults to inject. Chat knows nothing of
// Bot, and the suite nothing of any network.
package botstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/heddle-bot/heddle/bots"
)

// A Chat is a network in memory, and a Platform on it. The zero Chat is ready; it outlives any Bot
// that listens to it. All methods may be called concurrently.
type Chat struct {
	// Fault, if not nil, is asked before each post and edit, and may make it fail. It is set before
	// the Chat is used and may be called concurrently.
	Fault func(Op) Fault

	Archive Archive
	Homes   Homes

	mu       sync.Mutex
	last     int // number of the latest message, click or event
	messages []*message
	ops      []Op
	busy     map[bots.Thread]time.Time // until when people see that the bot is at work
	queue    queue                     // has a lock of its own
}

// An Op is a post or an edit.
type Op struct {
	Edit    bool
	Thread  bots.Thread
	Message bots.Message
	Time    time.Time
}

// A Fault is what becomes of an Op. The zero Fault is none.
type Fault struct {
	Err  error // is returned
	Done bool  // the network does it all the same: only the answer is lost
}

// A message is one in the chat.
type message struct {
	id     bots.MessageID
	thread bots.Thread
	m      bots.Message
}

// Limits of a Chat, small so that tests reach them.
const (
	maxText   = 1000 // bytes
	maxCode   = 2000 // bytes
	maxLabel  = 40   // characters
	maxHome   = 12   // pieces
	editEvery = 2 * time.Second
	again     = time.Second // between two deliveries of an event that was not taken
)

// Name is the network's name: the first part of its session ids.
const Name = "chat"

// Info describes the network. Its own form of text is the Markdown that it gets.
func (c *Chat) Info() bots.Info {
	return bots.Info{
		Name:      Name,
		EditEvery: editEvery,
		Render:    render,
		MaxText:   maxText,
		MaxCode:   maxCode,
		MaxLabel:  maxLabel,
		Mention:   func(id string) string { return "@" + id },
		Abilities: bots.Abilities{
			Working:    c.working,
			WorkingFor: time.Minute,
			Fetch:      c.Archive.fetch,
			Earlier:    c.Archive.earlier,
			Home:       c.Homes.show,
			MaxHome:    maxHome,
			Link:       link,
			Direct:     func(channel string) bool { return strings.HasPrefix(channel, "with-") },
		},
	}
}

// render cuts text into pieces of at most maxText bytes, between lines if it can.
func render(text string) []string {
	var pieces []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := min(len(text), maxText)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		if i := strings.LastIndexByte(text[:n], '\n'); n < len(text) && i > 0 {
			n = i
		}
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// Listen delivers what people say and click, in order. An event that accept does not take is
// delivered again until it does.
func (c *Chat) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	for {
		e, more := c.queue.first()
		switch {
		case e == nil:
			select {
			case <-ctx.Done():
				return nil
			case <-more:
			}
		case accept(ctx, e) == nil:
			c.queue.taken()
		default:
			timer := time.NewTimer(again)
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil
			case <-timer.C:
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// Post puts a new message into the thread.
func (c *Chat) Post(_ context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	f := c.op(Op{Thread: t, Message: m})
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Err != nil && !f.Done {
		return "", f.Err
	}
	if len(m.Text) > maxText {
		return "", &bots.Error{Permanent: true, Err: fmt.Errorf("a text of %d bytes is too long", len(m.Text))}
	}
	if m.Unsure {
		for _, old := range c.messages {
			if old.thread == t && old.m.Key == m.Key {
				return old.id, f.Err
			}
		}
	}
	delete(c.busy, t)
	c.last++
	id := bots.MessageID(fmt.Sprint(c.last))
	c.messages = append(c.messages, &message{id, t, m})
	if f.Err != nil {
		return "", f.Err
	}
	return id, nil
}

// Edit replaces a message.
func (c *Chat) Edit(_ context.Context, t bots.Thread, id bots.MessageID, m bots.Message) error {
	f := c.op(Op{Edit: true, Thread: t, Message: m})
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.Err != nil && !f.Done {
		return f.Err
	}
	i := find(c.messages, t, id)
	if i < 0 {
		return &bots.Error{Permanent: true, Err: bots.ErrUnknownMessage}
	}
	if len(m.Text) > maxText {
		return &bots.Error{Permanent: true, Err: fmt.Errorf("a text of %d bytes is too long", len(m.Text))}
	}
	c.messages[i].m = m
	return f.Err
}

// working notes that the bot is at work. A post takes that back.
func (c *Chat) working(_ context.Context, t bots.Thread, working bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy == nil {
		c.busy = map[bots.Thread]time.Time{}
	}
	c.busy[t] = time.Time{}
	if working {
		c.busy[t] = time.Now().Add(time.Minute)
	}
}

// Working reports whether people see that the bot is at work in the thread.
func (c *Chat) Working(t bots.Thread) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.busy[t])
}

func (c *Chat) op(o Op) Fault {
	o.Time = time.Now()
	c.mu.Lock()
	c.ops = append(c.ops, o)
	c.mu.Unlock()
	if c.Fault == nil {
		return Fault{}
	}
	return c.Fault(o)
}

// find returns the index of a message, or -1.
func find(messages []*message, t bots.Thread, id bots.MessageID) int {
	return slices.IndexFunc(messages, func(m *message) bool { return m.thread == t && m.id == id })
}

// Ops returns all posts and edits so far, with those that failed.
func (c *Chat) Ops() []Op {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ops)
}

// Delete removes a message, as a person may.
func (c *Chat) Delete(t bots.Thread, id bots.MessageID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := find(c.messages, t, id); i >= 0 {
		c.messages = slices.Delete(c.messages, i, i+1)
	}
}

// Pending returns how many events no accept has taken yet.
func (c *Chat) Pending() int {
	c.queue.mu.Lock()
	defer c.queue.mu.Unlock()
	return len(c.queue.events)
}

// Repeat delivers an event once more, as networks do.
func (c *Chat) Repeat(e bots.Event) { c.queue.put(e) }
