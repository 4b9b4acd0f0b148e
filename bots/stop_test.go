package bots_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store/storetest"
)

// A slowChat takes its time for posts and edits, unless it is left.
type slowChat struct {
	*botstest.Chat
	takes time.Duration
	begun atomic.Int32
}

func (c *slowChat) wait(ctx context.Context) error {
	c.begun.Add(1)
	select {
	case <-time.After(c.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *slowChat) Post(ctx context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	if err := c.wait(ctx); err != nil {
		return "", err
	}
	return c.Chat.Post(ctx, t, m)
}

func (c *slowChat) Edit(ctx context.Context, t bots.Thread, id bots.MessageID, m bots.Message) error {
	if err := c.wait(ctx); err != nil {
		return err
	}
	return c.Chat.Edit(ctx, t, id, m)
}

// A stop while a message is on its way: if it arrives soon it has its receipt, else it is left; the
// next one is not begun. The next start brings what is missing, once.
func TestStopDuringAPost(t *testing.T) {
	for name, c := range map[string]struct {
		takes, ends time.Duration // of the post; from the stop until the bot has ended
		receipts    int
	}{
		"arrives soon":   {3 * time.Second, 2 * time.Second, 1},
		"takes too long": {5 * time.Second, 3 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &board{t: t, chat: &botstest.Chat{}, scribe: newScribe(storetest.NewMemory())}
				b.says(1)
				b.ends(1, "fine")
				slow := &slowChat{Chat: b.chat, takes: c.takes}
				stop := run(t, bots.Config{Platform: slow, Agent: b.scribe, Log: b.log})
				b.open(t)
				time.Sleep(time.Second)
				require.EqualValues(t, 1, slow.begun.Load())

				begin := time.Now()
				stop()
				require.Equal(t, c.ends, time.Since(begin))
				require.EqualValues(t, 1, slow.begun.Load(), "nothing new begins")
				require.Len(t, b.receipts(), c.receipts)

				b.scribe = newScribe(b.log)
				b.begin()
				defer func() { b.stop() }()
				b.settled()
				require.Equal(t, []string{"Done in less than a second.", "fine"}, texts(b.chat, at, ann.ID))
			})
		})
	}
}

// What a person is told outside the log is not cut off either.
func TestStopWhileTelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat := &botstest.Chat{}
		slow := &slowChat{Chat: chat, takes: 3 * time.Second}
		s := newScribe(storetest.NewMemory())
		stop := run(t, bots.Config{Platform: slow, Agent: s, Log: s.log})
		chat.Say(bots.Said{ID: "1", Thread: at, By: ann, Mention: true})
		time.Sleep(time.Second)
		require.Empty(t, texts(chat, at, ann.ID))
		stop()
		require.Len(t, texts(chat, at, ann.ID), 1)
	})
}
