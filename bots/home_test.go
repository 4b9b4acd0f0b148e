package bots_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store/storetest"
)

// carol may talk to the bot, and takes part in nothing.
var carol = bots.Person{ID: "UCAROL", Name: "Carol"}

// looks makes somebody look at their page.
func looks(c *botstest.Chat, by bots.Person) bots.HomeOpened {
	e := bots.HomeOpened{ID: fmt.Sprint("home ", time.Now().UnixNano()), Workspace: "W", By: by}
	c.Repeat(e)
	return e
}

// page makes somebody look at their page, told twice, and returns what stands there before what the bot
// can do.
func page(o *office, by bots.Person) []string {
	o.t.Helper()
	o.chat.Repeat(looks(o.chat, by))
	time.Sleep(time.Second)
	require.Zero(o.t, o.chat.Pending())
	all := o.chat.Homes.Of(by.ID)
	for i, s := range all {
		if s == "**What I can do**" {
			return all[:i]
		}
	}
	require.Fail(o.t, "the page does not tell what the bot can do", "%q", all)
	return nil
}

var nothing = []string{"**Waiting for you**", "Nothing waits for you.", "**At work**", "Nothing runs in the threads that you take part in."}

func TestHome(t *testing.T) {
	converse(t, func(o *office) {
		require.Equal(t, nothing, page(o, ann))
		all := o.chat.Homes.Of(ann.ID)
		require.Contains(t, all[5], "`status`")
		require.Contains(t, all[6], "I ask here each time before I use these: `shell`.")

		in := o.say(bots.Thread{}, "build it\nwith hunter2")
		at := time.Now().Add(-11 * time.Second).UTC().Format("15:04 UTC on 2 January")
		card := o.chat.Shown(in, bob.ID)[1]
		require.Len(t, card.Buttons, 3)

		mine := page(o, bob)
		require.Len(t, mine, 4, "his approval is asked for, though he has said nothing")
		require.Contains(t, mine[1], "**May I do this?** `make`\nAsked 1")
		require.Contains(t, mine[1], "@UBOB may answer until ")
		require.Contains(t, mine[1], "[Open the thread](chat://general/"+string(card.ID)+")")
		require.Equal(t, nothing[2:], mine[2:], "it is not told twice")

		hers := page(o, ann)
		require.Equal(t, nothing[:2], hers[:2], "she may not approve")
		require.Len(t, hers, 4)
		require.Contains(t, hers[3], "Waiting for approval. @UANN asked for `build it with [password]` at "+at)
		require.Contains(t, hers[3], "[Open the thread](chat://general/"+in.ID+")")

		require.Equal(t, nothing, page(o, carol), "she may not be in the channel")

		o.where.Allow = []string{ann.ID}
		require.Equal(t, nothing, page(o, bob), "he is not let in any more")
		o.where.Allow = nil
		o.click(bob, in, 1, "Deny", "")
		o.done(in)
		require.Equal(t, nothing, page(o, ann))
		require.Equal(t, nothing, page(o, bob))
	}, llmtest.Call("shell", `{}`), llmtest.Say("Well."))
}

func TestHomeShowsQuestions(t *testing.T) {
	converse(t, func(o *office) {
		o.say(bots.Thread{}, "release")
		hers := page(o, ann)
		require.Len(t, hers, 4)
		require.Contains(t, hers[1], "**Question:** `Which branch?`\nAsked ")
		require.Equal(t, nothing, page(o, bob), "he takes no part")
	}, llmtest.Call("ask", `{}`))
}

// What somebody says to the bot alone is on nobody else's page, whoever may approve there.
func TestHomeKeepsDirectMessages(t *testing.T) {
	converse(t, func(o *office) {
		in := bots.Thread{Platform: "chat", Workspace: "W", Channel: "with-ann", ID: "1"}
		o.chat.Say(bots.Said{By: ann, Text: "build it", Mention: true, Thread: in})
		time.Sleep(10 * time.Second)
		require.Equal(t, nothing, page(o, bob))
		require.Contains(t, page(o, ann)[3], "Waiting for approval.")
		require.Contains(t, page(o, ann)[3], "chat://with-ann/1")
	}, llmtest.Call("shell", `{}`))
}

// Of more than the network shows the oldest are left out, what waits last of all, and never what the bot
// can do.
func TestHomeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScribe(storetest.NewMemory())
		var c botstest.Chat
		for i := range 20 {
			at := fmt.Sprintf("chat/W/general/%02d", i)
			s.write(t, at, &agent.UserSaid{By: agent.User{ID: ann.ID}, Text: fmt.Sprint("do ", i)})
			if i%2 == 0 {
				s.write(t, at, &agent.TurnStarted{Turn: 1, Saw: 1}, &agent.ModelSaid{Saw: 1, Calls: []agent.Call{{ID: "c", Tool: "ask"}}},
					&agent.QuestionAsked{Call: "c", Question: fmt.Sprint("which ", i)})
			}
			time.Sleep(time.Second)
		}
		defer run(t, bots.Config{Platform: &c, Agent: s, Log: s.log})()
		looks(&c, ann)
		time.Sleep(time.Minute)
		all := c.Homes.Of(ann.ID)
		require.Len(t, all, 12)
		require.Contains(t, all[1], "which 18")
		require.Contains(t, all[5], "which 10")
		require.Equal(t, []string{"There are 5 more.", "**At work**", "There are 10 more.", "**What I can do**"}, all[6:10])
		require.Equal(t, "I have no tools.", all[11])
	})
}

func TestHomeFails(t *testing.T) {
	converse(t, func(o *office) {
		o.chat.Homes.Break(&bots.Error{Err: errors.New("no")})
		looks(o.chat, ann)
		time.Sleep(time.Second)
		require.Zero(t, o.chat.Pending(), "it is not delivered again")
		require.Nil(t, o.chat.Homes.Of(ann.ID))
		o.chat.Homes.Break(nil)
		require.Equal(t, nothing, page(o, ann))
	})
}
