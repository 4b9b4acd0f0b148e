// Package storetest checks that an engine keeps the promises of store.Log, and has an engine in
// memory for the tests of others.
//
// What is checked here must hold for every engine: a check that only one engine can pass belongs
// to that engine's own tests. Positions, for one, grow but need not be dense here.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
)

// An Engine says how to come by a Log.
type Engine struct {
	// New returns an empty log, which is closed when t ends.
	New func(t *testing.T) store.Log
	// Reopen closes a log that New or Reopen returned and opens what it has stored. Nil leaves
	// out the checks that need it: the engine keeps nothing.
	Reopen func(t *testing.T, l store.Log) store.Log
}

// Run checks an engine.
func Run(t *testing.T, e Engine) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, e Engine)
	}{
		{"a frame comes back as it was", testRoundTrip},
		{"positions grow", testPositions},
		{"a key is taken once", testDuplicate},
		{"an old view is a conflict", testConflict},
		{"a bad frame is refused", testLimits},
		{"a cancelled append is not written", testCancelled},
		{"sessions are apart", testApart},
		{"appends to one session are one after the other", testContended},
		{"many sessions at once", testManySessions},
		{"a former owner is fenced", testTakeover},
		{"a retried append happens once", testRetries},
		{"a reader may append", testReaderAppends},
		{"a reader sees frames whole and in order", testReadWhileAppending},
		{"a reader may stop", testReaderStops},
		{"open sessions", testOpen},
		{"due sessions", testDue},
		{"summaries", testSummary},
		{"the order of sessions", testOrder},
		{"the sessions of a query", testQuery},
		{"everything is there after a restart", testReopen},
		{"any order of work", testModel},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, e) })
	}
}

// noon is when the frames of these tests are made.
func noon() time.Time { return time.Date(2026, 12, 1, 12, 0, 0, 123456789, time.UTC) }

// frame returns a frame with one event for each word.
func frame(key string, words ...string) store.Frame {
	f := store.Frame{Key: key, Time: noon()}
	for _, w := range words {
		f.Events = append(f.Events, store.Event{Kind: "test.Word", Data: json.RawMessage(fmt.Sprintf("%q", w))})
	}
	return f
}

func mustAppend(t require.TestingT, l store.Log, session string, after store.Pos, f store.Frame) store.Pos {
	pos, err := l.Append(context.Background(), session, after, f)
	require.NoError(t, err)
	require.Greater(t, pos, after)
	return pos
}

func read(t require.TestingT, l store.Log, session string, after store.Pos) []store.Entry {
	var entries []store.Entry
	for e, err := range l.Read(context.Background(), session, after) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	return entries
}

// open returns what is open at now, sorted.
func open(t require.TestingT, l store.Log, now time.Time) []string {
	ids := map[string]bool{}
	for id, err := range l.Open(context.Background(), now) {
		require.NoError(t, err)
		ids[id] = true
	}
	return slices.Sorted(maps.Keys(ids))
}

func sessions(t require.TestingT, l store.Log, q store.Query) []store.Summary {
	var sums []store.Summary
	for sum, err := range l.Sessions(context.Background(), q) {
		require.NoError(t, err)
		sums = append(sums, sum)
	}
	return sums
}

// names returns the ids of what sessions returns.
func names(t require.TestingT, l store.Log, q store.Query) []string {
	var ids []string
	for _, sum := range sessions(t, l, q) {
		ids = append(ids, sum.Session)
	}
	return ids
}

// push appends f wherever the session ends, as a worker does that decides again after a conflict.
func push(ctx context.Context, l store.Log, session string, f store.Frame) (store.Pos, error) {
	var last store.Pos
	for {
		pos, err := l.Append(ctx, session, last, f)
		if !errors.Is(err, store.ErrConflict) {
			return pos, err
		}
		for e, err := range l.Read(ctx, session, last) {
			if err != nil {
				return 0, err
			}
			last = e.Pos
		}
	}
}
