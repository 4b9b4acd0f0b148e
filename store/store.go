// Package store is the vocabulary of the log in which every session lives.
//
// A session is nothing but its frames, in order. There is one way to write, Log.Append, and it is
// a compare-and-append: it names the position after which it expects to write, so whoever decided
// on an old view of the session meets a conflict instead of overwriting what it has not seen. Who
// owns a session is an entry in the session's own log, so no lock outlives a crash and a former
// owner is fenced by its own next append.
//
// The package knows nothing of what the events mean. Engines live in subdirectories (store/bolt);
// every engine passes the suite in store/storetest. The stored form of Frame and Event is for
// ever: fields may be added, never renamed or given another meaning.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"
)

// A Pos is a place in one session's log. It grows along the log but need not be dense.
// Zero is the place before the first frame.
type Pos uint64

// An Event is one thing that happened. Kind is prefixed by the package that owns its meaning
// ("agent.UserSaid", "bots.Posted"); Data is that package's JSON and is opaque here.
type Event struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data,omitempty"`
}

// A Frame is what is appended at once: all of its events become visible together, or none.
type Frame struct {
	// Key is the id of the cause (a platform's message, a click). It is unique in its session for
	// ever; the empty key is none, and may repeat. At most MaxKey bytes.
	Key string
	// Claim names the replica that takes the session with this frame; empty leaves the owner as it is.
	Claim string
	// Free says that nothing is owed any more: nothing runs, nothing is left to show.
	Free bool
	// Due is when the session wants a look though nobody speaks. Zero is never. Each frame replaces
	// the Due of the one before.
	Due time.Time
	// Time is when the frame was made, in UTC, to the nanosecond.
	Time   time.Time
	Events []Event
}

// An Entry is a frame in its place.
type Entry struct {
	Pos Pos
	Frame
}

// A Summary is what a log knows of a session without reading its events.
type Summary struct {
	Session string
	Last    Pos       // of the newest frame
	Owner   string    // the newest Claim
	Free    bool      // of the newest frame
	Due     time.Time // of the newest frame
	Created time.Time // Time of the first frame
	Updated time.Time // Time of the newest frame
	Frames  int
	Events  int
}

// A Query narrows Log.Sessions. The zero Query is every session.
type Query struct {
	Prefix string // session ids that begin so
	Limit  int    // at most so many; 0 is no limit
}

// Limits of every engine. An append beyond them fails with an error that says which.
const (
	MaxSession = 512     // bytes of a session id
	MaxKey     = 512     // bytes of a frame's key
	MaxFrame   = 8 << 20 // bytes of one encoded frame; larger things are artefacts
)

var (
	// ErrConflict says that the session's last position is not the one the caller named: somebody
	// else wrote. It may be spurious, so it always means "read the tail and decide again".
	ErrConflict = errors.New("the session has moved on")
	// ErrDuplicate says that the frame's Key is in the session already. It is told before a
	// conflict is, so a retried append learns that it had succeeded. The Pos returned beside it is
	// that of the frame which holds the key.
	ErrDuplicate = errors.New("the key is in the session already")
)

// A Log keeps sessions. All methods may be called concurrently.
type Log interface {
	// Append writes f to session if the session's last position is after (0 for a new session),
	// and returns the new last position. The frame is durable when Append returns nil. On
	// cancellation of ctx the frame may or may not have been written; a Key tells on retry.
	// Errors: ErrConflict, ErrDuplicate, or the engine's.
	Append(ctx context.Context, session string, after Pos, f Frame) (Pos, error)

	// Read yields the frames of session after the given position, oldest first, up to those that
	// were durable when it was called or later. An unknown session yields nothing. The consumer
	// may take as long as it likes and may append meanwhile; that does not keep Read from ending.
	Read(ctx context.Context, session string, after Pos) iter.Seq2[Entry, error]

	// Open yields the sessions whose newest frame is not Free, or whose Due is not after now. It
	// costs what is open, not what is stored, and may name too many, never too few.
	Open(ctx context.Context, now time.Time) iter.Seq2[string, error]

	// Sessions yields the sessions that q describes, most recently updated first.
	Sessions(ctx context.Context, q Query) iter.Seq2[Summary, error]
}
