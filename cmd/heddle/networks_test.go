package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// A listener is a network whose Listen ends when the test says so.
type listener struct {
	bots.Platform // nothing else of it is used
	title         string
	listens       atomic.Int32
	fails         chan error
}

func newListener(title string) *listener { return &listener{title: title, fails: make(chan error)} }

func (l *listener) Listen(ctx context.Context, _ func(context.Context, bots.Event) error) error {
	l.listens.Add(1)
	select {
	case <-ctx.Done():
		return nil
	case err := <-l.fails:
		return err
	}
}

// tie ties the lines together and lets them listen. What one returns comes from done.
func tie(ctx context.Context, them ...*listener) (all []network, done chan error) {
	l := &lifelines{log: slog.New(slog.DiscardHandler)}
	for _, n := range them {
		all = append(all, l.tie(network{title: n.title, platform: n, health: func() connection { return connection{Connected: true} }}))
	}
	done = make(chan error, len(them))
	for _, n := range all {
		go func() { done <- n.platform.Listen(ctx, nil) }()
	}
	return all, done
}

func TestOneNetworkFailsForGood(t *testing.T) {
	fault := errors.New("the token was revoked")
	only := newListener("Slack")
	_, done := tie(t.Context(), only)
	only.fails <- fault
	require.ErrorIs(t, <-done, fault, "nothing can come of going on")
}

func TestOneOfTwoNetworksFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		slack, discord := newListener("Slack"), newListener("Discord")
		all, done := tie(ctx, slack, discord)
		discord.fails <- errors.New("the token was revoked")
		synctest.Wait()
		require.Empty(t, done)
		require.Empty(t, all[0].problem())
		require.Contains(t, all[1].problem(), "not connected to Discord")
		require.Contains(t, all[1].problem(), "the token was revoked")

		time.Sleep(mendFirst * 2)
		require.EqualValues(t, 2, discord.listens.Load(), "it is tried again")
		require.Empty(t, all[1].problem())
		require.EqualValues(t, 1, slack.listens.Load(), "nothing has become of the other")

		slack.fails <- errors.New("the app was removed")
		synctest.Wait()
		require.Empty(t, done, "now the other one goes on")
		discord.fails <- errors.New("the token was revoked again")
		err := <-done
		require.ErrorContains(t, err, "the app was removed")
		require.ErrorContains(t, err, "the token was revoked again")
		stop()
		require.NoError(t, <-done)
	})
}

// A network that is not mended is left alone for longer and longer.
func TestFailedNetworkIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		slack, discord := newListener("Slack"), newListener("Discord")
		_, done := tie(ctx, slack, discord)
		go func() {
			for {
				select {
				case discord.fails <- errors.New("no"):
				case <-ctx.Done():
					return
				}
			}
		}()
		time.Sleep(24 * time.Hour)
		require.InDelta(t, 24*4, discord.listens.Load(), 20)
		stop()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
	})
}
