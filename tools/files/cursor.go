package files

import (
	"strings"

	"golang.org/x/sys/unix"
)

// A cursor opens directories and files of a tree by their paths without following symbolic links. It
// keeps the directories on the way to the last one open, so that going through a tree in order costs
// little more than one system call for each. It is not safe for concurrent use. What it opens is a
// bare file descriptor: an os.File costs as much as reading a small file.
type cursor struct {
	root int // of the tree; not closed
	at   []level
}

type level struct {
	name string
	fd   int
}

// Flags for opening what a walk meets. Without O_NONBLOCK a pipe would be waited for.
const (
	dirFlags  = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fileFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NOCTTY
)

// dir returns the descriptor of a directory. It is the cursor's, and valid until the next call.
func (c *cursor) dir(rel string) (int, error) {
	if rel == "." {
		rel = ""
	}
	depth := 0
	for depth < len(c.at) && rel != "" {
		name, rest, _ := strings.Cut(rel, "/")
		if name != c.at[depth].name {
			break
		}
		rel = rest
		depth++
	}
	c.leave(depth)
	for rel != "" {
		name, rest, _ := strings.Cut(rel, "/")
		fd, err := openat(c.here(), name, dirFlags)
		if err != nil {
			return -1, err
		}
		c.at = append(c.at, level{name, fd})
		rel = rest
	}
	return c.here(), nil
}

// here returns the descriptor of the directory where the cursor is.
func (c *cursor) here() int {
	if len(c.at) == 0 {
		return c.root
	}
	return c.at[len(c.at)-1].fd
}

// leave closes the directories below the given depth.
func (c *cursor) leave(depth int) {
	for _, l := range c.at[depth:] {
		unix.Close(l.fd)
	}
	c.at = c.at[:depth]
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// openFile opens the regular file of that name where the cursor is, and returns its size.
func (c *cursor) openFile(name string) (fd int, size int64, err error) {
	if fd, err = openat(c.here(), name, fileFlags); err != nil {
		return -1, 0, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = unix.EINVAL
	}
	if err != nil {
		unix.Close(fd)
		return -1, 0, err
	}
	return fd, st.Size, nil
}

// readFull reads until b is full or the file ends.
func readFull(fd int, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := unix.Read(fd, b[n:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return n, err
		case m == 0:
			return n, nil
		}
		n += m
	}
	return n, nil
}
