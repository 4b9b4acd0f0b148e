package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// An inbox is the directory of a workspace into which the files of one session's messages are saved.
// What lies there is not part of the project, so a .gitignore keeps it out of git.
type inbox struct {
	dir     string   // the workspace
	hidden  []string // see Settings.Hidden
	session string
}

// inboxDir has the inboxes of all sessions of a workspace.
const inboxDir = ".heddle/inbox"

// maxSameName is how many files of one name an inbox takes.
const maxSameName = 1000

// save writes the file and returns its slash-separated path in the workspace. It overwrites nothing:
// another file of that name has it add a number to the name. Saved once more, the same content is the
// same file.
func (b inbox) save(name string, data []byte) (string, error) {
	rel := path.Join(inboxDir, safeName(strings.ReplaceAll(b.session, "/", "-")))
	if b.isHidden(rel) {
		return "", fmt.Errorf("%s is off limits", rel)
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return "", fmt.Errorf("the workspace cannot be opened: %w", err)
	}
	defer root.Close()
	if err := makeInbox(root, rel); err != nil {
		return "", err
	}
	name = safeName(name)
	ext := path.Ext(name)
	for n := 1; n <= maxSameName; n++ {
		at := path.Join(rel, name)
		if n > 1 {
			at = path.Join(rel, fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext))
		}
		switch err := create(root, at, data); {
		case err == nil:
			return at, nil
		case !errors.Is(err, fs.ErrExist):
			return "", err
		case holds(root, at, data):
			return at, nil
		}
	}
	return "", fmt.Errorf("there are %d files of the name %s", maxSameName, name)
}

func (b inbox) isHidden(rel string) bool {
	for _, h := range b.hidden {
		if in, err := filepath.Rel(h, filepath.Join(b.dir, rel)); err == nil && filepath.IsLocal(in) {
			return true
		}
	}
	return false
}

// makeInbox makes the directories down to rel. It goes through no symbolic link.
func makeInbox(root *os.Root, rel string) error {
	at := "."
	for name := range strings.SplitSeq(rel, "/") {
		at = path.Join(at, name)
		if err := root.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		info, err := root.Lstat(at)
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%s is not a directory", at)
		}
	}
	err := create(root, path.Join(inboxDir, ".gitignore"), []byte("*\n"))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// create writes a file that must not be there, whole or not at all.
func create(root *os.Root, at string, data []byte) error {
	f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(at))
	}
	return nil
}

// holds reports whether a regular file has just this content.
func holds(root *os.Root, at string, data []byte) bool {
	info, err := root.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(data)) {
		return false
	}
	f, err := root.Open(at)
	if err != nil {
		return false
	}
	defer f.Close()
	old, err := io.ReadAll(io.LimitReader(f, int64(len(data))+1))
	return err == nil && bytes.Equal(old, data)
}
