package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
)

type entries []store.Entry

func (all entries) Read(context.Context, string, store.Pos) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestExport(t *testing.T) {
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	log := entries{
		{Pos: 1, Frame: store.Frame{Key: "m1", Time: at, Events: []store.Event{
			{Kind: "a.B", Data: json.RawMessage(`{"x":"<&>"}`)}, {Kind: "a.C"},
		}}},
		{Pos: 3, Frame: store.Frame{Time: at}},
	}
	var b bytes.Buffer
	n, err := store.Export(t.Context(), log, "s/1", &b)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, `{"session":"s/1","pos":1,"time":"2026-12-01T10:00:00Z","key":"m1","kind":"a.B","data":{"x":"<&>"}}
{"session":"s/1","pos":1,"time":"2026-12-01T10:00:00Z","key":"m1","kind":"a.C"}
`, b.String())
	n, err = store.Export(t.Context(), entries(nil), "s/1", &b)
	require.NoError(t, err)
	require.Zero(t, n)
	_, err = store.Export(t.Context(), log, "s/1", broken{})
	require.ErrorContains(t, err, "broken pipe")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
