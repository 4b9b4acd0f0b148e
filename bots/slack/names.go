package slack

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// names are those of people and of channels by id. Those of people are learned before the first event comes, and looked up in
// the background for who comes later, as those of channels are: whoever asks gets what is known, which may be the id.
//
// People choose their names, so none can be trusted. They are kept as one short line; see oneLine.
type names struct {
	wanted chan string

	mu    sync.Mutex
	known map[string]name
}

type name struct {
	text  string // "" if not known
	asked time.Time
}

// Limits of names.
const (
	nameFor     = time.Hour       // one is good
	noNameFor   = time.Minute     // passes until one that was not found is asked for again
	namesWithin = 3 * time.Second // the first event does not wait for longer
	perPage     = 1000            // of users.list
	maxPages    = 10
	maxNames    = 2 * perPage * maxPages // are kept in memory before all are forgotten; half are for who comes later
	maxName     = 80                     // characters of one, as in Slack
)

func newNames() *names {
	return &names{wanted: make(chan string, 100), known: map[string]name{}}
}

// get returns the name of id, or id. It does not block.
func (n *names) get(id string) string {
	if id == "" {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.known[id]
	good := nameFor
	if known.text == "" {
		good = noNameFor
	}
	if now := time.Now(); now.Sub(known.asked) > good {
		select {
		case n.wanted <- id:
			n.set(id, name{known.text, now})
		default: // there will be another occasion
		}
	}
	if known.text == "" {
		return id
	}
	return known.text
}

func (n *names) set(id string, to name) {
	if _, ok := n.known[id]; !ok && len(n.known) >= maxNames {
		clear(n.known)
	}
	n.known[id] = to
}

// learn notes a name.
func (n *names) learn(id, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.set(id, name{text, time.Now()})
}

// fill learns the names of the workspace, the first maxPages*perPage of them.
func (n *names) fill(ctx context.Context, w *web, log *slog.Logger) {
	page := w.api.GetUsersPaginated(slack.GetUsersOptionLimit(perPage), slack.GetUsersOptionIncludeLocale(false))
	for range maxPages {
		err := w.call(ctx, request{method: "users.list", class: bots.Notice}, func(ctx context.Context) (err error) {
			page, err = page.Next(ctx)
			return err
		})
		if err != nil {
			if ctx.Err() == nil {
				log.Warn("the names of the workspace are not known; each is looked up when its person comes", "err", err)
			}
			return
		}
		for _, u := range page.Users {
			if text := shownName(&u); text != "" {
				n.learn(u.ID, text)
			}
		}
		if page.Cursor == "" {
			return
		}
	}
}

// mention writes a person's name without calling them: Slack's own <@U1> in a new message does call.
// It is the name that was looked up, or the id until one is known.
func (n *names) mention(id string) string { return escape("@" + n.get(id)) }

// run looks up the names that are wanted until ctx ends.
func (n *names) run(ctx context.Context, w *web, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-n.wanted:
			text, err := w.nameOf(ctx, id)
			switch {
			case err == nil:
				n.learn(id, text)
			case ctx.Err() == nil:
				log.Warn("a name is not known", "id", id, "err", err)
			}
		}
	}
}

// nameOf returns the name that Slack shows of a person.
func (w *web) nameOf(ctx context.Context, id string) (string, error) {
	if strings.HasPrefix(id, "C") || strings.HasPrefix(id, "G") {
		return w.channelName(ctx, id)
	}
	var u *slack.User
	err := w.call(ctx, request{method: "users.info", class: bots.Notice}, func(ctx context.Context) (err error) {
		u, err = w.api.GetUserInfoContext(ctx, id)
		return err
	})
	if err != nil {
		return "", err
	}
	return cmp.Or(shownName(u), id), nil
}

// channelName asks for the name of a channel that the bot may see.
func (w *web) channelName(ctx context.Context, id string) (name string, err error) {
	err = w.call(ctx, request{method: "conversations.info", class: bots.Notice}, func(ctx context.Context) error {
		c, err := w.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
		if err == nil {
			name = oneLine(c.Name)
		}
		return err
	})
	return cmp.Or(name, id), err
}

// shownName returns the name by which Slack shows a person; "" if there is none.
func shownName(u *slack.User) string {
	return cmp.Or(oneLine(u.Profile.DisplayName), oneLine(u.Profile.RealName), oneLine(u.RealName), oneLine(u.Name))
}

// oneLine returns a name as one line of at most maxName characters, without those that cannot be
// seen: they turn the text around them, or hide more text from people than from models.
func oneLine(s string) string {
	const nonJoiner, joiner = '\u200c', '\u200d' // of letters and emoji
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner:
			return -1
		}
		return r
	}, s)
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > maxName {
		r = append(r[:maxName-1], '…')
	}
	return string(r)
}
