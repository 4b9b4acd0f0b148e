package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/heddle-bot/heddle/store"
)

func testContended(t *testing.T, e Engine) {
	const writers, each = 16, 25
	l := e.New(t)
	var mu sync.Mutex
	won := map[store.Pos]string{}
	g, ctx := errgroup.WithContext(context.Background())
	for w := range writers {
		g.Go(func() error {
			for i := range each {
				key := fmt.Sprintf("%d-%d", w, i)
				pos, err := push(ctx, l, "s", frame(key, "word", key))
				if err != nil {
					return err
				}
				mu.Lock()
				if other, taken := won[pos]; taken {
					err = fmt.Errorf("%s and %s were both told %d", key, other, pos)
				}
				won[pos] = key
				mu.Unlock()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Len(t, won, writers*each)
	entries := read(t, l, "s", 0)
	require.Len(t, entries, writers*each)
	next := [writers]int{}
	for _, entry := range entries {
		require.Equal(t, won[entry.Pos], entry.Key)
		require.Equal(t, frame(entry.Key, "word", entry.Key), entry.Frame)
		var w, i int
		_, err := fmt.Sscanf(entry.Key, "%d-%d", &w, &i)
		require.NoError(t, err)
		require.Equal(t, next[w], i, "the order of writer %d", w)
		next[w]++
	}
}

func testManySessions(t *testing.T, e Engine) {
	const writers, each = 64, 10
	l := e.New(t)
	g, ctx := errgroup.WithContext(context.Background())
	for w := range writers {
		g.Go(func() error {
			var last store.Pos
			for i := range each {
				pos, err := l.Append(ctx, fmt.Sprintf("s%d", w), last, frame(fmt.Sprint(i), fmt.Sprint(w, i)))
				if err != nil {
					return err // alone in its session, nobody meets a conflict
				}
				last = pos
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	for w := range writers {
		entries := read(t, l, fmt.Sprintf("s%d", w), 0)
		require.Len(t, entries, each)
		for i, entry := range entries {
			require.Equal(t, frame(fmt.Sprint(i), fmt.Sprint(w, i)), entry.Frame)
		}
	}
}

func testTakeover(t *testing.T, e Engine) {
	ctx := context.Background()
	l := e.New(t)
	claim := func(replica string) store.Frame {
		f := frame("", "claims")
		f.Claim = replica
		return f
	}
	owner := func() string { return sessions(t, l, store.Query{})[0].Owner }

	last := mustAppend(t, l, "s", 0, frame("m", "hello"))
	require.Empty(t, owner())
	a := mustAppend(t, l, "s", last, claim("A"))
	require.Equal(t, "A", owner())
	a = mustAppend(t, l, "s", a, frame("", "works"))
	require.Equal(t, "A", owner(), "a frame without a claim leaves the owner")
	b := mustAppend(t, l, "s", a, claim("B"))
	_, err := l.Append(ctx, "s", a, frame("", "works on"))
	require.ErrorIs(t, err, store.ErrConflict, "A has lost the session and does not know")
	require.Equal(t, "B", owner())
	mustAppend(t, l, "s", b, frame("", "works"))

	// Of many who saw the same tail, one gets the session.
	var mu sync.Mutex
	var winners []string
	g := errgroup.Group{}
	for i := range 16 {
		g.Go(func() error {
			replica := fmt.Sprintf("R%d", i)
			_, err := l.Append(ctx, "t", 0, claim(replica))
			if errors.Is(err, store.ErrConflict) {
				return nil
			}
			mu.Lock()
			winners = append(winners, replica)
			mu.Unlock()
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.Len(t, winners, 1)
	require.Equal(t, winners[0], sessions(t, l, store.Query{Prefix: "t"})[0].Owner)
}

func testRetries(t *testing.T, e Engine) {
	const keys = 30
	l := e.New(t)
	g, ctx := errgroup.WithContext(context.Background())
	var mu sync.Mutex
	told := map[string]store.Pos{}
	for range 4 { // deliver each message four times
		g.Go(func() error {
			for i := range keys {
				key := fmt.Sprint(i)
				pos, err := push(ctx, l, "s", frame(key, key))
				if err != nil && !errors.Is(err, store.ErrDuplicate) {
					return err
				}
				mu.Lock()
				if told[key] == 0 {
					told[key] = pos
				}
				same := told[key] == pos
				mu.Unlock()
				if !same {
					return fmt.Errorf("key %s is at two positions", key)
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	entries := read(t, l, "s", 0)
	require.Len(t, entries, keys)
	for _, entry := range entries {
		require.Equal(t, told[entry.Key], entry.Pos)
	}
}

func testReaderAppends(t *testing.T, e Engine) {
	l := e.New(t)
	fill(t, l, "many", 30, 1)
	fill(t, l, "big", 40, 100_000)
	for _, session := range []string{"many", "big"} {
		before := read(t, l, session, 0)
		end := before[len(before)-1].Pos
		var seen []store.Entry
		for entry, err := range l.Read(context.Background(), session, 0) {
			require.NoError(t, err)
			end = mustAppend(t, l, session, end, frame("", "answer"))
			seen = append(seen, entry)
			require.LessOrEqual(t, len(seen), 10*len(before), "a read must not follow its reader for ever")
		}
		require.Equal(t, before, seen[:len(before)])
		require.Len(t, read(t, l, session, 0), len(before)+len(seen))
	}
}

// fill appends n frames of some bytes each.
func fill(t *testing.T, l store.Log, session string, n, size int) {
	var last store.Pos
	for i := range n {
		data, err := json.Marshal(fmt.Sprintf("%0*d", size, i))
		require.NoError(t, err)
		last = mustAppend(t, l, session, last, store.Frame{Time: noon(), Events: []store.Event{{Kind: "big", Data: data}}})
	}
}

func testReadWhileAppending(t *testing.T, e Engine) {
	const frames = 200
	l := e.New(t)
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error {
		var last store.Pos
		for i := range frames {
			pos, err := l.Append(ctx, "s", last, frame(fmt.Sprint(i), fmt.Sprint(i), "and", "more"))
			if err != nil {
				return err
			}
			last = pos
		}
		return nil
	})
	for range 4 {
		g.Go(func() error {
			var last store.Pos
			for next := 0; next < frames; {
				for entry, err := range l.Read(ctx, "s", last) {
					if err != nil {
						return err
					}
					if entry.Pos <= last || entry.Key != fmt.Sprint(next) || len(entry.Events) != 3 {
						return fmt.Errorf("after %d, frame %d: %+v", last, next, entry)
					}
					last = entry.Pos
					next++
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
}

func testReaderStops(t *testing.T, e Engine) {
	ctx := context.Background()
	l := e.New(t)
	fill(t, l, "s", 20, 200_000)
	mustAppend(t, l, "t", 0, frame("", "x"))
	frames := l.Read(ctx, "s", 0)
	for range 2 { // a sequence may be ranged over again
		n := 0
		for _, err := range frames {
			require.NoError(t, err)
			if n++; n == 7 {
				break
			}
		}
		require.Equal(t, 7, n)
	}
	for _, err := range l.Open(ctx, noon()) {
		require.NoError(t, err)
		break
	}
	for _, err := range l.Sessions(ctx, store.Query{}) {
		require.NoError(t, err)
		break
	}
	require.Len(t, read(t, l, "s", 0), 20)
}
