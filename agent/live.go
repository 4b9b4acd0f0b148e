package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// A live is a session in memory: its fold, and what is being done to it. It is made when somebody
// speaks or something comes due, and forgotten some time after the last of that.
//
// Its mu may be held while a frame is being written, so nothing that must be quick waits for it.
// Agent.mu may be taken while it is held, never the other way round.
type live struct {
	agent *Agent
	id    string
	refs  int       // of those who hold or wait for mu, and of the worker; guarded by Agent.mu
	used  time.Time // when refs was last given back; guarded by Agent.mu

	mu      sync.Mutex
	s       Session
	running bool                    // a worker is on it
	claimed bool                    // and the log says so
	asking  bool                    // and it waits for the model
	retry   time.Time               // no worker before this
	cancel  context.CancelCauseFunc // ends what the worker waits for; never nil

	now now // has a lock of its own: people watch while a frame is being written
}

// now is what is not in the log yet.
type now struct {
	mu     sync.Mutex
	queued bool
	text   []byte
	calls  []LiveCall
}

// Live is what a session is doing at this moment and is in no log yet.
type Live struct {
	Queued bool   // it waits for a turn of another session to end
	Text   string // the end of the reply that is being written, at most liveTail bytes
	Calls  []LiveCall
}

// liveTail is as much as is shown of a long text that is being written: it is looked at several times a
// second.
const liveTail = 64 << 10

// A LiveCall is a tool call that runs now.
type LiveCall struct {
	ID    string
	Title string
	Since time.Time
	Tail  string // the end of its output so far
}

// Live returns what the session is doing now.
func (a *Agent) Live(session string) Live {
	a.mu.Lock()
	l := a.sessions[session]
	a.mu.Unlock()
	if l == nil {
		return Live{}
	}
	l.now.mu.Lock()
	defer l.now.mu.Unlock()
	text := l.now.text
	if more := len(text) - liveTail; more > 0 {
		text = text[more:]
	}
	return Live{l.now.queued, strings.ToValidUTF8(string(text), ""), append([]LiveCall(nil), l.now.calls...)}
}

// show changes what Live returns.
func (l *live) show(change func(*now)) {
	l.now.mu.Lock()
	change(&l.now)
	l.now.mu.Unlock()
	l.agent.watchers.tell(l.id)
}

// written returns what the model had written, and clears it.
func (l *live) written() (text string) {
	l.now.mu.Lock()
	defer l.now.mu.Unlock()
	text = string(l.now.text)
	l.now.text = nil
	return text
}

// get returns the session, locked and read from the log, and a function that gives it back.
func (a *Agent) get(ctx context.Context, id string) (*live, func(), error) {
	a.mu.Lock()
	l := a.sessions[id]
	if l == nil {
		l = &live{agent: a, id: id, s: newSession(id, a), cancel: func(error) {}}
		a.sessions[id] = l
	}
	l.refs++
	a.mu.Unlock()
	l.mu.Lock()
	release := func() {
		l.mu.Unlock()
		l.put()
	}
	if l.s.Pos == 0 {
		if err := l.catchUp(ctx); err != nil {
			release()
			return nil, nil, err
		}
	}
	return l, release, nil
}

func newSession(id string, a *Agent) Session {
	load := func(name string) ([]byte, error) {
		if a.cfg.Artefacts == nil {
			return nil, fmt.Errorf("artefact %s: %w", name, fs.ErrNotExist)
		}
		return a.cfg.Artefacts.Artefact(context.WithoutCancel(a.hard), name)
	}
	return Session{ID: id, talk: talk{mask: a.cfg.Redact, load: load}}
}

// put gives the session back that get has returned, or that the worker had.
func (l *live) put() {
	l.agent.mu.Lock()
	l.refs--
	l.used = time.Now()
	l.agent.mu.Unlock()
}

// forget drops from memory the sessions that nobody has used since the given time.
func forget(sessions map[string]*live, before time.Time) {
	maps.DeleteFunc(sessions, func(_ string, l *live) bool { return l.refs == 0 && l.used.Before(before) })
}

// catchUp folds what the log has beyond the session's position.
func (l *live) catchUp(ctx context.Context) error {
	for e, err := range l.agent.cfg.Log.Read(ctx, l.id, l.s.Pos) {
		if err != nil {
			return fmt.Errorf("reading session %s: %w", l.id, err)
		}
		if err := l.fold(e.Pos, e.Frame); err != nil {
			return err
		}
	}
	return nil
}

// fold applies one frame.
func (l *live) fold(pos store.Pos, f store.Frame) error {
	err := l.s.Apply(pos, f)
	if err != nil {
		l.s = newSession(l.id, l.agent) // half a fold is of no use
		return fmt.Errorf("session %s: %w", l.id, err)
	}
	return nil
}

// A mode says what append does when somebody else has written meanwhile.
type mode int

const (
	always       mode = iota // it is a person's: it is written behind what the others wrote
	unlessFenced             // it happened: likewise, unless another replica has taken the session
	unlessMoved              // it was decided on an old view: errMoved
)

var (
	errMoved  = errors.New("the session has moved on: decide again")
	errFenced = errors.New("another replica has taken the session")
)

// append writes events as one frame, f, and folds it. l is locked.
func (l *live) append(ctx context.Context, f store.Frame, m mode, events ...any) error {
	f.Events = make([]store.Event, len(events))
	for i, v := range events {
		e, err := Encode(v)
		if err != nil {
			return err
		}
		f.Events[i] = e
	}
	for {
		f.Due = dueAfter(&l.s, events)
		err := l.write(ctx, f)
		switch {
		case !errors.Is(err, store.ErrConflict):
			return err
		case m == unlessMoved:
			return errMoved
		case m == unlessFenced && l.s.owner != l.agent.cfg.Replica:
			return errFenced
		}
	}
}

// work appends what the worker did or decided. The first such frame takes the session for this
// replica; if another has taken it since, the worker is fenced.
func (l *live) work(m mode, events ...any) error {
	a := l.agent
	var f store.Frame
	switch {
	case l.s.owner == a.cfg.Replica:
	case l.claimed:
		return errFenced
	default:
		f.Claim = a.cfg.Replica
	}
	err := l.append(context.WithoutCancel(a.hard), f, m, events...) // that it happened must survive the shutdown
	l.claimed = l.claimed || err == nil
	return err
}

// write tries once to append f and to fold it. After a conflict the session is up to date.
func (l *live) write(ctx context.Context, f store.Frame) error {
	f.Time = time.Now().UTC()
	pos, err := l.agent.cfg.Log.Append(ctx, l.id, l.s.Pos, f)
	switch {
	case err == nil:
		if err := l.fold(pos, f); err != nil {
			return err
		}
		l.agent.watchers.tell(l.id)
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrDuplicate):
		if err := l.catchUp(ctx); err != nil {
			return err
		}
	}
	return err
}

// unlocked does what takes long while others may look at the session and write to it.
func (l *live) unlocked(f func()) {
	l.mu.Unlock()
	defer l.mu.Lock()
	f()
}

// leaveAlone keeps workers of this process from the session for a while.
func (l *live) leaveAlone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retry = time.Now().Add(linger)
}

// idle reports whether nothing is done and nothing is to be done in the session. l is locked.
func (l *live) idle() bool {
	if l.running {
		return false
	}
	p, _, _ := l.policy() // to wait needs no settings
	_, wait := l.s.Next(p).(Wait)
	return wait
}

// policy returns what Next goes by now, and the settings behind it.
func (l *live) policy() (Policy, Settings, error) {
	a := l.agent
	s, err := a.cfg.Settings(l.id)
	if err == nil {
		s, err = s.with(chosen(&l.s))
	}
	s.Limits = s.Limits.WithDefaults()
	return Policy{
		Now:     time.Now(),
		Replica: a.cfg.Replica,
		Limits:  s.Limits,
		Window:  s.Window,
		Images:  s.Images,
		Judge:   judge(a.cfg.Tools),
	}, s, err
}

// dueAfter returns what s.Due will be when the events are folded.
func dueAfter(s *Session, events []any) time.Time {
	due, call, question := s.Due(), "", false
	if c := s.turn.asking(); c != nil {
		call, question = c.ID, c.asks()
	}
	over := func(id string) {
		if id == call {
			due = time.Time{}
		}
	}
	for _, v := range events {
		switch e := v.(type) {
		case ApprovalAsked:
			due, call, question = e.Expires, e.Call, false
		case QuestionAsked:
			due, call, question = e.Expires, e.Call, true
		case Decided:
			if !question {
				over(e.Call)
			}
		case Answered:
			if question {
				over(e.Call)
			}
		case QuestionExpired:
			over(e.Call)
		case ApprovalExpired:
			over(e.Call)
		case ToolFinished:
			over(e.Call)
		case TurnEnded:
			over(call)
		}
	}
	return due
}
