package bots

import (
	"context"

	"github.com/heddle-bot/heddle/store"
)

// This file is for networks that do not deliver by themselves what was said while the program was down.

// maxFollow is how many threads are followed at a start, those that were active last: each may cost the
// network a call.
const maxFollow = 50

// follow tells the network of the threads that there were before, so that it delivers what was missed.
func (c clerk) follow(ctx context.Context) {
	info := c.Platform.Info()
	if info.Follow == nil {
		return
	}
	for s, err := range c.Log.Sessions(ctx, store.Query{Prefix: info.Name + "/", Limit: maxFollow}) {
		if err == nil {
			err = c.followOne(ctx, info, s.Session)
		}
		if err != nil && ctx.Err() == nil {
			c.Logger.Error("what was said while the program was down is not read", "session", s.Session, "err", err)
		}
	}
}

// followOne tells of one thread. What is in its log of people and of us is known; what people have said
// and was not taken may be delivered once more.
func (c clerk) followOne(ctx context.Context, info Info, session string) error {
	at, err := ParseThread(session)
	if err != nil {
		return nil // a session of something else
	}
	var latest MessageID
	for e, err := range c.Log.Read(ctx, session, 0) {
		if err != nil {
			return err
		}
		for _, ev := range e.Events {
			v, err := decode(ev)
			if err != nil {
				return err
			}
			if p, ok := v.(*Posted); ok {
				latest = p.ID
			} else if ev.Kind == saidKind {
				latest = MessageID(e.Key)
			}
		}
	}
	if latest != "" {
		info.Follow(at, latest)
	}
	return nil
}

// saidKind is the kind of an agent.UserSaid, which Hearer.Say appends under the message's id.
const saidKind = "agent.UserSaid"
