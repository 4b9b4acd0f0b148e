package bolt_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
	"github.com/heddle-bot/heddle/store/storetest"
)

func open(t testing.TB, path string) *bolt.Store {
	s, err := bolt.Open(path, bolt.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func words(key string, words ...string) store.Frame {
	f := store.Frame{Key: key, Time: time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)}
	for _, w := range words {
		f.Events = append(f.Events, store.Event{Kind: "test.Word", Data: json.RawMessage(fmt.Sprintf("%q", w))})
	}
	return f
}

// fill gives each session frames with a key and some artefacts.
func fill(t testing.TB, s *bolt.Store, sessions, frames int) {
	for i := range sessions {
		for j := range frames {
			f := words(fmt.Sprint(j), "frame", fmt.Sprint(i, j))
			f.Free = i%2 == 0
			if i%3 == 0 {
				f.Due = f.Time.Add(time.Duration(i))
			}
			_, err := s.Append(t.Context(), fmt.Sprintf("s%02d", i), store.Pos(j), f)
			require.NoError(t, err)
		}
	}
	for i := range 3 {
		_, err := s.PutArtefact(t.Context(), fmt.Appendf(nil, "artefact %d", i))
		require.NoError(t, err)
	}
}

func read(t testing.TB, s *bolt.Store, session string) []store.Entry {
	var entries []store.Entry
	for e, err := range s.Read(t.Context(), session, 0) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	return entries
}

func requireClean(t testing.TB, s *bolt.Store) bolt.Report {
	report, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	return report
}

func TestSuite(t *testing.T) {
	storetest.Run(t, storetest.Engine{
		New: func(t *testing.T) store.Log { return open(t, filepath.Join(t.TempDir(), "log")) },
		Reopen: func(t *testing.T, l store.Log) store.Log {
			s := l.(*bolt.Store)
			requireClean(t, s)
			require.NoError(t, s.Close())
			return open(t, s.Path())
		},
	})
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	leftover := path + ".new-123"
	require.NoError(t, os.WriteFile(leftover, []byte("half"), 0o600))
	s := open(t, path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 1, "what a crash has left is removed")
	require.Equal(t, bolt.Report{Size: requireClean(t, s).Size}, requireClean(t, s))

	_, err = bolt.Open(filepath.Join(dir, "missing", "log"), bolt.Config{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestOnlyOneMayOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s := open(t, path)
	_, err := bolt.Open(path, bolt.Config{})
	require.ErrorIs(t, err, bolt.ErrInUse)
	require.ErrorContains(t, err, path+" is in use by another heddle: ")
	_, err = bolt.CheckFile(t.Context(), path)
	require.ErrorIs(t, err, bolt.ErrInUse)

	require.NoError(t, s.Close())
	open(t, path)
}

// TestManyMayCreate has several come at once to where nothing is. One log results, and it is never
// replaced under whoever has it open.
func TestManyMayCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var g errgroup.Group
	for i := range 8 {
		g.Go(func() error {
			for {
				s, err := bolt.Open(path, bolt.Config{})
				if errors.Is(err, bolt.ErrInUse) {
					continue
				}
				if err != nil {
					return err
				}
				_, err = s.Append(context.Background(), fmt.Sprint(i), 0, words("k", "x"))
				return errors.Join(err, s.Close())
			}
		})
	}
	require.NoError(t, g.Wait())
	require.Equal(t, 8, requireClean(t, open(t, path)).Sessions)
}

func TestClosed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "log"))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	ctx := t.Context()
	for name, do := range map[string]func() error{
		"append":   func() error { _, err := s.Append(ctx, "s", 0, words("", "x")); return err },
		"read":     func() error { return first(s.Read(ctx, "s", 0)) },
		"open":     func() error { return first(s.Open(ctx, time.Now())) },
		"sessions": func() error { return first(s.Sessions(ctx, store.Query{})) },
		"artefact": func() error { _, err := s.PutArtefact(ctx, []byte("x")); return err },
		"backup":   func() error { return s.Backup(ctx, &bytes.Buffer{}) },
		"check":    func() error { _, err := s.Check(ctx); return err },
	} {
		require.ErrorIs(t, do(), os.ErrClosed, name)
		require.ErrorContains(t, do(), "the log is closed", name)
	}
}

func first[V any](seq func(func(V, error) bool)) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// TestCloseWhileAppending checks that an append is either durable or told that the log is closed.
func TestCloseWhileAppending(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s := open(t, path)
	var g errgroup.Group
	var told [32]int
	started := make(chan bool, len(told))
	for w := range told {
		g.Go(func() error {
			for i := 0; ; i++ {
				_, err := s.Append(context.Background(), fmt.Sprint(w), store.Pos(i), words("", "x"))
				if errors.Is(err, os.ErrClosed) {
					return nil
				}
				if err != nil {
					return err
				}
				told[w]++
				if i == 0 {
					started <- true
				}
			}
		})
	}
	for range told {
		<-started
	}
	require.NoError(t, s.Close())
	require.NoError(t, g.Wait())
	s = open(t, path)
	for w, n := range told {
		require.Len(t, read(t, s, fmt.Sprint(w)), n)
	}
	requireClean(t, s)
}

func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s, err := bolt.Open(path, bolt.Config{MaxSize: 8 << 20})
	require.NoError(t, err)
	large := words("", strings.Repeat("x", 100_000))
	n := store.Pos(0)
	for ; err == nil; n++ {
		require.Less(t, n, store.Pos(200))
		_, err = s.Append(t.Context(), "s", n, large)
	}
	n-- // the last was refused
	require.ErrorContains(t, err, "maximum size")
	_, err = s.PutArtefact(t.Context(), []byte("x")) // needs little, so it fits or is told the same
	if err != nil {
		require.ErrorContains(t, err, "maximum size")
	}
	_, err = s.Append(t.Context(), "s", n, large)
	require.ErrorContains(t, err, "maximum size")
	require.NotContains(t, err.Error(), "takes no more writes")
	require.Len(t, read(t, s, "s"), int(n))
	requireClean(t, s)
	require.NoError(t, s.Close())

	s = open(t, path) // without the limit
	_, err = s.Append(t.Context(), "s", n, large)
	require.NoError(t, err)
	require.Len(t, read(t, s, "s"), int(n)+1)
	requireClean(t, s)
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "log"))
	fill(t, s, 10, 5)
	copied := filepath.Join(dir, "copy")
	f, err := os.Create(copied)
	require.NoError(t, err)
	var g errgroup.Group
	stop := make(chan bool)
	g.Go(func() error { // work goes on
		for i := store.Pos(0); ; i++ {
			select {
			case <-stop:
				return nil
			default:
			}
			// Frame n of either session is written before frame n+1 of the other.
			for _, session := range []string{"left", "right"} {
				if _, err := s.Append(context.Background(), session, i, words("", "x")); err != nil {
					return err
				}
			}
		}
	})
	require.NoError(t, s.Backup(t.Context(), f))
	close(stop)
	require.NoError(t, g.Wait())
	require.NoError(t, f.Close())

	report, err := bolt.CheckFile(t.Context(), copied)
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	require.Contains(t, report.Problems[0], "3 artefacts are missing")
	require.NoError(t, os.CopyFS(copied+".artefacts", os.DirFS(filepath.Join(dir, "log.artefacts"))))
	restored := open(t, copied)
	requireClean(t, restored)
	require.Equal(t, read(t, s, "s03"), read(t, restored, "s03"))
	require.InDelta(t, len(read(t, restored, "left")), len(read(t, restored, "right")), 1)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Backup(cancelled, &bytes.Buffer{}), context.Canceled)
	requireClean(t, s)
}

// Readers share a log, change nothing, and keep writers out only while they have it open.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	readOnly := bolt.Config{ReadOnly: true}
	_, err := bolt.Open(path, readOnly)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, path)

	s := open(t, path)
	fill(t, s, 3, 2)
	_, err = bolt.Open(path, readOnly)
	require.ErrorIs(t, err, bolt.ErrInUse)
	require.NoError(t, s.Close())
	left := path + ".artefacts/put-left"
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0o400))

	one, err := bolt.Open(path, readOnly)
	require.NoError(t, err)
	two, err := bolt.Open(path, readOnly)
	require.NoError(t, err)
	require.Len(t, read(t, one, "s01"), 2)
	var b bytes.Buffer
	require.NoError(t, two.Backup(t.Context(), &b))
	require.NotZero(t, b.Len())
	for sum, err := range two.Sessions(t.Context(), store.Query{Limit: 1}) {
		require.NoError(t, err)
		require.Equal(t, 4, sum.Events)
	}
	_, err = one.Append(t.Context(), "s01", 2, words("new", "word"))
	require.ErrorIs(t, err, bolt.ErrReadOnly)
	_, err = one.PutArtefact(t.Context(), []byte("new"))
	require.ErrorIs(t, err, bolt.ErrReadOnly)
	require.ErrorIs(t, one.Healthy(), bolt.ErrReadOnly)
	_, err = bolt.Open(path, bolt.Config{})
	require.ErrorIs(t, err, bolt.ErrInUse)
	require.NoError(t, one.Close())
	require.NoError(t, two.Close())
	require.ErrorIs(t, one.Healthy(), os.ErrClosed)

	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))
	require.FileExists(t, left)
	require.NoError(t, os.Chmod(path, 0o600))
	requireClean(t, open(t, path))
}
