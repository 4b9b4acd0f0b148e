// Package web is the local page: a network of its own, on which people talk to the agent with nothing but a
// browser.
//
// A Page implements bots.Platform, so what people do on it goes the same way as on other networks: through
// the gate of package bots and into the log. What they see is made from the log (bots/web/story), so the bot
// paints nothing here (bots.Info.Shows); what is in no log, an answer to a command, say, is told as a note
// that is kept in memory only. Pages are HTML that the server makes; forms work without the script, and with
// it server-sent events bring what is new, to everybody who looks (room.go).
//
// Who is let in is auth.go. Everybody who is logged in sees all threads of the page. Answers carry a policy
// under which a browser runs nothing but our script, and requests from other sites are refused (server.go).
// The addresses and the form of the cookie may be changed; ids of threads and people are in logs, and are
// for ever.
package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/web/story"
	"github.com/heddle-bot/heddle/store"
)

// Name is the Info.Name of this network.
const Name = "web"

// The rest of a thread's address but for its ID: there is one place, with one channel.
const (
	workspace = "local"
	channel   = "page"
)

// PersonPrefix begins the id of everybody here, so that lists of people of several networks can be told
// apart: "web:alice".
const PersonPrefix = "web:"

// A Log is what a Page reads threads from; every store.Log is one.
type Log interface {
	Read(ctx context.Context, session string, after store.Pos) iter.Seq2[store.Entry, error]
	Sessions(ctx context.Context, q store.Query) iter.Seq2[store.Summary, error]
}

// Sessions tells of sessions. *agent.Agent documents the methods.
type Sessions interface {
	Watch(f func(session string)) (stop func())
	Live(session string) agent.Live
}

// Config is what a Page is made of.
type Config struct {
	Agent    Sessions
	Log      Log
	Artefact func(ctx context.Context, name string) ([]byte, error) // of files that calls send; nil: none
	Auth     *Auth
	Hosts    []string         // names in addresses that lead here, beside loopback's; others are refused
	Networks func() []Network // for the console; nil: none are told of
	Banner   string           // told at the top of every page; "" is nothing
	Version  string           // of the program: browsers keep files of the same version
	Redact   func(string) string
	Logger   *slog.Logger // nil logs nothing
}

// A Page is the network. It implements bots.Platform.
type Page struct {
	cfg      Config
	renderer *story.Renderer
	uploads  *uploads
	sums     summaries
	unwatch  func()

	mu     sync.Mutex
	accept func(context.Context, bots.Event) error // of Listen; nil while it does not run
	rooms  map[string]*room                        // by session, those that somebody looks at
	notes  map[string][]note                       // by session, the newest last
	since  time.Time
	events time.Time
}

var _ bots.Platform = (*Page)(nil)

// New returns a Page. It watches the agent from now on.
func New(c Config) (*Page, error) {
	if c.Agent == nil || c.Log == nil || c.Auth == nil {
		return nil, errors.New("web: Config needs Agent, Log and Auth")
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Page{
		cfg: c, renderer: story.NewRenderer(c.Version), uploads: newUploads(),
		rooms: map[string]*room{}, notes: map[string][]note{}, since: time.Now(),
	}
	p.unwatch = c.Agent.Watch(p.wake)
	return p, nil
}

// Info implements bots.Platform.
func (p *Page) Info() bots.Info {
	return bots.Info{
		Name:      Name,
		EditEvery: time.Second,
		Render:    func(markdown string) []string { return []string{markdown} },
		MaxText:   maxNote,
		Mention:   func(id string) string { return strings.TrimPrefix(id, PersonPrefix) },
		Abilities: bots.Abilities{Shows: true, Fetch: p.uploads.fetch},
	}
}

// maxNote is the bytes of one note.
const maxNote = 100_000

// Listen implements bots.Platform: it lets the handlers deliver what people do, until ctx ends.
func (p *Page) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	p.mu.Lock()
	p.accept, p.since = accept, time.Now()
	p.mu.Unlock()
	<-ctx.Done()
	p.unwatch()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accept = nil
	for _, r := range p.rooms {
		r.close()
	}
	return nil
}

// A Health is how the page is.
type Health struct {
	Connected bool      // Listen runs
	Since     time.Time // it has, or has not
	LastEvent time.Time // somebody did something; zero if nobody has
	Viewers   int       // that follow a thread now
}

// Health returns how the page is.
func (p *Page) Health() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := Health{Connected: p.accept != nil, Since: p.since, LastEvent: p.events}
	for _, r := range p.rooms {
		h.Viewers += r.viewers
	}
	return h
}

// errClosed says that the program does not take anything in: it starts, or ends.
var errClosed = errors.New("heddle is just starting or stopping: try again in a moment")

// deliver has an event accepted.
func (p *Page) deliver(ctx context.Context, e bots.Event) error {
	p.mu.Lock()
	accept := p.accept
	p.events = time.Now()
	p.mu.Unlock()
	if accept == nil {
		return errClosed
	}
	return accept(ctx, e)
}

// A note is told to one person, or to all.
type note struct {
	n    int // from 1 within its session
	only string
	text string
}

// maxNotes is how many notes of a session are kept.
const maxNotes = 20

// Post implements bots.Platform. The bot posts here only what is in no log: it becomes a note.
func (p *Page) Post(_ context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	text := m.Text
	if m.Upload != nil { // only the log is sent so, and the page has it
		text += " [Export the log of this thread](/t/" + t.ID + "/export)"
	}
	session := t.String()
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.notes[session]
	n := 1
	if len(all) > 0 {
		n = all[len(all)-1].n + 1
	}
	all = append(all, note{n, m.For, text})
	p.notes[session] = all[max(0, len(all)-maxNotes):]
	if r := p.rooms[session]; r != nil {
		r.wake()
	}
	return bots.MessageID(fmt.Sprint("note/", n)), nil
}

// Edit implements bots.Platform. There is nothing to be edited: what is in the log shows by itself.
func (p *Page) Edit(context.Context, bots.Thread, bots.MessageID, bots.Message) error {
	return &bots.Error{Permanent: true, Err: bots.ErrUnknownMessage}
}

// notesFor returns the notes after the n-th that a person is told.
func (p *Page) notesFor(session, person string, after int) (all []note, last int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last = after
	for _, n := range p.notes[session] {
		last = max(last, n.n)
		if n.n > after && (n.only == "" || n.only == person) {
			all = append(all, n)
		}
	}
	return all, last
}

// thread returns the address of a thread here.
func thread(id string) bots.Thread {
	return bots.Thread{Platform: Name, Workspace: workspace, Channel: channel, ID: id}
}

// newID returns an id that sorts by the time at which it was made.
func newID(now time.Time) string {
	return now.UTC().Format("20060102-150405.000") + "-" + strings.ToLower(rand.Text()[:6])
}

// uploads are files that people have attached, until the agent has fetched them.
type uploads struct {
	mu    sync.Mutex
	files map[string][]byte
	order []string
	size  int
}

// maxUploads bounds what is kept, in bytes: the oldest are dropped, and then told as not to be had.
const maxUploads = 256 << 20

func newUploads() *uploads { return &uploads{files: map[string][]byte{}} }

// keep returns a reference to content.
func (u *uploads) keep(content []byte) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	ref := rand.Text()
	u.files[ref] = content
	u.order = append(u.order, ref)
	for u.size += len(content); u.size > maxUploads; {
		u.size -= len(u.files[u.order[0]])
		delete(u.files, u.order[0])
		u.order = u.order[1:]
	}
	return ref
}

// fetch implements bots.Info.Fetch.
func (u *uploads) fetch(_ context.Context, ref string) (io.ReadCloser, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	content, ok := u.files[ref]
	if !ok {
		return nil, &bots.Error{Permanent: true, Err: errors.New("the program was started anew since the file was attached: attach it again")}
	}
	return io.NopCloser(strings.NewReader(string(content))), nil
}
