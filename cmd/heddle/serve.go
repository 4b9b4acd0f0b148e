package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/meter"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/internal/redact"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
	"github.com/heddle-bot/heddle/tools"
	toolask "github.com/heddle-bot/heddle/tools/ask"
	"github.com/heddle-bot/heddle/tools/calc"
	"github.com/heddle-bot/heddle/tools/clock"
	"github.com/heddle-bot/heddle/tools/files"
	"github.com/heddle-bot/heddle/tools/shell"
)

// The times of a shutdown. Supervisors wait some 30 s before they kill; all of it fits in there.
const (
	toolGrace    = 15 * time.Second // that running tools have to come to their end
	answerGrace  = 5 * time.Second  // that answers over HTTP have
	shutdownTime = 25 * time.Second // after which what still hangs is left behind
	closeTime    = 3 * time.Second  // that the log has to close, which waits for who still reads it
)

// A service is what the parts of it are made of.
type service struct {
	cfg     *Config
	secrets secrets
	redact  *redact.Redactor
	log     *slog.Logger
	store   *bolt.Store
	journal store.Log // the same, counted
	meter   *meter.Meter
	tools   *tools.Registry
	link    func(path string) // tells people the link by which to log in to the page
}

// serve runs the service until ctx ends.
func (p program) serve(ctx context.Context, cfg *Config, s secrets, r *redact.Redactor) (err error) {
	if err := s.complete(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(r.Writer(p.stderr), nil))
	registry, err := newRegistry(cfg)
	if err != nil {
		return err
	}
	st, err := openStore(cfg.Store.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bounded(closeTime, "closing the log", st.Close)) }()
	doors, err := cfg.open(s.slack)
	if err != nil {
		return err
	}
	m, err := newMeter(ctx, registry, st)
	if err != nil {
		return errors.Join(err, doors.close())
	}
	sv := service{cfg, s, r, log, st, m.Log(st), m, registry, p.link(doors.page)}
	a, all, crew, err := sv.join(doors)
	if err != nil {
		return errors.Join(err, doors.close())
	}

	debug.FreeOSMemory() // what only the start needed: some 2 of 20 MiB
	log.Info("serving", "version", version(), "store", cfg.Store.Path, "health", addr(doors.health))
	g := newGroup(ctx, log)
	// The bots outlive the agent: what people say while running tools end is kept for the next start.
	shown, hide := context.WithCancel(context.WithoutCancel(ctx))
	defer hide()
	g.Go(func() error {
		defer hide()
		return a.Run(g.ctx)
	})
	for _, b := range crew {
		g.Go(func() error { return b.Run(shown) })
	}
	g.serve(doors.admin, desk{st, r})
	if doors.health != nil {
		g.serve(doors.health, healthHandler(st, all, m))
	}
	for _, n := range all {
		if n.door != nil {
			log.Info("listening for "+strings.ToLower(n.title), "addr", n.listener.Addr())
			g.serve(n.listener, n.door)
		}
	}
	err = g.wait()
	log.Info("stopped", "err", err)
	return err
}

// newMeter counts what the tools of the program and the rest do.
func newMeter(ctx context.Context, r *tools.Registry, log store.Log) (*meter.Meter, error) {
	var names []string
	for _, t := range r.Tools() {
		names = append(names, t.Name)
	}
	m := meter.New(names...)
	return m, m.Begin(ctx, log)
}

// join makes the agent, the networks and their bots. The agent asks the networks for what comes with
// messages, and one of them shows what the agent does, so the former learns of the latter when they are made.
func (sv service) join(d doors) (a *agent.Agent, all []network, crew []*bots.Bot, err error) {
	a, err = sv.agent(func() agent.Sources { return bots.Sources(platforms(all)...) })
	if err == nil {
		all, err = sv.networks(a, d)
	}
	if err == nil {
		crew, err = sv.bots(all, a)
	}
	return a, all, crew, err
}

// link returns what tells the link to the page, once it is known.
func (p program) link(page net.Listener) func(path string) {
	return func(path string) {
		fmt.Fprintf(p.stdout, "Heddle is at %s%s\nThe link works once. Ctrl+C ends the program; what is under way goes on at the next start.\n", origin(page), path)
	}
}

// listenHTTP opens a port, unless addr is "".
func listenHTTP(addr string) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	return net.Listen("tcp", addr)
}

// addr is where l listens, for the logs.
func addr(l net.Listener) string {
	if l == nil {
		return "off"
	}
	return l.Addr().String()
}

// The doors are where requests come in.
type doors struct {
	admin  net.Listener
	health net.Listener // nil if it is switched off
	events net.Listener // of Slack; nil if it does not send any over HTTP
	page   net.Listener // nil: there is none
}

// close closes all of them.
func (d doors) close() (err error) {
	for _, l := range []net.Listener{d.admin, d.health, d.events, d.page} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// open listens at all of them; for Slack only if it is to be connected.
func (c *Config) open(slack bool) (d doors, err error) {
	defer func() {
		if err != nil {
			_ = d.close()
		}
	}()
	if d.admin, err = listen(c.Store.Path); err != nil {
		return d, err
	}
	if d.health, err = listenHTTP(c.HTTP.Addr); err != nil {
		return d, fmt.Errorf("http.addr: %w", err)
	}
	if slack && c.Slack.Mode == "http" {
		if d.events, err = listenHTTP(c.Slack.EventsAddr); err != nil {
			return d, fmt.Errorf("slack.events_addr: %w", err)
		}
	}
	if d.page, err = listenHTTP(c.Web.Addr); err != nil {
		return d, fmt.Errorf("web.addr: %w", err)
	}
	return d, nil
}

// openStore opens the log, or makes it with its directory.
func openStore(path string) (*bolt.Store, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("store.path: %w", err)
	}
	st, err := bolt.Open(path, bolt.Config{})
	if err != nil {
		return nil, err
	}
	if err := sweepBeside(path); err != nil {
		return nil, errors.Join(fmt.Errorf("store.path: %w", err), st.Close())
	}
	return st, nil
}

func (sv service) agent(sources func() agent.Sources) (*agent.Agent, error) {
	for name, w := range sv.cfg.Workspaces {
		if info, err := os.Stat(w.Path); err != nil || !info.IsDir() {
			sv.log.Warn("workspace is not a directory, its sessions fail", "workspace", name, "path", w.Path)
		}
	}
	models, err := sv.cfg.models(sv.secrets, sv.log)
	if err != nil {
		return nil, err
	}
	return agent.New(agent.Config{
		Log:       sv.journal,
		Artefacts: sv.store,
		Settings:  sv.cfg.settings(models),
		Tools:     sv.tools,
		Replica:   rand.Text(),
		Audience:  true,
		Turns:     sv.cfg.Limits.ConcurrentTurns,
		Grace:     toolGrace,
		Redact:    sv.redact.String,
		Logger:    sv.log,
		Sources: agent.Sources{
			Earlier: func(ctx context.Context, session, before string, most int) ([]agent.Quote, bool, error) {
				return sources().Earlier(ctx, session, before, most)
			},
			Fetch: func(ctx context.Context, session, ref string) (io.ReadCloser, error) {
				return sources().Fetch(ctx, session, ref)
			},
		},
	})
}

// bots makes one for each network.
func (sv service) bots(all []network, a *agent.Agent) ([]*bots.Bot, error) {
	var names []bots.Tool
	for _, t := range sv.tools.Tools() {
		names = append(names, bots.Tool{Name: t.Name, Asks: t.Effect == tools.Action})
	}
	var crew []*bots.Bot
	for _, n := range all {
		b, err := bots.New(bots.Config{
			Platform: n.platform,
			Agent:    a,
			Log:      sv.journal,
			Channel:  sv.cfg.chat,
			Tools:    names,
			Artefact: sv.store.Artefact,
			Redact:   sv.redact.String,
			Logger:   sv.log.With("network", n.platform.Info().Name),
		})
		if err != nil {
			return nil, err
		}
		crew = append(crew, b)
	}
	return crew, nil
}

// newRegistry has the tools of this release.
func newRegistry(cfg *Config) (*tools.Registry, error) {
	all, err := files.New(files.Config{Output: cfg.Limits.ToolOutput})
	if err != nil {
		return nil, err
	}
	for _, tool := range []func() (tools.Tool, error){
		func() (tools.Tool, error) { return shell.New(shell.Config{}) },
		func() (tools.Tool, error) { return clock.New(time.Now) },
		calc.New,
		toolask.New,
	} {
		t, err := tool()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return tools.NewRegistry(all...)
}

// A group runs the parts of the service together: when one fails, or the context ends, all end.
type group struct {
	*errgroup.Group
	ctx context.Context // ends when all are to
	log *slog.Logger
}

func newGroup(ctx context.Context, log *slog.Logger) group {
	g, ctx := errgroup.WithContext(ctx)
	return group{g, ctx, log}
}

// serve answers HTTP on l.
func (g group) serve(l net.Listener, h http.Handler) {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: answerGrace, ErrorLog: slog.NewLogLogger(g.log.Handler(), slog.LevelWarn)}
	g.Go(func() error {
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-g.ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(g.ctx), answerGrace)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			srv.Close() // the one that asks sees its answer break off
		}
		return nil
	})
}

// wait returns when all have ended, or have not ended shutdownTime after they should.
func (g group) wait() error {
	done := make(chan error, 1)
	go func() { done <- g.Wait() }()
	select {
	case err := <-done:
		return err
	case <-g.ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(shutdownTime):
		return fmt.Errorf("not everything ended within %v: what was running is told as interrupted at the next start", shutdownTime)
	}
}

// bounded calls do, which may hang on what was left behind, and waits at most d for it. The process
// ends then, and what is on the disk is as good as after a crash.
func bounded(d time.Duration, what string, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return fmt.Errorf("%s did not end within %v", what, d)
	}
}
