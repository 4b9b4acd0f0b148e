package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"

	"github.com/heddle-bot/heddle/tools"
)

// replace puts content into the place of what was loaded: it writes a file beside it, flushes that to
// the disk, makes sure that the old content is still what was loaded, and renames. Missing
// directories are made.
func (ch *changer) replace(w *workspace, was *current, content []byte) error {
	parent, name := path.Dir(was.rel), path.Base(was.rel)
	if !was.exists {
		if err := w.root.MkdirAll(parent, 0o777); err != nil {
			return fmt.Errorf("making the directory of %s: %w", was.rel, err)
		}
	}
	dir, err := w.folder(parent)
	if err != nil {
		return fmt.Errorf("opening the directory of %s: %w", was.rel, err)
	}
	defer dir.Close()
	temp, err := writeTemp(dir, was.info, content)
	if err != nil {
		return fmt.Errorf("writing %s: %w", was.rel, err)
	}
	if err = ch.unchanged(dir, name, was); err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		dir.Remove(temp) // that it failed is told already
		return fmt.Errorf("replacing %s: %w", was.rel, err)
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("%s has its new content, but may lose it if the machine fails now: %w", was.rel, err)
	}
	return nil
}

// unchanged looks at a file once more. The error wraps ErrChanged if it is not as it was.
func (ch *changer) unchanged(dir *os.Root, name string, was *current) error {
	f, info, err := openIn(dir, name, was.rel)
	if errors.Is(err, fs.ErrNotExist) && !was.exists {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", tools.ErrChanged, err)
	}
	defer f.Close()
	data, err := ch.content(f, info, was.rel)
	if err != nil {
		return err
	}
	if !was.exists || digest(data) != was.digest {
		return tools.ErrChanged
	}
	return nil
}

// writeTemp writes a new file and returns its name. It has the owner and the mode of old, if that is
// not nil.
func writeTemp(dir *os.Root, old fs.FileInfo, content []byte) (name string, err error) {
	name = ".heddle-" + rand.Text() + ".tmp"
	perm := fs.FileMode(0o666)
	if old != nil {
		perm = 0o600 // until it has its owner
	}
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil && old != nil {
		err = likeOld(f, old)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		dir.Remove(name)
		return "", err
	}
	return name, nil
}

// likeOld gives a file the owner and mode of the one that it replaces. Only root may give a file
// away, so for others it becomes theirs.
func likeOld(f *os.File, old fs.FileInfo) error {
	if st, ok := old.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
		if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	return f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky))
}

// syncDir makes a rename last.
func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// locks are one lock for each path that somebody holds or waits for.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	slot  chan struct{} // full while it is held
	users int           // who hold it or wait for it
}

// lock waits until nobody else has the path locked.
func (l *locks) lock(ctx context.Context, name string) (unlock func(), err error) {
	l.mu.Lock()
	k := l.held[name]
	if k == nil {
		k = &lock{slot: make(chan struct{}, 1)}
		l.held[name] = k
	}
	k.users++
	l.mu.Unlock()
	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if k.users--; k.users == 0 {
			delete(l.held, name)
		}
	}
	select {
	case k.slot <- struct{}{}:
		return func() { <-k.slot; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
