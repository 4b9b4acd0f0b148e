package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/heddle-bot/heddle/tools"
)

// This file is what write and edit have in common: a change is planned from a file's content as it is
// now, shown as a diff, and done only to the very same content.

// A changer changes files.
type changer struct {
	max   int64
	skip  []string // Config.Skip
	locks locks
}

// A current is what a path stands for at the moment.
type current struct {
	rel    string
	exists bool
	data   []byte
	digest string      // of data; "" if there is no file
	info   fs.FileInfo // nil if there is no file
	mask   tools.Mask  // of what an error shows of data
}

// A change is what a call asks for.
type change struct {
	path   string
	exists bool // there must be such a file
	// plan returns the new content, and what is to be said of it once it is there.
	plan func(now *current) (content []byte, said string, err error)
}

// changeTool returns the tool whose arguments are a T.
func changeTool[T interface{ change() change }](ch *changer, name string) (tools.Tool, error) {
	t, err := tools.Define[T](name, tools.Action)
	t.Title = title(func(args T) string { return name + " " + args.change().path })
	t.Preview = func(ctx context.Context, call tools.Call) (tools.Preview, error) {
		args, err := tools.Decode[T](call.Args)
		if err != nil {
			return tools.Preview{}, err
		}
		return ch.preview(ctx, name, call, args.change())
	}
	t.Run = func(ctx context.Context, call tools.Call) (tools.Result, error) {
		args, err := tools.Decode[T](call.Args)
		if err != nil {
			return tools.Result{}, err
		}
		return ch.run(ctx, name, call, args.change())
	}
	return t, err
}

// preview shows what run would do.
func (ch *changer) preview(ctx context.Context, tool string, call tools.Call, c change) (tools.Preview, error) {
	w, err := openWorkspace(call)
	if err != nil {
		return tools.Preview{}, err
	}
	defer w.Close()
	now, err := ch.load(ctx, w, c)
	if err != nil {
		return tools.Preview{}, err
	}
	content, _, err := ch.plan(now, call, c)
	if err != nil {
		return tools.Preview{}, err
	}
	text, err := now.diff(content)
	return tools.Preview{Kind: tools.Diff, Text: text, Digest: now.binding(tool, w, call)}, err
}

// run does it.
func (ch *changer) run(ctx context.Context, tool string, call tools.Call, c change) (tools.Result, error) {
	w, err := openWorkspace(call)
	if err != nil {
		return tools.Result{}, err
	}
	defer w.Close()
	rel, err := w.resolve(c.path)
	if err != nil {
		return tools.Result{}, err
	}
	unlock, err := ch.locks.lock(ctx, path.Join(w.dir, rel))
	if err != nil {
		return tools.Result{}, err
	}
	defer unlock()
	now, err := ch.load(ctx, w, c)
	if err != nil {
		return tools.Result{}, err
	}
	if call.Digest != "" && call.Digest != now.binding(tool, w, call) {
		return tools.Result{}, fmt.Errorf("%s: %w", now.rel, tools.ErrChanged)
	}
	content, said, err := ch.plan(now, call, c)
	if err != nil {
		return tools.Result{}, err
	}
	diff, err := now.diff(content)
	if err != nil {
		return tools.Result{}, err
	}
	if err := ch.replace(w, now, content); err != nil {
		return tools.Result{}, err
	}
	return tools.Result{
		Text: said,
		Note: lines(diff),
		Seen: map[string]string{now.rel: digest(content)},
	}, nil
}

// lines counts what a unified diff of one file adds and takes away: "+3 −1".
func lines(diff string) string {
	var added, removed int
	inHunk := false
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@"):
			inHunk = true
		case inHunk && line[0] == '+':
			added++
		case inHunk && line[0] == '-':
			removed++
		}
	}
	return fmt.Sprintf("+%d −%d", added, removed)
}

// load looks at the file that is to be changed.
func (ch *changer) load(ctx context.Context, w *workspace, c change) (*current, error) {
	rel, err := w.resolve(c.path)
	if err != nil {
		return nil, err
	}
	f, info, err := w.open(rel)
	if errors.Is(err, fs.ErrNotExist) && !c.exists {
		return &current{rel: rel}, nil
	}
	if err != nil {
		return nil, w.explain(ctx, c.path, rel, ch.skip, err)
	}
	defer f.Close()
	data, err := ch.content(f, info, rel)
	if err != nil {
		return nil, err
	}
	return &current{rel: rel, exists: true, data: data, digest: digest(data), info: info, mask: w.mask}, nil
}

// content reads a file that is not too large.
func (ch *changer) content(f *os.File, info fs.FileInfo, rel string) ([]byte, error) {
	if info.Size() > ch.max {
		return nil, fmt.Errorf("%s has %s, and files of more than %s are not changed by write and edit", rel, size(info.Size()), size(ch.max))
	}
	data, err := io.ReadAll(io.LimitReader(f, ch.max+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", rel, err)
	}
	return data, nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// binding is the digest of all that a change depends on: what is asked for, where, and the content
// that it is made to. The new content follows from these.
func (now *current) binding(tool string, w *workspace, call tools.Call) string {
	was := "absent"
	if now.exists {
		was = "sha256:" + now.digest
	}
	return tools.Digest(tool, tools.Canonical(call.Args), w.dir, now.rel, was)
}

// plan checks that the file may be changed and works out its new content.
func (ch *changer) plan(now *current, call tools.Call, c change) ([]byte, string, error) {
	if now.exists {
		if err := now.mayChange(call.Seen[now.rel]); err != nil {
			return nil, "", err
		}
	}
	content, said, err := c.plan(now)
	switch {
	case err != nil:
		return nil, "", err
	case int64(len(content)) > ch.max:
		return nil, "", fmt.Errorf("%s would have %s, and files of more than %s are not written", now.rel, size(int64(len(content))), size(ch.max))
	case bytes.IndexByte(content, 0) >= 0:
		return nil, "", fmt.Errorf("%s would hold a NUL character: only text can be written", now.rel)
	case now.exists && bytes.Equal(content, now.data):
		return nil, "", fmt.Errorf("nothing to do: %s has exactly this content already", now.rel)
	}
	return content, said, nil
}

// mayChange says why an existing file must not be changed by a session that has seen it with the
// given digest.
func (now *current) mayChange(seen string) error {
	switch {
	case isBinary(now.data):
		return fmt.Errorf("%s is a binary file: write and edit change only text", now.rel)
	case now.info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("%s is write-protected (mode %s)", now.rel, now.info.Mode())
	case seen == "":
		return fmt.Errorf("%s exists, but has not been read in this session: read it first, so that nothing is overwritten unseen", now.rel)
	case seen != now.digest:
		return fmt.Errorf("%s has changed since it was read: read it again, then repeat the change if it still fits", now.rel)
	}
	return nil
}

// diff shows what the file's new content changes.
func (now *current) diff(content []byte) (string, error) {
	from, to := "a/"+now.rel, "b/"+now.rel
	if !now.exists {
		from = "/dev/null"
		if len(content) == 0 {
			return fmt.Sprintf("--- %s\n+++ %s\n", from, to), nil
		}
	}
	// Bytes that are not UTF-8 could not be shown, and would not survive being stored as JSON.
	was, is := escape(string(now.data)), escape(string(content))
	text, err := udiff.ToUnified(from, to, was, udiff.Lines(was, is), udiff.DefaultContextLines)
	if err != nil {
		return "", fmt.Errorf("comparing %s with its new content: %w", now.rel, err)
	}
	return text, nil
}
