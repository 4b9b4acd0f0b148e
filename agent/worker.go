package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// The causes with which people end what a worker waits for. Each is in the log before it is a cause,
// or is found in the log by Next.
var (
	errStop      = errors.New("a person stopped the turn")
	errInterrupt = errors.New("a person said something new")
	errTimeUp    = errors.New("the turn's time is up")
)

// wake sees that a session of Log.Open is worked on: when Run starts, later if it wants it because
// something has come due, or because an earlier worker had to leave it when the log failed. l is locked.
func (l *live) wake(starting bool) {
	if starting || !l.running && !l.idle() && time.Now().After(l.retry) {
		l.start()
	}
}

// start starts the session's worker unless it runs, or the agent does not. l is locked.
func (l *live) start() {
	a := l.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if l.running || !a.running {
		return // a worker that runs looks once more before it rests; Run wakes what is open
	}
	l.running, l.claimed = true, false
	l.refs++
	a.wg.Go(l.serve)
}

// serve is a worker: it does what Next says until that is to wait.
func (l *live) serve() {
	w := &worker{Agent: l.agent, l: l}
	defer func() {
		w.leave()
		l.put()
		l.agent.watchers.tell(l.id)
	}()
	for w.step() {
	}
}

// A worker works on one session until there is nothing to do.
type worker struct {
	*Agent
	l        *live
	slot     bool // it holds one of Agent.slots
	rested   bool // it has found nothing to do, and another worker may run already
	prompted int  // the turn for which it has looked at the prompt
}

// leave ends the worker. It frees the session in the log if nobody paints it.
func (w *worker) leave() {
	l := w.l
	if w.slot {
		<-w.slots
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.rested {
		l.running = false
	}
	if !w.cfg.Audience && !l.s.Last.Free && l.idle() {
		f := store.Frame{Free: true, Due: l.s.Due()}
		if err := l.write(context.WithoutCancel(w.hard), f); err != nil {
			w.cfg.Logger.Error("session not freed", "session", l.id, "err", err)
		}
	}
}

// step does one thing. It reports whether there may be another to do.
func (w *worker) step() (more bool) {
	defer func() {
		if p := recover(); p != nil {
			w.cfg.Logger.Error("panic in a turn", "session", w.l.id, "panic", p, "stack", string(debug.Stack()))
			more = w.broken(fmt.Errorf("a fault in the program: %v", p))
		}
	}()
	if w.soft.Err() != nil {
		return false
	}
	more, err := w.once()
	switch {
	case err == nil:
		return more
	case errors.Is(err, errMoved):
		return true
	case errors.Is(err, errShutdown):
		return false
	case errors.Is(err, errFenced):
		w.l.leaveAlone()
		return false
	}
	w.cfg.Logger.Error("turn failed", "session", w.l.id, "err", err)
	return w.broken(err)
}

// broken ends the turn after a fault of our own, so that the people hear of it. If even that cannot
// be written the session stays as the log has it, and is looked at again later.
func (w *worker) broken(cause error) bool {
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	w.l.retry = time.Now().Add(linger)
	if w.l.s.turn == nil {
		return false
	}
	if err := w.end(EndTurn{Reason: Broken, Detail: cause.Error()}); err != nil {
		w.cfg.Logger.Error("turn not ended, to be tried again", "session", w.l.id, "err", err)
		return false
	}
	return true
}

// once decides, under the lock, and does it; what takes long is done without the lock.
func (w *worker) once() (more bool, err error) {
	l := w.l
	l.mu.Lock()
	defer l.mu.Unlock()
	p, settings, fault := l.policy()
	do := l.s.Next(p)
	if _, wait := do.(Wait); wait {
		l.running, w.rested = false, true // under the lock: who speaks from here on starts a worker
		return false, nil
	}
	_, begin := do.(StartTurn)
	if !l.retry.IsZero() || l.s.owner != w.cfg.Replica && !begin {
		// An empty frame takes the session, and shows that the log takes writes, before anything is
		// done that costs money.
		if err := l.work(unlessMoved); err != nil {
			return false, err
		}
		l.retry = time.Time{}
		return true, nil
	}
	if fault != nil && l.s.turn != nil {
		return true, w.end(EndTurn{Reason: Broken, Detail: fault.Error()})
	}
	ctx, cancel := context.WithCancelCause(w.soft)
	defer cancel(nil)
	l.cancel = cancel
	defer func() { l.cancel = func(error) {} }()
	switch do := do.(type) {
	case StartTurn:
		if l.s.stop == nil && !w.claimSlot(ctx) {
			return true, nil
		}
		return true, w.begin(settings, fault)
	case Recall:
		return true, gatherer{w, settings}.recall(ctx, do)
	case Fetch:
		return true, gatherer{w, settings}.fetch(ctx, do)
	case AskModel:
		return true, w.ask(ctx, do, settings)
	case Compact:
		return true, runner{w, settings}.compact(ctx, do)
	case RunTools:
		return true, runner{w, settings}.run(ctx, do)
	case AskPerson:
		return true, runner{w, settings}.approval(ctx, do.Call, false)
	case PutQuestion:
		return true, runner{w, settings}.question(do.Call)
	case Expire:
		return true, l.work(unlessMoved, l.s.turn.call(do.Call.ID).expiry())
	case Conclude:
		return true, l.work(unlessMoved, runner{w, settings}.conclusion(do))
	case Refuse:
		return true, l.work(unlessMoved, w.refusal(do))
	case Nudge:
		return true, l.work(unlessMoved, Nudged{l.s.turn.Turn, do.Kind, note(do.Kind)})
	case EndTurn:
		return true, w.end(do)
	}
	panic(fmt.Sprintf("agent: unknown action %T", do))
}

// claimSlot waits until the turn may work. It gives up when ctx ends, which is no error: Next is to
// be asked again.
func (w *worker) claimSlot(ctx context.Context) bool {
	if w.slot {
		return true
	}
	select {
	case w.slots <- struct{}{}:
		w.slot = true
		return true
	default:
	}
	w.l.unlocked(func() {
		w.l.show(func(n *now) { n.queued = true })
		select {
		case w.slots <- struct{}{}:
			w.slot = true
		case <-ctx.Done():
		}
		w.l.show(func(n *now) { n.queued = false })
	})
	return false // others may have written meanwhile
}
