package agent

import (
	"fmt"
	"time"

	"github.com/heddle-bot/heddle/tools"
)

// A Policy is what Next goes by beside the session itself.
type Policy struct {
	Now     time.Time
	Replica string // that asks; time during which another owned the session does not count
	Limits  Limits
	Window  Window // of the model
	Images  bool   // the model takes images
	Judge   func(Call) Verdict
}

// A Ruling is what is to be done with a call.
type Ruling int

// The rulings. The zero Ruling is the safe one.
const (
	Ask     Ruling = iota // a person decides
	Allow                 // it may run beside other calls that only look
	Invite                // it may run, alone
	Forbid                // it does not run, whoever says yes
	Reject                // it cannot run: no such tool, or arguments that do not fit
	Inquire               // it runs nothing: people are asked what it asks
)

// A Verdict is a Ruling on a call and its reason, for the model.
type Verdict struct {
	Ruling Ruling
	Reason string
}

// judge returns the policy of the first form: what only looks or computes runs, what acts is asked,
// and what asks is put to the people.
// Roles, rules and quorums are a wrapper around this function.
func judge(r *tools.Registry) func(Call) Verdict {
	return func(c Call) Verdict {
		tool, _, err := r.Check(c.Tool, c.Args)
		switch {
		case err != nil:
			return Verdict{Reject, err.Error()}
		case tool.Effect == tools.Action:
			return Verdict{Ruling: Ask}
		case tool.Effect == tools.Inquiry:
			return Verdict{Ruling: Inquire}
		}
		return Verdict{Ruling: Allow}
	}
}

// Limits are the brakes of a turn. The zero value of each is its default.
type Limits struct {
	Steps    int           // model requests of a turn; default 10
	Time     time.Duration // that a turn is at work, not counting the wait for people; default 10 minutes
	Tokens   int           // input and output of all requests of a turn; default 1,000,000
	Output   int           // bytes of one tool output that the model is shown; default 10,000
	Approval time.Duration // how long an approval or a question waits for a person; default 7 days
}

// Loop detection, from the requirements: identical requests in a row at which the
// model is told and at which the turn ends, and failing or refused steps in a row at which it ends.
const (
	repeatNudge = 2
	repeatStop  = 3
	failingStop = 5
	refusedStop = 3
)

// WithDefaults returns l with the defaults filled in.
func (l Limits) WithDefaults() Limits {
	set(&l.Steps, 10)
	set(&l.Time, 10*time.Minute)
	set(&l.Tokens, 1_000_000)
	set(&l.Output, 10_000)
	set(&l.Approval, 7*24*time.Hour)
	return l
}

func set[T ~int | ~int64](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}

// brake returns the reason for which the turn must not make another request, or "".
func (t *turn) brake(l Limits) (Reason, string) {
	switch {
	case t.brakes.refused >= refusedStop:
		return PolicyRefused, fmt.Sprintf("%d steps in a row asked for what is not allowed", t.brakes.refused)
	case t.brakes.failing >= failingStop:
		return NoProgress, fmt.Sprintf("%d steps in a row brought nothing but errors", t.brakes.failing)
	case t.usage.Total() >= l.Tokens:
		return BudgetExhausted, fmt.Sprintf("%d tokens used of %d", t.usage.Total(), l.Tokens)
	case t.step >= l.Steps:
		return MaxSteps, fmt.Sprintf("the limit is %d", l.Steps)
	}
	return "", ""
}
