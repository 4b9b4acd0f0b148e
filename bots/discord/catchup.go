package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// Limits of what is read after a session was lost.
const (
	maxFollowed = 100 // channels and threads, those that were active last
	maxMissed   = 100 // messages of each: what Discord gives at once
)

// seen is up to which message the threads in which we are active are known, and their channels.
type seen struct {
	mu    sync.Mutex
	all   map[string]place
	order []string // the least active first
}

// A place is a channel or a thread in which we are.
type place struct {
	guild string // "" is a direct conversation
	last  string // message
}

func newSeen() *seen { return &seen{all: map[string]place{}} }

// follow notes that we are active in a thread, as of a message. If we are already it says nothing of
// what was seen: a message of ours may be newer than one that a broken connection has missed.
func (s *seen) follow(t bots.Thread, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	guild := t.Workspace
	if guild == direct {
		guild = ""
	}
	for _, id := range slices.Compact([]string{t.Channel, t.ID}) {
		if id == "" {
			continue
		}
		if _, ok := s.all[id]; !ok {
			s.all[id] = place{guild, message}
		}
		if i := slices.Index(s.order, id); i >= 0 {
			s.order = slices.Delete(s.order, i, i+1)
		}
		s.order = append(s.order, id)
	}
	for len(s.order) > maxFollowed {
		delete(s.all, s.order[0])
		s.order = s.order[1:]
	}
}

func (s *seen) follows(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.all[id]
	return ok
}

// note notes a message in a channel that may be followed.
func (s *seen) note(channel, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.all[channel]; ok && later(message, p.last) {
		p.last = message
		s.all[channel] = p
	}
}

func (s *seen) places() map[string]place {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]place{}
	for id, p := range s.all {
		all[id] = p
	}
	return all
}

// catchUp has accepted what was said between two sessions in the threads that we are active in, and in
// their channels. What else comes in waits for it, so that the order is kept.
func (in *intake) catchUp(ctx context.Context) {
	var all []message
	for id, p := range in.d.seen.places() {
		missed, err := in.d.rest.after(ctx, id, p.last)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			in.log.Warn("missed messages are not read", "channel", id, "err", err)
			continue
		}
		if len(missed) == maxMissed {
			in.log.Warn("there may be more missed messages than are read", "channel", id)
		}
		for _, m := range missed {
			m.Guild = p.guild
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b message) int {
		switch {
		case later(a.ID, b.ID):
			return 1
		case later(b.ID, a.ID):
			return -1
		}
		return 0
	})
	for _, m := range all {
		data, err := json.Marshal(m)
		if err != nil {
			continue // it was decoded
		}
		in.handle(ctx, item{dispatch: dispatch{"MESSAGE_CREATE", data}})
	}
}

// after returns the messages of a channel that are newer than one.
func (r *rest) after(ctx context.Context, channel, last string) (all []message, err error) {
	c := call{
		method: "GET",
		path:   fmt.Sprintf("%s?limit=%d&after=%s", path(discordgo.EndpointChannelMessages(channel)), maxMissed, last),
		class:  bots.Notice,
	}
	err = r.do(ctx, c, &all)
	return all, err
}
