package bots

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// Config is what a Bot is made of.
type Config struct {
	Platform Platform
	Agent    Agent
	Log      Log
	// Channel returns what the configuration says of a thread's channel. It must be quick. nil is
	// the zero Channel everywhere.
	Channel func(Thread) Channel
	Tools   []Tool // that the agent has, to be told of
	// Artefact returns the content of a file that a call sends, by the name of its artefact. nil: none
	// can be sent.
	Artefact func(ctx context.Context, name string) ([]byte, error)
	Redact   func(string) string // masks secrets in all that goes out; nil changes nothing
	Logger   *slog.Logger        // nil logs nothing
}

// A Channel is what the configuration says of one channel.
type Channel struct {
	Allow     []string     // ids of who may talk to the bot and click; empty: everybody in the channel
	Approvers []string     // ids of who may approve, to be told of; empty: whoever may talk to the bot
	Bots      []string     // ids of other bots that may talk to it; no other is heard
	Outside   bool         // people of other organisations may too
	Mention   Policy       // what is for the bot; empty is InThread
	Model     string       // that answers, by its name
	Models    []string     // that may be chosen, by their names
	Busy      agent.Busy   // what becomes of a message that arrives while a turn runs; empty is agent.Steer
	Limits    agent.Limits // of a turn, to be told of
}

// A Policy says which messages are for the bot. Direct messages always are. A "stop" alone is, in
// every thread that the bot takes part in.
type Policy string

// The policies. The strings are values in the configuration.
const (
	Mentioned Policy = "mention" // those that mention it
	InThread  Policy = "thread"  // and the replies in threads that it takes part in
	Always    Policy = "always"  // all
)

// Agent is what a Bot needs of the agent; *agent.Agent is one.
type Agent interface {
	Hearer
	Reviser
	Chooser
	Sessions
}

// A Hearer takes in what people do. *agent.Agent documents the methods.
type Hearer interface {
	Say(ctx context.Context, session, id string, said agent.UserSaid) (agent.Said, error)
	Decide(ctx context.Context, session string, d agent.Decided) error
	Answer(ctx context.Context, session string, a agent.Answered) error
	Stop(ctx context.Context, session, id string, s agent.StopAsked) error
}

// A Reviser takes in what people do to what they have said. *agent.Agent documents the methods.
type Reviser interface {
	Amend(ctx context.Context, session, id, of string, said agent.UserSaid) error
	Withdraw(ctx context.Context, session, of string) error
}

// A Chooser takes in what people want of a session as a whole. *agent.Agent documents the methods.
type Chooser interface {
	Compact(ctx context.Context, session, id string, by agent.User) error
	Choose(ctx context.Context, session, id string, c agent.ModelChosen) error
	Forget(ctx context.Context, session, id string, f agent.Forgotten) error
}

// Sessions tells of sessions and keeps receipts. *agent.Agent documents the methods.
type Sessions interface {
	Watch(f func(session string)) (stop func())
	Live(session string) agent.Live
	Question(ctx context.Context, session string) (*agent.Question, error)
	Record(ctx context.Context, session, key string, shown store.Pos, events ...store.Event) error
}

// Log is what a Bot reads threads from; every store.Log is one.
type Log interface {
	Read(ctx context.Context, session string, after store.Pos) iter.Seq2[store.Entry, error]
	Sessions(ctx context.Context, q store.Query) iter.Seq2[store.Summary, error]
}

// A Bot joins one Platform to the agent.
type Bot struct {
	cfg     Config
	unwatch func()
	teller  teller
	places  presences
	company company

	mu       sync.Mutex
	ctx      context.Context // of Run; nil while it does not run
	started  time.Time       // when Run began
	painters map[string]*painter
	wg       sync.WaitGroup
}

// New returns a Bot that Run starts. It watches the agent from now on, so it must be made before the
// agent's Run, which tells once of the sessions that are open.
func New(c Config) (*Bot, error) {
	if c.Platform == nil || c.Agent == nil || c.Log == nil {
		return nil, errors.New("bots: Config needs Platform, Agent and Log")
	}
	if c.Channel == nil {
		c.Channel = func(Thread) Channel { return Channel{} }
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bot{cfg: c, teller: newTeller(c), painters: map[string]*painter{}}
	b.unwatch = c.Agent.Watch(b.wake)
	return b, nil
}

// Run listens to the network and paints threads until ctx ends or the connection fails for good; it
// returns nil only in the first case. What is not shown then is shown by the next start. It may be
// called once.
func (b *Bot) Run(ctx context.Context) error {
	run, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	b.ctx = run
	b.started = time.Now().Round(0) // compared with times in the log, which know no monotonic clock
	for _, p := range b.painters {
		b.start(p)
	}
	b.mu.Unlock()
	b.wg.Go(func() { b.teller.run(run) })
	clerk{&b.cfg}.follow(run)

	err := b.cfg.Platform.Listen(run, b.accept)

	b.unwatch()
	b.mu.Lock()
	b.ctx = nil
	b.mu.Unlock()
	cancel()
	b.wg.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// look returns what the view depends on now.
func (c *Config) look() look { return look{c.Platform.Info(), c.Redact, time.Now()} }

// wake has the session painted if it is one of this network. It is called by the agent, so it only
// notes that there is something to see.
func (b *Bot) wake(session string) {
	if !strings.HasPrefix(session, b.cfg.Platform.Info().Name+"/") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.painters[session]
	if p == nil {
		at, err := ParseThread(session)
		if err != nil {
			return // a session of something else
		}
		p = newPainter(b, at)
		b.painters[session] = p
	}
	select {
	case p.woken <- struct{}{}:
	default:
	}
	b.start(p)
}

// start starts p unless it works already or Run does not run. b.mu is held.
func (b *Bot) start(p *painter) {
	if p.alive || b.ctx == nil {
		return
	}
	p.alive = true
	ctx := b.ctx
	b.wg.Go(func() { p.run(ctx) })
}

// retire ends the work of p unless it has been woken again. What p has shown of a turn that is not
// over is kept, so that it need not be shown again; the goroutine and all else are gone.
func (b *Bot) retire(p *painter) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(p.woken) > 0 {
		return false
	}
	p.alive = false
	if len(p.state.turns) == 0 {
		delete(b.painters, p.session)
	}
	p.state = state{}
	return true
}
