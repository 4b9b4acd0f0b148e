package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

// withArtefact keeps a long output in the log at path and returns its file.
func withArtefact(t *testing.T, s *bolt.Store, text string) string {
	t.Helper()
	name, err := s.PutArtefact(context.Background(), []byte(text))
	require.NoError(t, err)
	return filepath.Join(s.Path()+".artefacts", name[:2], name)
}

// modes returns what is in a directory, with permissions.
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		name, err := filepath.Rel(dir, path)
		all[name] = info.Mode()
		return err
	}))
	return all
}

func TestBackupIsWhole(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, filepath.Join(dir, "heddle.db"))
	kept := withArtefact(t, s, "long")
	name := filepath.Base(kept)
	stray := filepath.Join(filepath.Dir(kept), "stray")
	require.NoError(t, os.WriteFile(stray, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "heddle.db.artefacts/put-1"), nil, 0o600))
	stop := serveDesk(t, s.Path(), desk{s, masking()})
	file := filepath.Join(t.TempDir(), "copy")
	var out bytes.Buffer
	require.NoError(t, program{stdout: &out}.backup(context.Background(), s.Path(), file))
	require.Contains(t, out.String(), "are a whole backup: 2 sessions, 9 events, 1 artefacts")
	require.Equal(t, map[string]fs.FileMode{".": fs.ModeDir | 0o700, name[:2]: fs.ModeDir | 0o700, name[:2] + "/" + name: 0o600},
		modes(t, file+".artefacts"))
	stop()
	require.NoError(t, s.Close())

	restored, err := bolt.Open(file, bolt.Config{})
	require.NoError(t, err)
	defer restored.Close()
	data, err := restored.Artefact(context.Background(), name)
	require.NoError(t, err)
	require.Equal(t, "long", string(data))
}

func TestBackupRefusesAndCleansUp(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, artefact, file string)
		want string
		left []string
	}{
		"a file in the way": {func(t *testing.T, _, file string) {
			require.NoError(t, os.WriteFile(file, nil, 0o600))
		}, "copy is there already, and a backup overwrites nothing: choose another name", []string{"copy"}},
		"artefacts in the way": {func(t *testing.T, _, file string) {
			require.NoError(t, os.Mkdir(file+".artefacts", 0o700))
		}, "copy.artefacts is there already", []string{"copy.artefacts"}},
		"a lost artefact": {func(t *testing.T, artefact, _ string) {
			require.NoError(t, os.Remove(artefact))
		}, "the copy is damaged", nil},
		"a damaged artefact": {func(t *testing.T, artefact, _ string) {
			require.NoError(t, os.WriteFile(artefact, []byte("lone"), 0o600))
		}, "its content is another", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, filepath.Join(t.TempDir(), "heddle.db"))
			artefact := withArtefact(t, s, "long")
			require.NoError(t, s.Close())
			dir := t.TempDir()
			file := filepath.Join(dir, "copy")
			c.harm(t, artefact, file)
			var out bytes.Buffer
			require.ErrorContains(t, program{stdout: &out}.backup(context.Background(), s.Path(), file), c.want)
			require.Empty(t, out.String())
			require.Equal(t, c.left, names(t, dir))
		})
	}
}

// While a backup is made nothing is there that looks like one, so a kill can leave nothing such.
func TestBackupIsNotThereBeforeItIsWhole(t *testing.T) {
	s := newStore(t, filepath.Join(t.TempDir(), "heddle.db"))
	defer s.Close()
	withArtefact(t, s, "long")
	dir := t.TempDir()
	file := filepath.Join(dir, "copy")
	during := make(chan []string, 2)
	var whole atomic.Bool
	defer serveDesk(t, s.Path(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		during <- names(t, dir)
		if !whole.Load() {
			_, _ = io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		}
		desk{s, nil}.ServeHTTP(w, r)
	}))()
	p := program{stdout: io.Discard}
	require.Error(t, p.backup(t.Context(), s.Path(), file))
	seen := <-during
	require.Len(t, seen, 1)
	require.Contains(t, seen[0], "copy.part-")
	require.Empty(t, names(t, dir))

	whole.Store(true)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "copy.part-1"), 0o700)) // of one that was killed
	require.NoError(t, p.backup(t.Context(), s.Path(), file))
	require.Equal(t, []string{"copy", "copy.artefacts", "copy.part-1"}, names(t, dir))
}

func TestPublishOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	part, file := filepath.Join(dir, "part"), filepath.Join(dir, "copy")
	require.NoError(t, os.WriteFile(part, []byte("new"), 0o600))
	require.NoError(t, os.Mkdir(artefactsPath(part), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.ErrorIs(t, publish(part, file), fs.ErrExist)
	require.Equal(t, []string{"copy", "part", "part.artefacts"}, names(t, dir))
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Another file system, or one without hard links: a copy.
func TestLinkOrCopy(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	require.NoError(t, os.WriteFile(from, []byte("x"), 0o600))
	require.NoError(t, linkOrCopy(from, to))
	require.ErrorIs(t, linkOrCopy(from, to), fs.ErrExist)

	shm, err := os.MkdirTemp("/dev/shm", "heddle-test-*")
	require.NoError(t, err, "the test needs a second file system")
	defer os.RemoveAll(shm)
	require.NoError(t, linkOrCopy(from, filepath.Join(shm, "to")))
	data, err := os.ReadFile(filepath.Join(shm, "to"))
	require.NoError(t, err)
	require.Equal(t, "x", string(data))
}

// While a log is checked the sessions go on, and nothing stays.
func TestCheckOfAnOpenLog(t *testing.T) {
	dir := t.TempDir()
	s := newStore(t, filepath.Join(dir, "heddle.db"))
	defer s.Close()
	artefact := withArtefact(t, s, "long")
	defer serveDesk(t, s.Path(), desk{s, masking()})()
	there := names(t, dir)

	checked := make(chan error, 1)
	go func() { checked <- ask(context.Background(), s.Path(), nil, question{Ask: askCheck}, io.Discard) }()
	for pos := store.Pos(0); len(checked) == 0; pos++ {
		_, err := s.Append(context.Background(), "slack/T1/C3/1.1", pos, store.Frame{Free: true})
		require.NoError(t, err)
	}
	require.NoError(t, <-checked)
	require.Equal(t, there, names(t, dir))

	require.NoError(t, os.WriteFile(artefact, []byte("lone"), 0o600))
	var out bytes.Buffer
	require.ErrorContains(t, ask(context.Background(), s.Path(), nil, question{Ask: askCheck}, &out), "the log is damaged")
	require.Contains(t, out.String(), "problem: the artefact "+artefact+" is damaged", "the log is named, not the copy")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := checkCopy(ctx, s)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, there, names(t, dir))
}

func TestNoRoomForACheck(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	err := noRoom(full, "/var/heddle/heddle.db")
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, "there is no room in /var/heddle for a copy of the log")
	require.Equal(t, errFull, noRoom(errFull, "x"))
}

// What a check or a start leaves when its process is killed goes at the next start; all else stays.
func TestSweepBeside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "heddle.db")
	require.NoError(t, os.MkdirAll(path+checkSuffix+"123", 0o700))
	require.NoError(t, os.WriteFile(path+checkSuffix+"123/copy", nil, 0o600))
	require.NoError(t, os.MkdirAll(path+".artefacts/ab", 0o700))
	require.NoError(t, os.MkdirAll(path+".sock.new-123/socket", 0o700))
	require.NoError(t, os.Symlink(path+".artefacts", artefactsPath(path+checkSuffix+"123/copy")))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, sweepBeside(path))
	require.Equal(t, "heddle.db heddle.db.artefacts", strings.Join(names(t, dir), " "))
	require.DirExists(t, path+".artefacts/ab", "the link is removed, not what it leads to")
	require.Error(t, sweepBeside(filepath.Join(dir, "none/heddle.db")))
}
