package botstest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/heddle-bot/heddle/bots"
)

// An Archive is what people attach in a Chat, and what they have said. The zero Archive is ready.
type Archive struct {
	mu     sync.Mutex
	said   []bots.Said
	files  map[string][]byte // by File.Ref
	broken error             // see Break
}

func (a *Archive) add(s bots.Said) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said = append(a.said, s)
}

// Attach keeps content, and returns the File of it for a message.
func (a *Archive) Attach(name, typ string, content []byte) bots.File {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.files == nil {
		a.files = map[string][]byte{}
	}
	ref := "file/" + name
	a.files[ref] = content
	return bots.File{Ref: ref, Name: name, Type: typ, Size: int64(len(content))}
}

// Break has Fetch and Earlier fail with err from now on; nil mends them.
func (a *Archive) Break(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken = err
}

func (a *Archive) fetch(_ context.Context, ref string) (io.ReadCloser, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	content, ok := a.files[ref]
	switch {
	case a.broken != nil:
		return nil, a.broken
	case !ok:
		return nil, &bots.Error{Permanent: true, Err: errors.New("there is no such file")}
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (a *Archive) earlier(_ context.Context, t bots.Thread, before string, most int) (all []bots.Said, cut bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.broken != nil {
		return nil, false, a.broken
	}
	for _, s := range a.said {
		if s.Thread != t {
			continue
		}
		if s.ID == before {
			break
		}
		all = append(all, s)
	}
	if len(all) > most {
		return append(all[:1:1], all[len(all)-most+1:]...), true, nil
	}
	return all, false, nil
}
