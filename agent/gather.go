package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/heddle-bot/heddle/tools"
)

// A gatherer is a worker while it gets what messages bring along. The session is locked in recall and
// fetch, but for what runs in unlocked. Nothing that fails there stops a turn: it is an event.
type gatherer struct {
	*worker
	settings Settings
}

// Limits of what is quoted of the thread before a session. A request is sent anew at each step and
// the thread is background: some 5,000 tokens are enough to know what it is about.
const (
	maxQuotes     = 50       // messages
	maxQuote      = 4 << 10  // bytes of one
	maxQuoteBytes = 16 << 10 // of all
	quoteTime     = 20 * time.Second
)

// Limits of files that come with messages.
const (
	maxFiles     = 10               // of one message; networks let people send no more at once
	maxFile      = 20 << 20         // bytes: a file is held in memory while it is looked at
	maxFileBytes = 50 << 20         // of all files of one message
	fetchTime    = 90 * time.Second // for all files of one message: people wait
)

var (
	errSlow    = errors.New("it took too long")
	errUnknown = errors.New("the network cannot answer")
)

// recall asks what was said in the thread before the session began.
func (w gatherer) recall(ctx context.Context, do Recall) error {
	if !w.claimSlot(ctx) {
		return nil
	}
	e := Quoted{Before: do.Before}
	var err error
	w.l.unlocked(func() {
		w.guard(&err, func() {
			ctx, cancel := context.WithTimeoutCause(ctx, quoteTime, errSlow)
			defer cancel()
			if w.cfg.Sources.Earlier == nil {
				err = errUnknown
				return
			}
			e.Said, e.Left, err = w.cfg.Sources.Earlier(ctx, w.l.id, do.ID, maxQuotes)
			err = orCause(ctx, err)
		})
	})
	if ctx.Err() != nil {
		return nil // stopped, or to be asked again at the next start
	}
	if err != nil {
		w.cfg.Logger.Warn("thread before the session not read", "session", w.l.id, "err", err)
		e.Said, e.Left, e.Detail = nil, false, w.cfg.Redact(err.Error())
	}
	for i, q := range e.Said {
		e.Said[i].Text = w.cfg.Redact(q.Text)
		e.Said[i].Files = nil
		for _, name := range q.Files[:min(len(q.Files), maxFiles)] {
			e.Said[i].Files = append(e.Said[i].Files, tools.Clip(w.cfg.Redact(name), maxName))
		}
	}
	e.Said, e.Left = within(e.Said, e.Left)
	return w.l.work(unlessFenced, e)
}

// within returns of what was said the first message and as many of the newest as there is room for.
func within(all []Quote, left bool) ([]Quote, bool) {
	if len(all) == 0 {
		return nil, left
	}
	room := maxQuoteBytes
	take := func(q Quote) Quote {
		if len(q.Text) > maxQuote {
			q.Text, q.Cut = head(q.Text, maxQuote), true
		}
		room -= len(q.Text) + len(q.By.String())
		return q
	}
	first := take(all[0])
	var rest []Quote
	for i := len(all) - 1; i > 0; i-- {
		q := take(all[i])
		if room < 0 || len(rest)+1 == maxQuotes {
			left = true
			break
		}
		rest = append([]Quote{q}, rest...)
	}
	return append([]Quote{first}, rest...), left
}

// head returns at most the first n bytes, without cutting a character.
func head(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fetch gets the files of a message and does with each what its content allows.
func (w gatherer) fetch(ctx context.Context, do Fetch) error {
	if !w.claimSlot(ctx) {
		return nil
	}
	e := Attached{Said: do.Said}
	w.l.unlocked(func() {
		long, cancel := context.WithTimeoutCause(ctx, fetchTime, errSlow)
		defer cancel()
		left := int64(maxFileBytes)
		for i, f := range do.Files {
			a := Attachment{Name: f.Name, Kind: NoFile, Size: f.Size}
			var err error
			w.guard(&err, func() { err = w.one(long, f, i, &left, &a) })
			if err != nil {
				w.cfg.Logger.Warn("file not taken in", "session", w.l.id, "err", err)
				a = Attachment{Name: f.Name, Kind: NoFile, Size: f.Size, Detail: w.cfg.Redact(err.Error())}
			}
			e.Files = append(e.Files, a)
		}
	})
	if ctx.Err() != nil {
		return nil // stopped, or to be fetched at the next start
	}
	return w.l.work(unlessFenced, e)
}

// one fills in what becomes of the i-th file of a message, which may have left bytes.
func (w gatherer) one(ctx context.Context, f File, i int, left *int64, a *Attachment) error {
	switch {
	case i >= maxFiles:
		return fmt.Errorf("at most %d files of a message are taken in", maxFiles)
	case f.Size > maxFile:
		return fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	case f.Size > *left:
		return fmt.Errorf("the files of a message may have %d MiB together", maxFileBytes>>20)
	}
	data, err := w.read(ctx, f, min(maxFile, *left))
	if err != nil {
		return err
	}
	*left -= int64(len(data))
	a.Kind, a.Type = kindOf(data)
	a.Size = int64(len(data))
	if isPage(f, a.Type) {
		return errors.New("the network gave a web page instead of the file, perhaps one to sign in")
	}
	path, err := inbox{w.settings.Dir, w.settings.Hidden, w.l.id}.save(f.Name, data)
	if err != nil {
		w.cfg.Logger.Warn("file not saved", "session", w.l.id, "err", err)
		a.Detail = w.cfg.Redact(err.Error())
	}
	a.Path = path
	return w.keep(ctx, data, a)
}

// read reads a file of at most max bytes.
func (w gatherer) read(ctx context.Context, f File, max int64) ([]byte, error) {
	if w.cfg.Sources.Fetch == nil {
		return nil, errUnknown
	}
	r, err := w.cfg.Sources.Fetch(ctx, w.l.id, f.Ref)
	if err != nil {
		return nil, orCause(ctx, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, max+1))
	switch {
	case err != nil:
		return nil, orCause(ctx, err)
	case int64(len(data)) > max:
		return nil, fmt.Errorf("it is larger than %d MiB, or all files of the message than %d MiB", maxFile>>20, maxFileBytes>>20)
	}
	return data, nil
}

// keep keeps what the log needs of a file's content. An image that cannot be kept is a file like any
// other.
func (w gatherer) keep(ctx context.Context, data []byte, a *Attachment) (err error) {
	switch a.Kind {
	case ImageFile:
		if a.Artefact, err = w.put(ctx, data); err != nil {
			a.Kind = OtherFile
		}
	case TextFile:
		a.Text = w.cfg.Redact(string(data))
		if limit := w.settings.Limits.Output; len(a.Text) > limit {
			if a.Artefact, err = w.put(ctx, []byte(a.Text)); err != nil {
				w.cfg.Logger.Error("text of a file not kept", "session", w.l.id, "err", err)
			}
			a.Text = tools.Cap(a.Text, limit, a.Artefact)
			return nil
		}
	}
	if err != nil && a.Path == "" {
		return err
	}
	if a.Kind == OtherFile && a.Path == "" {
		return errors.New("it could not be saved: " + a.Detail)
	}
	return nil
}

func (w gatherer) put(ctx context.Context, data []byte) (string, error) {
	if w.cfg.Artefacts == nil {
		return "", errors.New("nothing is kept here")
	}
	return w.cfg.Artefacts.PutArtefact(ctx, data)
}

// guard makes a panic in f an error: a message must not wait for ever because of what it brings along.
func (w gatherer) guard(err *error, f func()) {
	defer func() {
		if p := recover(); p != nil {
			w.cfg.Logger.Error("panic at what a message brings along", "session", w.l.id, "panic", p, "stack", string(debug.Stack()))
			*err = fmt.Errorf("a fault in the program: %v", p)
		}
	}()
	f()
}

// orCause returns why ctx ended if that is what err tells.
func orCause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
