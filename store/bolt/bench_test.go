package bolt_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/heddle-bot/heddle/store"
)

// A step of an agent makes a frame of about this size.
func step() store.Frame {
	f := words("", strings.Repeat("x", 500), strings.Repeat("y", 500), strings.Repeat("z", 500))
	f.Time = time.Now()
	return f
}

func rate(b *testing.B) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s") }

// BenchmarkAppend is one session that nobody else disturbs. The target is 0.3 ms.
func BenchmarkAppend(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "log"))
	f := step()
	var last store.Pos
	for b.Loop() {
		var err error
		last, err = s.Append(b.Context(), "s", last, f)
		require.NoError(b, err)
	}
	rate(b)
}

// BenchmarkAppend256 is 256 sessions at once. The target is 10,000 a second.
func BenchmarkAppend256(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "log"))
	parallel(b, 256, func(worker int) func(i int) error {
		f := step()
		session := fmt.Sprintf("slack/T0001/C0001/%d", worker)
		var last store.Pos
		return func(i int) (err error) {
			f.Key = fmt.Sprint(i)
			last, err = s.Append(context.Background(), session, last, f)
			return err
		}
	})
}

// parallel has workers share b.N calls of what each gets from prepare.
func parallel(b *testing.B, workers int, prepare func(worker int) func(i int) error) {
	var next atomic.Int64
	done := make(chan error, workers)
	b.ResetTimer()
	for w := range workers {
		do := prepare(w)
		go func() {
			for {
				i := int(next.Add(1))
				if i > b.N {
					done <- nil
					return
				}
				if err := do(i); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range workers {
		require.NoError(b, <-done)
	}
	rate(b)
}

// BenchmarkBare is the yardstick: what bbolt and the disk take for as many bytes, without a log.
func BenchmarkBare(b *testing.B) {
	bare := func(b *testing.B) *bbolt.DB {
		db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, db.Close()) })
		require.NoError(b, db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("b"))
			return err
		}))
		return db
	}
	value := make([]byte, 1600)
	put := func(i int) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("b")).Put(binary.BigEndian.AppendUint64(nil, uint64(i)), value)
		}
	}
	b.Run("update", func(b *testing.B) {
		db := bare(b)
		for i := 0; b.Loop(); i++ {
			require.NoError(b, db.Update(put(i)))
		}
		rate(b)
	})
	b.Run("update-256", func(b *testing.B) {
		db := bare(b)
		parallel(b, 256, func(int) func(i int) error { return func(i int) error { return db.Update(put(i)) } })
	})
	b.Run("batch-256", func(b *testing.B) { // of 256, so that it does not wait
		db := bare(b)
		db.MaxBatchSize = 256
		parallel(b, 256, func(int) func(i int) error { return func(i int) error { return db.Batch(put(i)) } })
	})
}

// BenchmarkRead loads a session of 10,000 events.
func BenchmarkRead(b *testing.B) {
	const events = 10_000
	s := open(b, filepath.Join(b.TempDir(), "log"))
	f := step()
	for i := range events / len(f.Events) {
		_, err := s.Append(b.Context(), "s", store.Pos(i), f)
		require.NoError(b, err)
	}
	for b.Loop() {
		n := 0
		for e, err := range s.Read(b.Context(), "s", 0) {
			require.NoError(b, err)
			n += len(e.Events)
		}
		require.Greater(b, n, events-len(f.Events))
	}
}

// BenchmarkList lists what a page of sessions and a start need, among 20,000 sessions.
func BenchmarkList(b *testing.B) {
	const sessions = 20_000
	s := open(b, filepath.Join(b.TempDir(), "log"))
	parallelFill(b, s, sessions)
	for name, q := range map[string]store.Query{
		"newest":        {Limit: 50},
		"common-prefix": {Prefix: "slack/", Limit: 50},
		"rare-prefix":   {Prefix: "slack/7777", Limit: 50},
		"all":           {},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.Sessions(b.Context(), q) {
					require.NoError(b, err)
				}
			}
		})
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, first(s.Open(b.Context(), time.Now())))
		}
	})
}

func parallelFill(b *testing.B, s store.Log, sessions int) {
	done := make(chan error)
	for w := range 256 {
		go func() {
			var err error
			for i := w; i < sessions && err == nil; i += 256 {
				f := words("", "x")
				f.Free, f.Time = i%1000 != 0, time.Now()
				_, err = s.Append(context.Background(), fmt.Sprintf("slack/%d", i), 0, f)
			}
			done <- err
		}()
	}
	for range 256 {
		require.NoError(b, <-done)
	}
}
