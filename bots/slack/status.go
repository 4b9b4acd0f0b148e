package slack

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// statusFor is how long Slack shows a status.
const statusFor = 2 * time.Minute

// The status of a thread, "is working…" under the app's name, is for people's comfort only: no call
// waits for its turn, and where Slack refuses it nobody tries again.
type status struct {
	mu   sync.Mutex
	none map[string]bool // channels where there is none
}

// working implements bots.Info.Working.
func (s *Slack) working(ctx context.Context, t bots.Thread, working bool) {
	if s.status.missing(t.Channel) {
		return
	}
	text := ""
	if working {
		text = "is working…"
	}
	err := s.web.call(ctx, request{method: "assistant.threads.setStatus", class: bots.Progress}, func(ctx context.Context) error {
		return s.web.api.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{
			ChannelID: t.Channel, ThreadTS: t.ID, Status: text,
		})
	})
	if err == nil {
		return
	}
	_, refused := errors.AsType[slack.SlackErrorResponse](err)
	if e, ok := errors.AsType[*bots.Error](err); refused && ok && e.RetryAfter == 0 {
		s.status.lacks(t.Channel)
	}
	s.cfg.Logger.Debug("status not shown", "session", t.String(), "err", err)
}

func (s *status) missing(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.none[channel]
}

func (s *status) lacks(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.none == nil {
		s.none = map[string]bool{}
	}
	s.none[channel] = true
}
