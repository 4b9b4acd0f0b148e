package bots

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// A state is what a session's log amounts to for those who look at the thread: only what is to be
// shown, and of that only the turns that are not Painted. The zero state is that of an empty log.
type state struct {
	pos     store.Pos
	started int     // turns so far
	turns   []*turn // that are not painted, oldest first; only the last may be running
	waiting []*said // that no turn has taken yet
	unread  []mark  // of files that came with those, while no turn ran
	posted  map[string]MessageID
	failed  map[string]string // details of PostFailed
	ledger
}

// A turn is one request of people until its end.
type turn struct {
	n        int
	since    time.Time // when the first of its request was said
	from     time.Time // when it started; zero if it has not
	till     time.Time // when it ended
	waited   time.Duration
	asked    *said // the first of its request; nil if nobody's words began it
	calls    []*call
	marks    []mark    // cards and notices in the order in which they came up
	chore    bool      // nobody's words began it
	stopping store.Pos // of the latest StopAsked or of the Withdrawn that ends it, or 0
	ended    *agent.TurnEnded
}

// A mark is a card, something said while the turn ran, a summing up, files that could not be taken in,
// or a file that is sent.
type mark struct {
	card   *card
	said   *said     // the first of what was said in a row
	row    []*said   // all of it, without what was deleted
	summed store.Pos // where what came before was summed up
	unread *agent.Attached
	mailed *mailing
	at     time.Time // of summed and unread
}

// newest returns the last of what was said in a row, or nil.
func (m *mark) newest() *said {
	if len(m.row) == 0 {
		return nil
	}
	return m.row[len(m.row)-1]
}

// A call is one tool call and how far it has come.
type call struct {
	agent.Call
	started *agent.ToolStarted
	since   time.Time
	result  *agent.ToolFinished
	cards   []*card // the last is the one that counts
}

// A card is one asking for approval, or a question.
type card struct {
	asked    *agent.ApprovalAsked // nil for a question
	question *agent.QuestionAsked // nil for an approval
	at       time.Time
	call     *call
	nth      int // of its call, from 1
	number   int // in the thread, from 1
	decided  *agent.Decided
	answered *agent.Answered
	expired  bool
	gone     bool // nobody asks for it any more: the message was deleted
	closed   bool // nobody is waited for any more
}

// A fate is what became of something said during a turn.
type fate int

const (
	pending fate = iota
	taken
	dropped // with the turn, which a person stopped
)

// A said is a message of a person.
type said struct {
	pos  store.Pos
	id   string // of the message, on the network
	by   agent.User
	text string
	at   time.Time
	busy agent.Busy
	late bool // a stop had been asked for: it will begin the next turn
	fate fate
}

// read folds what log has of the session beyond the state's position. After an error the state must
// not be used any more.
func (s *state) read(ctx context.Context, log Log, session string) error {
	for e, err := range log.Read(ctx, session, s.pos) {
		if err == nil {
			err = s.apply(e)
		}
		if err != nil {
			return fmt.Errorf("reading session %s: %w", session, err)
		}
	}
	return nil
}

// apply folds the next entry. After an error the state must not be used any more.
func (s *state) apply(e store.Entry) error {
	if e.Pos <= s.pos {
		return fmt.Errorf("frame %d after frame %d", e.Pos, s.pos)
	}
	for _, ev := range e.Events {
		v, err := agent.Decode(ev)
		if err == nil && v == nil {
			v, err = decode(ev)
		}
		if err != nil {
			return fmt.Errorf("frame %d: %w", e.Pos, err)
		}
		s.event(e, v)
	}
	s.pos = e.Pos
	return nil
}

func (s *state) event(at store.Entry, v any) {
	switch e := v.(type) {
	case *agent.UserSaid:
		m := &said{pos: at.Pos, id: at.Key, at: at.Time, by: e.By, text: e.Text, busy: e.Busy}
		s.waiting = append(s.waiting, m)
		if t := s.running(); t != nil && !t.told(at.Pos) {
			m.late = t.stopping != 0
			t.hear(m)
		}
	case *agent.TurnStarted:
		t := &turn{n: e.Turn, since: at.Time, from: at.Time, chore: len(s.waiting) == 0}
		if len(s.waiting) > 0 {
			t.since, t.asked = s.waiting[0].at, s.waiting[0]
		}
		s.take(e.Saw, false)
		t.marks, s.unread = s.unread, nil
		s.turns, s.started = append(s.turns, t), e.Turn
	case *agent.Withdrawn:
		s.withdraw(at.Pos, e)
	case *agent.Attached:
		s.attached(at, e)
	case *Posted:
		if s.posted == nil {
			s.posted = map[string]MessageID{}
		}
		s.posted[e.Key] = e.ID
		s.posts(e.Key, at.Time)
	case *PostFailed:
		if s.failed == nil {
			s.failed = map[string]string{}
		}
		s.failed[e.Key] = e.Detail
	case *Painted:
		s.painted(e.Turn)
	default:
		if t := s.running(); t != nil {
			s.progress(t, at, v)
		}
	}
}

// progress folds what happens in the running turn.
func (s *state) progress(t *turn, at store.Entry, v any) {
	switch e := v.(type) {
	case *agent.ModelSaid:
		s.take(e.Saw, true)
		for _, c := range e.Calls {
			t.calls = append(t.calls, &call{Call: c})
		}
	case *agent.ApprovalAsked:
		s.ask(t, e.Call, &card{asked: e, at: at.Time})
	case *agent.Decided:
		s.note(e.Message)
		if k := t.call(e.Call).card(); k != nil && !k.closed && k.asked != nil && e.Digest == k.asked.Digest {
			k.decided = e
			t.close(k, at.Time)
		}
	case *agent.ApprovalExpired:
		t.expire(e.Call, at.Time)
	case *agent.QuestionAsked:
		s.ask(t, e.Call, &card{question: e, at: at.Time})
	case *agent.Answered:
		s.note(e.Message)
		if k := t.call(e.Call).card(); k != nil && !k.closed && k.question != nil {
			k.answered = e
			t.close(k, at.Time)
		}
	case *agent.QuestionExpired:
		t.expire(e.Call, at.Time)
	case *agent.ToolStarted:
		if c := t.call(e.Call); c != nil {
			c.started, c.since = e, at.Time
		}
	case *agent.ToolFinished:
		if c := t.call(e.Call); c != nil {
			c.result = e
			t.close(c.card(), at.Time)
			if e.Sent != nil {
				t.marks = append(t.marks, mark{mailed: &mailing{c, at.Time}})
			}
		}
	case *agent.Compacted:
		if e.Summary != "" && !t.chore {
			t.marks = append(t.marks, mark{summed: at.Pos, at: at.Time})
		}
	case *agent.StopAsked:
		t.stopping = at.Pos
	case *agent.TurnEnded:
		t.ended, t.till = e, at.Time
		if e.Reason == agent.Cancelled || e.Reason == agent.TakenBack {
			s.drop(t.stopping)
		}
	}
}

// attached notes files that could not be taken in, or not saved.
func (s *state) attached(at store.Entry, e *agent.Attached) {
	if !slices.ContainsFunc(e.Files, missed) {
		return
	}
	m := mark{unread: e, at: at.Time}
	if t := s.running(); t != nil {
		t.marks = append(t.marks, m)
	} else {
		s.unread = append(s.unread, m)
	}
}

// take notes that what was said up to saw has reached the model. What is to begin a turn of its own
// waits while one runs.
func (s *state) take(saw store.Pos, running bool) {
	s.waiting = slices.DeleteFunc(s.waiting, func(m *said) bool {
		if m.pos > saw || running && m.busy == agent.Queue {
			return false
		}
		m.fate = taken
		return true
	})
}

// drop ends what had been said into a turn up to its stop. What was said after that begins a turn.
func (s *state) drop(stop store.Pos) {
	s.waiting = slices.DeleteFunc(s.waiting, func(m *said) bool {
		if m.busy == agent.Queue || m.pos > stop {
			return false
		}
		m.fate = dropped
		return true
	})
}

// withdraw notes that a message was deleted. The one that asked for a turn which has not begun stays:
// the turn comes, and ends with it.
func (s *state) withdraw(at store.Pos, e *agent.Withdrawn) {
	t := s.running()
	if e.Turn != 0 {
		if t != nil && t.n == e.Turn {
			t.stopping = at
			if k := t.asking(); k != nil {
				k.gone = true
			}
		}
		return
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(m *said) bool { return m.id == e.Of })
	if t == nil {
		return
	}
	for i := range t.marks {
		m := &t.marks[i]
		m.row = slices.DeleteFunc(m.row, func(m *said) bool { return m.id == e.Of })
	}
}

// painted forgets a turn.
func (s *state) painted(n int) {
	s.turns = slices.DeleteFunc(s.turns, func(t *turn) bool { return t.n == n && t.ended != nil })
	for key := range s.posted {
		if turnOf(key) == n {
			delete(s.posted, key)
		}
	}
	for key := range s.failed {
		if turnOf(key) == n {
			delete(s.failed, key)
		}
	}
}

// running returns the turn that has started and not ended, or nil.
func (s *state) running() *turn {
	if n := len(s.turns); n > 0 && s.turns[n-1].ended == nil {
		return s.turns[n-1]
	}
	return nil
}

// coming returns the turn that what is waiting will begin, or nil.
func (s *state) coming() *turn {
	if s.running() != nil || len(s.waiting) == 0 {
		return nil
	}
	return &turn{n: s.started + 1, since: s.waiting[0].at, asked: s.waiting[0], marks: s.unread}
}

// busy reports whether something is being done that is not waiting for a person.
func (s *state) busy() bool {
	t := s.running()
	return t != nil && t.asking() == nil || s.coming() != nil
}

// hear marks what was said. What is said in a row, and has one fate before it, is one mark: twenty
// notices would keep what matters out of the thread.
func (t *turn) hear(m *said) {
	if n := len(t.marks); n > 0 && t.marks[n-1].said != nil {
		last := &t.marks[n-1]
		if o := last.newest(); o != nil && o.fate == pending && o.busy == m.busy && o.late == m.late {
			last.row = append(last.row, m)
			return
		}
	}
	t.marks = append(t.marks, mark{said: m, row: []*said{m}})
}

// told reports whether there is a mark for what was said at that place: there is one for each frame.
func (t *turn) told(at store.Pos) bool {
	return slices.ContainsFunc(t.marks, func(m mark) bool { return m.newest() != nil && m.newest().pos == at })
}

// call returns the turn's call of that id, or nil.
func (t *turn) call(id string) *call {
	for _, c := range slices.Backward(t.calls) {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// card returns the call's card that counts, or nil.
func (c *call) card() *card {
	if c == nil || len(c.cards) == 0 {
		return nil
	}
	return c.cards[len(c.cards)-1]
}

// asking returns the card that waits for a person, or nil.
func (t *turn) asking() *card {
	for _, c := range t.calls {
		if k := c.card(); k != nil && !k.closed {
			return k
		}
	}
	return nil
}

// close ends the wait for a person.
func (t *turn) close(k *card, at time.Time) {
	if k == nil || k.closed {
		return
	}
	k.closed = true
	if d := at.Sub(k.at); d > 0 {
		t.waited += d
	}
}

// worked returns how long the turn has been at work up to now, the wait for people not counted.
func (t *turn) worked(now time.Time) time.Duration {
	if t.ended != nil {
		now = t.till
	} else if k := t.asking(); k != nil {
		now = k.at
	}
	if t.from.IsZero() {
		return 0
	}
	return max(0, now.Sub(t.from)-t.waited)
}
