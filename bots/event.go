package bots

import "time"

// An Event is what a Platform tells of: Said, Edited, Deleted, Clicked, Commanded
// or HomeOpened.
type Event interface{ event() }

// Said is a message that somebody wrote.
type Said struct {
	ID      string // unique in its channel; the same however often and by whichever event it is delivered
	Thread  Thread
	By      Person
	Text    string // without the mention of the bot; Markdown as far as the network knows it
	Files   []File // in order; there may be no Text then
	Mention bool   // it names the bot, or it is in a direct message
	Reply   bool   // it was written inside an existing thread rather than in the channel
	Time    time.Time

	Withheld bool // the network has told neither Text nor Files, as it does for us only where we are mentioned
}

// A File is attached to a message. Its content is not fetched before the message is taken.
type File struct {
	Ref  string // names it to Info.Fetch, for as long as the network keeps it
	Name string // as the person gave it: no path to be trusted
	Type string // MIME, as the network tells: not to be trusted
	Size int64  // bytes, as the network tells
}

// Edited is a message whose words somebody has changed. Networks tell of other changes too, as of a
// link that got a preview: these are no Edited.
type Edited struct {
	ID   string // of this edit; the same however often it is delivered
	Said Said   // as it is now, with the ID that it has had from the beginning
}

// Deleted is a message that is gone.
type Deleted struct {
	ID     string // of the message
	Thread Thread
}

// Clicked is a press on a button of one of our messages.
type Clicked struct {
	ID      string // unique; the same however often it is delivered
	Thread  Thread
	Message MessageID // that carries the button
	By      Person
	Action  Action // of the Button
	Value   string // of the Button
	Reason  string // what the person wrote beside it; may be empty
}

// Commanded is a command that somebody typed, as “/heddle status”.
type Commanded struct {
	ID     string // unique; the same however often it is delivered
	Thread Thread // where it was typed; its ID is empty where the network does not tell the thread
	By     Person
	Text   string // after the name of the command
}

// HomeOpened is a look at the bot's page, which Info.Home shows. It is kept nowhere: who looks again
// is shown again.
type HomeOpened struct {
	ID        string // unique; the same however often it is delivered
	Workspace string // of Thread
	By        Person
}

func (Said) event()       {}
func (Edited) event()     {}
func (Deleted) event()    {}
func (Clicked) event()    {}
func (Commanded) event()  {}
func (HomeOpened) event() {}
