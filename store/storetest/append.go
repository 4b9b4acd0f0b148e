package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
)

func testRoundTrip(t *testing.T, e Engine) {
	berlin := time.FixedZone("CET", 3600)
	all := store.Frame{
		Key:   "slack/C1/1700000000.000100",
		Claim: "replica-1",
		Free:  true,
		Due:   noon().Add(time.Hour),
		Time:  noon(),
		Events: []store.Event{
			{Kind: "agent.UserSaid", Data: json.RawMessage(`{"text":"schön \u0000 <&>", "n": 1.50}`)},
			{Kind: "agent.TurnEnded"},
			{Kind: "agent.Big", Data: json.RawMessage(`"` + strings.Repeat("x", 100_000) + `"`)},
		},
	}
	odd := store.Frame{
		Key: "a\x00b\xff\xfe", Claim: "\x00", Time: time.Date(1, 2, 3, 4, 5, 6, 999_999_999, time.UTC),
		Due: time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC),
	}
	elsewhere := store.Frame{Time: noon().In(berlin), Due: time.Now(), Events: []store.Event{{Kind: "k", Data: json.RawMessage{}}}}
	l := e.New(t)
	var want []store.Entry
	var last store.Pos
	for _, f := range []store.Frame{all, {}, odd, elsewhere} {
		last = mustAppend(t, l, "s", last, f)
		want = append(want, store.Entry{Pos: last, Frame: stored(f)})
	}
	require.Equal(t, want, read(t, l, "s", 0))

	// What is read belongs to the reader, and what was appended to whoever appended it.
	all.Events[0].Data[0] = 'X'
	read(t, l, "s", 0)[0].Events[0].Data[1] = 'Y'
	require.Equal(t, want, read(t, l, "s", 0))
}

func testPositions(t *testing.T, e Engine) {
	l := e.New(t)
	var at []store.Pos
	var last store.Pos
	for i := range 5 {
		last = mustAppend(t, l, "s", last, frame("", fmt.Sprint(i)))
		at = append(at, last)
	}
	for i, after := range append([]store.Pos{0}, at...) {
		entries := read(t, l, "s", after)
		require.Len(t, entries, 5-i)
		for j, entry := range entries {
			require.Equal(t, at[i+j], entry.Pos)
			require.Equal(t, frame("", fmt.Sprint(i+j)), entry.Frame)
		}
	}
	require.Empty(t, read(t, l, "s", last+1))
	require.Empty(t, read(t, l, "s", math.MaxUint64))
	require.Empty(t, read(t, l, "unknown", 0))
}

func testDuplicate(t *testing.T, e Engine) {
	ctx := context.Background()
	l := e.New(t)
	first := mustAppend(t, l, "s", 0, frame("a", "1"))
	second := mustAppend(t, l, "s", first, frame("b", "2"))
	for _, after := range []store.Pos{0, first, second, second + 7} {
		pos, err := l.Append(ctx, "s", after, frame("a", "other words"))
		require.ErrorIs(t, err, store.ErrDuplicate, "after %d", after)
		require.NotErrorIs(t, err, store.ErrConflict)
		require.Equal(t, first, pos)
	}
	require.Len(t, read(t, l, "s", 0), 2)

	mustAppend(t, l, "other", 0, frame("a", "1")) // a key counts in its session
	third := mustAppend(t, l, "s", second, frame("", "3"))
	fourth := mustAppend(t, l, "s", third, frame("", "3")) // no key may repeat
	mustAppend(t, l, "s", fourth, frame("a\x00", "4"))     // like a, but another
}

func testConflict(t *testing.T, e Engine) {
	ctx := context.Background()
	l := e.New(t)
	_, err := l.Append(ctx, "s", 1, frame("a", "too early"))
	require.ErrorIs(t, err, store.ErrConflict)
	require.Empty(t, names(t, l, store.Query{}), "a conflict must not make a session")

	first := mustAppend(t, l, "s", 0, frame("a", "1"))
	second := mustAppend(t, l, "s", first, frame("b", "2"))
	for _, after := range []store.Pos{0, first, second + 1, math.MaxUint64} {
		_, err := l.Append(ctx, "s", after, frame("c", "3"))
		require.ErrorIs(t, err, store.ErrConflict, "after %d", after)
	}
	mustAppend(t, l, "s", second, frame("c", "3")) // a conflict has not taken the key
}

func testLimits(t *testing.T, e Engine) {
	ctx := context.Background()
	l := e.New(t)
	big := func(n int) store.Frame {
		return store.Frame{Events: []store.Event{{Kind: "big", Data: bytes.Repeat([]byte("7"), n)}}}
	}
	long := strings.Repeat("k", store.MaxKey)
	for _, c := range []struct {
		session string
		f       store.Frame
		says    string
	}{
		{"", frame("", "x"), "needs an id"},
		{strings.Repeat("s", store.MaxSession+1), frame("", "x"), fmt.Sprint(store.MaxSession)},
		{"s", frame(long+"k", "x"), fmt.Sprint(store.MaxKey)},
		{"s", big(store.MaxFrame + 1), fmt.Sprint(store.MaxFrame)},
	} {
		_, err := l.Append(ctx, c.session, 0, c.f)
		require.ErrorContains(t, err, c.says)
		require.NotErrorIs(t, err, store.ErrConflict)
	}
	require.Empty(t, names(t, l, store.Query{}))
	require.Empty(t, read(t, l, "", 0))

	longest := strings.Repeat("s", store.MaxSession)
	last := mustAppend(t, l, longest, 0, frame(long, "x"))
	large := big(store.MaxFrame - 100_000)
	mustAppend(t, l, longest, last, large)
	require.True(t, bytes.Equal(large.Events[0].Data, read(t, l, longest, last)[0].Events[0].Data))
	require.Equal(t, []string{longest}, names(t, l, store.Query{Prefix: longest}))
}

func testCancelled(t *testing.T, e Engine) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l := e.New(t)
	_, err := l.Append(ctx, "s", 0, frame("a", "1"))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, read(t, l, "s", 0))

	mustAppend(t, l, "s", 0, frame("a", "1"))
	for _, err := range l.Read(ctx, "s", 0) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

func testApart(t *testing.T, e Engine) {
	l := e.New(t)
	ids := []string{
		"a", "ab", "b", "a\x00", "a\x00\x00", "\x00a", "\x00", "\xff", "\xff\xff", "a/b", "a//b", "a|1", "ä",
		"a\x00\x00\x00\x00\x00\x00\x00\x01", strings.Repeat("a", 256), strings.Repeat("a", 255) + "\x00",
	}
	for i, id := range ids {
		last := mustAppend(t, l, id, 0, frame("k", fmt.Sprint(i)))
		mustAppend(t, l, id, last, frame("kk", fmt.Sprint(i)))
	}
	for i, id := range ids {
		entries := read(t, l, id, 0)
		require.Len(t, entries, 2, "%q", id)
		require.Equal(t, frame("k", fmt.Sprint(i)), entries[0].Frame)
		require.Equal(t, frame("kk", fmt.Sprint(i)), entries[1].Frame)
	}
	require.ElementsMatch(t, ids, names(t, l, store.Query{}))
	require.ElementsMatch(t, ids, open(t, l, noon()))
}
