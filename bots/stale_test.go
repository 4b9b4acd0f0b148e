package bots_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
)

// A staleCard is a way for the wait of a card to end.
type staleCard struct {
	name string
	call string
	end  func(o *office, in bots.Thread)
	says string
	told string // to Bob, who clicks late
}

func staleCards() []staleCard {
	return []staleCard{
		{"expired", "shell", func(*office, bots.Thread) { time.Sleep(time.Hour) },
			"Nobody answered in time, so it did not run.", "This is not waiting for an answer any more."},
		{"denied", "shell", func(o *office, in bots.Thread) { o.click(bob, in, 1, "Deny", "") },
			"Denied by @UBOB.", "You have denied this already."},
		{"denied in words", "shell", func(o *office, in bots.Thread) { o.writes(bob, in, "deny 1") },
			"Denied by @UBOB.", "You have denied this already."},
		{"approved", "shell", func(o *office, in bots.Thread) { o.click(bob, in, 1, "Approve", "") },
			"Approved by @UBOB. It ran (`exit status 0`).", "You have approved this already."},
		{"stopped by a button", "shell", func(o *office, in bots.Thread) { o.click(ann, in, 0, "Stop", "") },
			"Nobody has answered; it did not run.", "This is not waiting for an answer any more."},
		{"stopped in words", "shell", func(o *office, in bots.Thread) { o.writes(ann, in, "stop") },
			"Nobody has answered; it did not run.", "This is not waiting for an answer any more."},
		{"changed", "shell", func(o *office, in bots.Thread) { o.digest.Add(1); o.click(bob, in, 1, "Approve", "") },
			"Approved by @UBOB. It did not run, because what it would do has changed. It is asked again below.",
			"You have approved this already."},
		{"a question that is answered", "ask", func(o *office, in bots.Thread) { o.writes(ann, in, "v3") },
			"@UANN answered: “v3”.", "@UANN has answered this already: “v3”"},
		{"a question that expired", "ask", func(*office, bots.Thread) { time.Sleep(time.Hour) },
			"Nobody answered in time.", "This is not waiting for an answer any more."},
		{"a question that is stopped", "ask", func(o *office, in bots.Thread) { o.writes(ann, in, "stop") },
			"Nobody has answered, and no answer is needed any more.", "This is not waiting for an answer any more."},
	}
}

// Whatever ends the wait of a card, the card loses its buttons and says what became of it, a click
// that comes late changes nothing and is answered, and all of that holds when no edit reached the
// network before the program was started again.
func TestStaleCards(t *testing.T) {
	for _, c := range staleCards() {
		for _, how := range []string{"at once", "after a restart"} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				goesStale(t, c, how != "at once")
			})
		}
	}
}

func goesStale(t *testing.T, c staleCard, unseen bool) {
	converse(t, func(o *office) {
		var down atomic.Bool
		o.chat.Fault = func(op botstest.Op) botstest.Fault {
			if op.Edit && down.Load() {
				return botstest.Fault{Err: errors.New("no route")}
			}
			return botstest.Fault{}
		}
		thread := o.say(bots.Thread{}, "do it")
		card := o.chat.Shown(thread, bob.ID)[1]
		require.NotEmpty(t, card.Buttons)
		down.Store(unseen)
		c.end(o, thread)
		time.Sleep(10 * time.Second)
		if down.Load() {
			require.Equal(t, card, o.chat.Shown(thread, bob.ID)[1], "it still looks as if it waited")
			o.stop()
			down.Store(false)
			o.start()
		}
		time.Sleep(time.Minute)
		stale := o.chat.Shown(thread, bob.ID)[1]
		require.Equal(t, card.ID, stale.ID)
		require.Empty(t, stale.Buttons)
		require.Contains(t, stale.Text, c.says)
		require.NotContains(t, stale.Text, "may answer until")

		late := bots.Clicked{ID: "late", Thread: thread, Message: card.ID, By: bob, Action: bots.Deny, Value: "1.1.1 d0"}
		if c.call == "ask" {
			late.Action, late.Value = bots.Choose, "1.1.1 1"
		}
		acted := o.acted.Load()
		o.chat.Repeat(late)
		time.Sleep(time.Minute)
		require.Equal(t, acted, o.acted.Load())
		require.Equal(t, stale, o.chat.Shown(thread, bob.ID)[1])
		require.Contains(t, texts(o.chat, thread, bob.ID), c.told)
	}, llmtest.Call(c.call, `{}`), llmtest.Say("Well."))
}

// writes makes somebody write into the thread and lets things happen.
func (o *office) writes(by bots.Person, in bots.Thread, text string) {
	o.chat.Say(bots.Said{By: by, Text: text, Thread: in})
	time.Sleep(10 * time.Second)
}
