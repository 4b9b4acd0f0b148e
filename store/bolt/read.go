package bolt

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/heddle-bot/heddle/store"
)

// A page is what Read copies out of one transaction: it ends with the frame that reaches one of these.
const (
	pageBytes  = 1 << 20
	pageFrames = 1000
)

// Read implements store.Log. It ends with the frame that was the newest when it began.
func (s *Store) Read(ctx context.Context, session string, after store.Pos) iter.Seq2[store.Entry, error] {
	return func(yield func(store.Entry, error) bool) {
		fail := func(err error) { yield(store.Entry{}, fmt.Errorf("reading session %q: %w", session, err)) }
		last, err := s.last(session)
		if err != nil {
			fail(err)
			return
		}
		for at := after; at < last; {
			if err := ctx.Err(); err != nil {
				fail(err)
				return
			}
			page, err := s.page(session, at, last)
			if err != nil {
				fail(err)
				return
			}
			for _, record := range page {
				at++
				f, err := decodeFrame(frameKey(session, at), record)
				if err != nil {
					fail(fmt.Errorf("the frame at %d: %w", at, err))
					return
				}
				if !yield(store.Entry{Pos: at, Frame: f}, nil) {
					return
				}
			}
		}
	}
}

func (s *Store) last(session string) (store.Pos, error) {
	var sum store.Summary
	err := s.db.view(func(tx *bbolt.Tx) error {
		var err error
		sum, err = summary(tx, session)
		return err
	})
	return sum.Last, err
}

// page returns copies of the records that follow each other from after+1, at least one, up to last.
func (s *Store) page(session string, after, last store.Pos) ([][]byte, error) {
	var page [][]byte
	err := s.db.view(func(tx *bbolt.Tx) error {
		c := bucket(tx, framesBucket).Cursor()
		want := after + 1
		size := 0
		for k, v := c.Seek(frameKey(session, want)); size < pageBytes && len(page) < pageFrames && want <= last; k, v = c.Next() {
			if !bytes.Equal(k, frameKey(session, want)) {
				return fmt.Errorf("%w: the frame at %d is missing", errDamaged, want)
			}
			record, err := detach(v)
			if err != nil {
				return fmt.Errorf("the frame at %d: %w", want, err)
			}
			page = append(page, record)
			size += len(record)
			want++
		}
		return nil
	})
	return page, err
}

// detach copies the record of a frame out of its transaction.
func detach(record []byte) ([]byte, error) {
	if len(record) > store.MaxFrame {
		return nil, fmt.Errorf("%w: its length cannot be", errDamaged)
	}
	return bytes.Clone(record), nil
}

// Open implements store.Log. It names the sessions that are open when it is called.
func (s *Store) Open(_ context.Context, now time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ids, err := s.unsettled(now)
		if err != nil {
			yield("", fmt.Errorf("listing the open sessions: %w", err))
			return
		}
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// unsettled returns the sessions that are not Free, and then those that are due.
func (s *Store) unsettled(now time.Time) (ids []string, err error) {
	err = s.db.view(func(tx *bbolt.Tx) error {
		ids = nil
		open := bucket(tx, openBucket)
		c := open.Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			ids = append(ids, string(k))
		}
		end := appendTime(nil, now)
		c = bucket(tx, dueBucket).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			due, id, err := splitTimed(k)
			if err != nil || bytes.Compare(due, end) > 0 {
				return err
			}
			if k, _ := open.Cursor().Seek(id); !bytes.Equal(k, id) { // it is not named yet
				ids = append(ids, string(id))
			}
		}
		return nil
	})
	return ids, err
}

// splitTimed takes a key of due or recent apart.
func splitTimed(k []byte) (at, session []byte, err error) {
	if len(k) <= timeSize {
		return nil, nil, fmt.Errorf("%w: %x cannot be in an index", errDamaged, k)
	}
	return k[:timeSize], k[timeSize:], nil
}

// Sessions implements store.Log. It describes the sessions as they are when it is called.
func (s *Store) Sessions(_ context.Context, q store.Query) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		var found []store.Summary
		err := s.db.view(func(tx *bbolt.Tx) (err error) {
			found, err = newest(tx, q)
			return err
		})
		if err != nil {
			yield(store.Summary{}, fmt.Errorf("listing sessions: %w", err))
			return
		}
		for _, sum := range found {
			if !yield(sum, nil) {
				return
			}
		}
	}
}

// newest walks two indexes in step and is done when the first of them is: recent has the wanted
// order but every session, and sessions has those of a prefix side by side but in no order. So a
// common prefix costs about the limit, and a rare one about the sessions that have it.
func newest(tx *bbolt.Tx, q store.Query) ([]store.Summary, error) {
	var ordered, all []store.Summary
	prefix := []byte(q.Prefix)
	recent, sessions := bucket(tx, recentBucket).Cursor(), bucket(tx, sessionsBucket).Cursor()
	k, _ := recent.First()
	id, record := sessions.Seek(prefix)
	for k != nil && id != nil && bytes.HasPrefix(id, prefix) {
		_, session, err := splitTimed(k)
		if err != nil {
			return nil, err
		}
		if bytes.HasPrefix(session, prefix) {
			sum, err := summary(tx, string(session))
			if err != nil {
				return nil, err
			}
			ordered = append(ordered, sum)
			if len(ordered) == q.Limit {
				return ordered, nil
			}
		}
		sum, err := decodeSummary(id, record)
		if err != nil {
			return nil, err
		}
		all = append(all, sum)
		k, _ = recent.Next()
		id, record = sessions.Next()
	}
	slices.SortFunc(all, func(a, b store.Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.Session, b.Session))
	})
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, nil
}
