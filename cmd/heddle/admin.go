package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/heddle-bot/heddle/internal/redact"
	"github.com/heddle-bot/heddle/store/bolt"
)

// While heddle serves it has the log to itself, so the commands that need the log ask it, over a
// unix socket beside the file. An answer streams as the body of an HTTP response; how it went is a
// trailer, since an answer may fail in the middle. A connection that breaks off is an error anyway.

// failed is the trailer with the error, escaped; it is not there if all went well.
const failed = "Heddle-Error"

func socketPath(storePath string) string { return storePath + ".sock" }

// maxSocket is the length of a unix socket's path that every system takes.
const maxSocket = 100

// reachable returns an address for the socket at path, and a function that gives it back. One that
// is too long for the system is reached through the descriptor of its directory, where the system
// can (Linux).
func reachable(path string) (addr string, done func(), err error) {
	if len(path) <= maxSocket {
		return path, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), func() { dir.Close() }, nil
}

// newSocket is between the name of a socket and the rest of that of a directory in which it is made.
const newSocket = ".new-"

// listen opens the socket of the log at storePath. The caller has the log open, so a socket that is
// there already is what a killed heddle has left behind. A socket is open to everybody until its mode
// is set, so it is made in a directory that only its owner can enter, and then put in its place.
func listen(storePath string) (l net.Listener, err error) {
	path := socketPath(storePath)
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("%s is not a socket, and heddle needs that name for one: move it away", path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+newSocket+"*") // 0700
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "socket")
	addr, done, err := reachable(made)
	if err != nil {
		return nil, err
	}
	defer done()
	unix, err := net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w; if its path is too long, choose a shorter store.path", path, err)
	}
	unix.SetUnlinkOnClose(false) // addr will be gone by then
	if err := os.Chmod(made, 0o600); err != nil {
		return nil, errors.Join(err, unix.Close())
	}
	if err := os.Rename(made, path); err != nil {
		return nil, errors.Join(err, unix.Close())
	}
	return socket{unix, path}, nil
}

// A socket is a listener that removes its file.
type socket struct {
	net.Listener
	path string
}

// Close ends the listener and removes the file.
func (s socket) Close() error {
	err := s.Listener.Close()
	if rm := os.Remove(s.path); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// ServeHTTP answers the question in the request's body.
func (d desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q question
	if err := json.NewDecoder(io.LimitReader(r.Body, 64<<10)).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Trailer", failed)
	if err := d.answer(r.Context(), q, w); err != nil {
		w.Header().Set(failed, url.QueryEscape(err.Error()))
	}
}

// ask writes the answer to q to w: from the heddle that serves, if one does, else from the file.
func ask(ctx context.Context, storePath string, r *redact.Redactor, q question, w io.Writer) error {
	served, err := askServer(ctx, storePath, q, w)
	if served || err != nil {
		return err
	}
	if _, err := os.Stat(storePath); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no log at %s yet: \"heddle serve\" makes it", storePath)
	}
	if q.Ask == askCheck {
		report, err := bolt.CheckFile(ctx, storePath)
		if err != nil {
			return unanswered(err, storePath)
		}
		return writeReport(report, w)
	}
	s, err := bolt.Open(storePath, bolt.Config{ReadOnly: true})
	if err != nil {
		return unanswered(err, storePath)
	}
	if q.Ask == askBackup { // to a file; all others may go to a pager
		return errors.Join(desk{s, r}.answer(ctx, q, w), s.Close())
	}
	return putAside(w, func(w io.Writer) error {
		return errors.Join(desk{s, r}.answer(ctx, q, w), s.Close())
	})
}

// unanswered says what a log in use means to who has found that nobody answers for it.
func unanswered(err error, storePath string) error {
	if !errors.Is(err, bolt.ErrInUse) {
		return err
	}
	return fmt.Errorf("the log %s is %w, but nothing answers at %s: try again, and if it stays so, restart that heddle", storePath, bolt.ErrInUse, socketPath(storePath))
}

// putAside gives answer a file to write to, and copies that to w when answer is done. A pager that
// waits for its reader would otherwise keep the log open, and so a heddle from starting.
func putAside(w io.Writer, answer func(w io.Writer) error) error {
	f, err := os.CreateTemp("", "heddle-answer-*") // 0600
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil { // the file stays until it is closed
		return err
	}
	err = answer(f)
	if _, seek := f.Seek(0, io.SeekStart); seek != nil {
		return errors.Join(err, seek)
	}
	_, copied := io.Copy(w, f)
	return errors.Join(err, copied)
}

// askServer asks the heddle that serves. It reports whether there is one.
func askServer(ctx context.Context, storePath string, q question, w io.Writer) (served bool, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://heddle/", bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		addr, done, err := reachable(socketPath(storePath))
		if err != nil {
			return nil, err
		}
		defer done()
		return new(net.Dialer).DialContext(ctx, "unix", addr)
	}}
	defer t.CloseIdleConnections()
	resp, err := t.RoundTrip(req)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("asking the heddle that serves: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)) // the status says enough
		return true, fmt.Errorf("the heddle that serves: %s: %s", resp.Status, strings.TrimSpace(string(text)))
	}
	if _, err := io.Copy(w, resp.Body); err != nil {
		return true, fmt.Errorf("the answer broke off: %w", err)
	}
	if text := resp.Trailer.Get(failed); text != "" {
		if plain, err := url.QueryUnescape(text); err == nil {
			text = plain
		}
		return true, errors.New(text)
	}
	return true, nil
}
