package slack

import (
	"context"
	"encoding/json"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// Limits of what is read of a thread. Slack gives apps that are sold outside of its marketplace 15
// messages a page.
const (
	repliesPage  = 200
	repliesPages = 20
)

// The past tells what was said.
type past struct {
	web   *web
	names *names
}

// earlier returns what others said in the thread before a message: the root, and the newest of the
// rest. Slack tells a thread from its beginning only.
func (p past) earlier(ctx context.Context, t bots.Thread, before string, most int) (all []bots.Said, cut bool, err error) {
	me, err := p.web.whoami(ctx)
	if err != nil {
		return nil, false, err
	}
	r := &reader{me: me, name: p.names.get}
	said := newest{most: most}
	ask := slack.GetConversationRepliesParameters{ChannelID: t.Channel, Timestamp: t.ID, Latest: before, Limit: repliesPage}
	for range repliesPages {
		var page []slack.Message
		err := p.web.call(ctx, request{method: "conversations.replies", class: bots.Notice}, func(ctx context.Context) (err error) {
			page, _, ask.Cursor, err = p.web.api.GetConversationRepliesContext(ctx, &ask)
			return err
		})
		if err != nil {
			return nil, false, err
		}
		for _, m := range page {
			w := toSpoken(m)
			if before != "" && w.TS >= before || !r.theirs(w) {
				continue
			}
			if one := r.said(t.Channel, "", w); one.Text != "" || len(one.Files) > 0 {
				said.add(one, w.TS == t.ID)
			}
		}
		if ask.Cursor == "" {
			break
		}
	}
	all, cut = said.get()
	return all, cut || ask.Cursor != "", nil
}

// toSpoken returns a message of the Web API as an event would have it. What other bots post there has
// a subtype of its own.
func toSpoken(m slack.Message) spoken {
	w := spoken{SubType: m.SubType, User: m.User, BotID: m.BotID, Text: m.Text, TS: m.Timestamp, ThreadTS: m.ThreadTimestamp, Team: m.Team}
	if w.SubType == slack.MsgSubTypeBotMessage {
		w.SubType = ""
	}
	if len(m.Files) > 0 {
		w.Files, _ = json.Marshal(m.Files) // it was JSON
	}
	return w
}

// newest keeps the root and the newest of the other messages.
type newest struct {
	most int
	root []bots.Said // one at most
	rest []bots.Said
	last string // id
	cut  bool
}

// add adds the next message. Slack repeats the root on each page.
func (n *newest) add(s bots.Said, root bool) {
	switch {
	case root:
		n.root = []bots.Said{s}
		return
	case s.ID <= n.last:
		return
	}
	n.last, n.rest = s.ID, append(n.rest, s)
	if len(n.rest) > n.most {
		n.rest, n.cut = n.rest[1:], true
	}
}

// get returns what is kept, oldest first.
func (n *newest) get() (all []bots.Said, cut bool) {
	over := min(len(n.root)+len(n.rest)-n.most, len(n.rest))
	if over > 0 {
		n.rest, n.cut = n.rest[over:], true
	}
	return append(n.root, n.rest...), n.cut
}
