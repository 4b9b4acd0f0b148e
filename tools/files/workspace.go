package files

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/heddle-bot/heddle/tools"
)

// A workspace is the directory of a call, open. Paths within it are relative, slash-separated and
// clean; "." is the directory itself.
type workspace struct {
	root   *os.Root
	dir    string   // absolute, without symbolic links
	asked  string   // Call.Dir
	hidden []string // paths within dir
	mask   tools.Mask
}

// errOutside and errHidden say which rule forbids a path.
var (
	errOutside = errors.New("is outside of the workspace: give a path relative to it")
	errHidden  = errors.New("is off limits for tools")
)

// openWorkspace opens the directory of a call.
func openWorkspace(c tools.Call) (*workspace, error) {
	dir, err := filepath.EvalSymlinks(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	w := &workspace{dir: dir, asked: filepath.Clean(c.Dir), mask: c.Mask}
	for _, h := range c.Hidden {
		h = realPath(h)
		if _, ok := within(h, dir); ok {
			return nil, fmt.Errorf("the workspace %w", errHidden)
		}
		if rel, ok := within(dir, h); ok {
			w.hidden = append(w.hidden, rel)
		}
	}
	if w.root, err = os.OpenRoot(dir); err != nil {
		return nil, fmt.Errorf("opening the workspace: %w", err)
	}
	return w, nil
}

func (w *workspace) Close() error { return w.root.Close() }

// realPath resolves as much of an absolute path as exists.
func realPath(p string) string {
	p = filepath.Clean(p)
	if real, err := filepath.EvalSymlinks(p); err == nil || filepath.Dir(p) == p {
		return cmp.Or(real, p)
	}
	return filepath.Join(realPath(filepath.Dir(p)), filepath.Base(p))
}

// within returns the path of p relative to dir, if it is in there.
func within(dir, p string) (string, bool) {
	rel, err := filepath.Rel(dir, p)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// maxLinks is how many symbolic links a path may lead through, as in Linux.
const maxLinks = 40

// resolve returns the path within the workspace, free of symbolic links, that name leads to. What
// does not exist is no error; what leads out of the workspace or to what is hidden is.
func (w *workspace) resolve(name string) (string, error) {
	rel, err := w.local(name)
	if err != nil {
		return "", fmt.Errorf("%q %w", name, err)
	}
	done, todo, links := ".", strings.Split(rel, "/"), 0
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		switch {
		case next == "." || next == "":
			continue
		case next == ".." && done == ".":
			return "", fmt.Errorf("%q %w", name, errOutside)
		case next == "..":
			done = path.Dir(done)
			continue
		}
		at := path.Join(done, next)
		info, err := w.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			done = at // and so on: below it there is nothing, and no link
			continue
		case errors.Is(err, syscall.ENOTDIR):
			return "", fmt.Errorf("%q: %s is a file, not a directory", name, done)
		case err != nil:
			return "", fmt.Errorf("looking at %q: %w", name, err)
		case info.Mode()&fs.ModeSymlink == 0:
			done = at
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%q leads through more than %d symbolic links", name, maxLinks)
		}
		target, err := w.target(at)
		if err != nil {
			return "", fmt.Errorf("%q %w", name, err)
		}
		if filepath.IsAbs(target) {
			target, done = strings.TrimPrefix(target, "/"), "."
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	if w.isHidden(done) {
		return "", fmt.Errorf("%q %w", name, errHidden)
	}
	return done, nil
}

// target reads a symbolic link. An absolute target is returned as if the workspace were "/".
func (w *workspace) target(link string) (string, error) {
	target, err := w.root.Readlink(link)
	if err != nil {
		return "", fmt.Errorf("is a symbolic link that cannot be read: %w", err)
	}
	if !filepath.IsAbs(target) {
		return filepath.ToSlash(target), nil
	}
	rel, err := w.local(target)
	if err != nil {
		return "", fmt.Errorf("is a symbolic link to %q, which %w", target, err)
	}
	return "/" + rel, nil
}

// local returns a path as one relative to the workspace, without looking at any file.
func (w *workspace) local(name string) (string, error) {
	if strings.ContainsRune(name, 0) {
		return "", errors.New("is no path: it holds a NUL character")
	}
	if filepath.IsAbs(name) {
		for _, dir := range []string{w.asked, w.dir} {
			if rel, ok := within(dir, name); ok {
				return rel, nil
			}
		}
		return "", errOutside
	}
	rel := filepath.Clean(cmp.Or(name, "."))
	if !filepath.IsLocal(rel) {
		return "", errOutside
	}
	return filepath.ToSlash(rel), nil
}

// isHidden reports whether a resolved path is within what is hidden.
func (w *workspace) isHidden(rel string) bool {
	for _, h := range w.hidden {
		if rel == h || strings.HasPrefix(rel, h+"/") {
			return true
		}
	}
	return false
}

// errMoved says that a name stands for another file than a moment ago.
var errMoved = errors.New("was moved while it was being opened: try again")

// folder opens a directory by its resolved path. It takes one step at a time and makes sure that
// each leads into a directory, not through a link that was put there since.
func (w *workspace) folder(rel string) (*os.Root, error) {
	at, err := w.root.OpenRoot(".")
	if err != nil || rel == "." {
		return at, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		next, err := step(at, name)
		at.Close()
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func step(at *os.Root, name string) (*os.Root, error) {
	was, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	is, err := next.Stat(".")
	if err == nil && !os.SameFile(was, is) {
		err = fmt.Errorf("%s %w", name, errMoved)
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// A notFile is the error about a name that stands for no regular file.
type notFile struct {
	rel  string
	mode fs.FileMode
}

func (e *notFile) Error() string {
	kind := "not a regular file"
	switch {
	case e.mode.IsDir():
		kind = "a directory"
	case e.mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe, not a file"
	case e.mode&fs.ModeSocket != 0:
		kind = "a socket, not a file"
	case e.mode&fs.ModeDevice != 0:
		kind = "a device, not a file"
	}
	return fmt.Sprintf("%s is %s", e.rel, kind)
}

// open opens the regular file of a resolved path for reading. It never waits for the other end of a
// pipe. The error is a *notFile, or wraps fs.ErrNotExist, or another.
func (w *workspace) open(rel string) (*os.File, fs.FileInfo, error) {
	dir, err := w.folder(path.Dir(rel))
	if err != nil {
		return nil, nil, err
	}
	defer dir.Close()
	return openIn(dir, path.Base(rel), rel)
}

// openIn is open for the name in a directory.
func openIn(dir *os.Root, name, rel string) (*os.File, fs.FileInfo, error) {
	was, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !was.Mode().IsRegular() {
		return nil, nil, &notFile{rel, was.Mode()}
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(was, info) {
		err = fmt.Errorf("%s %w", rel, errMoved)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}
