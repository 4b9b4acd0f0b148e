package slack

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// This file is the app's home, which each person sees in their own way.

// maxHome is how many blocks the home may have.
const maxHome = 100

// opened decodes a look at the app's home; Slack also tells of looks at the other tabs. Of which
// organisation the person is it does not tell.
func (r *reader) opened(m message) bots.Event {
	if m.User == "" || cmp.Or(m.Tab, "home") != "home" {
		return nil
	}
	return bots.HomeOpened{
		ID:        strings.Join([]string{"home", m.User, m.EventTS}, "/"),
		Workspace: r.me.team,
		By:        r.person(m.User, ""),
	}
}

// home implements bots.Abilities.Home.
func (w *web) home(ctx context.Context, person string, pieces []string) error {
	var blocks []slack.Block
	for _, text := range pieces[:min(len(pieces), maxHome)] {
		blocks = append(blocks, section(text))
	}
	view := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks}}
	return w.call(ctx, request{method: "views.publish", class: bots.Notice}, func(ctx context.Context) error {
		_, err := w.api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: person, View: view})
		return err
	})
}

// link implements bots.Abilities.Link. It is what chat.getPermalink answers, made without asking: the
// digits of the ts, and for a reply its thread.
func (w *web) link(t bots.Thread, id bots.MessageID) string {
	w.mu.Lock()
	me := w.me
	w.mu.Unlock()
	if me == nil || me.url == "" {
		return ""
	}
	link := strings.TrimRight(me.url, "/") + "/archives/" + t.Channel + "/p" + strings.ReplaceAll(string(id), ".", "")
	if string(id) != t.ID {
		link += "?" + url.Values{"thread_ts": {t.ID}, "cid": {t.Channel}}.Encode()
	}
	return link
}
