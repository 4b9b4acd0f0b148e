package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// NewMemory returns a Log that forgets all when the process ends. It passes Run, it is what Run
// compares other engines with, and it serves the tests of whoever needs a Log but no file.
func NewMemory() store.Log { return &memory{sessions: map[string]*session{}} }

type memory struct {
	mu       sync.Mutex
	sessions map[string]*session
}

type session struct {
	entries []store.Entry // the one at position p is entries[p-1]
	keys    map[string]store.Pos
	owner   string
	events  int
}

func (m *memory) Append(ctx context.Context, id string, after store.Pos, f store.Frame) (store.Pos, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := check(id, f); err != nil {
		return 0, fmt.Errorf("appending to session %q: %w", id, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[id]
	if s == nil {
		s = &session{keys: map[string]store.Pos{}}
	}
	if pos, ok := s.keys[f.Key]; ok {
		return pos, fmt.Errorf("appending to session %q: %w", id, store.ErrDuplicate)
	}
	if store.Pos(len(s.entries)) != after {
		return 0, fmt.Errorf("appending to session %q: %w", id, store.ErrConflict)
	}
	pos := after + 1
	s.entries = append(s.entries, store.Entry{Pos: pos, Frame: stored(f)})
	if f.Key != "" {
		s.keys[f.Key] = pos
	}
	s.owner = cmp.Or(f.Claim, s.owner)
	s.events += len(f.Events)
	m.sessions[id] = s
	return pos, nil
}

func check(id string, f store.Frame) error {
	size := len(f.Key) + len(f.Claim)
	for _, e := range f.Events {
		size += len(e.Kind) + len(e.Data)
	}
	switch {
	case id == "":
		return errors.New("a session needs an id")
	case len(id) > store.MaxSession:
		return fmt.Errorf("the session's id has %d bytes; at most %d may be", len(id), store.MaxSession)
	case len(f.Key) > store.MaxKey:
		return fmt.Errorf("the frame's key has %d bytes; at most %d may be", len(f.Key), store.MaxKey)
	case size > store.MaxFrame:
		return fmt.Errorf("the frame has %d bytes; at most %d may be", size, store.MaxFrame)
	}
	return nil
}

// stored returns f as every engine gives it back: its own copy, in UTC, nothing instead of empty.
func stored(f store.Frame) store.Frame {
	f.Time = instant(f.Time)
	f.Due = instant(f.Due)
	events := f.Events
	f.Events = nil
	for _, e := range events {
		e.Data = bytes.Clone(e.Data)
		if len(e.Data) == 0 {
			e.Data = nil
		}
		f.Events = append(f.Events, e)
	}
	return f
}

func instant(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Round(0).UTC() // without the reading of the monotonic clock
}

func (m *memory) Read(ctx context.Context, id string, after store.Pos) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		m.mu.Lock()
		var entries []store.Entry // which are never changed, so no lock is held while they are yielded
		if s := m.sessions[id]; s != nil && after < store.Pos(len(s.entries)) {
			entries = s.entries[after:]
		}
		m.mu.Unlock()
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				yield(store.Entry{}, fmt.Errorf("reading session %q: %w", id, err))
				return
			}
			e.Frame = stored(e.Frame)
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memory) Open(_ context.Context, now time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, sum := range m.summaries() {
			due := !sum.Due.IsZero() && !sum.Due.After(now)
			if (!sum.Free || due) && !yield(sum.Session, nil) {
				return
			}
		}
	}
}

func (m *memory) Sessions(_ context.Context, q store.Query) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		n := 0
		for _, sum := range m.summaries() {
			if !strings.HasPrefix(sum.Session, q.Prefix) {
				continue
			}
			if n++; !yield(sum, nil) || n == q.Limit {
				return
			}
		}
	}
}

// summaries describes all sessions, the most recently updated first.
func (m *memory) summaries() []store.Summary {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]store.Summary, 0, len(m.sessions))
	for id, s := range m.sessions {
		first, last := s.entries[0], s.entries[len(s.entries)-1]
		all = append(all, store.Summary{
			Session: id, Last: last.Pos, Owner: s.owner, Free: last.Free, Due: last.Due,
			Created: first.Time, Updated: last.Time, Frames: len(s.entries), Events: s.events,
		})
	}
	slices.SortFunc(all, func(a, b store.Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.Session, b.Session))
	})
	return all
}
