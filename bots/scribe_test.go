package bots_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store"
)

// A scribe is an agent that does nothing by itself: the test writes into the log what an agent would.
type scribe struct {
	revisions
	log store.Log

	mu       sync.Mutex
	live     map[string]agent.Live
	watchers []func(string)
	stops    []string // sessions, once for each id
	stopIDs  map[string]bool
	decided  []agent.Decided
	question *agent.Question // that waits
	answered []agent.Answered
	answer   error                                     // of Say, Decide and Stop
	lose     func(session string, e store.Event) error // what Record answers, if not nil, without writing
}

// newScribe returns an agent on log: the one of the next start of the program if it was used before.
func newScribe(log store.Log) *scribe {
	return &scribe{log: log, live: map[string]agent.Live{}, stopIDs: map[string]bool{}}
}

// open tells the watchers of all sessions that are open, as Agent.Run does.
func (s *scribe) open(t *testing.T) {
	t.Helper()
	for session, err := range s.log.Open(t.Context(), time.Now()) {
		require.NoError(t, err)
		s.changed(session)
	}
}

func (s *scribe) changed(session string) {
	s.mu.Lock()
	watchers := slices.Clone(s.watchers)
	s.mu.Unlock()
	for _, f := range watchers {
		f(session)
	}
}

// write appends the events as one frame.
func (s *scribe) write(t *testing.T, session string, events ...any) store.Pos {
	t.Helper()
	var f store.Frame
	for _, v := range events {
		e, err := agent.Encode(v)
		require.NoError(t, err)
		f.Events = append(f.Events, e)
	}
	pos, err := s.append(session, f)
	require.NoError(t, err)
	return pos
}

func (s *scribe) append(session string, f store.Frame) (store.Pos, error) {
	f.Time = time.Now().UTC()
	for {
		pos, err := s.log.Append(context.Background(), session, last(s.log, session).Pos, f)
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err == nil {
			s.changed(session)
		}
		return pos, err
	}
}

// last returns the newest entry of a session.
func last(log store.Log, session string) (last store.Entry) {
	for e, err := range log.Read(context.Background(), session, 0) {
		if err != nil {
			panic(err) // the log is in memory
		}
		last = e
	}
	return last
}

// shows changes what Live returns.
func (s *scribe) shows(session string, live agent.Live) {
	s.mu.Lock()
	s.live[session] = live
	s.mu.Unlock()
	s.changed(session)
}

func (s *scribe) Watch(f func(string)) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers = nil
	}
}

func (s *scribe) Live(session string) agent.Live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[session]
}

func (s *scribe) Record(_ context.Context, session, key string, shown store.Pos, events ...store.Event) error {
	last := last(s.log, session)
	if len(events) == 0 && (last.Free || shown != last.Pos) {
		return nil
	}
	s.mu.Lock()
	lose := s.lose
	s.mu.Unlock()
	if lose != nil && len(events) > 0 {
		if err := lose(session, events[0]); err != nil {
			return err
		}
	}
	_, err := s.append(session, store.Frame{Key: key, Free: shown == last.Pos, Events: events})
	if errors.Is(err, store.ErrDuplicate) {
		return nil
	}
	return err
}

func (s *scribe) answers(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = err
}

func (s *scribe) Say(_ context.Context, session, id string, said agent.UserSaid) (agent.Said, error) {
	s.mu.Lock()
	err := s.answer
	s.mu.Unlock()
	if err != nil {
		return agent.Said{}, err
	}
	e, err := agent.Encode(said)
	if err != nil {
		return agent.Said{}, err
	}
	_, err = s.append(session, store.Frame{Key: id, Events: []store.Event{e}})
	if errors.Is(err, store.ErrDuplicate) {
		return agent.Said{Duplicate: true}, nil
	}
	return agent.Said{}, err
}

func (s *scribe) Decide(_ context.Context, _ string, d agent.Decided) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decided = append(s.decided, d)
	return s.answer
}

func (s *scribe) Question(context.Context, string) (*agent.Question, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.question, nil
}

func (s *scribe) Answer(_ context.Context, _ string, a agent.Answered) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered = append(s.answered, a)
	return s.answer
}

func (s *scribe) Stop(_ context.Context, session, id string, stop agent.StopAsked) error {
	if stop.Turn != 0 && stop.Turn != turnOf(s.log, session) {
		return agent.ErrOver
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopIDs[id] {
		s.stopIDs[id] = true
		s.stops = append(s.stops, session)
	}
	return s.answer
}

// turnOf returns the turn that runs in the session, or 0.
func turnOf(log store.Log, session string) (turn int) {
	for e, err := range log.Read(context.Background(), session, 0) {
		if err != nil {
			panic(err)
		}
		for _, e := range e.Events {
			switch v, _ := agent.Decode(e); v := v.(type) {
			case *agent.TurnStarted:
				turn = v.Turn
			case *agent.TurnEnded:
				turn = 0
			}
		}
	}
	return turn
}

// run starts a bot. The function returned stops it as a crash does: nothing is told after it.
func run(t *testing.T, c bots.Config) (stop func()) {
	t.Helper()
	b, err := bots.New(c)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

// texts returns what a person sees in the thread.
func texts(c *botstest.Chat, at bots.Thread, person string) []string {
	var all []string
	for _, m := range c.Shown(at, person) {
		all = append(all, m.Text)
	}
	return all
}
