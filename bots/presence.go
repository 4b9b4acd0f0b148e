package bots

import (
	"context"
	"fmt"
	"sync"

	"github.com/heddle-bot/heddle/store"
)

// A presence is the bot's place in a thread. The zero presence is that in a thread of others.
type presence struct {
	pos    store.Pos // up to which the log was read; 0: the thread is no session
	silent bool      // somebody sent the bot away, and nobody has called it since
}

// apply folds the next entry. What a person says to the bot while it is silent is a mention: nothing
// else gets through.
func (p presence) apply(e store.Entry) presence {
	for _, ev := range e.Events {
		switch ev.Kind {
		case "agent.UserSaid":
			p.silent = false
		case "bots.Left":
			p.silent = true
		}
	}
	p.pos = e.Pos
	return p
}

// maxPresences bounds how many threads are remembered; of others the log is read from the beginning.
const maxPresences = 4096

// presences remembers the places that were asked for. The zero value is empty.
type presences struct {
	mu  sync.Mutex
	all map[string]presence // by session
}

// of returns the bot's place in the session's thread.
func (p *presences) of(ctx context.Context, log Log, session string) (presence, error) {
	p.mu.Lock()
	at := p.all[session]
	p.mu.Unlock()
	for e, err := range log.Read(ctx, session, at.pos) {
		if err != nil {
			return presence{}, fmt.Errorf("looking for session %s: %w", session, err)
		}
		at = at.apply(e)
	}
	if at.pos == 0 {
		return at, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil || len(p.all) >= maxPresences {
		p.all = map[string]presence{}
	}
	if p.all[session].pos < at.pos {
		p.all[session] = at
	}
	return at, nil
}
