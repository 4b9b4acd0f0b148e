// Package bots is chat as this service sees it, whatever the network.
//
// A Platform brings events in and puts messages out; slack, discord and web are subdirectories, and
// every one passes the checks of bots/botstest. What differs between networks is data (Info), never
// an optional interface. A Bot joins one Platform to the agent: it decides which events are for it,
// appends them to the session's log, and paints each thread from that log. How a thread should look
// is a pure function (view); what has been posted is known from receipts in the same log; the
// difference between the two is the outbox.
//
// What people are told is in words.go, how a thread looks in view.go, card.go, question.go and
// summary.go; the goldens in testdata/view show the result. Who and what is let in is accept.go, what
// is a command command.go, and what people write instead of pressing a button respond.go. The JSON of
// the receipts and the keys in receipt.go and the strings of Action are for ever.
package bots

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Platform is one network, connected as one app or bot user. All methods may be called concurrently.
type Platform interface {
	Info() Info

	// Listen delivers events until ctx ends or the connection fails for good; it returns nil only in
	// the first case. It acknowledges an event to the network only after accept has returned nil, so
	// accept does no more than make the event durable. If accept fails the network is left to send
	// again. Events of one thread are delivered in order.
	Listen(ctx context.Context, accept func(context.Context, Event) error) error

	// Post puts a new message into the thread, once per m.Key where the network allows: with
	// m.Unsure set it first looks whether the network has a message of that key. Errors wrap *Error.
	Post(ctx context.Context, t Thread, m Message) (MessageID, error)

	// Edit replaces a message that Post made. It may be repeated. Errors wrap *Error.
	Edit(ctx context.Context, t Thread, id MessageID, m Message) error
}

// Info is what the bot must know of a network. It does not change once Listen delivers events.
type Info struct {
	Name      string                         // "slack": the first part of every session id
	EditEvery time.Duration                  // how often progress may be edited, per thread
	Render    func(markdown string) []string // into the network's own form, cut into pieces that each fit one message
	MaxText   int                            // bytes of one message's Text, after rendering
	MaxCode   int                            // bytes of one message's Code that is shown whole, as CodeSize counts them; 0 is no limit
	CodeSize  func(code string) int          // bytes of code in the network's own form, escaped; nil is len. See Cut
	MaxLabel  int                            // characters of a button's Label; 0 is no limit
	Mention   func(id string) string         // how the network writes a person's name in a message, by id, without calling them
	Abilities
}

// Abilities are what a network may have or not.
type Abilities struct {
	// Working shows in the thread that the bot is at work, which the network takes back after
	// WorkingFor and when the bot posts there; or that it is not any more. It returns soon. What
	// becomes of it is of no consequence. nil: the network has no such thing.
	Working    func(ctx context.Context, t Thread, working bool)
	WorkingFor time.Duration

	// Fetch opens a File. nil: the network has none. Errors wrap *Error.
	Fetch func(ctx context.Context, ref string) (io.ReadCloser, error)

	// Earlier returns what was said in the thread before the message of that id, at most so many
	// messages: the root, and then the newest, oldest first. cut says that some between are left out.
	// The bot's own are not among them. nil: the network does not tell. Errors wrap *Error.
	Earlier func(ctx context.Context, t Thread, before string, most int) (all []Said, cut bool, err error)

	// Follow tells the network, before Listen, of a thread that there was before, and of the latest message
	// in it that is known. Listen delivers what has been said there since, as if it came now. nil: the
	// network delivers by itself what was missed.
	Follow func(t Thread, latest MessageID)

	// Shows says that the network shows each thread from the session's log by itself: nothing that is in
	// the log is posted. What is in no log is.
	Shows bool

	// Home shows a person the bot's page on the network, instead of what it showed before. The pieces
	// are rendered and at most MaxText each; those beyond MaxHome are left out. nil: there is no such
	// page, and no HomeOpened. Errors wrap *Error.
	Home    func(ctx context.Context, person string, pieces []string) error
	MaxHome int

	// Link returns where people find a message of the thread, as a URL, or "". It is quick. nil: nowhere.
	Link func(t Thread, id MessageID) string

	// Direct reports whether a channel is a conversation of one person with the bot, of which nobody
	// else is to know. nil: there are none.
	Direct func(channel string) bool
}

// A Thread is the address of a conversation. It is carried by every event and message: nothing is
// ever sent to "the last active" one.
type Thread struct {
	Platform  string // Info.Name
	Workspace string // Slack team, Discord guild
	Channel   string
	ID        string // of the message at the root of the thread
}

// String returns the session id of the thread: "slack/T1/C1/1700000000.000100".
func (t Thread) String() string {
	return t.Platform + "/" + t.Workspace + "/" + t.Channel + "/" + t.ID
}

// ChannelID returns the name of the thread's channel in the configuration: "slack/T1/C1".
func (t Thread) ChannelID() string { return t.Platform + "/" + t.Workspace + "/" + t.Channel }

// ParseThread is the reverse of Thread.String.
func ParseThread(s string) (Thread, error) {
	p := strings.Split(s, "/")
	if len(p) != 4 || p[0] == "" || p[2] == "" || p[3] == "" {
		return Thread{}, fmt.Errorf("%q is not the address of a thread", s)
	}
	return Thread{p[0], p[1], p[2], p[3]}, nil
}

// A MessageID names a message within its thread, in the network's own form.
type MessageID string

// A Person is somebody on a network.
type Person struct {
	ID      string
	Name    string // to be shown; the id if the name is not known yet
	Bot     bool
	Outside bool     // of another organisation, in a channel that is shared with it
	Roles   []string // ids of the groups that the person is in at this moment, as the configuration names them; nil if the network has none
}

// A Message is what a Platform shows.
type Message struct {
	Key     string // names the message in its thread: stable across retries and restarts
	Class   Class
	Text    string   // rendered by Info.Render; at most Info.MaxText
	Code    string   // shown verbatim in a fence below Text (a diff, a command); at most Info.MaxCode. Of more the platform shows what fits and says how much is missing
	Lang    string   // of Code: "diff", "sh" or empty
	Buttons []Button // below the text, in order
	Upload  *Upload  // shown below; nil is none. A message that has one cannot be edited
	For     string   // if not empty only this person sees it, and it cannot be edited: the id of a Person
	Unsure  bool     // it may have been posted already: look before posting again
	Work    *Work    // what Text tells, for networks that show work in a form of their own; nil if it is no turn at work
}

// Work is how far a turn is. All texts are plain: no form of any network is meant.
type Work struct {
	Tasks []Task // the first is the turn itself. One that was here and is not any more is done
	Asker string // id of the Person whose message began the turn; empty if nobody's did
	Ended bool   // the turn is over: this is the last that is told of it
}

// A Task is a part of a turn's work.
type Task struct {
	ID     string // names the task within its message
	Title  string // one line, never empty
	State  TaskState
	Detail string // the end of what it brings while it runs, then what became of it; may be empty
}

// A TaskState is how far a Task is.
type TaskState int

// The states of a task.
const (
	TaskPending TaskState = iota
	TaskRunning
	TaskDone
	TaskFailed
)

// An Upload is a file of ours.
type Upload struct {
	Name    string // with an ending that says what it is
	Content []byte
}

// A Class orders messages when the network limits their rate.
type Class int

// The classes, most urgent first.
const (
	Approval Class = iota
	Final
	Notice
	Progress
)

// A Button is something to press.
type Button struct {
	Label  string
	Action Action
	Value  string // opaque to the network
	Style  Style
	Ask    string // if not empty: pressing it opens a form with this question, and Clicked.Reason is the answer
}

// An Action is what a button is for. The strings are part of posted messages and are for ever.
type Action string

// The actions.
const (
	Approve Action = "approve"
	Deny    Action = "deny"
	Stop    Action = "stop"
	Choose  Action = "choose" // an answer to a question
)

// A Style is a button's look.
type Style int

// The styles.
const (
	Plain Style = iota
	Primary
	Danger
)

// An Error is a Platform's failure to post or edit.
type Error struct {
	RetryAfter time.Duration // the network asks to wait this long; 0 if it does not say
	Permanent  bool          // trying again cannot help: the channel is gone, the bot was removed, the message is refused
	Unsure     bool          // the message may have been posted all the same
	Err        error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ErrUnknownMessage says that the message to be edited no longer exists. An *Error wraps it.
var ErrUnknownMessage = errors.New("the message does not exist any more")
