package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// The JSON of the types in this file is for ever: logs written by any release must fold in every
// later one. Fields may be added with a useful zero value; none may be renamed, removed or given
// another meaning. testdata/logs.txtar holds logs of the past that must still fold.

// Format is the version that Opened carries. A log of another version is refused, untouched.
const Format = 1

// A User is somebody who speaks or decides, as the network names them.
type User struct {
	ID   string `json:"id"`             // "U123", unique within the session's network
	Name string `json:"name,omitempty"` // to be shown
}

// String returns the name, or the id if there is none.
func (u User) String() string {
	if u.Name != "" {
		return u.Name
	}
	return u.ID
}

// Opened is the first event of a session.
type Opened struct {
	Format    int    `json:"format"`
	Workspace string `json:"workspace"` // its name in the configuration
	Dir       string `json:"dir"`       // its absolute path when the session began
}

// A Busy says what becomes of a message that arrives while a turn runs.
type Busy string

// The ways to treat a message that arrives during a turn.
const (
	Steer     Busy = "steer"     // taken in at the turn's next step
	Queue     Busy = "queue"     // waits for the turn to end and begins the next
	Interrupt Busy = "interrupt" // what the model is writing is cut off, kept, and it is asked again
)

// UserSaid is a message of a person to the agent.
type UserSaid struct {
	By    User   `json:"by"`
	Text  string `json:"text"`
	Busy  Busy   `json:"busy,omitempty"`  // as configured when it was said; empty is Steer
	Reply bool   `json:"reply,omitempty"` // it was written inside an existing thread
	Files []File `json:"files,omitempty"` // that came with it; Attached says what became of them
}

// Amended says that a person has changed the words of a message.
type Amended struct {
	Of   string `json:"of"` // the message: the Key of the frame that has its UserSaid
	By   User   `json:"by"`
	Text string `json:"text"` // all of it, as it is now
	Note string `json:"note"` // what the model is told if it has read the message already
}

// Withdrawn says that somebody has deleted a message.
type Withdrawn struct {
	Of   string `json:"of"`             // as in Amended
	Turn int    `json:"turn,omitempty"` // that ends with it, because nobody asks for it any more; 0 is none
	Note string `json:"note"`           // as in Amended
}

// Forgotten says that the conversation begins anew for the model. It never stands within a turn.
type Forgotten struct {
	By User `json:"by"`
}

// ModelChosen says which model answers in this session from the next turn on.
type ModelChosen struct {
	By    User   `json:"by"`
	Model string `json:"model"` // its name in the configuration
}

// Prompted says what the model is told beside the conversation from here on. It is written when it
// differs from the one before.
type Prompted struct {
	System string     `json:"system"`
	Tools  []llm.Tool `json:"tools,omitempty"`
}

// TurnStarted begins a turn: the messages up to Saw that no turn has taken are its request.
type TurnStarted struct {
	Turn  int       `json:"turn"` // 1 is the session's first
	Saw   store.Pos `json:"saw"`
	Model string    `json:"model"` // its name in the configuration
}

// A Call is one tool call of the model under our own id, since providers' ids repeat in a session.
type Call struct {
	ID       string          `json:"id"`       // "turn.step.call", each from 1
	Provider string          `json:"provider"` // llm.Call.ID
	Tool     string          `json:"tool"`     // as the model wrote it
	Args     json.RawMessage `json:"args"`     // as the model wrote them, but for secrets
}

// ModelSaid is a reply of the model, or the part of it that had come when a person cut it off.
type ModelSaid struct {
	Turn      int             `json:"turn"`
	Step      int             `json:"step"` // 1 is the turn's first
	Saw       store.Pos       `json:"saw"`  // what is newer was not in the request
	Text      string          `json:"text,omitempty"`
	Reasoning string          `json:"reasoning,omitempty"`
	Calls     []Call          `json:"calls,omitempty"`
	Stop      llm.Stop        `json:"stop,omitempty"`
	Usage     llm.Usage       `json:"usage,omitzero"`
	Model     string          `json:"model,omitempty"`  // as the provider names it
	Raw       json.RawMessage `json:"raw,omitempty"`    // llm.Reply.Raw; none if it holds a secret
	Secret    []string        `json:"secret,omitempty"` // ids of calls whose Args held a secret, which is masked: they do not run
	Partial   bool            `json:"partial,omitempty"`
}

// Nudged is a word of the program to the model, beside a tool result: it repeats itself, say.
type Nudged struct {
	Turn int    `json:"turn"`
	Kind string `json:"kind"` // names the text in package prompts
	Text string `json:"text"` // as the model is told it
}

// ApprovalAsked says that a call waits for a person. A later one for the same call replaces it.
type ApprovalAsked struct {
	Call      string            `json:"call"` // Call.ID
	Tool      string            `json:"tool"`
	Title     string            `json:"title"`
	Kind      tools.PreviewKind `json:"kind"`
	Preview   string            `json:"preview"` // exactly what will be done
	Dir       string            `json:"dir"`
	Digest    string            `json:"digest"`
	Expires   time.Time         `json:"expires"`
	Approvers []string          `json:"approvers,omitempty"` // ids; empty: whoever may talk to the bot here
	Again     bool              `json:"again,omitempty"`     // what it would do has changed since it was shown before
}

// Decided is a person's answer to an approval.
type Decided struct {
	Call   string `json:"call"`
	Digest string `json:"digest,omitempty"` // of the ApprovalAsked that was answered
	Yes    bool   `json:"yes"`
	By     User   `json:"by"`
	Reason string `json:"reason,omitempty"`

	Message string `json:"message,omitempty"` // the network's id of the message that says so; empty: a button

	As []string `json:"-"` // ids of the roles that By has at this moment, as Settings.Approvers may name them; they are not stored
}

// ApprovalExpired says that nobody answered in time.
type ApprovalExpired struct {
	Call string `json:"call"`
}

// QuestionAsked says that a call waits for a person's answer: it asks, and nothing else runs.
type QuestionAsked struct {
	Call     string    `json:"call"`     // Call.ID
	Question string    `json:"question"` // Markdown
	Options  []Option  `json:"options,omitempty"`
	Free     bool      `json:"free,omitempty"` // an answer in a person's own words is welcome
	Expires  time.Time `json:"expires"`
}

// An Option is an answer that can be chosen.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Answered is a person's answer to a question.
type Answered struct {
	Call    string `json:"call"`
	By      User   `json:"by"`
	Option  int    `json:"option,omitempty"`  // that was chosen, 1 is the first; 0: Text is in the person's own words
	Text    string `json:"text"`              // the answer; of an option its label
	Message string `json:"message,omitempty"` // the network's id of the message that says so; empty: a button
}

// QuestionExpired says that nobody answered in time.
type QuestionExpired struct {
	Call string `json:"call"`
}

// ToolStarted is written before a call runs, so that after a crash it is known that it may have.
type ToolStarted struct {
	Call  string `json:"call"`
	Title string `json:"title,omitempty"`
}

// A Status says how a call ended.
type Status string

// The ways in which a call ends.
const (
	OK          Status = "ok"
	Failed      Status = "failed"      // it ran, or tried to, and says what went wrong
	Invalid     Status = "invalid"     // no such tool, or arguments that do not fit: it did not run
	Refused     Status = "refused"     // the policy forbids it: it did not run
	Denied      Status = "denied"      // a person said no
	Expired     Status = "expired"     // nobody answered
	TimedOut    Status = "timed_out"   // it was ended at its time limit
	Stopped     Status = "stopped"     // a person stopped the turn
	NotStarted  Status = "not_started" // the turn ended before it ran
	Interrupted Status = "interrupted" // the program died or was stopped while it ran: it may or may not have acted
)

// ToolFinished is the result of a call. Every call gets exactly one.
type ToolFinished struct {
	Call     string            `json:"call"`
	Status   Status            `json:"status"`
	Text     string            `json:"text"`               // for the model, capped
	Note     string            `json:"note,omitempty"`     // for people
	Artefact string            `json:"artefact,omitempty"` // the name of the whole output, if Text is not all of it
	Seen     map[string]string `json:"seen,omitempty"`     // tools.Result.Seen
	Took     time.Duration     `json:"took,omitempty"`     // nanoseconds
	Tool     string            `json:"tool,omitempty"`     // as in Call
	Title    string            `json:"title,omitempty"`    // as in ToolStarted
	Sent     *Sent             `json:"sent,omitempty"`     // a file for the thread; nil is none
}

// StopAsked says that a person wants the turn to end.
type StopAsked struct {
	By   User `json:"by"`
	Turn int  `json:"turn,omitempty"` // that is meant; 0 is whichever runs or is about to begin
}

// CompactAsked says that a person wants the conversation summed up.
type CompactAsked struct {
	By User `json:"by"`
}

// Overflowed says that the model has refused a request as larger than its context.
type Overflowed struct {
	Turn int    `json:"turn"`
	Text string `json:"text,omitempty"` // of the refusal
}

// Compacted puts a summary in the place of the oldest messages of what the model has been told.
type Compacted struct {
	Turn     int       `json:"turn"`
	Replaced int       `json:"replaced"`          // so many of the oldest messages
	Summary  string    `json:"summary,omitempty"` // as the model is told it
	Trim     int       `json:"trim,omitempty"`    // bytes to which the tool results that stay are cut; 0 leaves them
	Note     string    `json:"note,omitempty"`    // as the model is told of such a cut
	Usage    llm.Usage `json:"usage,omitzero"`
	Model    string    `json:"model,omitempty"` // as the provider names it
}

// CompactFailed says that the conversation could not be summed up and is as it was.
type CompactFailed struct {
	Turn   int       `json:"turn"`
	Detail string    `json:"detail"` // for people
	Usage  llm.Usage `json:"usage,omitzero"`
}

// A Reason says why a turn ended.
type Reason string

// The reasons why a turn ends.
const (
	Completed       Reason = "completed"
	MaxSteps        Reason = "max_steps"
	TimeUp          Reason = "time_up"
	BudgetExhausted Reason = "budget_exhausted"
	Repeated        Reason = "repeated"
	NoProgress      Reason = "no_progress"
	PolicyRefused   Reason = "policy_refused"
	NoResponse      Reason = "no_response" // the model said nothing
	CutOff          Reason = "cut_off"     // the model's answer was cut at its output limit
	ContentFiltered Reason = "filtered"
	ModelFailed     Reason = "model_failed"
	Broken          Reason = "broken"        // a fault of our own
	Cancelled       Reason = "stopped"       // a person stopped it
	TakenBack       Reason = "withdrawn"     // the message that asked for it was deleted
	SummedUp        Reason = "summed_up"     // it was asked for nothing else
	NotSummedUp     Reason = "not_summed_up" // the same, and it failed
)

// TurnEnded closes a turn.
type TurnEnded struct {
	Turn   int       `json:"turn"`
	Reason Reason    `json:"reason"`
	Kind   llm.Kind  `json:"kind,omitempty"`   // of ModelFailed
	Detail string    `json:"detail,omitempty"` // for people: what went wrong
	By     User      `json:"by,omitzero"`      // of Cancelled
	Steps  int       `json:"steps"`
	Usage  llm.Usage `json:"usage,omitzero"`
	Text   string    `json:"text,omitempty"` // the answer: of Completed all of it, else what there is of it
	Note   string    `json:"note,omitempty"` // as the model is told of the end; none of Completed and of summing up
}

// prefix begins the Kind of every event that this package owns.
const prefix = "agent."

// Encode returns v, a pointer to or a value of one of the event types above, as a store.Event.
func Encode(v any) (store.Event, error) {
	kind := strings.TrimPrefix(fmt.Sprintf("%T", v), "*")
	if !strings.HasPrefix(kind, prefix) {
		return store.Event{}, fmt.Errorf("%T is not an event of package agent", v)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return store.Event{}, fmt.Errorf("encoding %T: %w", v, err)
	}
	return store.Event{Kind: kind, Data: data}, nil
}

// Decode returns a pointer to the event type that e holds. It returns nil for an event of another
// package, and an error for one of ours that this release does not know: skipping it could make the
// agent act on half of the truth.
func Decode(e store.Event) (any, error) {
	if !strings.HasPrefix(e.Kind, prefix) {
		return nil, nil
	}
	v := newEvent(strings.TrimPrefix(e.Kind, prefix))
	if v == nil {
		return nil, fmt.Errorf("event %q was written by a newer release: update this one", e.Kind)
	}
	if err := json.Unmarshal(e.Data, v); err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Kind, err)
	}
	return v, nil
}

func newEvent(name string) any {
	switch name {
	case "Opened":
		return new(Opened)
	case "UserSaid":
		return new(UserSaid)
	case "Amended":
		return new(Amended)
	case "Withdrawn":
		return new(Withdrawn)
	case "Forgotten":
		return new(Forgotten)
	case "ModelChosen":
		return new(ModelChosen)
	case "Prompted":
		return new(Prompted)
	case "TurnStarted":
		return new(TurnStarted)
	case "ModelSaid":
		return new(ModelSaid)
	case "Nudged":
		return new(Nudged)
	case "ApprovalAsked":
		return new(ApprovalAsked)
	case "Decided":
		return new(Decided)
	case "ApprovalExpired":
		return new(ApprovalExpired)
	case "QuestionAsked":
		return new(QuestionAsked)
	case "Answered":
		return new(Answered)
	case "QuestionExpired":
		return new(QuestionExpired)
	case "ToolStarted":
		return new(ToolStarted)
	case "ToolFinished":
		return new(ToolFinished)
	case "CompactAsked":
		return new(CompactAsked)
	case "Overflowed":
		return new(Overflowed)
	case "Compacted":
		return new(Compacted)
	case "CompactFailed":
		return new(CompactFailed)
	case "StopAsked":
		return new(StopAsked)
	case "TurnEnded":
		return new(TurnEnded)
	case "Quoted":
		return new(Quoted)
	case "Attached":
		return new(Attached)
	}
	return nil
}
