package store

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"
)

// A Line is one line of an export: one event in its place. Its JSON is for ever, like that of events.
type Line struct {
	Session string          `json:"session"`
	Pos     Pos             `json:"pos"`
	Time    time.Time       `json:"time"`
	Key     string          `json:"key,omitempty"`
	Kind    string          `json:"kind"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// A Reader is the part of a Log that Export needs.
type Reader interface {
	Read(ctx context.Context, session string, after Pos) iter.Seq2[Entry, error]
}

// Export writes the events of a session as JSON, each as a Line in one Write, and returns the number
// of frames: 0 if there is no such session.
func Export(ctx context.Context, log Reader, session string, w io.Writer) (frames int, err error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for e, err := range log.Read(ctx, session, 0) {
		if err != nil {
			return frames, fmt.Errorf("reading session %s: %w", session, err)
		}
		frames++
		for _, ev := range e.Events {
			if err := enc.Encode(Line{session, e.Pos, e.Time, e.Key, ev.Kind, ev.Data}); err != nil {
				return frames, err
			}
		}
	}
	return frames, nil
}
