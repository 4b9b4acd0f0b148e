package agent

import (
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
)

// A Session is the state that its log amounts to. The zero Session is that of an empty log. It is
// changed by Apply only and is not safe for concurrent use.
type Session struct {
	ID   string
	Last store.Frame // the newest frame, without its events
	Pos  store.Pos   // of the newest frame

	owner  string // the newest Claim
	opened *Opened
	prompt Prompted
	talk
	turn  *turn // that runs, or nil
	turns int   // so far
	stop  *stop // of the turn that runs or is about to
	files memory
}

// talk is what people and model say to each other.
type talk struct {
	history []*llm.Message      // what the model has been told, and said
	size    int                 // of history, in bytes
	shown   tally               // images in history
	waiting []message           // said by people, not yet taken in
	wish    *CompactAsked       // to have history summed up
	known   map[string]UserSaid // what people have said and not withdrawn, as it is now, by message.id
	heard   bool                // something was said
	first   *message            // that was said, if it was inside an existing thread
	quoted  bool                // what was said before first is known, or why it is not
	mask    func(string) string // of secrets in what the model is told: a log may be older than a secret; nil is none
	load    load                // of images
}

func (k *talk) masked(s string) string {
	if k.mask == nil {
		return s
	}
	return k.mask(s)
}

// A stop is a StopAsked in its place, or a Withdrawn that ends the turn.
type stop struct {
	at     store.Pos
	by     User
	reason Reason
}

// memory is what a session keeps beyond the turn.
type memory struct {
	seen      map[string]string  // tools.Call.Seen
	artefacts map[string]bool    // names of this session's
	decided   map[string]Decided // by call
	model     string             // that was chosen for the session; empty is the channel's
	answered  map[string]Answered
}

// A turn is the running turn of a session.
type turn struct {
	TurnStarted
	asked  []string // ids of the messages that it began with
	model  string   // memory.model when it began
	step   int      // model replies so far
	usage  llm.Usage
	reply  *ModelSaid // the latest
	calls  []*call    // of reply
	text   string     // the latest text of the model: what there is of an answer
	brakes brakes
	clock  clock
	sum    sum
}

// A call is one tool call and how far it has come.
type call struct {
	Call
	secret   bool // was in the arguments
	asked    *ApprovalAsked
	decided  *Decided
	question *Question
	answered *Answered
	expired  bool // nobody answered, whichever it was
	started  *ToolStarted
	result   *ToolFinished
}

// brakes is what the detection of loops remembers of a turn.
type brakes struct {
	calls   string // what the step before asked for, canonically
	same    int    // steps in a row that asked for just that
	failing int    // steps in a row of which every call failed
	refused int    // steps in a row of which every call was refused by the policy
	nudged  int    // the step at which the model was last told
}

// A sum is what a turn remembers of summing up.
type sum struct {
	only    bool // nothing else is asked of the turn
	refused int  // requests that were too large for the model
	tried   int  // of them those after which it was tried to sum up
	failed  string
}

// A clock adds up the time that a turn is at work: not while it waits for a person, and not while
// nobody owned it.
type clock struct {
	worked time.Duration // up to mark
	mark   time.Time
	idle   bool // waits for a person since mark
}

// current returns the number of the turn that runs or is about to begin, or 0.
func (s *Session) current() int {
	switch {
	case s.turn != nil:
		return s.turn.Turn
	case begins(s.waiting), s.wish != nil, s.stop != nil:
		return s.turns + 1
	}
	return 0
}

// Due returns when the session wants a look though nobody speaks, or the zero time.
func (s *Session) Due() time.Time {
	if c := s.turn.asking(); c != nil {
		return c.expires()
	}
	return time.Time{}
}

// asking returns the call that waits for a person, or nil. t may be nil.
func (t *turn) asking() *call {
	if t == nil {
		return nil
	}
	for _, c := range t.calls {
		if c.result == nil {
			if c.waits() {
				return c
			}
			return nil // the calls after it have not been looked at
		}
	}
	return nil
}

// call returns the call of that id in the turn's latest reply, or nil. t may be nil.
func (t *turn) call(id string) *call {
	if t == nil {
		return nil
	}
	for _, c := range t.calls {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// open returns the turn's calls that have no result.
func (t *turn) open() []*call {
	var open []*call
	for _, c := range t.calls {
		if c.result == nil {
			open = append(open, c)
		}
	}
	return open
}

// remember folds what a call has seen.
func (m *memory) remember(f *ToolFinished) {
	if len(f.Seen) > 0 && m.seen == nil {
		m.seen = map[string]string{}
	}
	for path, digest := range f.Seen {
		if digest == "" {
			delete(m.seen, path)
		} else {
			m.seen[path] = digest
		}
	}
	m.own(f.Artefact)
}

// own lets calls of this session read the artefact.
func (m *memory) own(artefact string) {
	if artefact == "" {
		return
	}
	if m.artefacts == nil {
		m.artefacts = map[string]bool{}
	}
	m.artefacts[artefact] = true
}
