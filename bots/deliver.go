package bots

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"time"
)

// This file brings single messages into the thread.

// lastWords is how much longer a post or an edit may take that is under way when the program is to
// end: what the network has taken gets its receipt. Networks mostly answer within a second; with the
// 15 s that running tools have, it fits into the 25 s of a shutdown.
const lastWords = 3 * time.Second

// outlive returns a context that ends lastWords after ctx.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })
	return long, func() {
		stop()
		cancel()
	}
}

// of returns what is known of the message of that key.
func (p *painter) of(key string) *sent {
	s := p.sent[key]
	if s == nil {
		s = &sent{}
		p.sent[key] = s
	}
	return s
}

// id returns the id of the message in the thread, or "" if it is not there or lacks its receipt.
func (p *painter) id(key string) MessageID {
	if s := p.sent[key]; s != nil && s.again {
		return ""
	}
	return p.state.posted[key]
}

// post brings a new message into the thread and leaves a receipt. It returns when to try again, or
// zero if that is not needed.
func (p *painter) post(ctx context.Context, m wanted, now time.Time) time.Time {
	if p.state.failed[m.Key] != "" {
		return time.Time{} // refused for good
	}
	s := p.of(m.Key)
	if now.Before(s.retry) {
		return s.retry
	}
	if s.id == "" {
		m.Unsure = s.unsure || !s.again && !m.cause.After(p.bot.started)
		if m.spare && !m.Unsure {
			return time.Time{}
		}
		if ctx.Err() != nil {
			return s.wait(0) // the next start posts it
		}
		long, cancel := outlive(ctx)
		id, err := MessageID(""), p.upload(long, &m)
		if err == nil {
			id, err = p.bot.cfg.Platform.Post(long, p.at, m.Message)
		}
		cancel()
		if err != nil {
			return p.refused(ctx, m, s, err)
		}
		s.id, p.working = id, time.Time{}
		if !m.Unsure { // else it may be an older form of it
			s.shows = digest(m.Message)
		}
		if m.Class == Progress {
			p.edited = now
		}
	}
	err := p.record(ctx, "bots.posted/"+m.Key+"/"+string(s.id), 0, Posted{m.Key, s.id})
	if err != nil {
		p.bot.cfg.Logger.Error("receipt not written", "session", p.session, "err", err)
		return s.wait(0)
	}
	*s = sent{shows: s.shows}
	if !m.once && s.shows != digest(m.Message) {
		return now // to be edited
	}
	return time.Time{}
}

// refused deals with a post that failed.
func (p *painter) refused(ctx context.Context, m wanted, s *sent, err error) time.Time {
	if ctx.Err() != nil {
		return s.wait(0) // the next start asks the network
	}
	f := failure(err)
	s.unsure = s.unsure || m.Unsure || f.Unsure
	log := p.bot.cfg.Logger.With("session", p.session, "message", m.Key, "err", err)
	if !f.Permanent {
		log.Log(ctx, m.trouble(f), "message not posted, trying again")
		return s.wait(f.RetryAfter)
	}
	log.Error("message refused by the network")
	if err := p.record(ctx, "bots.failed/"+m.Key, 0, PostFailed{m.Key, p.bot.cfg.Redact(err.Error())}); err != nil {
		log.Error("receipt not written", "cause", err)
	}
	return s.wait(0) // to be told
}

// An editing is an edit that is under way. It may wait long for its turn with the network, so what is to
// be posted meanwhile does not wait for it; other edits of the thread do.
type editing struct {
	wanted
	shows [sha256.Size]byte
	done  chan outcome // of capacity 1
}

// An outcome is what became of an edit.
type outcome struct {
	err   error
	ended bool // it was broken off because the program ends
}

// edit begins to bring a message in the thread up to date. It returns when to look again, or zero if
// nothing is to be done.
func (p *painter) edit(ctx context.Context, m wanted, l look) time.Time {
	id := p.id(m.Key)
	if id == "" || m.once {
		return time.Time{}
	}
	s := p.of(m.Key)
	shows := digest(m.Message)
	switch {
	case s.gone, s.shows == shows:
		return time.Time{}
	case p.editing != nil:
		return l.now.Add(editTimeout) // or when that is done
	case l.now.Before(s.retry):
		return s.retry
	case ctx.Err() != nil:
		return s.wait(0) // the next start edits it
	}
	ctx, cancel := outlive(ctx)
	if m.Class == Progress {
		if next := p.edited.Add(l.info.EditEvery); l.now.Before(next) {
			cancel()
			return next
		}
		p.edited = l.now
		long := cancel
		var short context.CancelFunc
		ctx, short = context.WithTimeout(ctx, editTimeout)
		cancel = func() { short(); long() }
	}
	e := &editing{m, shows, make(chan outcome, 1)}
	p.editing = e
	go func() { // run waits for it
		err := p.bot.cfg.Platform.Edit(ctx, p.at, id, m.Message)
		e.done <- outcome{err, errors.Is(ctx.Err(), context.Canceled)}
		cancel()
	}()
	return l.now.Add(editTimeout)
}

// landed takes in what became of the edit that was under way.
func (p *painter) landed(o outcome) {
	m, shows := p.editing.wanted, p.editing.shows
	p.editing = nil
	s := p.of(m.Key)
	log := p.bot.cfg.Logger.With("session", p.session, "message", m.Key)
	f := failure(o.err)
	switch {
	case o.err == nil:
	case o.ended:
		s.wait(0) // the next start edits it
		return
	case errors.Is(o.err, ErrUnknownMessage) && m.Class == Approval && len(m.Buttons) > 0:
		s.again = true // somebody deleted the card that we wait for
		return
	case errors.Is(o.err, ErrUnknownMessage):
		log.Info("message was deleted")
		*s = sent{gone: true}
		return
	case f.Permanent:
		log.Error("edit refused by the network", "err", o.err)
	default:
		log.Log(context.Background(), m.trouble(f), "message not edited, trying again", "err", o.err)
		s.wait(f.RetryAfter)
		return
	}
	*s = sent{shows: shows}
}

// trouble is the level at which a failure is logged. That progress has to wait for the rate budget
// is everyday.
func (m wanted) trouble(f Error) slog.Level {
	if m.Class == Progress && f.RetryAfter > 0 {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// wait counts a failure and returns when to try again: at the network's word, or with patience.
func (s *sent) wait(d time.Duration) time.Time {
	if d == 0 {
		d = patience(s.fails)
	}
	s.fails++
	s.retry = time.Now().Add(d)
	return s.retry
}
