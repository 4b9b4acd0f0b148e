package slack

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// A turn at work is shown as a stream of task cards where Slack has streams, and else, or from where
// the stream ends, by edits of an ordinary message. Which it is Slack's answers say, there is no
// setting. A stream may be begun 20 times a minute only, so it is begun if that is possible at once.
//
// A stream has no buttons: blocks that are put into one cannot be taken out again, and a Stop that
// stays behind when all is over is worse than none. Slack shows a control of its own where it has one,
// and the word "stop" in the thread works everywhere. A turn that goes on when its stream ends gets
// the button with the first edit.

// errNoStream says that a message cannot be streamed, or not any further.
var errNoStream = errors.New("there is no stream")

// streams are the messages that this process streams, and where it does not try to.
type streams struct {
	web *web
	log *slog.Logger

	mu   sync.Mutex
	none map[string]bool    // channels without streams; "" is all of them
	open map[string]*stream // by channel and id, with a slash between
}

// A stream is a message that is streamed.
type stream struct {
	key   string // of the message
	since time.Time

	mu    sync.Mutex // is held while Slack is called
	shows drawing
}

// forgotten is the age at which a stream is over in any case: Slack lets one run for minutes.
const forgotten = 30 * time.Minute

func newStreams(w *web, log *slog.Logger) *streams {
	return &streams{web: w, log: log, none: map[string]bool{}, open: map[string]*stream{}}
}

// start posts m as a stream. errNoStream says that it has not been posted, and is to be posted otherwise.
func (s *streams) start(ctx context.Context, t bots.Thread, m bots.Message) (id bots.MessageID, err error) {
	if m.Work.Ended || m.Work.Asker == "" || s.missing(t.Channel) {
		return "", errNoStream
	}
	chunks, shows := drawing(nil).draw(m.Work)
	err = s.web.call(ctx, request{method: "chat.startStream", class: bots.Progress}, func(ctx context.Context) error {
		_, ts, err := s.web.api.StartStreamContext(ctx, t.Channel,
			slack.MsgOptionTS(t.ID),
			slack.MsgOptionRecipientUserID(m.Work.Asker),
			slack.MsgOptionRecipientTeamID(t.Workspace),
			slack.MsgOptionTaskDisplayMode(slack.TaskDisplayModeTimeline),
			slack.MsgOptionChunks(chunks...),
		)
		if err == nil && ts == "" {
			err = errEmpty
		}
		id = bots.MessageID(ts)
		return err
	})
	if err == nil {
		s.add(t, id, m.Key, shows)
		return id, nil
	}
	e, ok := errors.AsType[*bots.Error](err)
	switch code := refusedFor(err); {
	case !ok || e.Unsure:
		return "", err
	case e.RetryAfter > 0:
		return "", errNoStream
	case code == "":
		return "", err
	default:
		s.lacks(t.Channel, code)
		return "", errNoStream
	}
}

// goOn brings a streamed message up to date. errNoStream says that it is not streamed: it is to be edited.
func (s *streams) goOn(ctx context.Context, t bots.Thread, id bots.MessageID, m bots.Message) error {
	st := s.get(t, id)
	if st == nil {
		return errNoStream
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	chunks, next := st.shows.draw(m.Work)
	var err error
	switch {
	case m.Work.Ended:
		err = s.web.stopStream(ctx, t, id, m, chunks...)
	case len(chunks) > 0:
		err = s.web.appendStream(ctx, t, id, chunks...)
	}
	e, _ := errors.AsType[*bots.Error](err)
	code := refusedFor(err)
	switch {
	case err == nil:
		st.shows = next
		if m.Work.Ended {
			s.remove(t, id)
		}
	case e == nil || e.RetryAfter > 0:
	case e.Unsure:
		st.shows = next.doubted()
	case errors.Is(err, bots.ErrUnknownMessage):
		s.remove(t, id)
	case code != "":
		// stopped_by_user, message_not_in_streaming_state, or something in it that Slack does not take.
		// That a person has stopped it comes as an event too, which is what ends the turn.
		s.log.Debug("stream is over before its end", "session", t.String(), "code", code)
		s.remove(t, id)
		return errNoStream
	}
	return err
}

func (w *web) appendStream(ctx context.Context, t bots.Thread, id bots.MessageID, chunks ...slack.StreamChunk) error {
	return w.call(ctx, request{method: "chat.appendStream", class: bots.Progress}, func(ctx context.Context) error {
		_, ts, err := w.api.AppendStreamContext(ctx, t.Channel, string(id), slack.MsgOptionChunks(chunks...))
		if err == nil && ts == "" {
			err = errEmpty
		}
		return err
	})
}

// stopStream ends a stream. From then on the message has its key, and can be edited.
func (w *web) stopStream(ctx context.Context, t bots.Thread, id bots.MessageID, m bots.Message, chunks ...slack.StreamChunk) error {
	opts := []slack.MsgOption{keyed(m.Key)}
	if len(chunks) > 0 {
		opts = append(opts, slack.MsgOptionChunks(chunks...))
	}
	return w.call(ctx, request{method: "chat.stopStream", class: m.Class}, func(ctx context.Context) error {
		_, ts, err := w.api.StopStreamContext(ctx, t.Channel, string(id), opts...)
		if err == nil && ts == "" {
			err = errEmpty
		}
		return err
	})
}

func (s *streams) add(t bots.Thread, id bots.MessageID, key string, shows drawing) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, old := range s.open {
		if now.Sub(old.since) > forgotten {
			delete(s.open, name)
		}
	}
	s.open[streamName(t, id)] = &stream{key: key, since: now, shows: shows}
}

func (s *streams) get(t bots.Thread, id bots.MessageID) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[streamName(t, id)]
}

func (s *streams) remove(t bots.Thread, id bots.MessageID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, streamName(t, id))
}

func streamName(t bots.Thread, id bots.MessageID) string { return t.Channel + "/" + string(id) }

// missing reports whether there are no streams in the channel.
func (s *streams) missing(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.none[""] || s.none[channel]
}

// lacks notes that Slack has refused a stream, and where it need not be asked again.
func (s *streams) lacks(channel, code string) {
	at, ok := streamless(code, channel)
	if !ok {
		return
	}
	s.mu.Lock()
	known := s.none[at]
	s.none[at] = true
	s.mu.Unlock()
	if !known {
		s.log.Info("slack has no streams here: progress is shown by edits", "channel", at, "code", code)
	}
}

// streamless returns where a refusal of chat.startStream holds: in the channel, or everywhere, which
// is "". It is not ok if the refusal tells nothing of streams.
func streamless(code, channel string) (at string, ok bool) {
	switch code {
	case "unknown_method", "method_deprecated", "missing_scope", "not_allowed_token_type", "feature_not_enabled", "no_permission":
		return "", true
	case "channel_not_found", "not_in_channel", "is_archived", "thread_not_found", "invalid_thread_ts",
		"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "team_not_found",
		"user_not_found", "cannot_reply_to_message", "restricted_action":
		return "", false // the message as such would be refused too, or just this person
	}
	return channel, true // channel_type_not_supported, missing_recipient_team_id, invalid_chunks and what is to come
}
