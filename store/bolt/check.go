package bolt

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/heddle-bot/heddle/store"
)

// A Report is what a check has found.
type Report struct {
	Sessions, Frames, Events, Artefacts int

	Size     int64    // of the file as far as it is in use, in bytes
	Problems []string // the first maxProblems; none: all is well
	More     int      // problems beyond those
}

const maxProblems = 100

func (r *Report) problem(format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Check reads all that is stored and reports what does not fit together. Appends wait until it
// ends; for a large log, CheckFile of a backup is kinder. The error says that the check could not
// be done.
func (s *Store) Check(ctx context.Context) (Report, error) {
	c := checker{ctx: ctx}
	return c.run(s.path, func() error {
		tx, err := s.db.file.Begin(true) // bbolt's check wants nobody to write
		if errors.Is(err, berrors.ErrDatabaseNotOpen) {
			return errClosed()
		}
		if err != nil {
			return err
		}
		defer tx.Rollback()
		return c.check(tx, s.path)
	})
}

// CheckFile is Check of a log that is not open, a backup for one. It does not change the file.
func CheckFile(ctx context.Context, path string) (Report, error) {
	if _, err := look(path); err != nil {
		return Report{}, err
	}
	db, err := openFile(path, bbolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		return Report{}, err
	}
	c := checker{ctx: ctx}
	report, err := c.run(path, func() error {
		return db.View(func(tx *bbolt.Tx) error { return c.check(tx, path) })
	})
	return report, errors.Join(err, db.Close())
}

type checker struct {
	ctx       context.Context
	report    Report
	keys      int      // frames with a key
	open, due int      // sessions that are in these indexes
	artefacts []string // the names of those that are listed
}

// run calls check, and then reads the artefacts of the log at path.
func (c *checker) run(path string, check func() error) (Report, error) {
	err := guard(check)
	if errors.Is(err, errDamaged) {
		c.report.problem("%v", err)
		err = nil
	}
	if err == nil {
		err = c.files(artefactsOf(path))
	}
	if err != nil {
		err = fmt.Errorf("checking %s: %w", path, err)
	}
	return c.report, err
}

// check begins with the tree, without which nothing else can be looked at safely.
func (c *checker) check(tx *bbolt.Tx, path string) error {
	c.report.Size = tx.Size()
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := checkTree(c.ctx, tx, f); err != nil {
		return err
	}
	if err := c.content(tx); err != nil {
		return err
	}
	for err := range tx.Check() {
		c.report.problem("structure: %v", err)
	}
	return nil
}

// content derives everything from the frames and compares.
func (c *checker) content(tx *bbolt.Tx) error {
	var sum store.Summary // of the session whose frames pass
	err := c.each(tx, framesBucket, func(k, v []byte) {
		session, pos, ok := splitFrameKey(k)
		if !ok {
			c.report.problem("frames has the key %x, which cannot be", k[:min(len(k), 64)])
			return
		}
		if session != sum.Session {
			c.session(tx, sum)
			sum = store.Summary{Session: session}
		}
		if pos != sum.Last+1 {
			c.report.problem("session %q: after %d comes %d", session, sum.Last, pos)
		}
		record, err := detach(v)
		var f store.Frame
		if err == nil {
			f, err = decodeFrame(k, record)
		}
		if err != nil {
			c.report.problem("session %q: the frame at %d: %v", session, pos, err)
		}
		c.frame(tx, session, pos, f)
		sum = follow(sum, pos, f)
	})
	if err != nil {
		return err
	}
	c.session(tx, sum)
	if err := c.counts(tx); err != nil {
		return err
	}
	return c.each(tx, artefactsBucket, func(k, _ []byte) {
		c.artefacts = append(c.artefacts, hex.EncodeToString(k))
	})
}

// each calls fn with all that is in a bucket.
func (c *checker) each(tx *bbolt.Tx, name string, fn func(k, v []byte)) error {
	return bucket(tx, name).ForEach(func(k, v []byte) error {
		fn(k, v)
		return c.ctx.Err()
	})
}

func (c *checker) frame(tx *bbolt.Tx, session string, pos store.Pos, f store.Frame) {
	c.report.Frames++
	c.report.Events += len(f.Events)
	if f.Key == "" {
		return
	}
	c.keys++
	if v := bucket(tx, keysBucket).Get(causeKey(session, f.Key)); !bytes.Equal(v, posValue(pos)) {
		c.report.problem("session %q: the key %q of %d is not in the index", session, f.Key, pos)
	}
}

// session compares a session with its summary and the indexes.
func (c *checker) session(tx *bbolt.Tx, want store.Summary) {
	if want.Frames == 0 {
		return // the first has none before it
	}
	c.report.Sessions++
	got, err := summary(tx, want.Session)
	switch {
	case err != nil:
		c.report.problem("%v", err)
	case !bytes.Equal(encodeSummary(got), encodeSummary(want)):
		c.report.problem("session %q: its summary is %+v, but its frames say %+v", want.Session, got, want)
	}
	for name, k := range indexed(want) {
		switch name {
		case openBucket:
			c.open++
		case dueBucket:
			c.due++
		}
		if bucket(tx, name).Get(k) == nil {
			c.report.problem("session %q: it is not in the index %s", want.Session, name)
		}
	}
}

// counts finds what is in an index without a reason.
func (c *checker) counts(tx *bbolt.Tx) error {
	for name, want := range map[string]int{
		keysBucket:     c.keys,
		sessionsBucket: c.report.Sessions,
		recentBucket:   c.report.Sessions,
		openBucket:     c.open,
		dueBucket:      c.due,
	} {
		n := 0
		if err := c.each(tx, name, func(_, _ []byte) { n++ }); err != nil {
			return err
		}
		if n != want {
			c.report.problem("%s has %d entries, but the frames say %d", name, n, want)
		}
	}
	return nil
}

// files reads the artefacts.
func (c *checker) files(a artefacts) error {
	c.report.Artefacts = len(c.artefacts)
	if _, err := os.Stat(string(a)); errors.Is(err, fs.ErrNotExist) && len(c.artefacts) > 0 {
		c.report.problem("%d artefacts are missing with their directory %s: copy it from where the log came from", len(c.artefacts), a)
		return nil
	}
	for _, name := range c.artefacts {
		_, err := a.get(c.ctx, name)
		if c.ctx.Err() != nil {
			return err
		}
		if err != nil {
			c.report.problem("%v", err)
		}
	}
	return nil
}
