package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/heddle-bot/heddle/store"
)

// This file is what people do to a session. Each of these is one append, which is durable when the
// method returns; what follows from it is the worker's.

// Say appends what a person said and sees that it is worked on. It is idempotent by id, the
// network's id of the message. After an error it is to be repeated: the message may or may not have
// been taken.
func (a *Agent) Say(ctx context.Context, session, id string, said UserSaid) (Said, error) {
	said.Text = a.cfg.Redact(said.Text)
	said.Files = slices.Clone(said.Files)
	for i := range said.Files {
		said.Files[i].Name = a.cfg.Redact(said.Files[i].Name)
	}
	l, release, err := a.get(ctx, session)
	if err != nil {
		return Said{}, err
	}
	defer release()
	running := l.s.turn != nil
	events := []any{said}
	if l.s.opened == nil {
		settings, err := a.cfg.Settings(session)
		if err != nil {
			return Said{}, err
		}
		events = []any{Opened{Format, settings.Workspace, settings.Dir}, said}
	}
	switch err := l.append(ctx, store.Frame{Key: id}, always, events...); {
	case errors.Is(err, store.ErrDuplicate):
		l.start() // an earlier Say may have been cut off just after it wrote
		return Said{Duplicate: true, Running: running}, nil
	case err != nil:
		return Said{}, err
	}
	if said.Busy == Interrupt && l.asking {
		l.cancel(errInterrupt)
	}
	l.start()
	return Said{Running: running}, nil
}

// Compact has the conversation summed up: at the next step of a turn that runs, else in one of its
// own. It returns ErrOver if nothing has been said yet. It is idempotent by id.
func (a *Agent) Compact(ctx context.Context, session, id string, by User) error {
	return revise(ctx, a, session, "compact/"+id, func(s *Session) (any, error) {
		if s.opened == nil {
			return nil, ErrOver
		}
		return CompactAsked{by}, nil
	})
}

// Decide answers an approval. The first answer counts: Decide returns nil for it, and ErrOver,
// ErrNotAllowed or a *DecidedError otherwise. If d.Digest is set and the approval has been asked
// again since, with another preview, the answer is ErrOver. With d.Message it is idempotent, and the
// message is no UserSaid any more: Say takes it for a duplicate.
func (a *Agent) Decide(ctx context.Context, session string, d Decided) error {
	settings, err := a.cfg.Settings(session)
	if err != nil {
		return err
	}
	if !mayDecide(settings.Approvers, d.By, d.As) {
		return ErrNotAllowed
	}
	d.Reason = a.cfg.Redact(d.Reason)
	return revise(ctx, a, session, d.Message, func(s *Session) (any, error) {
		c := s.turn.asking()
		if s.stop == nil && c != nil && c.ID == d.Call && c.asked != nil && (d.Digest == "" || d.Digest == c.asked.Digest) && time.Now().Before(c.asked.Expires) {
			d.Digest = c.asked.Digest
			return d, nil
		}
		before, ok := s.files.decided[d.Call]
		switch {
		case !ok || d.Digest != "" && d.Digest != before.Digest:
			return nil, ErrOver
		case d.Message != "" && d.Message == before.Message:
			return nil, nil
		}
		return nil, &DecidedError{before}
	})
}

// mayDecide reports whether a person with these roles is among those who may. No approvers are everybody.
func mayDecide(approvers []string, by User, as []string) bool {
	return len(approvers) == 0 || slices.Contains(approvers, by.ID) ||
		slices.ContainsFunc(as, func(role string) bool { return slices.Contains(approvers, role) })
}

// Stop ends the turn that runs in the session, or that is about to begin. It returns ErrOver if
// there is none, or if it is not the one that s names. It is idempotent by id, the network's id of
// the message or the click: delivered again it does not stop what has begun since.
func (a *Agent) Stop(ctx context.Context, session, id string, s StopAsked) error {
	l, release, err := a.get(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	if n := l.s.current(); n == 0 || s.Turn != 0 && s.Turn != n {
		return ErrOver
	}
	switch err := l.append(ctx, store.Frame{Key: "stop/" + id}, always, s); {
	case errors.Is(err, store.ErrDuplicate):
		return nil
	case err != nil:
		return err
	}
	l.cancel(errStop) // after the append: the worker then finds the reason in the log
	l.start()
	return nil
}

// Record appends events of another package, receipts of what is shown, under key. If shown is the
// session's last position and nothing is left to do, the frame is Free. Without events it appends
// only to make the session Free. That key is in the log already is no error.
func (a *Agent) Record(ctx context.Context, session, key string, shown store.Pos, events ...store.Event) error {
	l, release, err := a.get(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	for {
		free := shown == l.s.Pos && l.idle()
		if len(events) == 0 && (!free || l.s.Last.Free) {
			return nil
		}
		err := l.write(ctx, store.Frame{Key: key, Free: free, Due: l.s.Due(), Events: events})
		switch {
		case errors.Is(err, store.ErrConflict):
			continue
		case errors.Is(err, store.ErrDuplicate):
			return nil
		}
		return err
	}
}
