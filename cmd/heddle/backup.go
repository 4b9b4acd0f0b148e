package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/heddle-bot/heddle/store/bolt"
)

// A backup is two things beside each other, as the log is: a file, and the directory of the artefacts
// that the file refers to. Artefacts never change and are never removed, so those that are there after
// the log was copied are all that the copy needs.

func artefactsPath(storePath string) string { return storePath + ".artefacts" }

// A backup is made under another name, partSuffix, in a directory beside the place where it will be,
// examined there, and then renamed: first the artefacts, and when that is durable, the file. So the
// file is there only if all of it is. A crash before that leaves the directory, or file.artefacts
// without the file: neither is taken for a backup, and the next attempt says what is in the way.

// partSuffix is between the name of a backup and the rest of that of the directory in which it is made.
const partSuffix = ".part-"

// backup copies the log and its artefacts to file and file.artefacts, whole or not at all.
func (p program) backup(ctx context.Context, storePath, file string) (err error) {
	if file == "" {
		return errors.New("the name of the file to write is empty")
	}
	if err := free(file); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), filepath.Base(file)+partSuffix+"*") // 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	part := filepath.Join(dir, "log")
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = ask(ctx, storePath, nil, question{Ask: askBackup}, f)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Mkdir(artefactsPath(part), 0o700); err != nil {
		return err
	}
	if err := copyArtefacts(ctx, artefactsPath(storePath), artefactsPath(part)); err != nil {
		return fmt.Errorf("copying the artefacts: %w", err)
	}
	report, err := bolt.CheckFile(ctx, part)
	if err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return fmt.Errorf("the copy is damaged, and so the log may be: \"heddle store check\" tells:\n%s",
			strings.ReplaceAll(strings.Join(report.Problems, "\n"), part, file))
	}
	if err := publish(part, file); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s and %s are a whole backup: %d sessions, %d events, %d artefacts\n",
		file, artefactsPath(file), report.Sessions, report.Events, report.Artefacts)
	return err
}

// free returns an error if there is something in the place of a backup.
func free(file string) error {
	for _, path := range []string{file, artefactsPath(file)} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s is there already, and a backup overwrites nothing: choose another name (%w)", path, fs.ErrExist)
		}
	}
	return nil
}

// publish gives the finished backup its name. A rename replaces a file, so it looks once more; whoever
// comes between that and the rename has chosen the same name for something else within microseconds.
func publish(part, file string) error {
	if err := free(file); err != nil {
		return err
	}
	if err := os.Rename(artefactsPath(part), artefactsPath(file)); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(file)); err != nil {
		return errors.Join(err, os.RemoveAll(artefactsPath(file)))
	}
	if err := os.Rename(part, file); err != nil {
		return errors.Join(err, os.RemoveAll(artefactsPath(file)))
	}
	return syncDir(filepath.Dir(file))
}

// copyArtefacts copies what is complete, and makes it durable. Without from there is nothing to copy.
func copyArtefacts(ctx context.Context, from, to string) error {
	dirs, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range dirs {
		if !d.IsDir() {
			continue // what is being written
		}
		if err := copyDir(ctx, filepath.Join(from, d.Name()), filepath.Join(to, d.Name())); err != nil {
			return err
		}
	}
	return syncDir(to)
}

// copyDir copies the artefacts whose names begin with that of the directory.
func copyDir(ctx context.Context, from, to string) error {
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !f.Type().IsRegular() || !isDigest(f.Name()) {
			continue
		}
		if err := linkOrCopy(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
			return err
		}
	}
	return syncDir(to)
}

// isDigest reports whether name is a SHA-256 as artefacts are named.
func isDigest(name string) bool {
	sum, err := hex.DecodeString(name)
	return err == nil && len(sum) == 32 && hex.EncodeToString(sum) == name
}

// linkOrCopy makes to a second name of the file, which never changes, or a copy of it where that
// cannot be: on another file system, or on one without hard links.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Sync(), w.Close())
}

// syncDir makes durable which files are in a directory.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkSuffix is between the name of a log and the rest of that of a directory for a check.
const checkSuffix = ".check-"

// checkCopy examines a copy of an open log: bolt.Store.Check would keep all sessions from going on
// until it ends. The copy is in a directory beside the log, for the time of the check.
func checkCopy(ctx context.Context, s *bolt.Store) (r bolt.Report, err error) {
	path, err := filepath.Abs(s.Path())
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+checkSuffix+"*") // 0700
	if err != nil {
		return r, noRoom(err, path)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "copy")
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return r, noRoom(err, path)
	}
	if err := errors.Join(s.Backup(ctx, f), f.Close()); err != nil {
		return r, noRoom(err, path)
	}
	if err := os.Symlink(artefactsPath(path), artefactsPath(file)); err != nil {
		return r, noRoom(err, path)
	}
	if r, err = bolt.CheckFile(ctx, file); err != nil {
		return r, fmt.Errorf("a copy of the log %s: %w", path, err)
	}
	for i, p := range r.Problems {
		r.Problems[i] = strings.ReplaceAll(p, file, path) // of the log, not of the copy
	}
	return r, nil
}

// noRoom says what to do if the disk is full.
func noRoom(err error, path string) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return fmt.Errorf("there is no room in %s for a copy of the log, which a check needs while heddle serves: free some, or stop heddle and check again, which needs none: %w", filepath.Dir(path), err)
}

// sweepBeside removes what a crash has left beside the log: copies of checks, and where a socket was
// made. The caller has the log open, and no check has begun.
func sweepBeside(storePath string) error {
	entries, err := os.ReadDir(filepath.Dir(storePath))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(storePath)+checkSuffix) ||
			strings.HasPrefix(e.Name(), filepath.Base(socketPath(storePath))+newSocket) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(storePath), e.Name())))
		}
	}
	return err
}
