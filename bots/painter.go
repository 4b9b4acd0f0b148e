package bots

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// A painter shows one session in its thread: it folds the log, compares what the thread should show
// with what it does show, and posts the difference. The agent never waits for it. It is one
// goroutine, which lives while there is something to show or to watch.
type painter struct {
	bot     *Bot
	at      Thread
	session string
	woken   chan struct{} // holds one if there is something new
	alive   bool          // the goroutine runs; guarded by Bot.mu

	// The rest belongs to the goroutine.
	state    state
	sent     map[string]*sent // by key
	edited   time.Time        // when a message of class Progress was last edited
	editing  *editing         // the edit that is under way, or nil
	working  time.Time        // when it has to be shown again that the bot is at work; zero if it is not shown
	recorded bool             // this pass wrote to the log, so there is more to read
	troubles int              // in a row, with the log
}

// A sent is what this process knows of a message.
type sent struct {
	id     MessageID         // that it got; empty if this process has not posted it
	shows  [sha256.Size]byte // digest of what the network last took; zero if this process has not shown it
	again  bool              // the id in the log is of a message that was deleted and is wanted
	gone   bool              // it was deleted and is not wanted
	unsure bool              // the network may have it though posting failed
	fails  int               // in a row
	retry  time.Time         // not before
}

func newPainter(b *Bot, at Thread) *painter {
	return &painter{bot: b, at: at, session: at.String(), woken: make(chan struct{}, 1), sent: map[string]*sent{}}
}

// Limits of a painter.
const (
	pause           = 50 * time.Millisecond // between a wake and the next look: a burst is one look
	editTimeout     = 30 * time.Second      // of an edit of class Progress, so that more urgent things need not wait longer
	presenceTimeout = 5 * time.Second       // of showing that the bot is at work
	recordTimeout   = 10 * time.Second      // of a receipt, which is written even while the program ends
)

func (p *painter) run(ctx context.Context) {
	for {
		select {
		case <-p.woken:
		default:
		}
		next := p.pass(ctx)
		switch {
		case ctx.Err() != nil:
			p.finish()
			return
		case p.recorded:
			continue
		case next.IsZero() && p.bot.retire(p):
			return
		}
		if !p.wait(ctx, next) {
			p.finish()
			return
		}
	}
}

// finish waits for the edit that is under way.
func (p *painter) finish() {
	if p.editing != nil {
		p.landed(<-p.editing.done)
	}
}

// wait waits until the painter is woken, until the edit that is under way is done, or until next if that
// is not zero. It reports whether ctx has not ended.
func (p *painter) wait(ctx context.Context, next time.Time) bool {
	var due <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(time.Until(next))
		defer timer.Stop()
		due = timer.C
	}
	var done <-chan outcome
	if p.editing != nil {
		done = p.editing.done
	}
	select {
	case <-ctx.Done():
		return false
	case o := <-done:
		p.landed(o)
		return true
	case <-due:
		return true
	case <-p.woken:
		return sleep(ctx, pause)
	}
}

// pass shows what can be shown now. It returns when to look again though nothing has changed, or zero
// if there is nothing more to show.
func (p *painter) pass(ctx context.Context) (next time.Time) {
	p.recorded = false
	if err := p.read(ctx); err != nil {
		p.bot.cfg.Logger.Error("thread cannot be painted", "session", p.session, "err", err)
		p.troubles++
		return time.Now().Add(patience(p.troubles))
	}
	p.troubles = 0
	l := p.bot.cfg.look()
	want := view(&p.state, p.bot.cfg.Agent.Live(p.session), l)
	owed := map[int]bool{} // turns of which something is not shown
	later := func(m wanted, at time.Time) {
		if at.IsZero() {
			return
		}
		owed[m.turn] = true
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	slices.SortStableFunc(want, byHaste)
	held := Progress + 1 // posts of this class or a less urgent one wait for an earlier one
	for _, m := range want {
		if p.id(m.Key) != "" {
			continue
		}
		if m.Class >= held {
			owed[m.turn] = true
			continue
		}
		if m.last && len(p.woken) > 0 {
			later(m, l.now) // what has happened meanwhile may be more urgent
			continue
		}
		at := p.post(ctx, m, l.now)
		later(m, at)
		if !at.IsZero() {
			held = m.Class
		}
	}
	slices.SortStableFunc(want, func(a, b wanted) int { return int(a.Class - b.Class) })
	for _, m := range want {
		later(m, p.edit(ctx, m, l))
	}
	if p.editing != nil {
		later(p.editing.wanted, l.now.Add(editTimeout)) // or when it is done
	}
	if err := p.settle(ctx, owed); err != nil && ctx.Err() == nil {
		p.bot.cfg.Logger.Error("receipt not written", "session", p.session, "err", err)
		p.troubles++
		return l.now.Add(patience(p.troubles))
	}
	if at := p.presence(ctx, l); !at.IsZero() && (next.IsZero() || at.Before(next)) {
		next = at
	}
	if p.state.busy() && (next.IsZero() || next.After(l.now.Add(tick))) {
		next = l.now.Add(tick) // elapsed time is shown
	}
	return next
}

// byHaste puts what is to be posted last behind the rest: a network may take one message a second.
func byHaste(a, b wanted) int {
	switch {
	case a.last == b.last:
		return 0
	case b.last:
		return -1
	}
	return 1
}

// presence shows whether the bot is at work. It returns when that has to be shown again, or zero.
func (p *painter) presence(ctx context.Context, l look) time.Time {
	busy := p.state.busy()
	if l.info.Working == nil || busy && l.now.Before(p.working) || !busy && p.working.IsZero() {
		return p.working
	}
	ctx, cancel := context.WithTimeout(ctx, presenceTimeout)
	defer cancel()
	l.info.Working(ctx, p.at, busy)
	p.working = time.Time{}
	if busy {
		p.working = l.now.Add(l.info.WorkingFor * 3 / 4)
	}
	return p.working
}

// read folds what is new in the log.
func (p *painter) read(ctx context.Context) error {
	err := p.state.read(ctx, p.bot.cfg.Log, p.session)
	if err != nil {
		p.state = state{} // half a fold is of no use
	}
	return err
}

// settle records which turns are painted, and that the session is free if all of it is.
func (p *painter) settle(ctx context.Context, owed map[int]bool) error {
	for _, t := range p.state.turns {
		if t.ended == nil || owed[t.n] {
			continue
		}
		var shown store.Pos
		if len(owed) == 0 && !p.recorded {
			shown = p.state.pos
		}
		if err := p.record(ctx, fmt.Sprintf("bots.painted/%d", t.n), shown, Painted{t.n}); err != nil {
			return err
		}
		for key := range p.sent {
			if turnOf(key) == t.n {
				delete(p.sent, key)
			}
		}
	}
	if len(owed) > 0 || p.recorded || p.state.busy() {
		return nil
	}
	return p.bot.cfg.Agent.Record(ctx, p.session, "", p.state.pos)
}

// record writes a receipt, also while the program ends: what is in the thread is in the thread. Only
// if all that there is up to shown is in the thread may shown not be zero: the session is then free.
func (p *painter) record(ctx context.Context, key string, shown store.Pos, receipt any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := p.bot.cfg.Agent.Record(ctx, p.session, key, shown, encode(receipt)); err != nil {
		return err
	}
	p.recorded = true
	return nil
}

// digest identifies what a message shows.
func digest(m Message) [sha256.Size]byte {
	m.Unsure = false
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("bots: encoding a message: %v", err)) // strings and numbers encode
	}
	return sha256.Sum256(data)
}

// patience returns how long to wait after the n-th failure in a row: 1 s doubled up to a minute, and
// somewhat less by chance, so that those who failed together do not come back together.
func patience(n int) time.Duration {
	d := min(time.Second<<min(n, 6), time.Minute)
	return d - rand.N(d/4)
}
