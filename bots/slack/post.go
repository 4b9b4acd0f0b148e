package slack

import (
	"context"
	"errors"
	"fmt"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// The metadata of every message that we post: it is how a message is found again by its key.
const (
	metaType = "heddle"
	metaKey  = "key"
)

// Post implements bots.Platform. A private message (m.For) carries no key, so one that is posted
// again after m.Unsure may show twice to that person.
func (s *Slack) Post(ctx context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	if m.Upload != nil {
		return s.web.upload(ctx, t, m)
	}
	c, err := compose(m)
	if err != nil {
		return "", &bots.Error{Permanent: true, Err: fmt.Errorf("composing a message: %w", err)}
	}
	if m.For != "" {
		return s.whisper(ctx, t, m, c)
	}
	if m.Unsure {
		id, err := s.find(ctx, t, m)
		if id != "" || err != nil {
			return id, err
		}
	}
	if m.Work != nil {
		if id, err := s.streams.start(ctx, t, m); !errors.Is(err, errNoStream) {
			return id, err
		}
	}
	return s.post(ctx, t, m, c)
}

func (s *Slack) post(ctx context.Context, t bots.Thread, m bots.Message, c content) (id bots.MessageID, err error) {
	var thread string
	err = s.web.call(ctx, request{"chat.postMessage", t.Channel, m.Class}, func(ctx context.Context) error {
		_, ts, posted, err := s.web.api.PostMessageWithResponseContext(ctx, t.Channel, c.options(m.Key, slack.MsgOptionTS(t.ID))...)
		if err == nil && ts == "" {
			err = errEmpty
		}
		id, thread = bots.MessageID(ts), posted.ThreadTimestamp
		return err
	})
	if err != nil {
		return "", err
	}
	if thread != t.ID {
		return "", s.strayed(ctx, t, id)
	}
	return id, nil
}

// strayed takes back a message that Slack has put into the channel instead of the thread, as it does
// when the root of the thread is gone.
func (s *Slack) strayed(ctx context.Context, t bots.Thread, id bots.MessageID) error {
	err := s.web.call(ctx, request{method: "chat.delete"}, func(ctx context.Context) error {
		_, _, err := s.web.api.DeleteMessageContext(ctx, t.Channel, string(id))
		return err
	})
	return &bots.Error{Permanent: true, Err: errors.Join(fmt.Errorf("the thread %s does not exist any more", t), err)}
}

// find returns the id of our message of m's key, or "" if Slack has none. A stream gets its key when it
// ends. So if m may be streamed, and no message has its key, it is the newest of ours that has neither
// metadata nor a file and that this process does not stream: only an orphaned stream looks so. It is
// taken over, and goes on.
func (s *Slack) find(ctx context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	var orphan bots.MessageID
	id, err := s.web.look(ctx, t, func(old slack.Message) bool {
		id := bots.MessageID(old.Timestamp)
		if st := s.streams.get(t, id); st != nil {
			return st.key == m.Key
		}
		if old.Metadata.EventType == "" && len(old.Files) == 0 && old.Timestamp != t.ID {
			orphan = id
		}
		return old.Metadata.EventType == metaType && old.Metadata.EventPayload[metaKey] == m.Key
	})
	if m.Work == nil || id != "" || err != nil || orphan == "" {
		return id, err
	}
	s.streams.add(t, orphan, m.Key, nil)
	return orphan, nil
}

// look returns the id of our message in the thread that is the one, or "" if Slack has none. If it
// cannot tell, the error says that this is still unsure.
func (w *web) look(ctx context.Context, t bots.Thread, isIt func(slack.Message) bool) (id bots.MessageID, err error) {
	me, err := w.whoami(ctx)
	ask := slack.GetConversationRepliesParameters{ChannelID: t.Channel, Timestamp: t.ID, Limit: 200, IncludeAllMetadata: true}
	for more := true; more && err == nil && id == ""; more = ask.Cursor != "" {
		err = w.call(ctx, request{method: "conversations.replies"}, func(ctx context.Context) error {
			page, _, cursor, err := w.api.GetConversationRepliesContext(ctx, &ask)
			for _, m := range page {
				ours := m.User == me.user || me.bot != "" && m.BotID == me.bot
				if ours && isIt(m) {
					id = bots.MessageID(m.Timestamp)
				}
			}
			ask.Cursor = cursor
			return err
		})
	}
	if e, ok := errors.AsType[*bots.Error](err); ok {
		e.Unsure = true
	}
	return id, err
}

// Edit implements bots.Platform.
func (s *Slack) Edit(ctx context.Context, t bots.Thread, id bots.MessageID, m bots.Message) error {
	c, err := compose(m)
	if err == nil && (m.For != "" || m.Upload != nil) {
		err = errors.New("a private message cannot be edited, nor one with a file")
	}
	if err != nil {
		return &bots.Error{Permanent: true, Err: fmt.Errorf("composing an edit: %w", err)}
	}
	if m.Work != nil {
		if err := s.streams.goOn(ctx, t, id, m); !errors.Is(err, errNoStream) {
			return err
		}
	}
	err = s.web.update(ctx, t, id, m, c)
	if refusedFor(err) != "streaming_state_conflict" {
		return err
	}
	// It is a stream that an earlier start of the program has left open.
	err = s.web.stopStream(ctx, t, id, m)
	if err != nil && refusedFor(err) != "message_not_in_streaming_state" {
		return err
	}
	return s.web.update(ctx, t, id, m, c)
}

func (w *web) update(ctx context.Context, t bots.Thread, id bots.MessageID, m bots.Message, c content) error {
	return w.call(ctx, request{method: "chat.update", class: m.Class}, func(ctx context.Context) error {
		_, ts, _, err := w.api.UpdateMessageContext(ctx, t.Channel, string(id), c.options(m.Key)...)
		if err == nil && ts == "" {
			err = errEmpty
		}
		return err
	})
}

// whisper posts a message that only m.For sees.
func (s *Slack) whisper(ctx context.Context, t bots.Thread, m bots.Message, c content) (id bots.MessageID, err error) {
	err = s.web.call(ctx, request{method: "chat.postEphemeral", class: m.Class}, func(ctx context.Context) error {
		ts, err := s.web.api.PostEphemeralContext(ctx, t.Channel, m.For, c.options("", slack.MsgOptionTS(t.ID))...)
		if err == nil && ts == "" {
			err = errEmpty
		}
		id = bots.MessageID(ts)
		return err
	})
	return id, err
}

// options returns the content as what the client sends. Nothing in it is to be unfolded or looked up.
func (c content) options(key string, more ...slack.MsgOption) []slack.MsgOption {
	all := append(more,
		slack.MsgOptionText(c.text, false),
		slack.MsgOptionBlocks(c.blocks...),
		slack.MsgOptionParse(false),
		slack.MsgOptionDisableLinkUnfurl(),
		slack.MsgOptionDisableMediaUnfurl(),
	)
	if key != "" {
		all = append(all, keyed(key))
	}
	return all
}

// keyed is the metadata of a message.
func keyed(key string) slack.MsgOption {
	return slack.MsgOptionMetadata(slack.SlackMetadata{EventType: metaType, EventPayload: map[string]any{metaKey: key}})
}
