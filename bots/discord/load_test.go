package discord_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// waits are how long messages of one class waited for their turn.
type waits struct {
	mu  sync.Mutex
	all map[bots.Class][]time.Duration
}

func (w *waits) note(c bots.Class, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all[c] = append(w.all[c], time.Since(since))
}

// at returns the wait that this part of the messages did not exceed.
func (w *waits) at(c bots.Class, part float64) time.Duration {
	all := w.all[c]
	slices.Sort(all)
	return all[int(float64(len(all)-1)*part)]
}

// TestLoad: 100 guilds, 50 turns at once, each of which would like to show progress ten times a second, under
// Discord's limits and by a clock that is not real. No call is refused, and what people wait for does not
// wait for progress.
func TestLoad(t *testing.T) {
	n := discordtest.New(discordtest.Config{Limits: true})
	defer n.Close()
	const guilds, turns, length = 100, 50, 60 * time.Second
	var channels []string
	for i := range guilds {
		channels = append(channels, n.AddChannel(n.AddGuild(fmt.Sprint("guild ", i)), "general"))
	}
	synctest.Test(t, func(t *testing.T) {
		d, err := discord.New(discord.Config{Token: discordtest.BotToken, APIURL: n.URL, HTTPClient: &http.Client{Transport: n, Timeout: 5 * time.Minute}})
		require.NoError(t, err)
		w := waits{all: map[bots.Class][]time.Duration{}}
		var wg sync.WaitGroup
		for i := range turns {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 20 * time.Millisecond)
				at := bots.Thread{Platform: discord.Name, Workspace: "1", Channel: channels[2*i%guilds]}
				post := func(key string, c bots.Class, text string) bots.MessageID {
					begin := time.Now()
					id, err := d.Post(t.Context(), at, bots.Message{Key: key, Class: c, Text: text})
					for err != nil { // the painter comes back likewise
						time.Sleep(time.Second)
						id, err = d.Post(t.Context(), at, bots.Message{Key: key, Class: c, Text: text})
					}
					w.note(c, begin)
					return id
				}
				progress := post("1/progress", bots.Progress, "Working…")
				card := 0
				for begin := time.Now(); time.Since(begin) < length; time.Sleep(100 * time.Millisecond) {
					if time.Since(begin) > time.Duration(card+1)*length/3 {
						card++
						post(fmt.Sprint("1/card/", card), bots.Approval, "May I?")
					}
					start := time.Now()
					if d.Edit(t.Context(), at, progress, bots.Message{Key: "1/progress", Class: bots.Progress, Text: fmt.Sprint("Working… ", time.Since(begin))}) == nil {
						w.note(bots.Progress, start)
					}
				}
				post("1/answer/0", bots.Final, "Done.")
			})
		}
		wg.Wait()
		t.Logf("%d calls in a minute, %d of %d edits of progress; the slowest card waited %v, the slowest answer %v",
			len(n.API.Calls("")), len(w.all[bots.Progress]), turns*int(length/(100*time.Millisecond)), w.at(bots.Approval, 1), w.at(bots.Final, 1))
		require.Zero(t, n.API.Invalid(), "nothing is refused")
		require.Len(t, w.all[bots.Final], turns)
		require.Less(t, w.at(bots.Approval, 1), time.Second)
		require.Less(t, w.at(bots.Final, 1), time.Second)
		require.Less(t, len(w.all[bots.Progress]), turns*int(length/(100*time.Millisecond))/2, "progress is what is left out")
	})
	for _, c := range n.API.Calls("") {
		require.Less(t, c.Status, 400, "%s %s", c.Route, c.Path)
	}
}

// The tokens of interactions die after 15 minutes; a turn that was asked for by a command may take longer, and
// its answer comes all the same, in the thread. What is for one person alone comes in a direct message then.
func TestTurnOutlastsItsCommand(t *testing.T) {
	f := newFixture(t, discordtest.Config{HeartbeatEvery: 100 * time.Millisecond, TokenFor: 100 * time.Millisecond})
	f.listen()
	f.registered(setCommands, 1)
	require.NoError(t, f.n.Interactions.Command(f.alice, f.c, "/ask", discordtest.Option{Name: "request", Value: "a long task"}))
	thread := f.accepted(1)[0].(bots.Said).Thread
	progress := f.post(thread, bots.Message{Key: "1/progress", Class: bots.Progress, Text: "Working…"})
	time.Sleep(150 * time.Millisecond) // for 20 minutes, as it were
	require.NoError(t, f.d.Edit(t.Context(), thread, bots.MessageID(progress.ID), bots.Message{Key: "1/progress", Class: bots.Progress, Text: "Done in 20 min."}))
	f.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "the answer"})
	_, err := f.d.Post(t.Context(), thread, bots.Message{Key: "told/1", Text: "for you alone", For: f.alice})
	require.NoError(t, err)
	direct := f.n.Messages(f.n.Direct(f.alice))
	require.Len(t, direct, 1)
	require.Contains(t, direct[0].Content, "for you alone")
	var shown []string
	for _, m := range f.n.Messages(thread.ID) {
		shown = append(shown, m.Content)
	}
	require.Equal(t, []string{"Done in 20 min.", "the answer"}, shown)
}
