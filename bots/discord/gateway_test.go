package discord_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// alone waits until there is one session on one connection: what was given up is gone.
func (f *fixture) alone() {
	f.t.Helper()
	f.wait("one connection", func() bool {
		s := f.n.Gateway.Stats()
		return s.Open == 1 && s.Ready == 1 && f.d.Health().Connected
	})
}

// What the library's Open does not outlive is outlived.
func TestConnectsThroughOddOpenings(t *testing.T) {
	for name, faults := range map[string]discordtest.GatewayFaults{
		"no websocket":              {Refuse: 3},
		"no word at all":            {Mute: 1},
		"an ack behind hello":       {AckHello: 1},
		"an ack before ready":       {AckFirst: 1},
		"op 7 instead of ready":     {ReconnectFirst: 2},
		"op 9 instead of ready":     {InvalidFirst: 2},
		"closed: unknown error":     {CloseWith: []int{4000}},
		"closed: not authenticated": {CloseWith: []int{4003}},
		"closed: rate limited":      {CloseWith: []int{4008}},
		"closed: timed out":         {CloseWith: []int{4009}},
		"one after the other":       {Refuse: 1, AckHello: 1, InvalidFirst: 1, CloseWith: []int{1006 - 6}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, quick)
			f.n.Gateway.Fail(faults)
			f.listen()
			f.alone()
			f.say("hello")
			require.Equal(t, []string{"hello"}, f.texts(1))
		})
	}
}

// A connection that ends is replaced, the session goes on, and nothing is lost or comes twice.
func TestResumes(t *testing.T) {
	for name, harm := range map[string]func(*discordtest.Gateway){
		"broken":           (*discordtest.Gateway).Kill,
		"half open":        (*discordtest.Gateway).Silence,
		"op 7":             (*discordtest.Gateway).Reconnect,
		"op 9, resumable":  func(g *discordtest.Gateway) { g.Invalidate(true) },
		"closed with 1001": func(g *discordtest.Gateway) { g.CloseWith(1001) },
		"closed with 4000": func(g *discordtest.Gateway) { g.CloseWith(4000) },
		"unanswered beats": func(g *discordtest.Gateway) {
			g.Zombie(true)
			time.AfterFunc(300*time.Millisecond, func() { g.Zombie(false) })
		},
		"what is no packet": func(g *discordtest.Gateway) { g.Raw("{") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, quick)
			f.listen()
			thread := f.say("one")
			f.texts(1)
			f.n.Gateway.Fail(discordtest.GatewayFaults{Lose: 1})
			f.n.Say(f.bob, f.n.Places.Thread(f.bob, f.c, thread.ID, "talk"), "@heddle two") // the thread's event is lost
			harm(f.n.Gateway)
			f.n.Say(f.bob, thread.ID, "@heddle three")
			require.Equal(t, []string{"one", "two", "three"}, f.texts(3))
			f.wait("a resume", func() bool { return f.n.Gateway.Stats().Resumed >= 1 })
			require.Equal(t, 1, f.n.Gateway.Stats().Identified, "the session goes on")
			f.alone()
		})
	}
}

// A session that Discord has given up is replaced, and what was said meanwhile is read from the threads
// and the channels.
func TestNewSession(t *testing.T) {
	for name, harm := range map[string]func(*discordtest.Gateway){
		"op 9":             func(g *discordtest.Gateway) { g.Invalidate(false) },
		"closed with 4007": func(g *discordtest.Gateway) { g.CloseWith(4007) },
		"closed with 4009": func(g *discordtest.Gateway) { g.CloseWith(4009) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, quick)
			elsewhere := f.n.AddChannel(discordtest.GuildID, "elsewhere")
			f.listen()
			thread := f.say("one")
			f.texts(1)
			f.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "an answer"})
			f.n.Gateway.Fail(discordtest.GatewayFaults{Refuse: 2})
			harm(f.n.Gateway)
			f.n.Say(f.bob, thread.ID, "two")
			f.n.Say(f.bob, f.c, "@heddle three")
			f.n.Say(f.bob, elsewhere, "@heddle four")
			require.ElementsMatch(t, []string{"one", "two", "three", "four"}, f.texts(4))
			f.wait("a new session", func() bool { return f.n.Gateway.Stats().Identified == 2 })
			f.alone()
		})
	}
}

// What accept did not take is offered again, in order; what was taken is not.
func TestOffersAgain(t *testing.T) {
	f := newFixture(t, quick)
	f.fail = []error{errors.New("the disk is full"), errors.New("the disk is full")}
	f.listen()
	f.say("one")
	f.say("two")
	require.Equal(t, []string{"one", "two"}, f.texts(2))
	f.n.Gateway.Fail(discordtest.GatewayFaults{Duplicate: 1})
	f.say("three")
	f.say("four")
	require.Equal(t, []string{"one", "two", "three", "four"}, f.texts(4))
}

// What waits when Listen is to end is still taken: the next session would not bring it.
func TestTakesWhatWaitsAtTheEnd(t *testing.T) {
	f := newFixture(t, quick)
	stop := f.listen()
	f.mu.Lock() // accept hangs
	f.say("one")
	f.say("two")
	f.say("three")
	f.wait("arrival", func() bool { f.n.Gateway.Beat(); return f.n.Gateway.Stats().Behind == 0 })
	time.AfterFunc(50*time.Millisecond, f.mu.Unlock)
	stop()
	require.Equal(t, []string{"one", "two", "three"}, f.texts(3))
}

// A fatal close says what a person has to click.
func TestFatalCloses(t *testing.T) {
	for code, want := range map[int]string{
		4004: "press “Reset Token” under “Bot”",
		4010: "the number of the shard is wrong",
		4011: "configure shards",
		4012: "update it",
		4013: "update it",
		4014: "enable “Message Content Intent” under “Bot”",
	} {
		f := newFixture(t, quick)
		f.n.Gateway.Fail(discordtest.GatewayFaults{CloseWith: []int{code}})
		err := f.d.Listen(t.Context(), f.accept)
		require.ErrorContains(t, err, want)
		require.Contains(t, f.d.Health().LastError, "websocket")
		require.False(t, f.d.Health().Connected)
		require.Equal(t, 1, f.n.Gateway.Stats().Opened, "nobody knocks again")
	}
	f := newFixture(t, discordtest.Config{NoContent: true})
	require.ErrorContains(t, f.d.Listen(t.Context(), f.accept), "Message Content Intent")
	f.d = f.connect(discord.Config{WithoutContent: true})
	f.listen()
}

// The budget of sessions is not used up: beyond it Discord resets the token.
func TestIdentifyBudget(t *testing.T) {
	f := newFixture(t, discordtest.Config{HeartbeatEvery: 100 * time.Millisecond, Identifies: 2})
	f.listen()
	for n := 2; n <= 3; n++ {
		f.n.Gateway.Invalidate(false)
		if n == 2 {
			f.wait("a session", func() bool { return f.n.Gateway.Stats().Identified == 2 && f.n.Gateway.Stats().Ready == 1 })
		}
	}
	f.wait("word of it", func() bool { return f.log.has("discord allows no more sessions today") })
	require.Contains(t, f.d.Health().LastError, "discord allows no more sessions until")
	require.Equal(t, 2, f.n.Gateway.Stats().Identified)
}

// Trouble that may pass ends nothing.
func TestListenOutlastsPassingTrouble(t *testing.T) {
	f := newFixture(t, quick)
	f.n.API.Fail("GET /users/@me", discordtest.Fault{Status: 502}, discordtest.Fault{Drop: true}, discordtest.Fault{Status: 429, RetryAfter: 10 * time.Millisecond})
	f.n.API.Fail("GET /gateway/bot", discordtest.Fault{Status: 503}, discordtest.Fault{Drop: true})
	f.listen()
}
