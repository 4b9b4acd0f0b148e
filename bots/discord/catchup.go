package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

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
	mu     sync.Mutex
	all    map[string]place
	order  []string // the least active first
	newest string   // message of all that are known; "" before there is one
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

// maxAge is how long ago something may have been said that is answered when the program comes back.
const maxAge = 24 * time.Hour

// resume implements bots.Info.Follow.
func (s *seen) resume(t bots.Thread, latest bots.MessageID) {
	from := recently(string(latest))
	s.follow(t, from)
	s.note("", from)
}

// recently returns an id, or a later one if it is older than maxAge.
func recently(id string) string {
	if oldest := snowflake(time.Now().Add(-maxAge)); later(oldest, id) {
		return oldest
	}
	return id
}

// since returns the newest message that is known, and zero before there is one.
func (s *seen) since() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest == "" {
		return ""
	}
	return recently(s.newest)
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
	if later(message, s.newest) {
		s.newest = message
	}
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

// A lapse is the time of which an intake has heard nothing: before a session. It is used by the intake's
// deliver.
type lapse struct {
	in    *intake
	since string // the newest message that was known when the session began; "" if there never was one
}

// catchUp has accepted what was said before a session began, since the one before or since the program
// ended, in the threads that we are active in, and in their channels. What else comes in waits for it, so
// that the order is kept.
func (l *lapse) catchUp(ctx context.Context) {
	l.since = l.in.d.seen.since()
	l.missed(ctx, l.in.d.seen.places())
}

// catchUpGuild is catchUp for the other places of a guild of which Discord tells when a session begins:
// somebody may have called us where we have never been.
func (l *lapse) catchUpGuild(ctx context.Context, data json.RawMessage) {
	var g struct {
		ID       string    `json:"id"`
		Channels []channel `json:"channels"`
		Threads  []channel `json:"threads"`
	}
	if l.since == "" || json.Unmarshal(data, &g) != nil {
		return // there was no time before; and what is not understood has been told
	}
	places := map[string]place{}
	for _, c := range append(g.Channels, g.Threads...) {
		text := c.thread() || c.Kind == discordgo.ChannelTypeGuildText
		if text && later(c.Last, l.since) && !l.in.d.seen.follows(c.ID) && len(places) < maxFollowed {
			places[c.ID] = place{g.ID, l.since}
		}
	}
	l.missed(ctx, places)
}

// missed has accepted what was said in the places since they were last seen, in order.
func (l *lapse) missed(ctx context.Context, places map[string]place) {
	var all []message
	for id, p := range places {
		var missed []message
		err := persist(ctx, l.in.d, "missed messages", func() (err error) { // what comes later would hide that they are missing
			missed, err = l.in.d.rest.after(ctx, id, p.last)
			return err
		})
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			if code := codeOf(err); code != discordgo.ErrCodeMissingAccess && code != discordgo.ErrCodeUnknownChannel { // we are not in there, or it is gone
				l.in.log.Warn("missed messages are not read", "channel", id, "err", err)
			}
			continue
		}
		if len(missed) == maxMissed {
			l.in.log.Warn("there may be more missed messages than are read", "channel", id)
		}
		for _, m := range missed {
			m.Guild = p.guild
			err := persist(ctx, l.in.d, "the roles of a person", func() (err error) {
				m.Member, err = l.in.d.rest.member(ctx, m)
				return err
			})
			if err != nil {
				l.in.log.Warn("the roles of who wrote a missed message are not known", "channel", id, "err", err)
			}
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
		l.in.handle(ctx, item{dispatch: dispatch{"MESSAGE_CREATE", data}})
	}
}

// member returns who wrote a message as a member of the guild: REST tells that apart. A person of whom it
// is not known has no roles.
func (r *rest) member(ctx context.Context, m message) (*member, error) {
	if m.Guild == "" || m.Author == nil || m.Author.Bot || m.Webhook != "" {
		return nil, nil
	}
	var of member
	err := r.do(ctx, call{method: "GET", path: path(discordgo.EndpointGuildMember(m.Guild, m.Author.ID)), class: bots.Notice}, &of)
	if err != nil {
		return nil, err
	}
	return &of, nil
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
