package bots_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
)

// revisions is the part of a scribe that notes what people do to messages and sessions.
type revisions struct {
	mu      sync.Mutex
	revised []string
	answers map[string]error // by the first word of what is noted
}

func (r *revisions) note(words ...string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.revised = append(r.revised, strings.Join(words, " "))
	return r.answers[words[0]]
}

// noted returns what was done since it was last asked.
func (r *revisions) noted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.revised
	r.revised = nil
	return all
}

// refuses has what begins with that word fail.
func (r *revisions) refuses(word string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[string]error{}
	}
	r.answers[word] = err
}

func (r *revisions) Amend(_ context.Context, _, id, of string, said agent.UserSaid) error {
	return r.note("amend", id, of, said.By.ID, said.Text)
}

func (r *revisions) Withdraw(_ context.Context, _, of string) error { return r.note("withdraw", of) }

func (r *revisions) Compact(_ context.Context, _, _ string, by agent.User) error {
	return r.note("compact", by.ID)
}

func (r *revisions) Choose(_ context.Context, _, _ string, c agent.ModelChosen) error {
	return r.note("choose", c.By.ID, c.Model)
}

func (r *revisions) Forget(_ context.Context, _, _ string, f agent.Forgotten) error {
	return r.note("forget", f.By.ID)
}

// rewritten delivers that a message says something else now.
func rewritten(c *botstest.Chat, now bots.Said) bots.Edited {
	e := bots.Edited{ID: "edit of " + now.ID + ": " + now.Text, Said: now}
	c.Repeat(e)
	return e
}

// eve is of another organisation.
var eve = bots.Person{ID: "UEVE", Name: "Eve", Outside: true}

// An edit of what we know is passed on, whoever it mentions; one of what we do not know only if it
// mentions us now, and then it is a message like any other.
func TestEditedGate(t *testing.T) {
	const known, unknown = true, false
	tests := []struct {
		name    string
		channel bots.Channel
		known   bool
		now     bots.Said
		amended bool
		heard   bool
	}{
		{"of what was said to us", bots.Channel{}, known, bots.Said{By: ann}, true, false},
		{"with a mention", bots.Channel{}, known, bots.Said{By: ann, Mention: true}, true, false},
		{"mention only", bots.Channel{Mention: bots.Mentioned}, known, bots.Said{By: ann}, true, false},
		{"of words between people", bots.Channel{}, unknown, bots.Said{By: ann}, false, false},
		{"of words between people, always", bots.Channel{Mention: bots.Always}, unknown, bots.Said{By: ann, Reply: true}, false, false},
		{"that mentions us at last", bots.Channel{}, unknown, bots.Said{By: ann, Mention: true}, false, true},
		{"that mentions us at last, a stranger", bots.Channel{Allow: []string{"UBOB"}}, unknown, bots.Said{By: ann, Mention: true}, false, false},
		{"by a stranger", bots.Channel{Allow: []string{"UBOB"}}, known, bots.Said{By: ann}, false, false},
		{"from outside", bots.Channel{}, known, bots.Said{By: eve}, false, false},
		{"from outside, with a mention", bots.Channel{}, unknown, bots.Said{By: eve, Mention: true}, false, false},
		{"from outside, allowed", bots.Channel{Outside: true}, known, bots.Said{By: eve}, true, false},
		{"by a bot", bots.Channel{}, known, bots.Said{By: bots.Person{ID: "B", Bot: true}, Mention: true}, false, false},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			gated(t, c.channel, func(b *board) {
				if !c.known {
					b.refuses("amend", agent.ErrUnknown)
				}
				c.now.ID, c.now.Thread, c.now.Text = "5", at, "do that"
				e := rewritten(b.chat, c.now)
				b.chat.Repeat(e)
				synctest.Wait()
				require.Zero(t, b.chat.Pending())
				if noted := b.noted(); c.amended {
					require.Contains(t, noted, "amend "+e.ID+" 5 "+c.now.By.ID+" do that")
				} else if c.known {
					require.Empty(t, noted)
				}
				require.Len(t, b.heard(at.String()), map[bool]int{true: 1}[c.heard], "once, however often it is delivered")
			})
		})
	}
}

// What cannot be made durable comes again; a deletion of what we do not know is nothing.
func TestRevisionsAreDurable(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		full := errors.New("the disk is full")
		b.refuses("amend", full)
		b.refuses("withdraw", full)
		said := bots.Said{ID: "5", Thread: at, By: ann, Text: "do it"}
		rewritten(b.chat, said)
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, b.chat.Pending())
		b.refuses("amend", nil)
		b.chat.Repeat(bots.Deleted{ID: said.ID, Thread: said.Thread})
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, b.chat.Pending())
		b.refuses("withdraw", agent.ErrUnknown)
		time.Sleep(10 * time.Second)
		require.Zero(t, b.chat.Pending())
		require.Empty(t, texts(b.chat, at, ann.ID))
	})
}

// People of other organisations are refused on messages and on clicks unless the channel lets them in.
func TestOutsiders(t *testing.T) {
	const words = "I take nothing from people of other organisations here. Whoever runs me can allow it."
	for _, allowed := range []bool{false, true} {
		gated(t, bots.Channel{Outside: allowed}, func(b *board) {
			b.chat.Say(bots.Said{By: ann, Text: "the root of the thread of the card"})
			one := b.chat.Say(bots.Said{By: eve, Text: "do it", Mention: true})
			two := b.chat.Say(bots.Said{By: eve, Text: "do it!", Mention: true})
			rewritten(b.chat, bots.Said{ID: "x", Thread: two.Thread, By: eve, Text: "do it!!", Mention: true})
			b.says(1)
			b.asks("1.1.1", "d")
			time.Sleep(time.Second)
			if allowed {
				require.Len(t, b.heard(one.Thread.String()), 1)
			} else {
				require.Empty(t, b.heard(one.Thread.String()))
				require.Equal(t, []string{words}, texts(b.chat, one.Thread, eve.ID))
				require.Empty(t, texts(b.chat, one.Thread, ann.ID), "told privately")
				require.Empty(t, texts(b.chat, two.Thread, eve.ID), "told once")
			}
			require.NoError(t, b.chat.Click(eve, at, b.chat.Shown(at, eve.ID)[1].ID, "Approve", ""))
			typed(b.chat, eve, at, "help")
			time.Sleep(time.Second)
			synctest.Wait()
			if allowed {
				require.Len(t, b.decided, 1)
				return
			}
			require.Empty(t, b.decided)
			require.Equal(t, []string{words, words}, texts(b.chat, at, eve.ID)[2:], "a click and a command are answered each time")
		})
	}
}

// rewrite makes Ann change a message and lets things happen.
func (o *office) rewrite(s bots.Said, text string) {
	s.Text = text
	rewritten(o.chat, s)
	time.Sleep(10 * time.Second)
}

// A message is changed while it waits in line, and the model never learns what it was.
func TestEditWhatWaits(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		said := o.chat.Say(bots.Said{By: ann, Text: "then paint it red", Thread: thread})
		time.Sleep(10 * time.Second)
		o.rewrite(said, "then paint it blue")
		o.rewrite(said, "then paint it blue")
		o.click(bob, thread, 1, "Approve", "")
		shown := o.done(thread)
		require.Equal(t, "Painted.", shown[len(shown)-1])
		asked := o.model.Requests()[1].Messages
		require.Equal(t, "Ann: then paint it blue", asked[len(asked)-1].Text)
	}, llmtest.Call("shell", `{}`), llmtest.Say("Painted."))
}

// An edit of what is answered starts nothing: it is told with the next request.
func TestEditWhatIsAnswered(t *testing.T) {
	converse(t, func(o *office) {
		said := o.chat.Say(bots.Said{By: ann, Text: "which colour?", Mention: true})
		time.Sleep(10 * time.Second)
		before := o.done(said.Thread)
		for range 4 { // links that get a preview are told as changes by some networks
			o.rewrite(said, said.Text)
		}
		require.Equal(t, before, o.done(said.Thread))
		o.rewrite(said, "which colours?")
		require.Equal(t, before, o.done(said.Thread))
		require.Len(t, o.model.Requests(), 1)
		o.say(said.Thread, "well?")
		asked := o.model.Requests()[1].Messages
		require.Len(t, asked, 4, "the same words once more are nothing")
		require.Contains(t, asked[2].Text, "What they want now is all of this:\nAnn: which colours?")
	}, llmtest.Say("Red."), llmtest.Say("Red and blue."))
}

// Deleting the message that asked withdraws its approval: the card says so, has no buttons, and a late
// click on it is answered.
func TestDeleteTheAsker(t *testing.T) {
	converse(t, func(o *office) {
		said := o.chat.Say(bots.Said{By: ann, Text: "build it", Mention: true})
		time.Sleep(10 * time.Second)
		thread := said.Thread
		card := o.chat.Shown(thread, bob.ID)[1]
		require.Contains(t, card.Buttons, "Approve")
		o.chat.Repeat(bots.Deleted{ID: said.ID, Thread: said.Thread})
		o.chat.Repeat(bots.Deleted{ID: said.ID, Thread: said.Thread})
		o.chat.Repeat(bots.Clicked{ID: "late", Thread: thread, Message: card.ID, By: bob, Action: bots.Approve, Value: "1.1.1 d0"})
		time.Sleep(10 * time.Second)
		shown := o.done(thread)
		require.Zero(t, o.acted.Load())
		require.Contains(t, shown[0], "Withdrawn after")
		require.Contains(t, shown[1], "It did not run: the message that asked for it was deleted.")
		require.Empty(t, o.chat.Shown(thread, bob.ID)[1].Buttons)
		require.Equal(t, "Withdrawn: the message that asked for this was deleted.", shown[2])
		require.Contains(t, texts(o.chat, thread, bob.ID), "This is not waiting for an answer any more.")
	}, llmtest.Call("shell", `{}`))
}

// Of messages that were said into a turn the one that waits is removed and the turn goes on.
func TestDeleteOthers(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		said := o.chat.Say(bots.Said{By: ann, Text: "and wash it", Thread: thread})
		time.Sleep(10 * time.Second)
		require.Equal(t, "I take this in at the next step.", texts(o.chat, thread, "")[2])
		o.chat.Repeat(bots.Deleted{ID: said.ID, Thread: said.Thread})
		time.Sleep(10 * time.Second)
		require.Equal(t, "Withdrawn: the message was deleted.", texts(o.chat, thread, "")[2])
		o.click(bob, thread, 1, "Approve", "")
		shown := o.done(thread)
		require.Equal(t, "Built.", shown[len(shown)-1])
		for _, m := range o.model.Requests()[1].Messages {
			require.NotContains(t, m.Text, "wash it")
		}
	}, llmtest.Call("shell", `{}`), llmtest.Say("Built."))
}
