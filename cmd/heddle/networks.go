package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/heddle-bot/heddle/agent/meter"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/bots/web"
)

// This file is the networks that the service is connected to, and what becomes of the service when one
// of them fails.

// A network is one chat network, connected as one app.
type network struct {
	title    string // for people
	platform bots.Platform
	health   func() connection
	door     http.Handler // takes what comes in over HTTP; nil: nothing does
	listener net.Listener // where it comes in
}

// A connection is how the connection to a network is.
type connection struct {
	Connected bool
	Since     time.Time // it has been connected, or not
	LastError string

	LastEvent  time.Time // zero: none yet
	Reconnects int
}

// networks makes those that are wanted, in a fixed order, tied together. It connects none. The page shows
// what the agent does.
func (sv service) networks(a web.Sessions, d doors) ([]network, error) {
	var all []network
	if d.page != nil {
		page, err := sv.page(a, func() []web.Network { return states(all) })
		if err != nil {
			return nil, err
		}
		all = append(all, network{title: "the page", platform: page, door: page.Handler(), listener: d.page, health: func() connection {
			h := page.Health()
			return connection{Connected: h.Connected, Since: h.Since, LastError: "it does not listen", LastEvent: h.LastEvent}
		}})
	}
	if sv.secrets.slack {
		s, err := sv.slack()
		if err != nil {
			return nil, err
		}
		n := network{title: "Slack", platform: s, health: func() connection {
			h := s.Health()
			return connection{h.Connected, h.Since, h.LastError, h.LastEvent, h.Reconnects}
		}}
		if sv.cfg.Slack.Mode == "http" {
			n.door, n.listener = s.Handler(), d.events
		}
		all = append(all, n)
	}
	if sv.secrets.discord {
		d, err := sv.discord()
		if err != nil {
			return nil, err
		}
		all = append(all, network{title: "Discord", platform: d, health: func() connection {
			h := d.Health()
			return connection{h.Connected, h.Since, h.LastError, h.LastEvent, h.Reconnects}
		}})
	}
	lines := &lifelines{log: sv.log}
	for i, n := range all {
		all[i] = lines.tie(n)
		sv.meter.Watch(n.platform.Info().Name, func() meter.Network {
			c := all[i].health()
			return meter.Network{Connected: c.Connected, Reconnects: c.Reconnects, LastEvent: c.LastEvent}
		})
	}
	return all, nil
}

// slack is Slack by Socket Mode, or by HTTP if there is a signing secret.
func (sv service) slack() (*slack.Slack, error) {
	c := slack.Config{BotToken: sv.secrets.slackBot, AppToken: sv.secrets.slackApp, APIURL: sv.cfg.Slack.APIURL, Logger: sv.log}
	if sv.cfg.Slack.Mode == "http" {
		c.SigningSecret = sv.secrets.slackSigning
	}
	return slack.New(c)
}

// page is the page, with a link on standard output for whoever starts the program, if anybody may log in
// by such a one.
func (sv service) page(a web.Sessions, networks func() []web.Network) (*web.Page, error) {
	key, err := cookieKey(sv.cfg.Store.Path)
	if err != nil {
		return nil, err
	}
	var people []web.Login
	for _, name := range slices.Sorted(maps.Keys(sv.secrets.web)) {
		people = append(people, web.Login{Name: name, Token: sv.secrets.web[name], Operator: slices.Contains(sv.cfg.Web.Operators, name)})
	}
	auth, err := web.NewAuth(key, sv.cfg.Web.HTTPS, people...)
	if err != nil {
		return nil, err
	}
	if len(people) == 0 {
		sv.link("/login?token=" + auth.Once())
	}
	return web.New(web.Config{
		Agent: a, Log: sv.journal, Artefact: sv.store.Artefact, Auth: auth, Hosts: sv.cfg.Web.Hosts, Networks: networks,
		Banner: sv.banner(), Version: digestOf(version()), Redact: sv.redact.String, Logger: sv.log,
	})
}

// banner is what is told at the top of the page: that the model is no AI, if it is the tour.
func (sv service) banner() string {
	for _, m := range sv.cfg.Models {
		if m.API == "tour" {
			return "You talk to the tour, a script and no AI. The tools, the approvals and the log are the real ones. For real work, set OPENAI_API_KEY, OPENROUTER_API_KEY or DEEPSEEK_API_KEY, or start Ollama, and start Heddle again."
		}
	}
	return ""
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

func (sv service) discord() (*discord.Discord, error) {
	c := sv.cfg.Discord
	return discord.New(discord.Config{
		Token:          sv.secrets.discordBot,
		APIURL:         c.APIURL,
		WithoutContent: !c.MessageContent,
		Guilds:         c.Guilds,
		Models:         slices.Sorted(maps.Keys(sv.cfg.Models)),
		Shard:          c.Shard,
		Shards:         c.Shards,
		Logger:         sv.log,
	})
}

// states returns how the networks are.
func states(all []network) []web.Network {
	var now []web.Network
	for _, n := range all {
		c := n.health()
		s := web.Network{Title: n.title, Connected: c.Connected, Since: c.Since, LastEvent: c.LastEvent, Reconnects: c.Reconnects}
		if !c.Connected {
			s.LastError = c.LastError
		}
		now = append(now, s)
	}
	return now
}

// platforms returns those of the networks.
func platforms(all []network) []bots.Platform {
	var ps []bots.Platform
	for _, n := range all {
		ps = append(ps, n.platform)
	}
	return ps
}

// How long a network that has failed for good is left alone. A person has to mend it (a token was
// revoked, a right taken away); what they do outside of heddle needs no restart then.
const (
	mendFirst = time.Minute
	mendLast  = 15 * time.Minute
)

// The lifelines of a service tie its networks together: one that fails for good does not end the
// others, but is tried again now and then. When all have failed, nothing can come of going on.
type lifelines struct {
	log *slog.Logger
	all int // networks

	mu   sync.Mutex
	down map[string]error // those that have failed for good and wait to be tried again, by title
}

// tie returns the network with a platform whose Listen goes on as long as another network does, and
// with a health that tells why it does not listen.
func (l *lifelines) tie(n network) network {
	l.all++
	health := n.health
	n.platform = tied{n.platform, n.title, l}
	n.health = func() connection {
		c := health()
		if err := l.fault(n.title); err != nil {
			c.Connected, c.LastError = false, err.Error()
		}
		return c
	}
	return n
}

// A tied platform is one of several.
type tied struct {
	bots.Platform
	title string
	lines *lifelines
}

// Listen implements bots.Platform. It fails when all networks have failed.
func (t tied) Listen(ctx context.Context, accept func(context.Context, bots.Event) error) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: mendFirst, RandomizationFactor: 0.1, Multiplier: 2, MaxInterval: mendLast}
	for {
		begun := time.Now()
		err := t.Platform.Listen(ctx, accept)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if all := t.lines.fail(t.title, err); all != nil {
			return all
		}
		if time.Since(begun) > mendLast {
			pause.Reset() // it has worked for a while
		}
		wait := pause.NextBackOff()
		t.lines.log.Error("network failed, the others go on", "network", t.title, "err", err, "again in", wait.Round(time.Second))
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		t.lines.retry(t.title)
	}
}

// fail notes that a network has failed for good. If all have, it returns all of their errors.
func (l *lifelines) fail(title string, err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down == nil {
		l.down = map[string]error{}
	}
	l.down[title] = err
	if len(l.down) < l.all {
		return nil
	}
	var errs []error
	for _, title := range slices.Sorted(maps.Keys(l.down)) {
		errs = append(errs, l.down[title])
	}
	return errors.Join(errs...)
}

// retry notes that a network is tried again.
func (l *lifelines) retry(title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.down, title)
}

// fault returns why a network has failed for good, or nil.
func (l *lifelines) fault(title string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down[title]
}

// problem returns why the network cannot be worked with now, or "".
func (n network) problem() string {
	c := n.health()
	if c.Connected {
		return ""
	}
	return fmt.Sprintf("not connected to %s since %s: %s", n.title, c.Since.UTC().Format(time.RFC3339), c.LastError)
}
