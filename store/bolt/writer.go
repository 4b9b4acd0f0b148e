package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"syscall"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/heddle-bot/heddle/store"
)

// Writing is a group commit. One goroutine takes all requests that wait, does them one after the
// other in one transaction, and answers them when its fsync has ended. A request that is refused
// (a conflict, say) has changed nothing, so it does not disturb the others; a request sees what
// those before it in the batch have done.

// maxBatch bounds the requests of one transaction, and so what an fsync that fails takes with it.
const maxBatch = 1024

// A request is something to be done in a write transaction.
type request struct {
	// do either changes nothing and returns an error, or does all.
	do   func(b *batch) (store.Pos, error)
	done chan result // has room for the answer
}

type result struct {
	pos store.Pos
	err error
}

// Append implements store.Log.
func (s *Store) Append(ctx context.Context, session string, after store.Pos, f store.Frame) (store.Pos, error) {
	pos, err := s.append(ctx, session, after, f)
	if err != nil {
		return pos, fmt.Errorf("appending to session %q: %w", session, err)
	}
	return pos, nil
}

func (s *Store) append(ctx context.Context, session string, after store.Pos, f store.Frame) (store.Pos, error) {
	switch {
	case session == "":
		return 0, errors.New("a session needs an id")
	case len(session) > store.MaxSession:
		return 0, fmt.Errorf("the session's id has %d bytes; at most %d may be", len(session), store.MaxSession)
	case len(f.Key) > store.MaxKey:
		return 0, fmt.Errorf("the frame's key has %d bytes; at most %d may be", len(f.Key), store.MaxKey)
	}
	// Where it will be is known, or it will not be; so the writer need not encode.
	place := frameKey(session, after+1)
	record := encodeFrame(place, f)
	if len(record) > store.MaxFrame {
		return 0, fmt.Errorf("the frame has %d bytes; at most %d may be: keep what is large as an artefact", len(record), store.MaxFrame)
	}
	return s.db.ask(ctx, func(b *batch) (store.Pos, error) {
		return b.append(session, after, f, place, record)
	})
}

// ask has the writer do something and waits until it is durable.
func (d *database) ask(ctx context.Context, do func(b *batch) (store.Pos, error)) (store.Pos, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if d.file.IsReadOnly() {
		return 0, ErrReadOnly // there is no writer
	}
	r := request{do: do, done: make(chan result, 1)}
	select {
	case d.queue <- r:
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-d.closing:
		return 0, errClosed()
	}
	select {
	case res := <-r.done:
		return res.pos, res.err
	case <-ctx.Done():
		return 0, fmt.Errorf("it may or may not have been written: %w", ctx.Err())
	}
}

// write is the writer.
func (d *database) write() {
	defer close(d.written)
	for {
		select {
		case r := <-d.queue:
			d.commit(d.gather(r))
		case <-d.closing:
			return
		}
	}
}

// gather returns first and all that waits behind it.
func (d *database) gather(first request) []request {
	requests := []request{first}
	runtime.Gosched() // those whom the last commit woke come back first, and share this one
	for len(requests) < maxBatch {
		select {
		case r := <-d.queue:
			requests = append(requests, r)
		default:
			return requests
		}
	}
	return requests
}

// errNothing rolls back a transaction in which every request was refused.
var errNothing = errors.New("nothing to write")

func (d *database) commit(requests []request) {
	results := make([]result, len(requests))
	err := d.update(func(tx *bbolt.Tx) error {
		b := &batch{tx: tx, sessions: map[string]*change{}}
		nothing := true
		for i, r := range requests {
			pos, err := r.do(b)
			results[i] = result{pos, err}
			nothing = nothing && err != nil
		}
		if nothing {
			return errNothing
		}
		return b.flush()
	})
	for i, r := range requests {
		if err != nil && err != errNothing {
			results[i] = result{0, err}
		}
		r.done <- results[i]
	}
}

// update runs fn in a write transaction. After an error other than errNothing that may have left
// file and memory different, it refuses all further work.
func (d *database) update(fn func(tx *bbolt.Tx) error) error {
	if broken := d.broken.Load(); broken != nil {
		return *broken
	}
	d.committing.Lock()
	defer d.committing.Unlock()
	var id int
	err := guard(func() error {
		tx, err := d.file.Begin(true)
		if err != nil {
			return err
		}
		// After a panic this does not look at the file, as db.Update does, and so cannot panic
		// again with the lock held. After a commit it does nothing.
		defer tx.Rollback()
		id = tx.ID()
		if err := fn(tx); err != nil {
			return err
		}
		return tx.Commit()
	})
	switch {
	case err == nil:
		d.durable.Store(int64(id))
		return nil
	case err == errNothing:
		return err
	case noRoom(err):
		return fmt.Errorf("writing %s: %w", d.file.Path(), err)
	}
	broken := fmt.Errorf("%s takes no more writes since one failed: %w; look at the disk, then restart", d.file.Path(), err)
	d.broken.Store(&broken)
	return broken
}

// noRoom reports whether err says that a write found no room. Then the transaction was undone as
// a whole. After a failed fsync, in contrast, nobody knows what is on the disk.
func noRoom(err error) bool {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return true
	}
	var at *fs.PathError
	return errors.As(err, &at) && at.Op == "write" &&
		(errors.Is(at.Err, syscall.ENOSPC) || errors.Is(at.Err, syscall.EDQUOT) || errors.Is(at.Err, syscall.EFBIG))
}

// A batch is what one write transaction does.
type batch struct {
	tx       *bbolt.Tx
	sessions map[string]*change
}

// A change is a session's summary before and in the batch. A new session's was has no frames.
type change struct{ was, now store.Summary }

func (b *batch) append(session string, after store.Pos, f store.Frame, place, record []byte) (store.Pos, error) {
	c, err := b.session(session)
	if err != nil {
		return 0, err
	}
	cause := causeKey(session, f.Key)
	if f.Key != "" {
		if v := bucket(b.tx, keysBucket).Get(cause); v != nil {
			return store.Pos(binary.BigEndian.Uint64(v)), store.ErrDuplicate
		}
	}
	if c.now.Last != after {
		return 0, store.ErrConflict
	}
	pos := after + 1
	if err := bucket(b.tx, framesBucket).Put(place, record); err != nil {
		return 0, err
	}
	if f.Key != "" {
		if err := bucket(b.tx, keysBucket).Put(cause, posValue(pos)); err != nil {
			return 0, err
		}
	}
	c.now = follow(c.now, pos, f)
	return pos, nil
}

func (b *batch) session(id string) (*change, error) {
	if c := b.sessions[id]; c != nil {
		return c, nil
	}
	sum, err := summary(b.tx, id)
	if err != nil {
		return nil, err
	}
	c := &change{was: sum, now: sum}
	b.sessions[id] = c
	return c, nil
}

// summary returns what is known of a session, without frames if there is no such session.
func summary(tx *bbolt.Tx, session string) (store.Summary, error) {
	record := bucket(tx, sessionsBucket).Get([]byte(session))
	if record == nil {
		return store.Summary{Session: session}, nil
	}
	return decodeSummary([]byte(session), record)
}

// follow returns sum after f was appended at pos.
func follow(sum store.Summary, pos store.Pos, f store.Frame) store.Summary {
	if sum.Frames == 0 {
		sum.Created = f.Time
	}
	if f.Claim != "" {
		sum.Owner = f.Claim
	}
	sum.Last = pos
	sum.Free = f.Free
	sum.Due = f.Due
	sum.Updated = f.Time
	sum.Frames++
	sum.Events += len(f.Events)
	return sum
}

// flush writes the summaries of the changed sessions and brings the indexes in line.
func (b *batch) flush() error {
	for id, c := range b.sessions {
		if c.now.Last == c.was.Last {
			continue
		}
		if err := bucket(b.tx, sessionsBucket).Put([]byte(id), encodeSummary(c.now)); err != nil {
			return err
		}
		was, now := indexed(c.was), indexed(c.now)
		for name, k := range was {
			if string(now[name]) == string(k) {
				continue
			}
			if err := bucket(b.tx, name).Delete(k); err != nil {
				return err
			}
		}
		for name, k := range now {
			if string(was[name]) == string(k) {
				continue
			}
			if err := bucket(b.tx, name).Put(k, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// indexed returns the keys that a session has in the indexes, by bucket.
func indexed(sum store.Summary) map[string][]byte {
	if sum.Frames == 0 {
		return nil
	}
	keys := map[string][]byte{recentBucket: recentKey(sum.Updated, sum.Session)}
	if !sum.Free {
		keys[openBucket] = []byte(sum.Session)
	}
	if !sum.Due.IsZero() {
		keys[dueBucket] = dueKey(sum.Due, sum.Session)
	}
	return keys
}
