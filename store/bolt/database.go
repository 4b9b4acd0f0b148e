package bolt

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// A database is the open file. It is read through view and written through ask.
type database struct {
	file *bbolt.DB

	queue   chan request  // to the writer; unbuffered, so what is taken is answered
	closing chan struct{} // closed by close
	written chan struct{} // closed when the writer has ended

	// A transaction becomes visible to readers before its fsync has ended. They wait for it, so
	// that nobody acts on what a power cut could still undo.
	committing sync.Mutex   // held by the writer during a commit
	durable    atomic.Int64 // id of the newest transaction known to be on disk
	broken     atomic.Pointer[error]
}

// newDatabase makes what is in the file durable, since whoever wrote it last may have died before
// it was; except for a reader, on whose answers nothing is built.
func newDatabase(file *bbolt.DB) (*database, error) {
	d := &database{
		file:    file,
		queue:   make(chan request),
		closing: make(chan struct{}),
		written: make(chan struct{}),
	}
	if !file.IsReadOnly() {
		if err := file.Sync(); err != nil {
			return nil, err
		}
	}
	err := file.View(func(tx *bbolt.Tx) error {
		d.durable.Store(int64(tx.ID()))
		return nil
	})
	return d, err
}

// close ends the writer and closes the file.
func (d *database) close() error {
	close(d.closing)
	<-d.written
	path := d.file.Path()
	if err := d.file.Close(); err != nil {
		return fmt.Errorf("closing the log %s: %w", path, err)
	}
	return nil
}

// view runs fn in a transaction that sees only what is durable.
func (d *database) view(fn func(tx *bbolt.Tx) error) error {
	for {
		early := false
		err := guard(func() error {
			return d.file.View(func(tx *bbolt.Tx) error {
				if early = int64(tx.ID()) > d.durable.Load(); early {
					return nil
				}
				return fn(tx)
			})
		})
		if errors.Is(err, berrors.ErrDatabaseNotOpen) {
			return errClosed()
		}
		if !early || err != nil {
			return err
		}
		if broken := d.broken.Load(); broken != nil {
			return *broken
		}
		d.committing.Lock()
		//lint:ignore SA2001 it waits until the commit is over
		d.committing.Unlock()
	}
}

// healthy returns why there will be no more writes, or nil.
func (d *database) healthy() error {
	select {
	case <-d.closing:
		return errClosed()
	default:
	}
	if d.file.IsReadOnly() {
		return ErrReadOnly
	}
	if broken := d.broken.Load(); broken != nil {
		return *broken
	}
	return nil
}

func errClosed() error { return fmt.Errorf("the log is closed: %w", os.ErrClosed) }

// BUG(bolt): A damaged file in which a branch page leads back to itself keeps a reader going round
// for ever. Check and CheckFile find it.

// guard turns a panic of bbolt into an error. bbolt trusts its file and walks it in mapped memory,
// so damage shows as a panic or as a fault at some address; it must not end the process.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errDamaged, p)
		}
	}()
	return fn()
}

var errDamaged = errors.New("the file is damaged")
