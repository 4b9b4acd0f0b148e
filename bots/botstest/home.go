package botstest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/heddle-bot/heddle/bots"
)

// Homes are the bot's pages in a Chat. The zero Homes is ready.
type Homes struct {
	mu     sync.Mutex
	pages  map[string][]string // by person
	broken error               // see Break
}

func (h *Homes) show(_ context.Context, person string, pieces []string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range pieces {
		if len(p) > maxText || p == "" {
			return &bots.Error{Permanent: true, Err: fmt.Errorf("a piece has %d bytes", len(p))}
		}
	}
	if h.broken != nil {
		return h.broken
	}
	if h.pages == nil {
		h.pages = map[string][]string{}
	}
	h.pages[person] = slices.Clone(pieces[:min(len(pieces), maxHome)])
	return nil
}

// Of returns what a person sees on their page; nil is nothing.
func (h *Homes) Of(person string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pages[person]
}

// Break has pages not shown because of err from now on; nil mends them.
func (h *Homes) Break(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = err
}

func link(t bots.Thread, id bots.MessageID) string { return "chat://" + t.Channel + "/" + string(id) }
