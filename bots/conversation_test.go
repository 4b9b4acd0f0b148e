package bots_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store/storetest"
	"github.com/heddle-bot/heddle/tools"
)

// An office is a chat with the real agent behind it.
type office struct {
	t      *testing.T
	chat   *botstest.Chat
	log    *diary
	dir    string
	model  *llmtest.Model
	acted  atomic.Int32
	digest atomic.Int32  // changes when the world does
	hold   chan struct{} // what the tool that acts waits for; nil: nothing
	where  bots.Channel
	starts int
	agent  *agent.Agent
	stop   func()
}

// converse runs f with people in an office, in a bubble.
func converse(t *testing.T, f func(o *office), replies ...llmtest.Reply) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &office{t: t, chat: &botstest.Chat{}, log: &diary{Log: storetest.NewMemory()}, dir: t.TempDir(), model: llmtest.NewModel(replies...)}
		o.where = bots.Channel{Model: "m", Models: []string{"m", "slow"}}
		o.start()
		defer func() { o.stop() }()
		f(o)
	})
}

// start starts the program as main does.
func (o *office) start() {
	o.starts++
	registry, err := tools.NewRegistry(append(o.tools(), o.sender())...)
	require.NoError(o.t, err)
	o.agent, err = agent.New(agent.Config{
		Log: o.log, Tools: registry, Replica: fmt.Sprint("r", o.starts), Audience: true,
		Artefacts: o.log, Sources: bots.Sources(o.chat), Redact: o.log.redact,
		Settings: func(string) (agent.Settings, error) {
			return agent.Settings{Workspace: "w", Dir: o.dir, Model: o.model, ModelName: "m", Approvers: []string{bob.ID},
				Models: map[string]agent.Choice{"m": {Model: o.model}, "slow": {Model: o.model, ID: "slow-1"}},
				Limits: agent.Limits{Approval: time.Hour}}, nil
		},
	})
	require.NoError(o.t, err)
	stopBot := run(o.t, bots.Config{
		Platform: o.chat, Agent: o.agent, Log: o.log, Artefact: o.log.Artefact,
		Redact:  func(s string) string { return strings.ReplaceAll(o.log.redact(s), "hunter2", "[password]") },
		Channel: func(bots.Thread) bots.Channel { return o.where },
		Tools:   []bots.Tool{{Name: "look"}, {Name: "read"}, {Name: "shell", Asks: true}},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- o.agent.Run(ctx) }()
	o.stop = func() {
		cancel()
		require.NoError(o.t, <-ended)
		stopBot()
	}
	time.Sleep(time.Second)
}

// restart ends the program, has d go by, and starts it again.
func (o *office) restart(d time.Duration) {
	o.stop()
	time.Sleep(d)
	o.start()
}

// inquiry is a tool that asks the people what its arguments say.
func inquiry() tools.Tool {
	return tools.Tool{
		Name: "ask", Description: "Asks the people in this test.", Effect: tools.Inquiry,
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"strict":{"type":"boolean","description":"how"}}}`),
		Title: func(json.RawMessage) string { return "ask which" },
		Question: func(args json.RawMessage) (tools.Question, error) {
			options := []tools.Option{{Label: "main", Description: "released on Friday"}, {Label: "v2"}}
			return tools.Question{Text: "Which branch?", Options: options, Free: !strings.Contains(string(args), "true")}, nil
		},
	}
}

func (o *office) tools() []tools.Tool {
	input := json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{}}`)
	return []tools.Tool{inquiry(), {
		Name: "read", Description: "Reads a file of this test.", Effect: tools.Query, Input: input,
		Title: func(json.RawMessage) string { return "read a.go" },
		Run: func(context.Context, tools.Call) (tools.Result, error) {
			return tools.Result{Text: "package a", Note: "1 line"}, nil
		},
	}, {
		Name: "look", Description: "Looks at something in this test.", Effect: tools.Query,
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"at":{"type":"integer","description":"what"}}}`),
		Title: func(json.RawMessage) string { return "look" },
		Run:   func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{Text: "seen"}, nil },
	}, {
		Name: "shell", Description: "Does something in this test.", Effect: tools.Action, Input: input, Timeout: time.Hour,
		Title: func(json.RawMessage) string { return "make" },
		Preview: func(context.Context, tools.Call) (tools.Preview, error) {
			return tools.Preview{Kind: tools.Command, Text: "make all", Digest: fmt.Sprint("d", o.digest.Load())}, nil
		},
		Run: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			if c.Digest != fmt.Sprint("d", o.digest.Load()) {
				return tools.Result{}, tools.ErrChanged
			}
			o.acted.Add(1)
			if o.hold != nil {
				select {
				case <-ctx.Done():
					return tools.Result{}, context.Cause(ctx)
				case <-o.hold:
				}
			}
			return tools.Result{Text: "made", Note: "exit status 0"}, nil
		},
	}}
}

// say makes Ann write and lets things happen.
func (o *office) say(in bots.Thread, text string) bots.Thread {
	said := o.chat.Say(bots.Said{By: ann, Text: text, Mention: in == bots.Thread{}, Thread: in})
	time.Sleep(10 * time.Second)
	return said.Thread
}

// click makes somebody press a button of the n-th message and lets things happen.
func (o *office) click(by bots.Person, in bots.Thread, n int, label, reason string) {
	o.t.Helper()
	shown := o.chat.Shown(in, by.ID)
	require.Greater(o.t, len(shown), n)
	require.NoError(o.t, o.chat.Click(by, in, shown[n].ID, label, reason))
	time.Sleep(10 * time.Second)
}

// done checks that nothing is left to do or to show, and returns what the thread shows.
func (o *office) done(in bots.Thread) []string {
	o.t.Helper()
	time.Sleep(time.Minute)
	require.True(o.t, last(o.log, in.String()).Free)
	return texts(o.chat, in, "")
}

func TestAnswer(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "what is in a.go?")
		require.Equal(t, []string{
			"Done in less than a second: read 1 file.\n- ✓ `read a.go` (`1 line`)",
			"It is package a.",
		}, o.done(thread))
		o.say(thread, "thanks")
		shown := o.done(thread)
		require.Equal(t, "You are welcome.", shown[len(shown)-1])
	}, llmtest.Call("read", `{}`), llmtest.Say("It is package a."), llmtest.Say("You are welcome."))
}

// An approval survives a restart, is refused to those who may not decide, and runs once.
func TestApproval(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		shown := o.done(thread)
		require.Equal(t, "Waiting for approval.", shown[0])
		require.Contains(t, shown[1], "@UBOB may answer until")
		require.Contains(t, shown[1], "make all")

		o.restart(30 * time.Minute)
		require.Equal(t, shown, o.done(thread), "nothing is posted or changed by a restart")
		o.click(ann, thread, 1, "Approve", "")
		require.Equal(t, "You may not approve or deny this. The card says who may.", texts(o.chat, thread, ann.ID)[2])
		require.Zero(t, o.acted.Load())

		card := o.chat.Shown(thread, bob.ID)[1].ID
		require.NoError(t, o.chat.Click(bob, thread, card, "Approve", ""))
		// The other click was made on the card as it was, and may come when it has no buttons any more.
		o.chat.Repeat(bots.Clicked{ID: "late", Thread: thread, Message: card, By: bob, Action: bots.Deny, Value: "1.1.1 d0"})
		time.Sleep(10 * time.Second)
		require.EqualValues(t, 1, o.acted.Load())
		shown = o.done(thread)
		require.Equal(t, "Done in less than a second: ran 1 command.\n- ✓ `make` (`exit status 0`)", shown[0])
		require.Equal(t, "`make`\nIn `"+o.dir+"`\nApproved by @UBOB. It ran (`exit status 0`).\nmake all", shown[1])
		require.Equal(t, "Built.", shown[2])
		require.Contains(t, texts(o.chat, thread, bob.ID), "You have approved this already.")
	}, llmtest.Call("shell", `{}`), llmtest.Say("Built."))
}

func TestDenied(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		o.click(bob, thread, 1, "Deny with reason", "not on a Friday")
		shown := o.done(thread)
		require.Zero(t, o.acted.Load())
		require.Contains(t, shown[1], "Denied by @UBOB: “not on a Friday”.")
		require.Equal(t, "Then on Monday.", shown[2])
		require.Contains(t, o.model.Requests()[1].Messages[2].Text, "not on a Friday")
	}, llmtest.Call("shell", `{}`), llmtest.Say("Then on Monday."))
}

// The world changes between the card and the click: it is asked again on a card of its own, and the old one
// counts for nothing.
func TestStaleCard(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		old := o.chat.Shown(thread, bob.ID)[1]
		o.digest.Add(1)
		o.click(bob, thread, 1, "Approve", "")
		require.Zero(t, o.acted.Load())
		shown := texts(o.chat, thread, "")
		require.Len(t, shown, 3)
		require.Contains(t, shown[1], "asked again below")
		require.Contains(t, shown[2], "It has changed since it was shown before")
		o.chat.Repeat(bots.Clicked{ID: "late", Thread: thread, Message: old.ID, By: bob, Action: bots.Approve, Value: "1.1.1 d0"})
		time.Sleep(time.Second)
		require.Zero(t, o.acted.Load())
		o.click(bob, thread, 2, "Approve", "")
		require.EqualValues(t, 1, o.acted.Load())
		require.Equal(t, "Built.", o.done(thread)[3])
	}, llmtest.Call("shell", `{}`), llmtest.Say("Built."))
}

func TestExpired(t *testing.T) {
	converse(t, func(o *office) {
		thread := o.say(bots.Thread{}, "build it")
		time.Sleep(time.Hour)
		shown := o.done(thread)
		require.Contains(t, shown[1], "Nobody answered in time, so it did not run.")
		require.Equal(t, "Nobody answered.", shown[2])
	}, llmtest.Call("shell", `{}`), llmtest.Say("Nobody answered."))
}

// What is said while a turn runs is told what becomes of it, and a button stops the turn.
func TestSteerAndStop(t *testing.T) {
	converse(t, func(o *office) {
		o.hold = make(chan struct{}) // for ever
		thread := o.say(bots.Thread{}, "build it")
		o.click(bob, thread, 1, "Approve", "")
		o.say(thread, "and be quick")
		shown := texts(o.chat, thread, "")
		require.Contains(t, shown[0], "▸ `make`")
		require.Equal(t, "I take this in at the next step.", shown[2])
		o.click(ann, thread, 0, "Stop", "")
		shown = o.done(thread)
		require.Contains(t, shown[0], "Stopped after")
		require.Equal(t, "Stopped together with what was running.", shown[2])
		require.Equal(t, "Stopped by @UANN.", shown[3])
	}, llmtest.Call("shell", `{}`))
}

// The program ends while a command runs. Nobody claims to know what became of it.
func TestRestartDuringCall(t *testing.T) {
	converse(t, func(o *office) {
		o.hold = make(chan struct{})
		thread := o.say(bots.Thread{}, "build it")
		o.click(bob, thread, 1, "Approve", "")
		o.restart(time.Minute)
		shown := o.done(thread)
		require.EqualValues(t, 1, o.acted.Load())
		require.Contains(t, shown[0], "may or may not have run")
		require.Contains(t, shown[1], "may or may not have run")
		require.Equal(t, "I do not know.", shown[2])
		require.Len(t, shown, 3)
	}, llmtest.Call("shell", `{}`), llmtest.Say("I do not know."))
}

// Every way to end is told, and what was written is kept.
func TestEndings(t *testing.T) {
	tests := []struct {
		name    string
		replies []llmtest.Reply
		want    string
	}{
		{"no response", []llmtest.Reply{llmtest.Say("")}, "(No response)"},
		{"cut off", []llmtest.Reply{{Text: "Half an ans", Stop: llm.MaxTokens}}, "Half an ans\n\nThe model's answer was cut off"},
		{"filtered", []llmtest.Reply{{Stop: llm.Filtered}}, "withheld the answer"},
		{"steps", []llmtest.Reply{{From: varied(), Repeat: true}}, "limit of steps, after 10"},
		{"repeated", []llmtest.Reply{{Calls: []llm.Call{{Name: "read", Args: []byte(`{}`)}}, Repeat: true}}, "the same thing again and again"},
		{"no progress", []llmtest.Reply{{From: wrong(), Repeat: true}}, "nothing but errors"},
		{"key", []llmtest.Reply{llmtest.Fail(llm.Auth)}, "does not accept the key of this service. Whoever runs me"},
		{"a newer kind", []llmtest.Reply{llmtest.Fail("astral")}, "The model could not be asked. Please try again later.\nDetails: `model: astral"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			converse(t, func(o *office) {
				shown := o.done(o.say(bots.Thread{}, "do it"))
				require.Contains(t, shown[len(shown)-1], c.want)
			}, c.replies...)
		})
	}
}

// varied asks for something else each time, and wrong for what does not exist.
func varied() func(*llm.Request) llmtest.Reply {
	var n atomic.Int32
	return func(*llm.Request) llmtest.Reply {
		return llmtest.Call("look", fmt.Sprintf(`{"at":%d}`, n.Add(1)))
	}
}

func wrong() func(*llm.Request) llmtest.Reply {
	var n atomic.Int32
	return func(*llm.Request) llmtest.Reply { return llmtest.Call(fmt.Sprint("nope", n.Add(1)), `{}`) }
}

// A text of many pieces is shown whole and in order.
func TestLongAnswer(t *testing.T) {
	var long strings.Builder
	for i := range 700 {
		fmt.Fprintf(&long, "line %d\n", i)
	}
	converse(t, func(o *office) {
		shown := o.done(o.say(bots.Thread{}, "count"))
		require.Greater(t, len(shown), 5)
		got := strings.Join(shown, "\n")
		require.Equal(t, strings.TrimSpace(long.String()), got[strings.Index(got, "line 0"):])
	}, llmtest.Say(long.String()))
}
