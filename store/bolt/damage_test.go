package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

// edit changes a log by way of bbolt alone.
func edit(t *testing.T, path string, fn func(tx *bbolt.Tx) error) {
	db, err := bbolt.Open(path, 0o600, nil)
	require.NoError(t, err)
	require.NoError(t, db.Update(fn))
	require.NoError(t, db.Close())
}

// filled returns a closed log with something in it.
func filled(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "log")
	s := open(t, path)
	fill(t, s, 12, 10)
	requireClean(t, s)
	require.NoError(t, s.Close())
	return path
}

func TestOpenRefuses(t *testing.T) {
	cut := func(n int) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, data[:n], 0o600))
		}
	}
	write := func(data []byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, data, 0o600)) }
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, path string)
		says  string
	}{
		{"empty", cut(0), "it is empty"},
		{"a few bytes", cut(10), "invalid database"},
		{"one page", cut(4096), "size too small"},
		{"cut off", cut(5 * 4096), "it is cut off"},
		{"text", write(bytes.Repeat([]byte("not a log\n"), 10_000)), "invalid database"},
		{"zeros", write(make([]byte, 1<<16)), "invalid database"},
		{"no file", func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Mkdir(path, 0o700))
		}, "not a regular file"},
		{"of another program", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("magic"), []byte("x")) })
		}, "another program made it"},
		{"of another program, without meta", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("meta")) })
		}, "another program made it"},
		{"of a newer heddle", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("meta")).Put([]byte("version"), binary.BigEndian.AppendUint32(nil, 2))
			})
		}, "its layout is version 2 and this heddle knows 1: use the heddle that wrote it"},
		{"of no version", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Delete([]byte("version")) })
		}, "version of its layout cannot be read"},
		{"without a bucket", func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("due")) })
		}, "bucket due is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filled(t)
			c.spoil(t, path)
			before, _ := os.ReadFile(path) // nothing, of a directory
			for range 2 {
				_, err := bolt.Open(path, bolt.Config{})
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, "cp BACKUP "+path)
				_, err = bolt.CheckFile(t.Context(), path)
				require.ErrorContains(t, err, c.says)
			}
			after, _ := os.ReadFile(path)
			require.True(t, bytes.Equal(before, after), "it must be left as it is")
		})
	}
}

// TestDamagedFrame changes one byte of a frame in the file.
func TestDamagedFrame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	s := open(t, path)
	fill(t, s, 3, 4)
	f := words("key", "needle in the file")
	_, err := s.Append(t.Context(), "s01", 4, f)
	require.NoError(t, err)
	_, err = s.Append(t.Context(), "s01", 5, words("", "after"))
	require.NoError(t, err)
	require.NoError(t, s.Close())

	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(data), "needle")
	data = bytes.ReplaceAll(data, []byte("needle"), []byte("nEedle")) // in all copies of the page
	require.NoError(t, os.WriteFile(path, data, 0o600))

	s = open(t, path)
	var last store.Pos
	for e, err := range s.Read(t.Context(), "s01", 0) {
		if err != nil {
			require.ErrorContains(t, err, `reading session "s01": the frame at 5: its checksum does not fit`)
			continue
		}
		last = e.Pos
	}
	require.Equal(t, store.Pos(4), last, "what is before it can be read, and nothing after")
	require.Len(t, read(t, s, "s02"), 4)
	report, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Contains(t, report.Problems, `session "s01": the frame at 5: its checksum does not fit: it is damaged`)
}

// TestCheckFinds has the indexes and the frames disagree.
func TestCheckFinds(t *testing.T) {
	put := func(bucket, key, value string) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), []byte(value)) }
	}
	del := func(bucket, key string) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete([]byte(key)) }
	}
	first := func(bucket string) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			k, _ := tx.Bucket([]byte(bucket)).Cursor().First()
			return tx.Bucket([]byte(bucket)).Delete(bytes.Clone(k))
		}
	}
	one := "\x00\x00\x00\x00\x00\x00\x00\x01"
	for _, c := range []struct {
		name  string
		spoil func(tx *bbolt.Tx) error
		says  string
	}{
		{"a frame is missing", del("frames", "\x00\x03s01\x00\x00\x00\x00\x00\x00\x00\x02"), `session "s01": after 1 comes 3`},
		{"a frame cannot be", put("frames", "\x00\x03s0", "x"), "frames has the key 0003733"},
		{"a key is missing", del("keys", "\x00\x03s017"), `session "s01": the key "7" of 8 is not in the index`},
		{"a key is elsewhere", put("keys", "\x00\x03s017", one), `session "s01": the key "7" of 8 is not in the index`},
		{"a key without a frame", put("keys", "\x00\x03s01x", one), "keys has 121 entries, but the frames say 120"},
		{"a summary is missing", del("sessions", "s01"), `session "s01": its summary is `},
		{"a summary is damaged", put("sessions", "s01", "x"), `the summary of session "s01": it ends too early`},
		{"a summary without frames", put("sessions", "x", "x"), "sessions has 13 entries, but the frames say 12"},
		{"recent lacks one", first("recent"), "it is not in the index recent"},
		{"open lacks one", del("open", "s01"), `session "s01": it is not in the index open`},
		{"open has one more", put("open", "s00", ""), "open has 7 entries, but the frames say 6"},
		{"due lacks one", first("due"), "it is not in the index due"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filled(t)
			edit(t, path, c.spoil)
			fromFile, err := bolt.CheckFile(t.Context(), path)
			require.NoError(t, err)
			require.NotEmpty(t, fromFile.Problems)
			require.Contains(t, fromFile.Problems[0], c.says)
			report, err := open(t, path).Check(t.Context())
			require.NoError(t, err)
			require.ElementsMatch(t, fromFile.Problems, report.Problems)
		})
	}
}

// spoil damages some pages in one of the ways in which disks do. Branch pages only become nonsense
// as a whole; see the BUG note in the package.
func spoil(data []byte) {
	const pageSize = 4096
	page := func() []byte { return data[rand.IntN(len(data)/pageSize)*pageSize:][:pageSize] }
	for range 1 + rand.IntN(3) {
		p := page()
		isBranch := binary.NativeEndian.Uint16(p[8:]) == 1
		switch way := rand.IntN(5); {
		case way == 0:
			clear(p)
		case way == 1:
			copy(p, page()) // a write that went astray
		case way == 2:
			for i := range p {
				p[i] = byte(rand.Int())
			}
		case way == 3 && !isBranch:
			p[rand.IntN(128)] = byte(rand.Int()) // the head of the page and its list of contents
		case !isBranch:
			p[rand.IntN(pageSize)] ^= 1 << rand.IntN(8)
		}
	}
}

// TestDamagedTree has branch pages lead back to themselves, where bbolt would go round for ever.
func TestDamagedTree(t *testing.T) {
	const pageSize = 4096
	path := filled(t)
	sound, err := os.ReadFile(path)
	require.NoError(t, err)
	found := 0
	for at := 2 * pageSize; at < len(sound); at += pageSize {
		id := uint64(at / pageSize)
		page := sound[at:]
		if binary.NativeEndian.Uint64(page) != id || binary.NativeEndian.Uint16(page[8:]) != 1 {
			continue
		}
		data := bytes.Clone(sound)
		binary.NativeEndian.PutUint64(data[at+16+8:], id) // the first element leads there
		require.NoError(t, os.WriteFile(path, data, 0o600))
		report, err := bolt.CheckFile(t.Context(), path)
		require.NoError(t, err)
		if len(report.Problems) > 0 { // it is not a page that is free
			require.Equal(t, fmt.Sprintf("the file is damaged: page %d is in two places", id), report.Problems[0])
			found++
		}
	}
	require.Positive(t, found)
}

// TestDamageWhileOpen has the disk lose all pages under an open log.
func TestDamageWhileOpen(t *testing.T) {
	path := filled(t)
	s := open(t, path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	_, err = f.WriteAt(make([]byte, info.Size()-8192), 8192)
	require.NoError(t, err)
	require.NoError(t, f.Close())

	require.ErrorContains(t, first(s.Read(t.Context(), "s01", 0)), "the file is damaged")
	require.NoError(t, s.Healthy(), "nobody has tried to write")
	for range 2 {
		_, err = s.Append(t.Context(), "s01", 10, words("", "x"))
		require.ErrorContains(t, err, "takes no more writes since one failed: the file is damaged")
		require.Equal(t, s.Healthy().Error(), errors.Unwrap(err).Error())
	}
	report, err := s.Check(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, report.Problems)
}

// TestAnyDamage damages the file anywhere. What comes of it are errors or nothing; but never does
// it end the process, and a frame is read as it was written or not at all.
func TestAnyDamage(t *testing.T) {
	path := filled(t)
	s := open(t, path)
	var sound bytes.Buffer // only as large as it is full
	require.NoError(t, s.Backup(t.Context(), &sound))
	want := map[string][]store.Entry{}
	for sum, err := range s.Sessions(t.Context(), store.Query{}) {
		require.NoError(t, err)
		want[sum.Session] = read(t, s, sum.Session)
	}
	require.NoError(t, s.Close())

	rounds := 150
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		data := bytes.Clone(sound.Bytes())
		spoil(data)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		if _, err := bolt.CheckFile(t.Context(), path); err != nil {
			_, err := bolt.Open(path, bolt.Config{})
			require.Error(t, err)
			continue
		}
		s, err := bolt.Open(path, bolt.Config{})
		if err != nil {
			continue
		}
		for session, entries := range want {
			i := 0
			for e, err := range s.Read(t.Context(), session, 0) {
				if err != nil {
					break
				}
				require.Equal(t, entries[i], e)
				i++
			}
			_, _ = s.Append(t.Context(), session, 10, words("", "x")) // it may fail
		}
		for range s.Open(t.Context(), time.Now()) {
		}
		for range s.Sessions(t.Context(), store.Query{Limit: 5}) {
		}
		_, err = s.Check(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}
