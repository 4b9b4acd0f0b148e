package agent

import "github.com/heddle-bot/heddle/store"

// This file is the events about files and about what was said before the session began. As in
// event.go, their JSON is for ever.

// A File came with a message.
type File struct {
	Ref  string `json:"ref"`            // names it to Sources.Fetch
	Name string `json:"name,omitempty"` // as the person gave it
	Type string `json:"type,omitempty"` // MIME, as the network tells it: not to be trusted
	Size int64  `json:"size,omitempty"` // bytes, likewise
}

// Quoted is what had been said in the thread before the session's first message, or why that could
// not be read. A session has one at most.
type Quoted struct {
	Before store.Pos `json:"before"`         // where that message is
	Said   []Quote   `json:"said,omitempty"` // oldest first
	Left   bool      `json:"left,omitempty"` // messages are left out, after the first
	Detail string    `json:"detail,omitempty"`
}

// A Quote is a message that nobody wrote to the agent.
type Quote struct {
	By    User     `json:"by"`
	Text  string   `json:"text"`
	Cut   bool     `json:"cut,omitempty"`   // there was more of Text
	Files []string `json:"files,omitempty"` // names of those that came with it
}

// Attached says what became of the files of a message.
type Attached struct {
	Said  store.Pos    `json:"said"` // where the message is
	Files []Attachment `json:"files"`
}

// An Attachment is what became of one file.
type Attachment struct {
	Name     string   `json:"name"`
	Kind     FileKind `json:"kind"`
	Type     string   `json:"type,omitempty"`     // MIME, by its content
	Size     int64    `json:"size,omitempty"`     // bytes
	Path     string   `json:"path,omitempty"`     // where it is in the workspace; empty: it is not there
	Text     string   `json:"text,omitempty"`     // of TextFile: what the model is shown, capped
	Artefact string   `json:"artefact,omitempty"` // the name of the image, or of the whole text if Text is not all of it
	Detail   string   `json:"detail,omitempty"`   // for people and the model: what went wrong
}

// A FileKind says what the model gets of a file.
type FileKind string

// The kinds.
const (
	ImageFile FileKind = "image" // the image, if it takes any
	TextFile  FileKind = "text"  // the text, or its head and tail
	OtherFile FileKind = "other" // where it is
	NoFile    FileKind = "none"  // why there is none
)

// A Sent is a file of the workspace that a call brings into the thread.
type Sent struct {
	Name     string `json:"name"`
	Artefact string `json:"artefact"` // its content
	Size     int64  `json:"size"`     // bytes
}
