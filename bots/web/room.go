package web

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/web/story"
	"github.com/heddle-bot/heddle/store"
)

// A room is a thread that somebody looks at: its story, which all viewers share, and who is to be woken when
// there is more.
type room struct {
	session string
	viewers int // guarded by Page.mu

	mu      sync.Mutex
	story   *story.Story
	changed chan struct{} // closed at each change
	closed  bool
}

// wake wakes the viewers.
func (r *room) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// close wakes the viewers for good.
func (r *room) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		close(r.changed)
	}
}

// wake is told of each change of a session.
func (p *Page) wake(session string) {
	p.mu.Lock()
	r := p.rooms[session]
	p.mu.Unlock()
	if r != nil {
		r.wake()
	}
}

// enter returns the room of a session, and a function that leaves it.
func (p *Page) enter(session string) (*room, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rooms[session]
	if r == nil {
		r = &room{session: session, story: &story.Story{}, changed: make(chan struct{})}
		p.rooms[session] = r
	}
	r.viewers++
	return r, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.viewers--; r.viewers == 0 {
			delete(p.rooms, session)
		}
	}
}

// A glance is what a viewer needs of a story at one moment.
type glance struct {
	items   []*story.Item // copies: the story goes on
	skipped int           // items before those
	pos     store.Pos
	sum     story.Summary
	changed <-chan struct{} // closed when there is more
	closed  bool
}

// look folds what is new in the log, and returns the items that changed after a position, the newest most
// at most; 0 is no limit.
func (r *room) look(ctx context.Context, log Log, after store.Pos, most int) (glance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := glance{changed: r.changed, closed: r.closed} // before the log is read: what comes then wakes
	if err := r.fold(ctx, log); err != nil {
		return glance{}, err
	}
	all := r.story.Items()
	if most > 0 && len(all) > most {
		g.skipped = len(all) - most
		all = all[g.skipped:]
	}
	for _, i := range all {
		if i.Rev > after {
			c := *i
			if i.Call != nil {
				call := *i.Call
				if call.Card != nil {
					card := *call.Card
					call.Card = &card
				}
				if call.Question != nil {
					question := *call.Question
					call.Question = &question
				}
				c.Call = &call
			}
			g.items = append(g.items, &c)
		}
	}
	g.pos, g.sum = r.story.Pos(), r.story.Summary()
	return g, nil
}

// fold takes in what is new in the log. The caller holds r.mu.
func (r *room) fold(ctx context.Context, log Log) error {
	for e, err := range log.Read(ctx, r.session, r.story.Pos()) {
		if err == nil {
			err = r.story.Apply(e)
		}
		if err != nil {
			r.story = &story.Story{} // half a fold is of no use
			return fmt.Errorf("reading session %s: %w", r.session, err)
		}
	}
	return nil
}

// summary returns the thread in a few words.
func (r *room) summary(ctx context.Context, log Log) (known, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.fold(ctx, log)
	return known{r.story.Pos(), r.story.Summary()}, err
}

// Limits of what one page shows.
const (
	maxThreads = 100 // in the list
	firstItems = 200 // of a thread, the newest; earlier ones on demand
)

// threads returns the list of threads, those that changed last first.
func (p *Page) threads(ctx context.Context, current string) ([]story.ThreadRow, error) {
	var rows []story.ThreadRow
	for s, err := range p.cfg.Log.Sessions(ctx, store.Query{Prefix: Name + "/" + workspace + "/" + channel + "/", Limit: maxThreads}) {
		if err != nil {
			return nil, fmt.Errorf("listing threads: %w", err)
		}
		t, err := bots.ParseThread(s.Session)
		if err != nil {
			continue // a session of something else
		}
		row := story.ThreadRow{ID: t.ID, Updated: s.Updated, Running: !s.Free, Current: t.ID == current}
		sum, err := p.summary(ctx, s)
		if err != nil {
			return nil, err
		}
		row.Title, row.Waiting = p.cfg.Redact(sum.Title), sum.Waiting
		row.Running = sum.Turn != 0
		rows = append(rows, row)
	}
	return rows, nil
}

// A known is the summary of a session as of a position.
type known struct {
	pos store.Pos
	sum story.Summary
}

// summaries keeps those of the sessions in the list, which would have to be read anew for each page.
type summaries struct {
	mu  sync.Mutex
	all map[string]known
}

func (k *summaries) get(session string) (known, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.all[session]
	return v, ok
}

func (k *summaries) put(session string, v known) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all == nil || len(k.all) > 2*maxLooked {
		k.all = map[string]known{}
	}
	k.all[session] = v
}

// summary returns a session in a few words.
func (p *Page) summary(ctx context.Context, s store.Summary) (story.Summary, error) {
	if v, ok := p.sums.get(s.Session); ok && v.pos == s.Last {
		return v.sum, nil
	}
	// A thread that somebody looks at is folded already, but for what is new: its viewers, who all want the list
	// again at each change, must not each read the whole of it.
	p.mu.Lock()
	r := p.rooms[s.Session]
	p.mu.Unlock()
	if r == nil {
		r = &room{session: s.Session, story: &story.Story{}}
	}
	v, err := r.summary(ctx, p.cfg.Log)
	if err != nil {
		return story.Summary{}, err
	}
	if strings.TrimSpace(v.sum.Title) == "" {
		v.sum.Title = "Untitled"
	}
	p.sums.put(s.Session, v)
	return v.sum, nil
}

// Times of a stream of events.
const (
	beat    = 15 * time.Second      // of a comment that shows that the connection lives
	settle  = 60 * time.Millisecond // between a change and the look at it: a burst is one look
	writeIn = 10 * time.Second      // for one piece; a browser that takes longer is cut off and comes back
)
