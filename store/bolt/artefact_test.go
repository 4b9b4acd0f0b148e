package bolt_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/heddle-bot/heddle/store/bolt"
)

func TestArtefact(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "log")
	s := open(t, path)
	for _, data := range [][]byte{{}, []byte("hello"), bytes.Repeat([]byte("x"), 1<<20)} {
		name, err := s.PutArtefact(ctx, data)
		require.NoError(t, err)
		again, err := s.PutArtefact(ctx, data)
		require.NoError(t, err)
		require.Equal(t, name, again)
		got, err := s.Artefact(ctx, name)
		require.NoError(t, err)
		require.True(t, bytes.Equal(data, got))

		file := filepath.Join(path+".artefacts", name[:2], name)
		for at, mode := range map[string]fs.FileMode{
			file: 0o600, filepath.Dir(file): 0o700 | fs.ModeDir, path + ".artefacts": 0o700 | fs.ModeDir,
		} {
			info, err := os.Stat(at)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode(), at)
		}
	}
	require.Equal(t, 3, requireClean(t, s).Artefacts)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	_, err := s.PutArtefact(cancelled, []byte("late"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestArtefactNames(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "log"))
	name, err := s.PutArtefact(t.Context(), []byte("hello"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("x"), 0o600))
	for _, bad := range []string{
		"", ".", "..", "../secret", "../../secret", "/etc/passwd", filepath.Join(dir, "secret"),
		name[:63], name + "0", strings.ToUpper(name), name[:62] + "/x", name[:2] + "/" + name, name + "\x00",
		strings.Repeat("0", 64), // a good one that was never put
	} {
		_, err := s.Artefact(t.Context(), bad)
		require.ErrorIs(t, err, fs.ErrNotExist, "%q", bad)
	}
}

func TestArtefactsAtOnce(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "log"))
	var g errgroup.Group
	for i := range 32 {
		g.Go(func() error {
			_, err := s.PutArtefact(context.Background(), bytes.Repeat([]byte{byte(i % 4)}, 10_000))
			return err
		})
	}
	require.NoError(t, g.Wait())
	require.Equal(t, 4, requireClean(t, s).Artefacts)
}

func TestDamagedArtefact(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "log")
	s := open(t, path)
	damaged, err := s.PutArtefact(ctx, []byte("hello"))
	require.NoError(t, err)
	lost, err := s.PutArtefact(ctx, []byte("world"))
	require.NoError(t, err)
	file := func(name string) string { return filepath.Join(path+".artefacts", name[:2], name) }
	require.NoError(t, os.WriteFile(file(damaged), []byte("hullo"), 0o600))
	require.NoError(t, os.Remove(file(lost)))

	_, err = s.Artefact(ctx, damaged)
	require.ErrorContains(t, err, "is damaged")
	require.NotErrorIs(t, err, fs.ErrNotExist)
	report, err := s.Check(ctx)
	require.NoError(t, err)
	require.Len(t, report.Problems, 2)
	require.Contains(t, strings.Join(report.Problems, "\n"), "the artefact "+file(damaged)+" is damaged")
	require.Contains(t, strings.Join(report.Problems, "\n"), file(lost)+": no such file")

	for _, data := range []string{"hello", "world"} { // putting it again repairs it
		_, err = s.PutArtefact(ctx, []byte(data))
		require.NoError(t, err)
	}
	requireClean(t, s)

	leftover := path + ".artefacts/put-1"
	require.NoError(t, os.WriteFile(leftover, []byte("ha"), 0o600))
	require.NoError(t, s.Close())
	s, err = bolt.Open(path, bolt.Config{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoFileExists(t, leftover)
}
