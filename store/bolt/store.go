// Package bolt keeps the log in one bbolt file, with a directory of artefacts beside it.
//
// The file has these buckets; numbers are big-endian so that keys sort as what they mean:
//
//	meta       what the file is, and the version of this layout
//	frames     length of session (2 bytes), session, position (8)    the frame, sealed (frame.go)
//	keys       length of session (2), session, key of a frame        its position; for ever
//	sessions   session                                               its store.Summary, sealed
//	recent     complement of Updated (12), session                   nothing: newest first
//	open       session                                               nothing: its newest frame is not Free
//	due        Due (12), session                                     nothing
//	artefacts  SHA-256 (32)                                          size of the content (8)
//
// A position is one more than that before it; the first is 1. Everything below frames and
// artefacts can be derived from frames; Check compares them.
//
// One goroutine writes (writer.go). Readers copy what they need out of short transactions and
// never hand control to anybody inside one, because an open transaction keeps old pages from being
// used again and can hold up the writer.
//
// What may change here is how things are kept, never what has been written: a file of an older
// layout must stay readable or be converted, and one of a newer layout is refused untouched.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"go.etcd.io/bbolt"
)

// ErrInUse says that another process has the file open. Only one may.
var ErrInUse = errors.New("in use by another heddle")

// ErrReadOnly says that the log was opened with Config.ReadOnly.
var ErrReadOnly = errors.New("the log is open for reading only")

// Config tunes a Store. The zero Config is a good one.
type Config struct {
	// MaxSize is how many bytes the file may grow to, within some 16 MiB; 0 is no limit. An append
	// beyond it fails, and the store stays usable for reading.
	MaxSize int64
	// ReadOnly opens a log that is there without changing anything; writes fail with ErrReadOnly.
	// Several processes may have it open so, but none for writing until they have closed it.
	ReadOnly bool
}

// A Store is the log in a file. It implements store.Log, and its methods may be called
// concurrently. After Close they fail with an error that wraps os.ErrClosed.
type Store struct {
	path      string
	db        *database
	artefacts artefacts
	close     func() error // once
}

// Open opens the log at path and creates it if nothing is there; its directory must exist. A file
// that is not a whole log of a known layout is refused and left as it is. Should another process
// have it open, the error wraps ErrInUse after about a second.
func Open(path string, c Config) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !c.ReadOnly {
		if err := create(path); err != nil {
			return nil, fmt.Errorf("creating the log %s: %w", path, err)
		}
	}
	file, err := open(path, c)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, artefacts: artefactsOf(path)}
	s.db, err = newDatabase(file)
	if err == nil && !c.ReadOnly {
		// What a crash has left beside the log. Nobody else uses it, since the log is ours.
		dir, base := filepath.Split(path)
		err = errors.Join(sweep(filepath.Clean(dir), base+newSuffix), sweep(string(s.artefacts), putPrefix))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the log %s: %w", path, err), file.Close())
	}
	if c.ReadOnly {
		close(s.db.written)
	} else {
		go s.db.write() // until close, which waits for it
	}
	s.close = sync.OnceValue(s.db.close)
	return s, nil
}

// Path returns where the log is.
func (s *Store) Path() string { return s.path }

// Healthy returns nil if the log takes writes, or else why it does not: one has failed in a way that
// leaves open what is on the disk, or the log is closed.
func (s *Store) Healthy() error { return s.db.healthy() }

// Close waits for appends that were taken and closes the file. Later calls return what the first did.
func (s *Store) Close() error { return s.close() }

// Backup writes the log as it is at this moment to w while work goes on; the result is a file for
// Open. Until it ends no space in the file is used again, so w should be quick: a local file.
// Artefacts are not in it. They never change, so copying the directory after the backup of the log
// gives all that the backup needs.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	target := &target{ctx: ctx, w: w}
	err := s.db.view(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(target)
		return err
	})
	if err := cmp.Or(target.err, err); err != nil {
		return fmt.Errorf("backing up %s: %w", s.path, err)
	}
	return nil
}

// A target writes to w until ctx is done. It keeps its error, since bbolt hands on only the text.
type target struct {
	ctx context.Context
	w   io.Writer
	err error
}

func (t *target) Write(p []byte) (n int, err error) {
	if t.err = t.ctx.Err(); t.err == nil {
		n, t.err = t.w.Write(p)
	}
	return n, t.err
}
