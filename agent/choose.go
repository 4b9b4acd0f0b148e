package agent

import (
	"context"
	"maps"
	"slices"

	"github.com/heddle-bot/heddle/tools"
)

// This file is what people set for a session.

// chosen returns the name of the model that was chosen for what runs, or for what comes next; empty is
// the channel's.
func chosen(s *Session) string {
	if s.turn != nil {
		return s.turn.model
	}
	return s.files.model
}

// Choose has another model answer in the session from its next turn on. It returns an
// *UnknownModelError for one that Settings.Models does not have. It is idempotent by id.
func (a *Agent) Choose(ctx context.Context, session, id string, c ModelChosen) error {
	settings, err := a.cfg.Settings(session)
	if err != nil {
		return err
	}
	if _, ok := settings.Models[c.Model]; !ok {
		names := slices.Sorted(maps.Keys(settings.Models))
		return &UnknownModelError{c.Model, tools.Nearest(c.Model, names)}
	}
	return revise(ctx, a, session, "choose/"+id, func(*Session) (any, error) { return c, nil })
}

// Forget has the conversation begin anew for the model; the log stays as it is. It returns ErrRuns
// while a turn runs or is about to begin. It is idempotent by id.
func (a *Agent) Forget(ctx context.Context, session, id string, f Forgotten) error {
	return revise(ctx, a, session, "forget/"+id, func(s *Session) (any, error) {
		switch {
		case s.current() != 0:
			return nil, ErrRuns
		case s.Pos == 0:
			return nil, nil // there is nothing to forget, and no session yet
		}
		return f, nil
	})
}
