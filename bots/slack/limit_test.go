package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// drain uses a lane up.
func drain(t *testing.T, l *limiter, r request) {
	for range r.limit().burst {
		require.NoError(t, l.wait(t.Context(), r))
	}
}

func TestLimiterKeepsToTheRate(t *testing.T) {
	for method, minute := range map[string]int{
		"chat.postMessage": 60, "chat.update": 50, "chat.postEphemeral": 100, "chat.appendStream": 100,
		"chat.startStream": 20, "chat.stopStream": 20, "users.list": 20, "apps.connections.open": 20,
	} {
		synctest.Test(t, func(t *testing.T) {
			l, r := newLimiter(), request{method: method, channel: "C1"}
			start := time.Now()
			n := 0
			for ; time.Since(start) < time.Minute; n++ {
				require.NoError(t, l.wait(t.Context(), r))
			}
			require.InDelta(t, minute, n, 1, method)
			start = time.Now()
			for n = 0; time.Since(start) < time.Minute; n++ {
				require.NoError(t, l.wait(t.Context(), r))
			}
			require.InDelta(t, minute-r.limit().burst, n, 1, method)
		})
	}
}

func TestLimiterOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := newLimiter(), request{method: "chat.update"}
		drain(t, l, r)
		var mu sync.Mutex
		var order []string
		for i, class := range []bots.Class{bots.Notice, bots.Final, bots.Approval, bots.Notice, bots.Final, bots.Approval} {
			r.class = class
			go func() {
				require.NoError(t, l.wait(t.Context(), r))
				mu.Lock()
				defer mu.Unlock()
				order = append(order, fmt.Sprint(int(class), "/", i))
			}()
			synctest.Wait()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"0/2", "0/5", "1/1", "1/4", "2/0", "2/3"}, order)
	})
}

func TestProgressGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		progress, final := request{"chat.update", "", bots.Progress}, request{"chat.update", "", bots.Final}
		n := 0
		var busy *busyError
		for ; busy == nil; n++ {
			if err := l.wait(t.Context(), progress); err != nil {
				require.True(t, errors.As(err, &busy))
			}
		}
		require.Less(t, n, progress.limit().burst, "some are kept for what matters more")
		start := time.Now()
		require.NoError(t, l.wait(t.Context(), final))
		require.Zero(t, time.Since(start), "which does not wait")
		time.Sleep(busy.after + 2*time.Second)
		require.NoError(t, l.wait(t.Context(), progress))
		require.Contains(t, busy.Error(), "chat.update is at its rate limit")
	})
}

// However much progress there is: as many calls that matter more as Slack takes in half a minute can come
// together, and each is made as early as if they were made one after the other without any progress.
func TestProgressDelaysNobody(t *testing.T) {
	for _, method := range []string{"chat.postMessage", "chat.update", "chat.postEphemeral"} {
		synctest.Test(t, func(t *testing.T) {
			l, r := newLimiter(), request{method: method, class: bots.Final}
			ctx, cancel := context.WithCancel(t.Context())
			var progress, wg sync.WaitGroup
			progress.Go(func() {
				for ; ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
					_ = l.wait(ctx, request{method: method, class: bots.Progress})
				}
			})
			time.Sleep(time.Minute)
			start := time.Now()
			waits := make([]time.Duration, r.limit().minute/2)
			for k := range waits {
				wg.Go(func() {
					require.NoError(t, l.wait(ctx, r))
					waits[k] = time.Since(start)
				})
			}
			wg.Wait()
			cancel()
			progress.Wait()
			slices.Sort(waits)
			for k, got := range waits {
				require.LessOrEqual(t, got, time.Duration(k)*time.Minute/time.Duration(r.limit().minute), "%s %d", method, k)
			}
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := newLimiter(), request{method: "chat.update"}
		drain(t, l, r)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- l.wait(ctx, r) }()
		go func() { done <- l.wait(t.Context(), request{method: "chat.update", class: bots.Final}) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		require.NoError(t, <-done, "the next in line gets its turn")
	})
}

func TestPauseHoldsOneLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, r := newLimiter(), request{method: "chat.update"}
		l.pause(r, 40*time.Second)
		l.pause(r, 10*time.Second) // the longer holds
		start := time.Now()
		require.NoError(t, l.wait(t.Context(), request{method: "chat.postMessage", channel: "C1"}))
		require.Zero(t, time.Since(start))
		require.NoError(t, l.wait(t.Context(), r))
		require.Equal(t, 40*time.Second, time.Since(start))
	})
}

func TestLanesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		held := request{method: "chat.postMessage", channel: "held"}
		l.pause(held, time.Hour)
		for i := range 3 * maxLanes {
			require.NoError(t, l.wait(t.Context(), request{method: "chat.postMessage", channel: fmt.Sprint(i)}))
			time.Sleep(time.Second)
		}
		require.LessOrEqual(t, len(l.lanes), maxLanes)
		require.Contains(t, l.lanes, held.lane())
	})
}

func TestNamesAreForgotten(t *testing.T) {
	n := newNames()
	for i := range maxNames {
		n.learn(fmt.Sprint(i), "x")
	}
	n.learn("0", "ann")
	require.Len(t, n.known, maxNames)
	require.Equal(t, "ann", n.get("0"))
	n.learn("one more", "bob")
	require.Equal(t, "bob", n.get("one more"))
	require.LessOrEqual(t, len(n.known), maxNames)
	require.Equal(t, "1", n.get("1"), "looked up anew")
}
