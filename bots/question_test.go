package bots_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
)

const question = "**Question:** Which branch?\n1. `main` – released on Friday\n2. `v2`\n"

// heard returns the latest message of the n-th request to the model, from 1.
func (o *office) heard(n int) string {
	o.t.Helper()
	all := o.model.Requests()
	require.GreaterOrEqual(o.t, len(all), n)
	r := all[n-1]
	return r.Messages[len(r.Messages)-1].Text
}

// buttons returns the labels on the n-th message of the thread.
func (o *office) buttons(in bots.Thread, n int) []string { return o.chat.Shown(in, ann.ID)[n].Buttons }

// A question survives a restart, may be answered by everybody, and the first answer counts.
func TestQuestion(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "fix it")
		shown := o.done(thread)
		require.Equal(t, "Waiting for an answer.", shown[0])
		require.True(t, strings.HasPrefix(shown[1], question), shown[1])
		require.Equal(t, []string{"main", "v2", "Other…"}, o.buttons(thread, 1))

		o.restart(30 * time.Minute)
		require.Equal(t, shown, o.done(thread), "nothing is posted or changed by a restart")
		card := o.chat.Shown(thread, ann.ID)[1].ID
		o.click(ann, thread, 1, "v2", "")
		o.chat.Repeat(bots.Clicked{ID: "late", Thread: thread, Message: card, By: bob, Action: bots.Choose, Value: "1.1.1 1"})
		o.chat.Repeat(bots.Clicked{ID: "wrong", Thread: thread, Message: card, By: bob, Action: bots.Choose, Value: "1.1.1 x"})
		time.Sleep(time.Second)
		require.Equal(t, "ask: ok\nThe option that a person chose:\nAnn: v2", o.heard(2))
		shown = o.done(thread)
		require.Equal(t, "Done in less than a second: asked 1 question.\n- ✓ `ask which` (`Ann: v2`)", shown[0], "the wait is not work")
		require.Equal(t, question+"@UANN chose `v2`.", shown[1])
		require.Empty(t, o.buttons(thread, 1))
		require.Equal(t, "Fixed.", shown[2])
		require.Contains(t, texts(o.chat, thread, bob.ID), "@UANN has answered this already: “v2”")
		require.Contains(t, texts(o.chat, thread, bob.ID), "This is not waiting for an answer any more.")
	}, llmtest.Call("ask", `{}`), llmtest.Say("Fixed."))
}

func TestOtherAnswer(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "fix it")
		o.click(bob, thread, 1, "Other…", " ")
		require.Contains(t, texts(o.chat, thread, bob.ID)[2], "This is not one of the answers")
		o.click(bob, thread, 1, "Other…", "the old one")
		require.Equal(t, "ask: ok\nThe answer of a person:\nBob: the old one", o.heard(2))
		require.Equal(t, question+"@UBOB answered: “the old one”.", o.done(thread)[1])
	}, llmtest.Call("ask", `{}`), llmtest.Say("Fixed."))
}

// The next message in the thread is the answer, and only that one: what another says after it is said
// to the model.
func TestReplyIsTheAnswer(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "fix it")
		early := bots.Said{ID: "early", Thread: thread, By: bob, Text: "and hurry", Reply: true, Time: time.Now().Add(-time.Minute)}
		o.chat.Repeat(early)
		time.Sleep(time.Second)
		require.Len(t, o.model.Requests(), 1, "what was written before the question is no answer to it")
		first := o.chat.Say(bots.Said{By: ann, Text: "2", Thread: thread})
		second := o.chat.Say(bots.Said{By: bob, Text: "no, main", Thread: thread})
		o.chat.Repeat(first)
		o.chat.Repeat(second)
		shown := o.done(thread)
		require.Equal(t, question+"@UANN chose `v2`.", shown[1])
		var said []string
		for _, m := range o.model.Requests()[len(o.model.Requests())-1].Messages {
			said = append(said, m.Text)
		}
		all := strings.Join(said, "\n")
		require.Contains(t, all, "The option that a person chose:\nAnn: v2")
		require.NotContains(t, all, "Ann: 2", "never both an answer and a message")
		require.Equal(t, 1, strings.Count(all, "Bob: no, main"))
		require.Equal(t, 1, strings.Count(all, "Bob: and hurry"))
	}, llmtest.Call("ask", `{}`), llmtest.Reply{Text: "Fixed.", Repeat: true})
}

// Where words are not welcome they are said to the model; an option in words is an answer.
func TestStrictQuestion(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "fix it")
		require.Equal(t, []string{"main", "v2"}, o.buttons(thread, 1))
		o.say(thread, "what is the difference?")
		o.say(thread, "answer 1 neither")
		require.Contains(t, texts(o.chat, thread, ann.ID)[3], "This is not one of the answers")
		require.Len(t, o.model.Requests(), 1)
		o.say(thread, "answer 1 main")
		require.Equal(t, question+"@UANN chose `main`.", o.done(thread)[1])
		require.Contains(t, o.heard(2), "what is the difference?")
	}, llmtest.Call("ask", `{"strict":true}`), llmtest.Say("Fixed."))
}

func TestNobodyAnswers(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "fix it")
		card := o.chat.Shown(thread, ann.ID)[1].ID
		time.Sleep(time.Hour)
		require.Contains(t, o.heard(2), "Nobody answered the question in time.")
		require.Equal(t, question+"Nobody answered in time.", o.done(thread)[1])
		require.Empty(t, o.buttons(thread, 1))
		o.chat.Repeat(bots.Clicked{ID: "late", Thread: thread, Message: card, By: bob, Action: bots.Choose, Value: "1.1.1 1"})
		time.Sleep(time.Second)
		require.Contains(t, texts(o.chat, thread, bob.ID), "This is not waiting for an answer any more.")
	}, llmtest.Call("ask", `{}`), llmtest.Say("I take main."))
}

// "stop" is no answer, and ends the question.
func TestStopIsNoAnswer(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "fix it")
		o.say(thread, "Stop!")
		shown := o.done(thread)
		require.Contains(t, shown[1], "Nobody has answered, and no answer is needed any more.")
		require.Empty(t, o.buttons(thread, 1))
		require.Equal(t, "Stopped by @UANN.", shown[2])
		o.say(thread, "main")
		require.Equal(t, "Ann: main", o.heard(2), "what is said after it is said to the model")
	}, llmtest.Call("ask", `{}`), llmtest.Say("Yes?"))
}

// A question that does not fit one message is shown whole, in the same pieces before the answer and after it.
func TestLongQuestion(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		long := agent.QuestionAsked{Call: "1.1.1", Question: strings.Repeat("Why is that so? ", 90), Free: true}
		for range 8 {
			long.Options = append(long.Options, agent.Option{Label: strings.Repeat("A very long label ", 8), Description: strings.Repeat("It is long. ", 20)})
		}
		b.says(1)
		b.write(t, at.String(), agent.ModelSaid{Turn: 1, Step: 1, Calls: []agent.Call{{ID: "1.1.1", Tool: "ask"}}}, long)
		time.Sleep(time.Minute)
		open := b.chat.Shown(at, ann.ID)
		whole := strings.Join(strings.Fields(strings.Join(texts(b.chat, at, ann.ID), "")), "") // pieces end anywhere
		require.Equal(t, 90, strings.Count(whole, "Whyisthatso?"))
		require.Equal(t, 64, strings.Count(whole, "Averylonglabel"))
		require.Equal(t, 160, strings.Count(whole, "Itislong."))
		buttons := open[len(open)-1].Buttons
		require.Len(t, buttons, 9)
		require.Equal(t, "8. A very long label A very long label …", buttons[7])

		b.write(t, at.String(), agent.Answered{Call: "1.1.1", By: agent.User{ID: "UBOB"}, Text: strings.Repeat("長い", 500)})
		time.Sleep(time.Minute)
		closed := b.chat.Shown(at, ann.ID)
		require.Len(t, closed, len(open))
		require.Equal(t, open[1:len(open)-1], closed[1:len(open)-1])
		require.Contains(t, closed[len(closed)-1].Text, "@UBOB answered: “長い")
		require.Empty(t, closed[len(closed)-1].Buttons)
	})
}

// What people write has the authority and the answers of a click, with or without a mention, and is
// never said to the model.
func TestOrders(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		say := func(by bots.Person, text string, mention bool) bots.Said {
			said := o.chat.Say(bots.Said{By: by, Text: text, Thread: thread, Mention: mention})
			time.Sleep(10 * time.Second)
			return said
		}
		told := func(by bots.Person) string {
			all := texts(o.chat, thread, by.ID)
			return all[len(all)-1]
		}
		say(ann, "approve 1", false)
		require.Equal(t, "You may not approve or deny this. The card says who may.", told(ann))
		say(bob, "approve 2", true)
		require.Equal(t, "Nothing in this thread has the number 2.", told(bob))
		say(bob, "answer 1 yes", false) // a message: this thread has no questions
		require.Zero(t, o.acted.Load())
		said := say(bob, "Approve", false)
		o.chat.Repeat(said)
		time.Sleep(time.Second)
		require.EqualValues(t, 1, o.acted.Load())
		say(bob, "deny 1 because no", false)
		require.Equal(t, "You have approved this already.", told(bob))
		say(ann, "approve", true)
		require.Equal(t, "Nothing is waiting for an approval here.", told(ann))
		o.chat.Repeat(said)
		shown := o.done(thread)
		require.Contains(t, shown[1], "Approved by @UBOB. It ran")
		require.Len(t, o.model.Requests(), 2)
		for _, m := range o.model.Requests()[1].Messages {
			require.NotContains(t, m.Text, "pprove")
		}
		o.stop()
		o.chat.Repeat(said)
		o.start()
		time.Sleep(time.Minute)
		require.Len(t, o.model.Requests(), 2, "also when it comes again after a restart")
		require.Len(t, texts(o.chat, thread, bob.ID), len(shown)+2)
	}, llmtest.Call("shell", `{}`), llmtest.Say("Built."))
}

func TestDenyInWords(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		o.chat.Say(bots.Said{By: bob, Text: "deny 1 because it is Friday", Thread: thread})
		require.Contains(t, o.done(thread)[1], "Denied by @UBOB: “it is Friday”.")
		require.Zero(t, o.acted.Load())
		require.Contains(t, o.heard(2), "it is Friday")
	}, llmtest.Call("shell", `{}`), llmtest.Say("On Monday."))
}

// An order is heard also where only mentions are, but nothing else that looks like one.
func TestOrderWithoutMention(t *testing.T) {
	tests := []struct {
		name string
		by   bots.Person
		text string
		want int // decisions
	}{
		{"an order", ann, "approve 1", 1},
		{"more than an order", ann, "approve 1 and 2", 0},
		{"a bot", bots.Person{ID: "B", Bot: true}, "approve 1", 0},
		{"a stranger", bots.Person{ID: "UEVE"}, "approve 1", 0},
		{"words that begin like one", ann, "answer 1 of them", 0},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			gated(t, bots.Channel{Mention: bots.Mentioned, Allow: []string{"UANN"}}, func(b *board) {
				b.says(1)
				b.asks("1.1.1", "d")
				time.Sleep(time.Second)
				b.chat.Say(bots.Said{By: c.by, Text: c.text, Thread: at})
				synctest.Wait()
				require.Len(t, b.decided, c.want)
				require.Len(t, b.heard(at.String()), 1, "nothing is said to the model")
			})
		})
	}
}
