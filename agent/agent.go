package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// Config is what an Agent is made of.
type Config struct {
	Log       store.Log
	Artefacts Artefacts
	// Settings returns what holds in a session now. It is asked at each step and each decision, so it
	// must be quick. An error ends the turn and is told in the thread.
	Settings func(session string) (Settings, error)
	Tools    *tools.Registry
	Replica  string // names this process: another one at each start
	// Audience says that somebody paints the sessions: a session is free in the log only after
	// Record has said that all of it is shown.
	Audience bool
	Turns    int                 // that work at once; the others wait in line. 0 is 64
	Grace    time.Duration       // that running tools have to come to their end when Run stops. 0 is none
	Redact   func(string) string // masks secrets in all that enters the log; nil changes nothing
	Logger   *slog.Logger        // nil logs nothing
	Sources  Sources             // of what messages bring along
}

// Sources is where what messages bring along is read from. It is asked after a message is in the log
// and before it is taken in, and what it answers is an event too. A nil function cannot answer. Whatever
// waits, reading a file included, ends soon after ctx does.
type Sources struct {
	// Earlier returns what was said in the session's thread before the message of that id, at most so
	// many messages: the first, and then the newest, oldest first. left says that some between are
	// left out.
	Earlier func(ctx context.Context, session, before string, most int) (said []Quote, left bool, err error)

	// Fetch opens a File by its Ref.
	Fetch func(ctx context.Context, session, ref string) (io.ReadCloser, error)
}

// Artefacts keeps outputs that are too long for the log, by their content.
type Artefacts interface {
	PutArtefact(ctx context.Context, data []byte) (name string, err error)
	Artefact(ctx context.Context, name string) ([]byte, error) // wraps fs.ErrNotExist
}

// Settings is what the configuration says of one session.
type Settings struct {
	Workspace string    // its name
	Dir       string    // its absolute path
	Hidden    []string  // tools.Call.Hidden
	Model     llm.Model // that answers
	ModelName string    // in the configuration
	ModelID   string    // as the provider names it: the model is told who it is
	Window    Window    // of Model
	Images    bool      // Model takes images
	Limits    Limits
	Approvers []string          // ids of who may decide, people or roles (Decided.As); empty: everybody whose click reaches Decide
	Models    map[string]Choice // that people may choose for the session instead of Model, by name
}

// A Choice is a model that people may choose.
type Choice struct {
	Model  llm.Model
	ID     string // as in Settings.ModelID
	Window Window
	Images bool // as in Settings
}

// with returns s with the model of that name, which somebody has chosen; empty is the channel's.
func (s Settings) with(model string) (Settings, error) {
	if model == "" || model == s.ModelName {
		return s, nil
	}
	c, ok := s.Models[model]
	if !ok {
		return s, fmt.Errorf("the model %s, which was chosen for this thread, is not configured any more: choose another with \"model NAME\"", model)
	}
	s.ModelName, s.Model, s.ModelID, s.Window, s.Images = model, c.Model, c.ID, c.Window, c.Images
	return s, nil
}

// The refusals of what people do. A *DecidedError and an *AnsweredError are others.
var (
	ErrOver       = errors.New("this is not waiting for an answer any more")
	ErrNotAllowed = errors.New("you may not decide this")
	ErrNoOption   = errors.New("this is none of the answers that can be given")
	ErrUnknown    = errors.New("there is no such message of this person here")
	ErrRuns       = errors.New("something runs here, or is about to")
)

// An UnknownModelError says that there is no model of that name to be chosen.
type UnknownModelError struct {
	Model string
	Near  []string // names that may have been meant, the nearest first
}

func (e *UnknownModelError) Error() string { return "there is no model " + e.Model + " to choose here" }

// A DecidedError says that somebody has answered before.
type DecidedError struct{ Decided Decided }

func (e *DecidedError) Error() string {
	word := "denied"
	if e.Decided.Yes {
		word = "approved"
	}
	return fmt.Sprintf("%s has %s this already", e.Decided.By, word)
}

// Said tells what became of a message.
type Said struct {
	Duplicate bool // it was in the log already; nothing happened
	Running   bool // a turn was running, so UserSaid.Busy decides when it is taken in
}

// An Agent works on all sessions of one log. Its methods may be called concurrently.
type Agent struct {
	watchers
	cfg   Config
	slots chan struct{} // one for each turn that works

	mu       sync.Mutex
	sessions map[string]*live
	running  bool            // Run has begun and not ended
	soft     context.Context // ends when Run is to stop: nothing new begins
	hard     context.Context // ends Config.Grace later: what runs is cut off
	wg       sync.WaitGroup  // of workers
}

// New returns an agent that Run starts. What people say before Run or after it is kept in the log.
func New(c Config) (*Agent, error) {
	if c.Log == nil || c.Tools == nil || c.Settings == nil || c.Replica == "" {
		return nil, errors.New("agent: Config needs Log, Tools, Settings and Replica")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	set(&c.Turns, 64)
	return &Agent{
		cfg:      c,
		slots:    make(chan struct{}, c.Turns),
		sessions: map[string]*live{},
	}, nil
}

// errShutdown is the cause of what ends because the program does.
var errShutdown = errors.New("the program is being stopped")

// Run resumes what the log says is open and works on sessions until ctx ends. Then nothing new
// begins: the model is left (it is asked again at the next start), and running tools have
// Config.Grace to come to their end. It returns when all workers have. It may be called once.
func (a *Agent) Run(ctx context.Context) error {
	soft, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	hard, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	a.mu.Lock()
	a.soft, a.hard, a.running = soft, hard, true
	a.mu.Unlock()

	err := a.tend(ctx)

	a.mu.Lock()
	a.running = false
	a.mu.Unlock()
	stop(errShutdown)
	timer := time.AfterFunc(a.cfg.Grace, func() { cut(errShutdown) })
	a.wg.Wait()
	timer.Stop()
	cut(errShutdown)
	return err
}

// Limits of tend: how often it looks for what wants a worker; how long an idle session stays in
// memory, so that a lively thread is not read from the log at each message, and how long it is left
// alone after the log has failed.
const (
	look   = time.Second
	linger = 10 * time.Second
)

// tend wakes the sessions that are open, and later those that want it, until ctx ends.
func (a *Agent) tend(ctx context.Context) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for all := true; ; all = false {
		for id, err := range a.cfg.Log.Open(ctx, time.Now()) {
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("looking for open sessions: %w", err)
			}
			if err != nil {
				continue
			}
			switch l, release, err := a.get(a.soft, id); {
			case err == nil:
				l.wake(all)
				release()
			case all: // told once
				a.cfg.Logger.Error("session cannot be read", "session", id, "err", err)
			}
			if all {
				a.watchers.tell(id)
			}
		}
		a.mu.Lock()
		forget(a.sessions, time.Now().Add(-linger))
		a.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// watchers are those who want to know what changes. The zero value is nobody.
type watchers struct {
	mu  sync.Mutex
	all []*func(string) // replaced, never changed
}

// Watch has f called after each change of any session, in the log or in what Live shows, that comes
// through this agent, and for each session that is open when Run starts. f must not block, nor call
// the agent. The function returned ends it.
func (w *watchers) Watch(f func(session string)) (stop func()) {
	p := &f
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(slices.Clip(w.all), p)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = slices.DeleteFunc(slices.Clone(w.all), func(q *func(string)) bool { return q == p })
	}
}

func (w *watchers) tell(session string) {
	w.mu.Lock()
	all := w.all
	w.mu.Unlock()
	for _, f := range all {
		(*f)(session)
	}
}
