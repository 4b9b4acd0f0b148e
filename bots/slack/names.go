package slack

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// names are those of people by id. They are looked up in the background: whoever asks gets what is
// known, which the first time is the id.
type names struct {
	wanted chan string

	mu    sync.Mutex
	known map[string]name
}

type name struct {
	text  string // "" if not known
	asked time.Time
}

// Limits of names: how long one is good for, when to ask again for one that was not found, and how
// many are kept in memory before all are forgotten.
const (
	nameFor   = time.Hour
	noNameFor = time.Minute
	maxNames  = 10_000
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
	if len(n.known) >= maxNames {
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
				log.Warn("a name is not known", "user", id, "err", err)
			}
		}
	}
}

// nameOf returns the name that Slack shows of a person.
func (w *web) nameOf(ctx context.Context, id string) (string, error) {
	var u *slack.User
	err := w.call(ctx, request{method: "users.info", class: bots.Notice}, func(ctx context.Context) (err error) {
		u, err = w.api.GetUserInfoContext(ctx, id)
		return err
	})
	if err != nil {
		return "", err
	}
	return cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name, id), nil
}
