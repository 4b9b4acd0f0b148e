package bots_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
)

// gated runs f with a bot in a channel that the configuration describes so.
func gated(t *testing.T, c bots.Channel, f func(b *board)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &board{t: t, chat: &botstest.Chat{}, scribe: newScribe(storetest.NewMemory())}
		b.stop = run(t, bots.Config{
			Platform: b.chat, Agent: b.scribe, Log: b.log,
			Channel: func(bots.Thread) bots.Channel { return c },
			Redact:  func(s string) string { return strings.ReplaceAll(s, "hunter2", "[password]") },
		})
		defer func() { b.stop() }()
		f(b)
	})
}

// heard returns the texts of what reached the session.
func (b *board) heard(session string) []agent.UserSaid {
	var all []agent.UserSaid
	for e, err := range b.log.Read(b.t.Context(), session, 0) {
		require.NoError(b.t, err)
		for _, ev := range e.Events {
			v, err := agent.Decode(ev)
			require.NoError(b.t, err)
			if said, ok := v.(*agent.UserSaid); ok {
				all = append(all, *said)
			}
		}
	}
	return all
}

func TestGate(t *testing.T) {
	const outside, inside = false, true // of a thread that is a session
	tests := []struct {
		name    string
		channel bots.Channel
		where   bool
		said    bots.Said
		want    bool
	}{
		{"a mention", bots.Channel{}, outside, bots.Said{By: ann, Mention: true}, true},
		{"words in the channel", bots.Channel{}, outside, bots.Said{By: ann}, false},
		{"a reply in our thread", bots.Channel{}, inside, bots.Said{By: ann}, true},
		{"a reply in our thread, said explicitly", bots.Channel{Mention: bots.InThread}, inside, bots.Said{By: ann}, true},
		{"a bot's mention", bots.Channel{}, outside, bots.Said{By: bots.Person{ID: "B", Bot: true}, Mention: true}, false},
		{"a bot's reply", bots.Channel{Mention: bots.Always}, inside, bots.Said{By: bots.Person{ID: "B", Bot: true}}, false},
		{"mention only: a mention", bots.Channel{Mention: bots.Mentioned}, inside, bots.Said{By: ann, Mention: true}, true},
		{"mention only: a reply", bots.Channel{Mention: bots.Mentioned}, inside, bots.Said{By: ann}, false},
		{"always: words in the channel", bots.Channel{Mention: bots.Always}, outside, bots.Said{By: ann}, true},
		{"allowed", bots.Channel{Allow: []string{"UBOB", "UANN"}}, outside, bots.Said{By: ann, Mention: true}, true},
		{"not allowed", bots.Channel{Allow: []string{"UBOB"}}, outside, bots.Said{By: ann, Mention: true}, false},
		{"a role is allowed", bots.Channel{Allow: []string{"UBOB", "role:2"}}, outside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Roles: []string{"role:1", "role:2"}}, Mention: true}, true},
		{"another role", bots.Channel{Allow: []string{"UBOB", "role:2"}}, outside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Roles: []string{"role:1"}}, Mention: true}, false},
		{"a bot that is let in", bots.Channel{Bots: []string{"UANN"}}, outside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Bot: true}, Mention: true}, true},
		{"a bot that is let in, beside people", bots.Channel{Bots: []string{"UANN"}, Allow: []string{"UBOB"}}, inside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Bot: true}}, true},
		{"another bot is let in", bots.Channel{Bots: []string{"B"}}, outside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Bot: true}, Mention: true}, false},
		{"a bot among the people", bots.Channel{Allow: []string{"UANN"}}, outside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Bot: true}, Mention: true}, false},
		{"a bot that is let in, not mentioning us", bots.Channel{Bots: []string{"UANN"}}, outside, bots.Said{By: bots.Person{ID: ann.ID, Name: ann.Name, Bot: true}}, false},
		{"not allowed, a reply", bots.Channel{Allow: []string{"UBOB"}}, inside, bots.Said{By: ann}, false},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			gated(t, c.channel, func(b *board) {
				c.said.Text = "do it"
				if c.where {
					first := b.chat.Say(bots.Said{By: bob, Text: "first", Mention: true})
					synctest.Wait()
					c.said.Thread = first.Thread
				}
				said := b.chat.Say(c.said)
				synctest.Wait()
				require.Zero(t, b.chat.Pending())
				got := b.heard(said.Thread.String())
				if c.where {
					got = got[1:]
				}
				if !c.want {
					require.Empty(t, got)
					return
				}
				require.Equal(t, []agent.UserSaid{{By: agent.User{ID: "UANN", Name: "Ann"}, Text: "do it", Busy: c.channel.Busy, Reply: c.where}}, got)
			})
		})
	}
}

// Where the network does not tell what people say in the bot's thread, they are told so once, and only there.
func TestWithheldWords(t *testing.T) {
	for name, of := range map[string]struct {
		channel bots.Channel
		inside  bool
		times   int
	}{
		"in a thread of ours":       {bots.Channel{}, true, 1},
		"in a thread of others":     {bots.Channel{}, false, 0},
		"where only mentions count": {bots.Channel{Mention: bots.Mentioned}, true, 0},
		"of somebody not let in":    {bots.Channel{Allow: []string{"UBOB"}}, true, 0},
		"where all is for us":       {bots.Channel{Mention: bots.Always}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			gated(t, of.channel, func(b *board) {
				thread := at
				if of.inside {
					thread = b.chat.Say(bots.Said{By: bob, Text: "first", Mention: true}).Thread
					synctest.Wait()
				}
				for _, id := range []string{"6", "7"} {
					b.chat.Say(bots.Said{By: ann, ID: id, Thread: thread, Reply: true, Withheld: true})
					synctest.Wait()
				}
				told := 0
				for _, text := range texts(b.chat, thread, "") {
					if strings.Contains(text, "I can read only messages that mention me") {
						told++
					}
				}
				require.Equal(t, of.times, told)
				require.Zero(t, b.chat.Pending())
			})
		})
	}
}

// The same message comes by two events and more than once; the one that mentions us counts, whichever comes first.
func TestDelivery(t *testing.T) {
	gated(t, bots.Channel{Busy: agent.Queue}, func(b *board) {
		m := bots.Said{By: ann, ID: "5", Thread: at, Text: "do it", Time: time.Now()}
		b.chat.Repeat(m)
		m.Mention = true
		b.chat.Repeat(m)
		b.chat.Repeat(m)
		m.Mention = false
		m.Reply = true
		b.chat.Repeat(m)
		synctest.Wait()
		require.Len(t, b.heard(at.String()), 1)
		require.Equal(t, agent.Queue, b.heard(at.String())[0].Busy)
	})
}

// What cannot be made durable is not acknowledged, and comes again.
func TestNotDurable(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		b.answers(errors.New("the disk is full"))
		said := b.chat.Say(bots.Said{By: ann, Text: "do it", Mention: true})
		time.Sleep(10 * time.Second)
		require.Equal(t, 1, b.chat.Pending())
		told := b.chat.Shown(said.Thread, ann.ID)
		require.Len(t, told, 1, "told once, however often it comes")
		require.Contains(t, told[0].Text, "I could not take this message in")
		require.Empty(t, b.heard(said.Thread.String()))
		b.answers(nil)
		time.Sleep(10 * time.Second)
		require.Zero(t, b.chat.Pending())
		require.Len(t, b.heard(said.Thread.String()), 1)
	})
}

func TestNotLetIn(t *testing.T) {
	gated(t, bots.Channel{Allow: []string{"UBOB"}}, func(b *board) {
		one := b.chat.Say(bots.Said{By: ann, Text: "do it", Mention: true})
		two := b.chat.Say(bots.Said{By: ann, Text: "do it!", Mention: true})
		synctest.Wait()
		require.Equal(t, []string{"You may not talk to me here. Whoever runs me decides who may."}, texts(b.chat, one.Thread, ann.ID))
		require.Empty(t, texts(b.chat, two.Thread, ann.ID), "told once")
		require.Empty(t, texts(b.chat, one.Thread, bob.ID), "told privately")
	})
}

func TestHelp(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		said := b.chat.Say(bots.Said{By: ann, Text: " ", Mention: true})
		b.chat.Repeat(said)
		synctest.Wait()
		got := texts(b.chat, said.Thread, bob.ID)
		require.Len(t, got, 1)
		require.Contains(t, got[0], "Tell me what to do")
		require.Empty(t, b.heard(said.Thread.String()))
	})
}

func TestSayStop(t *testing.T) {
	tests := []struct {
		name string
		said bots.Said
		stop bool
	}{
		{"in the thread", bots.Said{By: ann, Text: " Stop! "}, true},
		{"with a mention", bots.Said{By: ann, Text: "stop.", Mention: true}, true},
		{"a bot", bots.Said{By: bots.Person{ID: "B", Bot: true}, Text: "stop"}, false},
		{"a stranger", bots.Said{By: bots.Person{ID: "UEVE"}, Text: "stop"}, false},
		{"among other words", bots.Said{By: ann, Text: "stop the server", Mention: true}, false},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			gated(t, bots.Channel{Mention: bots.Mentioned, Allow: []string{"UANN"}}, func(b *board) {
				c.said.Thread = b.chat.Say(bots.Said{By: ann, Text: "go", Mention: true}).Thread
				synctest.Wait()
				b.chat.Repeat(b.chat.Say(c.said))
				synctest.Wait()
				if c.stop {
					require.Equal(t, []string{c.said.Thread.String()}, b.stops, "delivered twice, it stops once")
				} else {
					require.Empty(t, b.stops)
				}
			})
		})
	}
}

func TestNothingToStop(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		first := b.chat.Say(bots.Said{By: ann, Text: "go", Mention: true})
		synctest.Wait()
		b.answers(agent.ErrOver)
		b.chat.Say(bots.Said{By: ann, Text: "stop", Thread: first.Thread})
		synctest.Wait()
		require.Equal(t, []string{"Working…"}, texts(b.chat, first.Thread, ann.ID), "it may be a word between people")
		b.chat.Say(bots.Said{By: ann, Text: "stop", Mention: true, Thread: first.Thread})
		synctest.Wait()
		require.Equal(t, []string{"Working…", "Nothing is running here."}, texts(b.chat, first.Thread, ann.ID))
	})
}

func TestClick(t *testing.T) {
	decided := func(yes bool, by bots.Person) error {
		return &agent.DecidedError{Decided: agent.Decided{Yes: yes, By: agent.User{ID: by.ID, Name: by.Name}}}
	}
	tests := []struct {
		name   string
		by     bots.Person
		answer error
		want   string // that the person is told
	}{
		{"it counts", bob, nil, ""},
		{"not an approver", bob, agent.ErrNotAllowed, "You may not approve or deny this. The card says who may."},
		{"not let in", bots.Person{ID: "UEVE"}, nil, "You may not talk to me here. Whoever runs me decides who may."},
		{"over", bob, agent.ErrOver, "This is not waiting for an answer any more."},
		{"too late for a yes", bob, decided(true, ann), "@UANN has approved this already."},
		{"too late for a no", bob, decided(false, ann), "@UANN has denied this already."},
		{"twice", bob, decided(true, bob), "You have approved this already."},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			gated(t, bots.Channel{Allow: []string{"UANN", "UBOB"}}, func(b *board) {
				b.answers(c.answer)
				b.says(1)
				b.asks("1.1.1", "sha:1")
				time.Sleep(time.Second)
				card := b.chat.Shown(at, c.by.ID)[1]
				require.NoError(t, b.chat.Click(c.by, at, card.ID, "Deny with reason", "not today"))
				synctest.Wait()
				require.Zero(t, b.chat.Pending())
				told := b.chat.Shown(at, c.by.ID)[2:]
				if c.want == "" {
					require.Empty(t, told)
				} else {
					require.Equal(t, c.want, told[0].Text)
					require.True(t, told[0].Private)
				}
				if c.by.ID != "UEVE" {
					require.Equal(t, []agent.Decided{{
						Call: "1.1.1", Digest: "sha:1", By: agent.User{ID: "UBOB", Name: "Bob"}, Reason: "not today",
					}}, b.decided)
				}
			})
		})
	}
}

// A button to stop belongs to its turn: it does not stop the next.
func TestClickStop(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		b.says(1)
		time.Sleep(time.Second)
		shown := b.chat.Shown(at, ann.ID)[0]
		require.NoError(t, b.chat.Click(ann, at, shown.ID, "Stop", ""))
		synctest.Wait()
		require.Equal(t, []string{at.String()}, b.stops)

		old := bots.Clicked{ID: "old", Thread: at, By: ann, Action: bots.Stop, Value: "1"}
		b.ends(1, "Hi.")
		b.says(2)
		b.chat.Repeat(old)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Len(t, b.stops, 1)
		require.Contains(t, texts(b.chat, at, ann.ID), "This has come to its end already.")

		old.ID, old.Action = "new", "dance"
		b.chat.Repeat(old)
		synctest.Wait()
		require.Contains(t, texts(b.chat, at, ann.ID), "This is not waiting for an answer any more.")
	})
}

// Secrets are masked on every way out, also when the text that is being written has half of one.
func TestRedact(t *testing.T) {
	gated(t, bots.Channel{}, func(b *board) {
		b.says(1)
		for _, text := range []string{"it is hunt", "it is hunter2", "it is hunter2 now"} {
			b.shows(at.String(), agent.Live{Text: text, Calls: []agent.LiveCall{{ID: "1.1.1", Tail: "hunter2\n"}}})
			time.Sleep(10 * time.Second)
		}
		b.asks("1.1.1", "d")
		b.write(t, at.String(), agent.Decided{Call: "1.1.1", Digest: "d", By: agent.User{ID: "UBOB"}, Reason: "hunter2"})
		b.write(t, at.String(), agent.ToolStarted{Call: "1.1.1", Title: "cat hunter2"})
		time.Sleep(10 * time.Second)
		b.write(t, at.String(), agent.ToolFinished{Call: "1.1.1", Status: agent.Failed, Note: "no hunter2", Title: "cat hunter2"})
		b.write(t, at.String(), agent.TurnEnded{Turn: 1, Reason: agent.Broken, Text: "It is hunter2.", Detail: "hunter2 again"})
		time.Sleep(time.Minute)
		masked := 0
		for _, op := range b.chat.Ops() {
			all := op.Message.Text + op.Message.Code
			require.NotContains(t, all, "hunt")
			masked += strings.Count(all, "[password]")
		}
		require.Greater(t, masked, 5)
	})
}

func TestNew(t *testing.T) {
	_, err := bots.New(bots.Config{})
	require.ErrorContains(t, err, "Platform, Agent and Log")
	var _ bots.Agent = (*agent.Agent)(nil)
	var _ bots.Log = store.Log(nil)
}
