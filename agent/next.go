package agent

import (
	"fmt"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
)

// An Action is the one thing to do next: Wait, Recall, Fetch, StartTurn, AskModel, Compact, AskPerson,
// PutQuestion, Expire, Conclude, RunTools, Refuse, Nudge or EndTurn.
type Action interface{ action() }

// The actions.
type (
	Wait   struct{}
	Recall struct { // what was said in the thread before
		Before store.Pos
		ID     string // the network's, of the message there
	}
	Fetch struct { // the files of a message
		Said  store.Pos
		Files []File
	}
	StartTurn struct{}
	AskModel  struct{ Left time.Duration } // of the turn's time
	Compact   struct {
		Left    time.Duration
		Refused bool // the model did not take the last request: it was too large
	}
	AskPerson   struct{ Call Call } // may it run?
	PutQuestion struct{ Call Call } // put what the call asks to the people
	Expire      struct{ Call Call } // nobody answered
	Conclude    struct {            // the call ends with a person's answer
		Call   Call
		Answer Answered
	}
	RunTools struct {
		Calls []Call
		Left  time.Duration
		Asked *ApprovalAsked // that a person approved, or nil: then there is one call
	}
	Refuse struct { // the call ends without having run
		Call   Call
		Status Status
		Reason string
	}
	Nudge   struct{ Kind string }
	EndTurn struct {
		Reason Reason
		Detail string   // for people
		Kind   llm.Kind // of ModelFailed and its like
	}
)

func (Wait) action()        {}
func (Recall) action()      {}
func (Fetch) action()       {}
func (StartTurn) action()   {}
func (AskModel) action()    {}
func (Compact) action()     {}
func (AskPerson) action()   {}
func (PutQuestion) action() {}
func (Expire) action()      {}
func (Conclude) action()    {}
func (RunTools) action()    {}
func (Refuse) action()      {}
func (Nudge) action()       {}
func (EndTurn) action()     {}

// Next says what to do now. It is never called while a worker of this process does what an earlier
// Next said, so a call that has started and has no result was cut off by a crash.
func (s *Session) Next(p Policy) Action {
	t := s.turn
	if t == nil {
		if s.current() == 0 {
			return Wait{}
		}
		if do := missing(&s.talk, false); do != nil && s.stop == nil {
			return do
		}
		return StartTurn{}
	}
	for _, c := range t.calls {
		if c.started != nil && c.result == nil {
			return Refuse{c.Call, Interrupted, ""}
		}
	}
	if s.stop != nil {
		return EndTurn{Reason: s.stop.reason}
	}
	if c := t.asking(); c != nil {
		if p.Now.Before(c.expires()) {
			return Wait{}
		}
		return Expire{c.Call}
	}
	left := p.Limits.Time - t.clock.at(p, s.owner)
	if left <= 0 {
		return EndTurn{Reason: TimeUp, Detail: fmt.Sprintf("the limit is %v", p.Limits.Time)}
	}
	if t.step == 0 {
		return s.ask(p, left)
	}
	if open := t.open(); len(open) > 0 {
		return t.nextCall(open, p, left)
	}
	return s.nextStep(p, left)
}

// at returns how long the turn has been at work.
func (c *clock) at(p Policy, owner string) time.Duration {
	if c.idle || owner != p.Replica {
		return c.worked
	}
	return c.worked + max(0, p.Now.Sub(c.mark))
}

// nextCall says what to do when the latest reply has calls without a result.
func (t *turn) nextCall(open []*call, p Policy, left time.Duration) Action {
	switch {
	case t.reply.Stop == llm.MaxTokens:
		return EndTurn{Reason: CutOff} // an argument may be cut too: none of it runs
	case t.reply.Stop == llm.Filtered:
		return EndTurn{Reason: ContentFiltered}
	case t.brakes.same >= repeatStop:
		return EndTurn{Reason: Repeated, Detail: fmt.Sprintf("the same request %d times in a row", t.brakes.same)}
	}
	c := open[0]
	v := p.Judge(c.Call)
	switch {
	case c.secret:
		return Refuse{c.Call, Invalid, note("secret")}
	case v.Ruling == Reject:
		return Refuse{c.Call, Invalid, v.Reason}
	case v.Ruling == Forbid:
		return Refuse{c.Call, Refused, v.Reason} // before the person's answer: a rule beats a yes
	case c.expired:
		return Refuse{c.Call, Expired, ""}
	case c.decided != nil && !c.decided.Yes:
		return Refuse{c.Call, Denied, c.decided.Reason}
	case c.decided != nil:
		return RunTools{[]Call{c.Call}, left, c.asked}
	case c.answered != nil:
		return Conclude{c.Call, *c.answered}
	case v.Ruling == Inquire:
		return PutQuestion{c.Call}
	case v.Ruling == Ask:
		return AskPerson{c.Call}
	case v.Ruling == Invite:
		return RunTools{[]Call{c.Call}, left, nil}
	}
	run := RunTools{Left: left}
	for _, c := range open { // what acts is a barrier
		if c.secret || p.Judge(c.Call).Ruling != Allow {
			break
		}
		run.Calls = append(run.Calls, c.Call)
	}
	return run
}

// nextStep says what to do when nothing of the latest reply is left to do.
func (s *Session) nextStep(p Policy, left time.Duration) Action {
	t := s.turn
	final := len(t.calls) == 0 && !t.reply.Partial
	reason, detail := t.brake(p.Limits)
	if final && (reason != "" || len(s.next(true)) == 0) {
		return t.finish() // words that came too late for this turn begin the next
	}
	if reason != "" {
		return EndTurn{Reason: reason, Detail: detail}
	}
	if t.brakes.same >= repeatNudge && t.brakes.nudged < t.step {
		return Nudge{"repeat"}
	}
	return s.ask(p, left)
}

// finish ends the turn with a reply that asks for nothing.
func (t *turn) finish() Action {
	switch {
	case t.reply.Stop == llm.MaxTokens:
		return EndTurn{Reason: CutOff}
	case t.reply.Stop == llm.Filtered:
		return EndTurn{Reason: ContentFiltered}
	case t.reply.Text == "":
		return EndTurn{Reason: NoResponse}
	}
	return EndTurn{Reason: Completed}
}
