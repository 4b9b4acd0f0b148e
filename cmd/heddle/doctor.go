package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/internal/redact"
	"github.com/heddle-bot/heddle/store/bolt"
)

// A doctor examines what the service needs and prints a line for each finding.
type doctor struct {
	cfg     *Config
	secrets secrets
	w       io.Writer // masks secrets
	bad     int       // findings that keep the service from working
}

func (d *doctor) ok(format string, args ...any) { fmt.Fprintf(d.w, "ok    "+format+"\n", args...) }

// fail tells what is wrong and what to do about it.
func (d *doctor) fail(format string, args ...any) {
	d.bad++
	fmt.Fprint(d.w, indent("FAIL  ", fmt.Sprintf(format, args...)))
}

func (d *doctor) warn(format string, args ...any) {
	fmt.Fprint(d.w, indent("warn  ", fmt.Sprintf(format, args...)))
}

// doctor is the command. The error says how many findings are failures.
func (p program) doctor(ctx context.Context, config string, offline bool) error {
	d := &doctor{w: p.stdout}
	var err error
	if d.cfg, err = load(config); err != nil {
		d.fail("configuration:\n%v", err)
		return errors.New("the configuration has to be corrected first")
	}
	d.secrets = d.cfg.secrets(p.getenv)
	d.w = redact.New(d.secrets.values()...).Writer(p.stdout)
	d.ok("configuration: %s", config)
	for _, problem := range d.secrets.problems {
		d.fail("%s", problem)
	}
	for _, name := range slices.Sorted(maps.Keys(d.cfg.Workspaces)) {
		d.workspace(name, d.cfg.Workspaces[name].Path)
	}
	d.storage(ctx)
	if !offline {
		d.models(ctx)
		d.networks(ctx)
	}
	if d.bad > 0 {
		return fmt.Errorf("%d findings keep heddle from working", d.bad)
	}
	return nil
}

func (d *doctor) workspace(name, path string) {
	key := "workspaces." + name
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.fail("%s: %s is not there: make the directory, or correct the path", key, path)
	case err != nil:
		d.fail("%s: %v", key, err)
	case !info.IsDir():
		d.fail("%s: %s is not a directory", key, path)
	default:
		if _, err := os.ReadDir(path); err != nil {
			d.fail("%s: %v: the user that heddle runs as must be able to read it", key, err)
		} else if err := writable(path); err != nil {
			d.warn("%s: %v: the agent can only read there", key, err)
		} else {
			d.ok("%s: %s", key, path)
		}
	}
}

// storage looks at the log without making one.
func (d *doctor) storage(ctx context.Context) {
	path := d.cfg.Store.Path
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.newStorage(filepath.Dir(path))
		return
	case err != nil:
		d.fail("store.path: %v", err)
		return
	case info.Mode().Perm()&0o077 != 0:
		d.warn("store.path: others on this machine can read %s (mode %04o): run chmod 600 %[1]s", path, info.Mode().Perm())
	}
	if err := writable(filepath.Dir(path)); err != nil {
		d.fail("store.path: its directory cannot be written: %v", err)
	}
	if served, err := askServer(ctx, path, question{Ask: askList, Limit: 1}, io.Discard); served {
		if err != nil {
			d.fail("store.path: %v", err)
			return
		}
		d.ok("store: %s, in use by a heddle that answers", path)
		return
	}
	s, err := bolt.Open(path, bolt.Config{})
	if err != nil {
		d.fail("store: %v", unanswered(err, path))
		return
	}
	if err := s.Close(); err != nil {
		d.fail("store: %v", err)
		return
	}
	d.ok("store: %s", path)
}

func (d *doctor) newStorage(dir string) {
	for {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir):
			dir = filepath.Dir(dir)
			continue
		case err == nil && !info.IsDir():
			err = fmt.Errorf("%s is not a directory", dir)
		case err == nil:
			err = writable(dir)
		}
		if err != nil {
			d.fail("store.path: the log cannot be made: %v: choose another path, or give the directory to the user that heddle runs as", err)
			return
		}
		d.ok("store: there is none yet, \"heddle serve\" makes it")
		return
	}
}

// modelTime is how long a model has to answer one word.
const modelTime = 60 * time.Second

// models asks each model for an answer: nothing else shows that key, name and account are good.
func (d *doctor) models(ctx context.Context) {
	all, err := d.cfg.models(d.secrets, slog.New(slog.DiscardHandler))
	if err != nil {
		d.fail("%v", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		ctx, cancel := context.WithTimeoutCause(ctx, modelTime, fmt.Errorf("no answer within %v", modelTime))
		reply, err := all[name].Generate(ctx, &llm.Request{
			Session:  "doctor",
			Messages: []*llm.Message{{Role: llm.User, Text: "ping"}},
		}, nil)
		cancel()
		if err != nil {
			d.fail("models.%s: %v\n%s", name, err, modelHelp(err))
			continue
		}
		d.ok("models.%s: %s answers", name, reply.Model)
	}
}

// modelHelp says what to do about a model's failure.
func modelHelp(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return "check base_url"
	}
	switch {
	case e.Kind == llm.Auth:
		return "check the key that api_key_env or api_key_file names"
	case e.Kind == llm.Quota:
		return "the account at the provider needs money"
	case e.Kind == llm.Network:
		return "check base_url, and that this machine reaches it"
	case e.Kind == llm.BadRequest:
		return "check model, api, and whether base_url ends in the version (\"/v1\")"
	case e.Kind.Temporary():
		return "try again later"
	}
	return "see the message of the provider"
}

// networks asks each network that is wanted who the bot is, for a connection, which it does not open,
// and about the channels that are listed.
func (d *doctor) networks(ctx context.Context) {
	sv := service{cfg: d.cfg, secrets: d.secrets}
	switch s := d.secrets; {
	case !s.slack:
		d.ok("slack: not wanted, for none of its tokens is there")
	case s.slackBot != "" && (s.slackApp != "" || s.slackSigning != ""): // else it is a problem that has been told
		network, err := sv.slack()
		if err != nil {
			d.fail("%v", err)
			break
		}
		for _, f := range network.Check(ctx, d.listed(slack.Name)...) {
			d.found(f.OK, f.Name, f.Text)
		}
		if d.cfg.Slack.Mode == "http" {
			d.events()
		}
	}
	switch s := d.secrets; {
	case !s.discord:
		d.ok("discord: not wanted, for its token is not there")
	case s.discordBot != "":
		network, err := sv.discord()
		if err != nil {
			d.fail("%v", err)
			break
		}
		for _, f := range network.Check(ctx, d.listed(discord.Name)...) {
			if f.Warn {
				d.warn("%s: %s", f.Name, f.Text)
				continue
			}
			d.found(f.OK, f.Name, f.Text)
		}
	}
}

// listed returns the addresses of a network's channels that have a table.
func (d *doctor) listed(network string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.cfg.Channels)), func(name string) bool {
		return !strings.HasPrefix(name, network+"/")
	})
}

func (d *doctor) found(ok bool, name, text string) {
	if ok {
		d.ok("%s: %s", name, text)
	} else {
		d.fail("%s: %s", name, text)
	}
}

// events looks at the address where Slack's requests are to come in. Whether Slack reaches it, nobody
// can tell from here, so it says how to find out.
func (d *doctor) events() {
	addr := d.cfg.Slack.EventsAddr
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		d.warn("slack.events_addr: %s is in use: by the heddle that serves, or else by a program that has to go", addr)
	case err != nil:
		d.fail("slack.events_addr: %v", err)
	default:
		_ = l.Close()
		d.ok("slack.events_addr: %s is free; what Slack sends to the Request URLs on the app's page has to arrive there", addr)
	}
	d.ok("to test that, while heddle serves: curl -i -X POST followed by the Request URL. " +
		"The answer is 401 if it comes from heddle, which takes nothing that Slack has not signed")
}
