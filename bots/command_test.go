package bots_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
)

// typed delivers a command that somebody typed. Without a thread it is typed in the channel, or the
// network does not tell where.
func typed(c *botstest.Chat, by bots.Person, in bots.Thread, text string) bots.Commanded {
	if in.ID == "" {
		in = bots.Thread{Platform: "chat", Workspace: "W", Channel: "general"}
	}
	e := bots.Commanded{ID: fmt.Sprint("command ", time.Now().UnixNano()), Thread: in, By: by, Text: text}
	c.Repeat(e)
	return e
}

// order makes Ann say a command with a mention, delivered twice, and returns what the bot has posted
// since, privately to her or for all.
func (o *office) order(in bots.Thread, word string) []string {
	o.t.Helper()
	before := len(texts(o.chat, in, ann.ID))
	o.chat.Repeat(o.chat.Say(bots.Said{By: ann, Text: word, Mention: true, Thread: in}))
	time.Sleep(10 * time.Second)
	require.Zero(o.t, o.chat.Pending())
	return texts(o.chat, in, ann.ID)[before:]
}

// typed makes Ann type a command apart from the messages, delivered twice, and returns what she is told
// privately.
func (o *office) typed(in bots.Thread, text string) []string {
	o.t.Helper()
	if in.ID == "" {
		in = bots.Thread{Platform: "chat", Workspace: "W", Channel: "general"}
	}
	before := len(o.chat.Shown(in, ann.ID))
	o.chat.Repeat(typed(o.chat, ann, in, text))
	time.Sleep(10 * time.Second)
	var told []string
	for _, m := range o.chat.Shown(in, ann.ID)[before:] {
		require.True(o.t, m.Private, m.Text)
		told = append(told, m.Text)
	}
	return told
}

func TestCommandsThatShow(t *testing.T) {
	converse(t, func(o *office) {
		in := o.say(bots.Thread{}, "hello")
		before := len(o.done(in))

		help := o.order(in, "help")
		require.Len(t, help, 1)
		for _, word := range []string{"help", "status", "stop", "model", "compact", "new", "rules", "budget", "tools", "export", "leave"} {
			require.Contains(t, help[0], "`"+word+"`")
		}
		require.Equal(t, []string{"I use these tools without asking: `look`, `read`.\nI ask here each time before I use these: `shell`."},
			o.order(in, "tools"))
		require.Equal(t, []string{"I answer here with `m`. There is also `slow`: “model NAME” after a mention chooses one for its thread."},
			o.order(in, "Model?"))
		require.Len(t, texts(o.chat, in, bob.ID), before+3, "the answers are for all who are in the thread")
		require.Len(t, o.model.Requests(), 1, "none of this is for the model")
		require.Empty(t, o.typed(in, "status")[1:])
		require.True(t, last(o.log, in.String()).Free)
	}, llmtest.Say("Hi."))
}

// used has a reply cost something.
func used(r llmtest.Reply) llmtest.Reply {
	r.Usage = llm.Usage{Input: 10, Output: 5}
	return r
}

func TestStatus(t *testing.T) {
	converse(t, func(o *office) {
		require.Equal(t, []string{"Nothing is running in this channel."}, o.typed(bots.Thread{}, "status"))
		in := o.say(bots.Thread{}, "build it\nwith hunter2")
		o.say(in, "and wash it")
		at := time.Now().Add(-20 * time.Second).UTC().Format("15:04 UTC on 2 January")
		until := time.Now().Add(time.Hour - 20*time.Second).UTC().Format("2 January 15:04 UTC")
		doing := "Waiting for approval. @UANN asked for `build it with [password]` at " + at + ".\n" +
			"`make` waits for an answer since 20 s. @UBOB may answer until " + until + "."
		require.Equal(t, []string{doing + "\nIn line: 1 message.\nModel: `m`.\nUsed in this thread so far: 10 tokens in, 5 out."}, o.order(in, "status"))
		require.Equal(t, []string{strings.Replace("• "+doing, "20 s", "30 s", 1)}, o.typed(bots.Thread{}, "status"), "a thread that waits for days is told too")
		require.Contains(t, o.order(in, "budget")[0], "\nThe turn that runs has asked 1 time, with 15 tokens.\n")

		o.click(bob, in, 1, "Deny", "")
		o.done(in)
		require.Equal(t, []string{"Nothing is running here.\nModel: `m`.\nUsed in this thread so far: 20 tokens in, 10 out."}, o.order(in, "status"))
		require.Equal(t, []string{"Nothing is running in this channel."}, o.typed(bots.Thread{}, "status"))
		require.Equal(t, []string{"Nothing is running here.\nModel: `m`.\nUsed in this thread so far: 20 tokens in, 10 out."}, o.typed(in, "status"))
		require.Equal(t, []string{"A turn here may ask the model 10 times, work for 10 min without the time that it waits for people, and use 1000000 tokens.\nUsed in this thread so far: 20 tokens in, 10 out."}, o.typed(in, "budget"))
		require.Equal(t, []string{"Nothing is running here.\nModel: `m`.\nUsed in this thread so far: 0 tokens in, 0 out."}, o.order(bots.Thread{Platform: "chat", Workspace: "W", Channel: "general", ID: "77"}, "status"))
	}, used(llmtest.Call("shell", `{}`)), used(llmtest.Say("Well.")))
}

func TestModelCommand(t *testing.T) {
	converse(t, func(o *office) {
		in := o.say(bots.Thread{}, "hello")
		o.done(in)
		require.Equal(t, []string{"There is no model `slwo` here. Did you mean `slow`? The word `model` alone shows which there are."}, o.order(in, "model slwo"))
		require.Equal(t, []string{"From the next request on I answer here with `slow`."}, o.order(in, "model slow"))
		o.restart(time.Minute)
		require.Contains(t, o.order(in, "model")[0], "I answer here with `slow`. There is also `m`")
		require.Equal(t, []string{"I cannot see which thread you mean. Mention me there with this word."}, o.typed(bots.Thread{}, "model m"))
		require.Contains(t, o.typed(bots.Thread{}, "model")[0], "I answer here with `m`.", "what holds in the channel")
		o.say(in, "and now?")
		require.Contains(t, o.model.Requests()[1].System, "slow-1")
		require.Contains(t, o.order(in, "status")[0], "Model: `slow`.")
		o.done(in)
	}, llmtest.Say("Hi."), llmtest.Say("Still here."))
}

func TestNewCommand(t *testing.T) {
	converse(t, func(o *office) {
		in := o.say(bots.Thread{}, "build it")
		require.Equal(t, []string{"I am at work here. Say “stop” first, or wait for me."}, o.order(in, "new"))
		o.say(in, "stop")
		require.Equal(t, []string{"I have forgotten what was said here. What happened is still in my log."}, o.order(in, "new"))
		o.say(in, "what did I say?")
		asked := o.model.Requests()[1].Messages
		require.Len(t, asked, 1)
		require.Equal(t, "Ann: what did I say?", asked[0].Text)
		o.done(in)
	}, llmtest.Call("shell", `{}`), llmtest.Say("Nothing."))
}

func TestCompactCommand(t *testing.T) {
	converse(t, func(o *office) {
		require.Equal(t, []string{"Nothing has been said here yet."}, o.order(bots.Thread{Platform: "chat", Workspace: "W", Channel: "general", ID: "77"}, "compact"))
		in := o.say(bots.Thread{}, "hello")
		o.order(in, "compact")
		shown := o.done(in)
		require.Contains(t, shown[len(shown)-1], "I could not sum up what was said here")
	}, llmtest.Say("Hi."))
}

func TestExportCommand(t *testing.T) {
	converse(t, func(o *office) {
		in := o.say(bots.Thread{}, `the "password" is hunter2 <ok>`)
		o.done(in)
		require.Len(t, o.order(in, "export"), 1)
		ops := o.chat.Ops()
		up := ops[len(ops)-1].Message.Upload
		require.NotNil(t, up)
		require.Equal(t, "heddle-"+in.ID+".jsonl", up.Name)
		require.NotContains(t, string(up.Content), "hunter2")
		var kinds []string
		for line := range strings.Lines(string(up.Content)) {
			var e struct {
				Session, Kind string
				Data          json.RawMessage
			}
			require.NoError(t, json.Unmarshal([]byte(line), &e))
			require.Equal(t, in.String(), e.Session)
			kinds = append(kinds, e.Kind)
			if e.Kind == "agent.UserSaid" {
				require.Contains(t, string(e.Data), `the \"password\" is [password] \u003cok\u003e`)
			}
		}
		require.Equal(t, []string{"agent.Opened", "agent.UserSaid"}, kinds[:2])
		require.Contains(t, kinds, "bots.Painted")
		require.Equal(t, []string{"Nothing has been said here yet."}, o.order(bots.Thread{Platform: "chat", Workspace: "W", Channel: "general", ID: "77"}, "export"))
	}, llmtest.Say("Hi."))
}

// Where no file can be put that is told.
func TestExportRefused(t *testing.T) {
	inBubble(t, func(o botstest.Op) botstest.Fault {
		if o.Message.Upload == nil {
			return botstest.Fault{}
		}
		return botstest.Fault{Err: &bots.Error{Permanent: true, Err: errors.New("missing_scope")}}
	}, func(b *board) {
		b.says(1)
		b.chat.Say(bots.Said{By: ann, Text: "export", Mention: true, Thread: at})
		time.Sleep(10 * time.Second)
		require.Contains(t, texts(b.chat, at, ann.ID), "I could not put a file here. Whoever runs me finds in the log why, and can make the file there.")
	})
}

// Who is sent away hears only who calls, whatever the channel says, also after a restart.
func TestLeave(t *testing.T) {
	for _, policy := range []bots.Policy{bots.InThread, bots.Always} {
		converse(t, func(o *office) {
			o.where.Mention = policy
			in := o.say(bots.Thread{}, "build it")
			require.Equal(t, []string{"I am silent here until somebody mentions me. What runs goes on to its end; “stop” ends it."}, o.order(in, "leave"))
			before := o.chat.Shown(in, "")
			o.say(in, "what do you think, bob?")
			require.Equal(t, before, o.chat.Shown(in, ""))
			o.say(in, "stop")
			require.Contains(t, o.done(in), "Stopped by @UANN.", "a stop is heard all the same")
			o.restart(time.Minute)
			o.say(in, "hello?")
			require.Len(t, o.model.Requests(), 1)

			// Another thread is another matter.
			other := o.say(bots.Thread{}, "hello")
			require.Contains(t, o.done(other), "Hi.")

			require.Contains(t, o.order(in, "are you there?"), "I am.")
			o.say(in, "good")
			require.Contains(t, o.done(in), "Thanks.", "called once, it hears replies again")
			for _, r := range o.model.Requests() {
				for _, m := range r.Messages {
					require.NotContains(t, m.Text, "what do you think")
				}
			}
			require.False(t, slices.Contains(texts(o.chat, in, ann.ID), "Nothing is running here."))
		}, llmtest.Call("shell", `{}`), llmtest.Say("Hi."), llmtest.Say("I am."), llmtest.Say("Thanks."))
	}
}

// A command needs a mention: in a thread its word may be one between people. What only begins with it
// goes to the model, as does what comes with a file.
func TestNoCommand(t *testing.T) {
	for name, said := range map[string]bots.Said{
		"no mention":  {By: ann, Text: "help"},
		"more words":  {By: ann, Text: "new ideas please", Mention: true},
		"with a file": {By: ann, Text: "status", Mention: true, Files: []bots.File{{Name: "a.txt"}}},
	} {
		t.Run(name, func(t *testing.T) {
			gated(t, bots.Channel{}, func(b *board) {
				first := b.chat.Say(bots.Said{By: ann, Text: "go", Mention: true})
				synctest.Wait()
				said.Thread = first.Thread
				b.chat.Say(said)
				synctest.Wait()
				require.Equal(t, said.Text, b.heard(first.Thread.String())[1].Text)
				require.Empty(t, b.noted())
			})
		})
	}
}

// What is typed apart from the messages passes the same gate, and is answered whatever it is.
func TestCommanded(t *testing.T) {
	const notIn = "You may not talk to me here. Whoever runs me decides who may."
	for _, c := range []struct {
		name, text, want string
		by               bots.Person
		thread           bots.Thread
	}{
		{name: "a stranger", by: bots.Person{ID: "UEVE"}, text: "tools", want: notIn},
		{name: "nothing", by: ann, text: " ", want: "Tell me what to do"},
		{name: "a request", by: ann, text: "fix the build", want: "That is no command of mine"},
		{name: "stop, no thread", by: ann, text: "stop", want: "I cannot see which thread you mean"},
		{name: "export, no thread", by: ann, text: "export", want: "I cannot see which thread you mean"},
		{name: "stop, nothing runs", by: ann, text: "stop", thread: at, want: "Nothing is running here."},
		{name: "tools", by: ann, text: "tools", want: "I have no tools."},
		{name: "one model", by: ann, text: "model", want: "There is no other model."},
	} {
		t.Run(c.name, func(t *testing.T) {
			gated(t, bots.Channel{Allow: []string{"UANN"}, Model: "m", Models: []string{"m"}}, func(b *board) {
				b.answers(agent.ErrOver)
				e := typed(b.chat, c.by, c.thread, c.text)
				b.chat.Repeat(e)
				synctest.Wait()
				told := b.chat.Shown(e.Thread, c.by.ID)
				require.Len(t, told, 1)
				require.True(t, told[0].Private)
				require.Contains(t, told[0].Text, c.want)
				require.Empty(t, texts(b.chat, e.Thread, bob.ID))
			})
		})
	}
}

// A command that cannot be made durable is told, is not acknowledged, and comes again.
func TestCommandIsDurable(t *testing.T) {
	for _, word := range []string{"new", "model m", "compact"} {
		gated(t, bots.Channel{}, func(b *board) {
			kind := map[string]string{"new": "forget", "model m": "choose", "compact": "compact"}[word]
			b.refuses(kind, errors.New("the disk is full"))
			said := b.chat.Say(bots.Said{By: ann, Text: word, Mention: true})
			time.Sleep(10 * time.Second)
			require.Equal(t, 1, b.chat.Pending())
			require.Equal(t, []string{"That did not work, because of a fault of mine. Please try again."}, texts(b.chat, said.Thread, ann.ID))
			b.refuses(kind, nil)
			time.Sleep(10 * time.Second)
			require.Zero(t, b.chat.Pending())
		})
	}
}
