package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
)

// state returns a frame that leaves its session so.
func state(free bool, due time.Time) store.Frame {
	f := frame("", "x")
	f.Free, f.Due = free, due
	return f
}

func testOpen(t *testing.T, e Engine) {
	l := e.New(t)
	now := noon()
	require.Empty(t, open(t, l, now))
	a := mustAppend(t, l, "a", 0, state(false, time.Time{}))
	mustAppend(t, l, "b", 0, state(true, time.Time{}))
	c := mustAppend(t, l, "c", 0, state(false, now.Add(time.Hour)))
	require.Equal(t, []string{"a", "c"}, needed(t, l, now))

	a = mustAppend(t, l, "a", a, state(false, time.Time{}))
	mustAppend(t, l, "c", c, state(true, time.Time{}))
	require.Equal(t, []string{"a"}, needed(t, l, now))
	a = mustAppend(t, l, "a", a, state(true, time.Time{}))
	require.Empty(t, needed(t, l, now))
	mustAppend(t, l, "a", a, state(false, time.Time{}))
	require.Equal(t, []string{"a"}, needed(t, l, now))
}

// needed is open without those that are named in excess, which an engine may.
func needed(t require.TestingT, l store.Log, now time.Time) []string {
	must := map[string]bool{}
	for _, sum := range sessions(t, l, store.Query{}) {
		must[sum.Session] = !sum.Free || !sum.Due.IsZero() && !sum.Due.After(now)
	}
	var ids []string
	for _, id := range open(t, l, now) {
		if must[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

func testDue(t *testing.T, e Engine) {
	l := e.New(t)
	now := noon()
	mustAppend(t, l, "past", 0, state(true, now.Add(-time.Hour)))
	mustAppend(t, l, "now", 0, state(true, now))
	soon := mustAppend(t, l, "soon", 0, state(true, now.Add(time.Nanosecond)))
	mustAppend(t, l, "old", 0, state(true, time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)))
	both := mustAppend(t, l, "both", 0, state(false, now.Add(-time.Minute)))
	mustAppend(t, l, "never", 0, state(true, time.Time{}))
	require.Equal(t, []string{"both", "now", "old", "past"}, needed(t, l, now))
	require.Equal(t, []string{"both", "now", "old", "past", "soon"}, needed(t, l, now.Add(time.Nanosecond)))

	mustAppend(t, l, "soon", soon, state(true, time.Time{})) // the newest frame counts
	mustAppend(t, l, "both", both, state(true, now.Add(time.Hour)))
	require.Equal(t, []string{"now", "old", "past"}, needed(t, l, now.Add(time.Second)))
	require.Equal(t, []string{"both", "now", "old", "past"}, needed(t, l, now.Add(time.Hour)))
}

func testSummary(t *testing.T, e Engine) {
	l := e.New(t)
	first := frame("a", "1", "2")
	first.Claim = "R1"
	second := frame("b", "3")
	second.Time = noon().Add(time.Minute)
	second.Free, second.Due = true, noon().Add(time.Hour)
	last := mustAppend(t, l, "s", 0, first)
	last = mustAppend(t, l, "s", last, second)
	want := store.Summary{
		Session: "s", Last: last, Owner: "R1", Free: true, Due: second.Due,
		Created: first.Time, Updated: second.Time, Frames: 2, Events: 3,
	}
	require.Equal(t, []store.Summary{want}, sessions(t, l, store.Query{}))

	last = mustAppend(t, l, "s", last, store.Frame{Time: noon().Add(time.Hour)})
	want.Last, want.Updated, want.Frames = last, noon().Add(time.Hour), 3
	want.Free, want.Due = false, time.Time{}
	require.Equal(t, []store.Summary{want}, sessions(t, l, store.Query{}))
}

func testOrder(t *testing.T, e Engine) {
	l := e.New(t)
	at := func(d time.Duration) store.Frame {
		f := frame("", "x")
		f.Time = noon().Add(d)
		return f
	}
	a := mustAppend(t, l, "a", 0, at(1))
	mustAppend(t, l, "b", 0, at(3))
	mustAppend(t, l, "c", 0, at(2))
	mustAppend(t, l, "d", 0, store.Frame{Time: time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.Equal(t, []string{"b", "c", "a", "d"}, names(t, l, store.Query{}))
	a = mustAppend(t, l, "a", a, at(time.Hour))
	require.Equal(t, []string{"a", "b", "c", "d"}, names(t, l, store.Query{}))
	mustAppend(t, l, "a", a, at(0)) // whatever the clocks say, the newest frame counts
	require.Equal(t, []string{"b", "c", "a", "d"}, names(t, l, store.Query{}))
}

func testQuery(t *testing.T, e Engine) {
	l := e.New(t)
	for i := range 30 {
		f := frame("", "x")
		f.Time = noon().Add(time.Duration(i) * time.Second)
		mustAppend(t, l, fmt.Sprintf("slack/C%d/%02d", i%3, i), 0, f)
	}
	mustAppend(t, l, "discord/1", 0, frame("", "x")) // the oldest, with the first
	all := names(t, l, store.Query{})
	require.Len(t, all, 31)
	require.Equal(t, "slack/C2/29", all[0])
	for _, c := range []struct {
		q    store.Query
		want []string
	}{
		{store.Query{Limit: 4}, all[:4]},
		{store.Query{Limit: 31}, all},
		{store.Query{Limit: 99}, all},
		{store.Query{Prefix: "slack/", Limit: 3}, all[:3]},
		{store.Query{Prefix: "slack/C1/", Limit: 2}, []string{"slack/C1/28", "slack/C1/25"}},
		{store.Query{Prefix: "slack/C1/2"}, []string{"slack/C1/28", "slack/C1/25", "slack/C1/22"}},
		{store.Query{Prefix: "discord/", Limit: 5}, []string{"discord/1"}},
		{store.Query{Prefix: "discord/1"}, []string{"discord/1"}},
		{store.Query{Prefix: "discord/11"}, nil},
		{store.Query{Prefix: "z"}, nil},
		{store.Query{Prefix: "\xff"}, nil},
	} {
		require.Equal(t, c.want, names(t, l, c.q), "%+v", c.q)
	}
}

func testReopen(t *testing.T, e Engine) {
	if e.Reopen == nil {
		return // Engine.Reopen says so
	}
	l := e.New(t)
	now := noon()
	open := mustAppend(t, l, "open", 0, state(false, time.Time{}))
	mustAppend(t, l, "due", 0, state(true, now))
	mustAppend(t, l, "free", 0, frame("k", "1"))
	mustAppend(t, l, "free", read(t, l, "free", 0)[0].Pos, state(true, time.Time{}))
	before, entries := sessions(t, l, store.Query{}), read(t, l, "free", 0)

	for range 2 {
		l = e.Reopen(t, l)
		require.Equal(t, []string{"due", "open"}, needed(t, l, now))
		require.Equal(t, before, sessions(t, l, store.Query{}))
		require.Equal(t, entries, read(t, l, "free", 0))
	}
	pos, err := l.Append(t.Context(), "free", 0, frame("k", "1"))
	require.ErrorIs(t, err, store.ErrDuplicate, "a key is taken for ever")
	require.Equal(t, entries[0].Pos, pos)
	mustAppend(t, l, "open", open, frame("", "goes on"))
}
