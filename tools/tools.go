// Package tools is what the agent can do: the form of a tool, and the gate that every call passes.
//
// A Tool is data and one function, so that wrapping a tool is assignment. The model never runs
// anything; it proposes a call, and Registry.Check decides from the call alone whether it is well
// formed. Whether it may run is the agent's business (a policy, a person), and what it does is the
// tool's. Tools live in subdirectories; each passes the checks of tools/toolstest. Every word that
// the model reads about a tool is a file in package prompts.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// An Effect is what a call may do to the world. Approval, time limit and parallelism follow from it.
type Effect int

// The effects. The zero Effect is none of them: a tool that does not say is not registered.
const (
	Query   Effect = iota + 1 // reads the world; runs beside other reads, without asking
	Compute                   // looks at nothing but its arguments; likewise
	Action                    // changes something: a person is asked, it runs alone, and never twice by itself
	Inquiry                   // asks the people in the thread and waits for one of them to answer: nothing runs
)

func (e Effect) String() string {
	switch e {
	case Query:
		return "query"
	case Compute:
		return "compute"
	case Action:
		return "action"
	case Inquiry:
		return "inquiry"
	}
	return "unset"
}

// A Tool is one thing that the agent can do. Its functions may be called concurrently.
type Tool struct {
	Name        string
	Description string          // for the model: what it does, when to use it, limits, an example
	Guidance    string          // for the system prompt: when to prefer it over another tool; may be empty
	Effect      Effect          // mandatory
	Input       json.RawMessage // JSON Schema of the arguments: strict, an object; see Schema
	Timeout     time.Duration   // of one call; 0 is DefaultTimeout

	// Title says in a few words what the call does ("read agent/next.go"), for progress lines and
	// cards. It gets validated arguments, holds no secrets and is one line of at most 80 runes.
	Title func(args json.RawMessage) string

	// Preview says exactly what Run would do, changing nothing. Mandatory for an Action. An error is
	// told to the model as the call's failure: nobody is asked about a call that cannot work.
	Preview func(ctx context.Context, c Call) (Preview, error)

	// Question returns what an Inquiry asks; nothing else has one. An error is told to the model as
	// the call's failure: nobody is asked.
	Question func(args json.RawMessage) (Question, error)

	// Run does it. An Inquiry has none: the answer of a person is its result. An error is told to the model as the call's failure; the text beside it, in
	// Result, is kept too. It stops soon after ctx ends.
	Run func(ctx context.Context, c Call) (Result, error)
}

// DefaultTimeout is the time limit of a call whose tool names none.
const DefaultTimeout = 10 * time.Second

// A Call is what a tool gets: validated arguments and its surroundings, no state of the loop.
type Call struct {
	ID      string          // ours, unique in the session
	Session string          // for isolation of what a tool stores
	Args    json.RawMessage // valid against the tool's Input, defaults filled in
	Dir     string          // the workspace: an absolute path
	Hidden  []string        // absolute paths within which no tool reads or writes (the log's own directory)

	// Seen has, by slash-separated path relative to Dir, the digest of each file's content as this
	// session last read or wrote it. It must not be changed.
	Seen map[string]string

	// Digest is that of the Preview which a person approved, or empty if nobody was asked. A tool
	// with a Preview must not act when what it is about to do has another digest, but return
	// ErrChanged.
	Digest string

	// Artefact returns the whole of an earlier output of this session that was too long to be
	// shown, by the name it was given. It returns an error wrapping fs.ErrNotExist for others.
	Artefact func(name string) ([]byte, error)

	// Progress, if not nil, takes the output so far while a long call runs, for people to watch.
	Progress func(tail string)

	// Mask masks secrets; nil is none. A tool applies it to text before it cuts it: what is made of
	// the result afterwards does not know half a secret. It is safe for concurrent use.
	Mask Mask
}

// Masked returns text with its secrets masked.
func (c Call) Masked(text string) string { return c.Mask.All(text) }

// A Preview is what a person is shown before a call runs.
type Preview struct {
	Kind   PreviewKind
	Text   string // a unified diff, or the exact command with its directory
	Digest string // binds all that matters: arguments, directory, content of the files concerned
}

// A PreviewKind says how a Preview's text is to be shown.
type PreviewKind string

// The kinds of preview. The strings are stored in logs.
const (
	Diff    PreviewKind = "diff"
	Command PreviewKind = "command"
	Text    PreviewKind = "text"
)

// A Question is what an Inquiry asks the people.
type Question struct {
	Text    string // Markdown
	Options []Option
	Free    bool // an answer in a person's own words is welcome
}

// An Option is an answer that can be chosen.
type Option struct {
	Label       string // one line
	Description string // one line; may be empty
}

// A Result is what a call brought back.
type Result struct {
	Text   string            // for the model; the gate caps it and keeps the whole as an artefact
	Note   string            // for people: one short line ("exit status 1", "3 matches"); may be empty
	Seen   map[string]string // digests of files read or written by the call, as in Call.Seen; "" forgets one
	Failed bool              // the call ran but what it did failed (a command's exit status, say)
	Send   *File             // to be put into the thread; nil is none
}

// A File is content under a name.
type File struct {
	Name    string // no path
	Content []byte
}

// ErrChanged says that what the call would do is no longer what was approved: it did nothing.
var ErrChanged = errors.New("what this call would do has changed since it was approved")
