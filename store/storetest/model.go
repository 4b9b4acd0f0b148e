package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/store"
)

// testModel does the same with the engine and with a memory, and compares what they tell.
func testModel(t *testing.T, e Engine) {
	rapid.Check(t, func(rt *rapid.T) {
		m := model{engine: e.New(t), memory: NewMemory(), places: map[string][]place{}}
		actions := map[string]func(*rapid.T){
			"append":  m.append,
			"append ": m.append, // twice as often as the others
			"read":    m.read,
			"list":    m.list,
		}
		if e.Reopen != nil {
			actions["reopen"] = func(*rapid.T) { m.engine = e.Reopen(t, m.engine) }
		}
		rt.Repeat(actions)
		for session := range m.places {
			m.compare(rt, session, place{})
		}
		m.list(rt)
	})
}

type model struct {
	engine, memory store.Log
	places         map[string][]place // of each session
}

// A place is a position in both logs: engines number as they like.
type place struct{ engine, memory store.Pos }

func (m *model) session(t *rapid.T) string {
	return rapid.SampledFrom([]string{"a", "b", "a/b", "a\x00"}).Draw(t, "session")
}

// place draws a place of the session: mostly its end, else anywhere.
func (m *model) place(t *rapid.T, session string) place {
	places := append([]place{{}}, m.places[session]...)
	if rapid.IntRange(0, 3).Draw(t, "at the end") > 0 {
		return places[len(places)-1]
	}
	return rapid.SampledFrom(places).Draw(t, "place")
}

func (m *model) append(t *rapid.T) {
	session := m.session(t)
	at := m.place(t, session)
	f := drawFrame(t)
	ctx := context.Background()
	pos, err := m.engine.Append(ctx, session, at.engine, f)
	want, wantErr := m.memory.Append(ctx, session, at.memory, f)
	switch {
	case wantErr == nil:
		require.NoError(t, err)
		m.places[session] = append(m.places[session], place{pos, want})
	case errors.Is(wantErr, store.ErrDuplicate):
		require.ErrorIs(t, err, store.ErrDuplicate)
		require.Contains(t, m.places[session], place{pos, want})
	default:
		require.ErrorIs(t, wantErr, store.ErrConflict)
		require.ErrorIs(t, err, store.ErrConflict)
	}
}

func drawFrame(t *rapid.T) store.Frame {
	f := store.Frame{
		Key:   rapid.SampledFrom([]string{"", "", "1", "2", "3", "4", "5"}).Draw(t, "key"),
		Claim: rapid.SampledFrom([]string{"", "R1", "R2"}).Draw(t, "claim"),
		Free:  rapid.Bool().Draw(t, "free"),
		Time:  drawTime(t, "time"),
	}
	if rapid.Bool().Draw(t, "has due") {
		f.Due = drawTime(t, "due")
	}
	for range rapid.IntRange(0, 3).Draw(t, "events") {
		f.Events = append(f.Events, store.Event{
			Kind: rapid.String().Draw(t, "kind"),
			Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
		})
	}
	return f
}

func drawTime(t *rapid.T, label string) time.Time {
	return noon().Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, label)))
}

func (m *model) read(t *rapid.T) {
	session := m.session(t)
	m.compare(t, session, m.place(t, session))
}

func (m *model) compare(t *rapid.T, session string, at place) {
	got, want := read(t, m.engine, session, at.engine), read(t, m.memory, session, at.memory)
	require.Len(t, got, len(want))
	for i := range want {
		require.Contains(t, m.places[session], place{got[i].Pos, want[i].Pos})
		require.Equal(t, want[i].Frame, got[i].Frame)
	}
}

func (m *model) list(t *rapid.T) {
	now := drawTime(t, "now")
	require.Equal(t, needed(t, m.memory, now), needed(t, m.engine, now))
	q := store.Query{
		Prefix: rapid.SampledFrom([]string{"", "a", "a/", "b", "c"}).Draw(t, "prefix"),
		Limit:  rapid.IntRange(0, 5).Draw(t, "limit"),
	}
	got, want := sessions(t, m.engine, q), sessions(t, m.memory, q)
	require.Len(t, got, len(want))
	for i := range want {
		// Those updated at the same time may come in any order, so only what is certain is compared.
		require.Equal(t, want[i].Updated, got[i].Updated)
		if q.Limit == 0 {
			require.Contains(t, want, m.asMemory(got[i]))
		}
	}
}

func (m *model) asMemory(sum store.Summary) store.Summary {
	for _, p := range m.places[sum.Session] {
		if p.engine == sum.Last {
			sum.Last = p.memory
			break
		}
	}
	return sum
}
