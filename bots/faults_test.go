package bots_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/storetest"
	"github.com/heddle-bot/heddle/tools"
)

// A storm makes things fail by chance, as its seed has it, until it is calm.
type storm struct {
	mu   sync.Mutex
	rand *rand.Rand
	calm bool
}

func newStorm(seed uint64) *storm { return &storm{rand: rand.New(rand.NewPCG(seed, 1))} }

// n returns a number below n, or n-1 once it is calm.
func (s *storm) n(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calm {
		return n - 1
	}
	return s.rand.IntN(n)
}

func (s *storm) fault(botstest.Op) botstest.Fault {
	err := errors.New("stormy")
	switch s.n(12) {
	case 0:
		return botstest.Fault{Err: err}
	case 1:
		return botstest.Fault{Err: err, Done: true}
	case 2:
		return botstest.Fault{Err: &bots.Error{Err: err}}
	case 3:
		return botstest.Fault{Err: &bots.Error{Unsure: true, Err: err}, Done: true}
	case 4:
		return botstest.Fault{Err: &bots.Error{RetryAfter: 7 * time.Second, Err: err}}
	}
	return botstest.Fault{}
}

func (s *storm) lose(string, store.Event) error {
	if s.n(4) == 0 {
		return errors.New("the disk is full")
	}
	return nil
}

// story returns the frames of a log with some turns, and what is to be answered in each.
func story(r *rand.Rand) (frames [][]any, answers []string) {
	saw := func() store.Pos { return store.Pos(r.IntN(1000)) } // receipts lie between: what was seen does not matter here
	for turn, turns := 1, 1+r.IntN(3); turn <= turns; turn++ {
		frames = append(frames, []any{agent.UserSaid{By: agent.User{ID: ann.ID}, Text: "hello"}}, []any{agent.TurnStarted{Turn: turn, Saw: 1000000}})
		for step := 1; step <= r.IntN(3); step++ {
			id := fmt.Sprintf("%d.%d.1", turn, step)
			frames = append(frames, []any{agent.ModelSaid{Turn: turn, Step: step, Saw: saw(), Calls: []agent.Call{{ID: id, Tool: "shell"}}}})
			if turn < turns && r.IntN(4) == 0 {
				frames = append(frames, []any{agent.UserSaid{Text: "and", Busy: []agent.Busy{agent.Steer, agent.Queue}[r.IntN(2)]}})
			}
			for try := range r.IntN(3) {
				digest := fmt.Sprint("d", try)
				frames = append(frames,
					[]any{agent.ApprovalAsked{Call: id, Title: "make", Kind: tools.Command, Preview: "make", Digest: digest}},
					[]any{agent.Decided{Call: id, Digest: digest, Yes: true, By: agent.User{ID: bob.ID}}})
			}
			frames = append(frames, []any{agent.ToolStarted{Call: id, Title: "make"}}, []any{agent.ToolFinished{Call: id, Status: agent.OK, Title: "make"}})
		}
		answer := strings.TrimSpace(strings.Repeat(fmt.Sprintf("answer of %d\n", turn), 1+r.IntN(200)))
		answers = append(answers, answer)
		frames = append(frames, []any{agent.TurnEnded{Turn: turn, Reason: agent.Completed, Text: answer}})
	}
	return frames, answers
}

// Whatever fails and whenever the program dies: in the end each message is in the thread once, in its last
// form, and the answers are whole and in order.
func TestStorm(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			storm := newStorm(seed)
			synctest.Test(t, func(t *testing.T) {
				b := &board{t: t, chat: &botstest.Chat{Fault: storm.fault}, scribe: newScribe(storetest.NewMemory())}
				b.lose = storm.lose
				b.begin()
				defer func() { b.stop() }()
				frames, answers := story(rand.New(rand.NewPCG(seed, 2)))
				for _, events := range frames {
					b.write(t, at.String(), events...)
					b.shows(at.String(), agent.Live{Text: strings.Repeat("word ", storm.n(50))})
					time.Sleep(time.Duration(storm.n(4000)) * time.Millisecond)
					if storm.n(5) == 0 {
						b.stop()
						b.scribe = newScribe(b.log)
						b.lose = storm.lose
						b.begin()
					}
				}
				storm.mu.Lock()
				storm.calm = true
				storm.mu.Unlock()
				b.shows(at.String(), agent.Live{})
				b.settled()
				require.Equal(t, strings.Join(answers, "\n"), b.inOrder())
			})
		})
	}
}

// inOrder checks the messages in the thread against the receipts and returns the answers as they stand.
func (b *board) inOrder() string {
	keys := map[string]string{} // by id
	for _, r := range b.receipts() {
		if kind, data, _ := strings.Cut(r, " "); kind == "bots.Posted" {
			var p bots.Posted
			require.NoError(b.t, json.Unmarshal([]byte(data), &p))
			keys[string(p.ID)] = p.Key
		}
	}
	var answers []string
	for _, m := range b.chat.Shown(at, ann.ID) {
		key := keys[string(m.ID)]
		require.NotEmpty(b.t, key, "a message without a receipt: %v", m)
		delete(keys, string(m.ID))
		require.Empty(b.t, m.Buttons)
		switch {
		case strings.Contains(key, "/answer/"):
			answers = append(answers, m.Text)
		case strings.Contains(key, "/progress"):
			require.Contains(b.t, m.Text, "Done in")
		case strings.Contains(key, "/card/"):
			require.Contains(b.t, m.Text, "Approved by @UBOB.")
		}
	}
	require.Empty(b.t, keys, "receipts without a message")
	return strings.Join(answers, "\n")
}
