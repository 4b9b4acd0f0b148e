package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/slack"
	"github.com/heddle-bot/heddle/internal/redact"
)

func main() {
	// The first signal asks to end with manners. The second finds the default handler, and ends.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], program{os.Getenv, os.Stdout, os.Stderr}))
}

// A program is what the commands have of the world.
type program struct {
	getenv func(string) string
	stdout io.Writer
	stderr io.Writer
}

// cli is the command line.
type cli struct {
	Config *string `short:"c" placeholder:"FILE" help:"Configuration file (default: $$HEDDLE_CONFIG, or else heddle.toml)."`

	Run    struct{} `cmd:"" default:"1" help:"Start with what is at hand: this directory, a model whose key is in the environment (or a tour without AI), and a page for the browser. With a configuration it is serve."`
	Serve  struct{} `cmd:"" help:"Connect to the chat networks and work."`
	Doctor struct {
		Offline bool `help:"Ask neither the models nor the networks."`
	} `cmd:"" help:"Check the configuration and everything that it needs, and say what to do."`
	Manifest struct {
		Slack struct {
			YAML bool   `help:"As YAML rather than JSON. Slack takes both."`
			URL  string `placeholder:"URL" help:"Where Slack sends events, for slack.mode = \"http\". Left out: Socket Mode, which needs no address."`
		} `cmd:"" help:"Print the manifest from which Slack makes the app."`
		Discord struct {
			App string `arg:"" optional:"" placeholder:"ID" help:"Id of the application. Left out: Discord is asked whose the configured token is."`
		} `cmd:"" help:"Print the link that lets the bot into a server, and what it asks for."`
	} `cmd:"" help:"Describe the app to a chat network."`
	Sessions struct {
		List struct {
			Prefix string `arg:"" optional:"" help:"Only sessions whose ids begin so: slack/T1/C1."`
			Limit  int    `short:"n" default:"50" help:"At most so many; 0 is no limit."`
		} `cmd:"" help:"List sessions, most recently updated first. One that is open works or is about to; one that waits has asked a person, or goes on at a certain time; an idle one has nothing to do until somebody writes."`
		Show struct {
			Session string `arg:"" help:"Id of the session."`
		} `cmd:"" help:"Tell what happened in a session."`
		Export struct {
			Session string `arg:"" optional:"" help:"Id of the session; all if it is left out."`
		} `cmd:"" help:"Write events as JSON, one a line."`
	} `cmd:"" help:"Look at sessions. Works while heddle serves."`
	Backup struct {
		File string `arg:"" help:"File to write, which must not exist."`
	} `cmd:"" help:"Copy the log to FILE and its artefacts to FILE.artefacts. Works while heddle serves."`
	Store struct {
		Check struct{} `cmd:"" help:"Read all that is stored and report damage. Works while heddle serves."`
	} `cmd:"" help:"Look after the log."`
	Version struct{} `cmd:"" help:"Print the version."`
}

// run is the program. It returns the exit code: 0, 1 for a failure, 2 for a mistake in args.
func run(ctx context.Context, args []string, p program) int {
	var c cli
	var helped bool
	parser, err := kong.New(&c, kong.Name("heddle"), kong.Writers(p.stdout, p.stderr),
		kong.Description("Heddle puts a tool-using agent into chat threads."),
		kong.Exit(func(int) { helped = true })) // kong ends the program when it has printed help
	if err != nil {
		panic(err) // the tags of cli are wrong
	}
	k, err := parser.Parse(common(args))
	if helped {
		return 0
	}
	var usage *kong.ParseError
	if errors.As(err, &usage) {
		parser.Stdout = p.stderr
		_ = usage.Context.PrintUsage(true) // where nothing more could be said
		fmt.Fprintf(p.stderr, "\nheddle: %v\n", err)
		return 2
	}
	if err == nil {
		err = p.do(ctx, k.Command(), &c)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "heddle: %v\n", err)
		return 1
	}
	return 0
}

// common turns what people try on every program into what kong knows.
func common(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// config returns the name of the configuration file. A variable that is empty is one that is not set;
// an empty -c is a mistake, such as a variable of a script that is not set.
func (p program) config(c *cli) string {
	if c.Config != nil {
		return *c.Config
	}
	return cmp.Or(p.getenv("HEDDLE_CONFIG"), "heddle.toml")
}

// do is one command.
func (p program) do(ctx context.Context, command string, c *cli) error {
	config := p.config(c)
	switch command {
	case "version":
		_, err := fmt.Fprintln(p.stdout, version())
		return err
	case "run":
		return p.run(ctx, c)
	case "doctor":
		return p.doctor(ctx, config, c.Doctor.Offline)
	case "manifest slack":
		m, err := slack.WriteManifest(c.Manifest.Slack.URL, c.Manifest.Slack.YAML)
		if err == nil {
			_, err = p.stdout.Write(m)
		}
		return err
	}
	if app := c.Manifest.Discord.App; app != "" {
		_, err := fmt.Fprint(p.stdout, discord.WriteManifest(app, true))
		return err
	}
	cfg, err := load(config)
	if err != nil {
		return err
	}
	s := cfg.secrets(p.getenv)
	r := redact.New(s.values()...)
	switch command {
	case "manifest discord":
		return p.manifestDiscord(ctx, cfg, s)
	case "serve":
		return p.serve(ctx, cfg, s, r)
	case "sessions list", "sessions list <prefix>":
		q := question{Ask: askList, Prefix: c.Sessions.List.Prefix, Limit: c.Sessions.List.Limit}
		return ask(ctx, cfg.Store.Path, r, q, p.stdout)
	case "sessions show <session>":
		return ask(ctx, cfg.Store.Path, r, question{Ask: askShow, Session: c.Sessions.Show.Session}, p.stdout)
	case "sessions export", "sessions export <session>":
		return ask(ctx, cfg.Store.Path, r, question{Ask: askExport, Session: c.Sessions.Export.Session}, p.stdout)
	case "store check":
		return ask(ctx, cfg.Store.Path, r, question{Ask: askCheck}, p.stdout)
	case "backup <file>":
		return p.backup(ctx, cfg.Store.Path, c.Backup.File)
	}
	panic("unknown command " + command)
}

// run is the command of those who have only just got the program. Where there is a configuration that is
// meant.
func (p program) run(ctx context.Context, c *cli) error {
	config := p.config(c)
	if _, err := os.Stat(config); err == nil || c.Config != nil || p.getenv("HEDDLE_CONFIG") != "" {
		cfg, err := load(config)
		if err != nil {
			return err
		}
		s := cfg.secrets(p.getenv)
		return p.serve(ctx, cfg, s, redact.New(s.values()...))
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	cfg, m, err := home{p.getenv, http.DefaultClient, here}.config(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "It works in %s, and keeps its log at %s.\nThe model is %s.\n", here, cfg.Store.Path, m.about)
	s := cfg.secrets(p.getenv)
	return p.serve(ctx, cfg, s, redact.New(s.values()...))
}

// manifestDiscord describes the application whose token is configured.
func (p program) manifestDiscord(ctx context.Context, cfg *Config, s secrets) error {
	if s.discordBot == "" {
		return errors.New("there is no token of Discord: set it, or name the application: heddle manifest discord ID (the id is on its page under “General Information”)")
	}
	d, err := service{cfg: cfg, secrets: s}.discord()
	if err != nil {
		return err
	}
	app, err := d.Application(ctx)
	if err == nil {
		_, err = fmt.Fprint(p.stdout, discord.WriteManifest(app, cfg.Discord.MessageContent))
	}
	return err
}

// version returns what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "heddle (unknown version)"
	}
	s := "heddle " + info.Main.Version + " " + info.GoVersion
	for _, v := range info.Settings {
		if v.Key == "vcs.revision" {
			s += " " + v.Value
		}
	}
	return s
}
