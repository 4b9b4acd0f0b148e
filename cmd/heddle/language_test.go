package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// A verb is what follows the subject of a line in a script. neg is set if the line begins with "!".
type verb func(w *world, neg bool, args []string) error

// language returns the commands of scripts. testdata/README.md describes them.
func language() map[string]func(*testscript.TestScript, bool, []string) {
	cmds := map[string]func(*testscript.TestScript, bool, []string){}
	for name, v := range map[string]verb{
		"start":    func(w *world, _ bool, _ []string) error { return w.start() },
		"halt":     func(w *world, _ bool, _ []string) error { return w.halt(syscall.SIGTERM) },
		"restart":  restart,
		"crash":    crash,
		"thread":   thread,
		"file":     file,
		"log":      logged,
		"model":    verbs(modelVerbs()),
		"bot":      verbs(botVerbs()),
		"network":  verbs(networkVerbs()),
		"slack":    onlyOn("slack", verbs(slackVerbs())),
		"discord":  onlyOn("discord", verbs(discordVerbs())),
		"somebody": somebody(""),
	} {
		cmds[name] = command(name, v)
	}
	for _, name := range people() {
		cmds[name] = command(name, somebody(name))
	}
	return cmds
}

// command turns a verb into a command of testscript, whose failure shows all there is to see.
func command(name string, v verb) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		w := ts.Value(worldKey{}).(*world)
		if err := v(w, neg, args); err != nil {
			ts.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, w)
		}
	}
}

// onlyOn is a verb of one network. A script that has it is one of that network's.
func onlyOn(network string, v verb) verb {
	return func(w *world, neg bool, args []string) error {
		if w.stage.name != network {
			return fmt.Errorf("this is not on %s: name the script in ownStories", network)
		}
		return v(w, neg, args)
	}
}

// verbs chooses by the first argument.
func verbs(all map[string]verb) verb {
	return func(w *world, neg bool, args []string) error {
		if len(args) == 0 || all[args[0]] == nil {
			return fmt.Errorf("no such verb; there are %v", slices.Sorted(keysOf(all)))
		}
		return all[args[0]](w, neg, args[1:])
	}
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func restart(w *world, _ bool, _ []string) error {
	if err := w.halt(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping: %w", err)
	}
	return w.start()
}

func crash(w *world, _ bool, _ []string) error {
	if err := w.halt(syscall.SIGKILL); err == nil {
		return errors.New("heddle ended by itself")
	}
	return nil
}

// thread goes on in the thread of that name, a new one at first.
func thread(w *world, _ bool, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: thread NAME")
	}
	w.current = args[0]
	return nil
}

// file waits until a file of the workspace contains a text. "! file NAME contains" looks once.
func file(w *world, neg bool, args []string) error {
	if len(args) != 3 || args[1] != "contains" {
		return errors.New("usage: file NAME contains TEXT")
	}
	has := func() bool {
		data, err := os.ReadFile(filepath.Join(w.dir, "work", args[0]))
		return err == nil && strings.Contains(string(data), args[2])
	}
	if neg {
		if has() {
			return errors.New("it does")
		}
		return nil
	}
	return w.eventually(has)
}

// logged waits until heddle has logged a text. "! log" looks once.
func logged(w *world, neg bool, args []string) error {
	if len(args) != 2 || args[0] != "says" || w.process == nil {
		return errors.New("usage, while heddle runs: log says TEXT")
	}
	has := func() bool { return strings.Contains(w.process.logged(), args[1]) }
	if neg {
		if has() {
			return errors.New("it does")
		}
		return nil
	}
	return w.eventually(has)
}

// eventually waits for what changes without the workspace noticing, by looking again and again.
func (w *world) eventually(cond func() bool) error {
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("it does not come to that")
		}
	}
	return nil
}

// wait waits until cond holds in Slack.
func (w *world) wait(cond func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.stage.wait(ctx, cond)
}

// request returns the request that the model has not answered, or waits for the next.
func (w *world) request() (*llmtest.Exchange, error) {
	if w.asked != nil {
		return w.asked, nil
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the model is not asked"))
	defer cancel()
	var err error
	w.asked, err = w.model.Next(ctx)
	return w.asked, err
}

func modelVerbs() map[string]verb {
	return map[string]verb{
		"gets": func(w *world, neg bool, args []string) error {
			x, err := w.request()
			if err != nil {
				return err
			}
			for _, want := range args {
				if strings.Contains(conversation(x.Request), want) == neg {
					return fmt.Errorf("the request is:\n%s", conversation(x.Request))
				}
			}
			return nil
		},
		"streams": func(w *world, _ bool, args []string) error {
			x, err := w.request()
			if err == nil {
				x.Say(args[0])
			}
			return err
		},
		"says":   replies(func(x *llmtest.Exchange, args []string) error { x.Say(args[0]); x.Finish(); return nil }),
		"breaks": replies(func(x *llmtest.Exchange, _ []string) error { x.Cut(); return nil }),
		"calls": replies(func(x *llmtest.Exchange, args []string) error {
			for i := 0; i+1 < len(args); i += 2 {
				x.Call(args[i], args[i+1])
			}
			x.Finish()
			return nil
		}),
		"writes": replies(writes),
		"reads":  replies(readsArtefact),
		"fails": replies(func(x *llmtest.Exchange, args []string) error {
			status, err := strconv.Atoi(args[0])
			x.Fail(&llm.Error{Status: status, Message: strings.Join(args[1:], " ")})
			return err
		}),
		"is": replies(isLeft),
	}
}

// writes is "model writes N TEXT": it answers with the text, as often as it takes to have N characters.
func writes(x *llmtest.Exchange, args []string) error {
	n, err := strconv.Atoi(args[0])
	x.Say(strings.Repeat(args[1]+"\n\n", n/(len(args[1])+2)+1))
	x.Finish()
	return err
}

// readsArtefact is "model reads the artefact LINE": the one that the request names.
func readsArtefact(x *llmtest.Exchange, args []string) error {
	name := regexp.MustCompile("artefact:[0-9a-f]{64}").FindString(conversation(x.Request))
	if name == "" {
		return fmt.Errorf("the request names none:\n%s", conversation(x.Request))
	}
	x.Call("read", fmt.Sprintf(`{"path":%q,"offset":%s}`, name, args[len(args)-1]))
	x.Finish()
	return nil
}

// isLeft is "model is left": it waits until heddle has given up the request.
func isLeft(x *llmtest.Exchange, _ []string) error {
	select {
	case <-x.Gone():
		return nil
	case <-time.After(patience):
		return errors.New("heddle still waits for the model")
	}
}

// replies is a verb that ends the answer to the model's request.
func replies(f func(*llmtest.Exchange, []string) error) verb {
	return func(w *world, _ bool, args []string) error {
		x, err := w.request()
		if err != nil {
			return err
		}
		w.asked = nil
		return f(x, args)
	}
}

// conversation is what the model is told beside the system prompt.
func conversation(r *llmtest.Request) string {
	var lines []string
	for _, m := range r.Messages {
		lines = append(lines, fmt.Sprintf("%s: %s", m.Role, m.Text))
		for _, i := range m.Images {
			lines = append(lines, fmt.Sprintf("  with an image, %s, %d bytes", i.Type, i.Size))
		}
		for _, c := range m.Calls {
			lines = append(lines, fmt.Sprintf("  calls %s %s", c.Name, c.Args))
		}
	}
	return strings.Join(lines, "\n")
}

func botVerbs() map[string]verb {
	return map[string]verb{
		// "bot shows TEXT [Button]..." waits for a message with that text and, if any are given, just
		// these buttons; [] is none.
		"shows": func(w *world, neg bool, args []string) error {
			labels, given := buttonsOf(args[1:])
			return w.shown(neg, func(m line) bool {
				return strings.Contains(m.text, args[0]) && (!given || slices.Equal(labels, m.labels))
			})
		},
		// "bot replies TEXT" waits for an answer with that text, which must be the only one.
		"replies": func(w *world, neg bool, args []string) error {
			answers := func(m line) bool { return m.answer && strings.Contains(m.text, args[0]) }
			if err := w.shown(neg, answers); err != nil || neg {
				return err
			}
			if n := len(w.found(answers)); n != 1 {
				return fmt.Errorf("it does so %d times", n)
			}
			return nil
		},
		"sends": sends,
	}
}

// shown waits for a message of the bot that everybody sees. If neg it looks once that there is none.
func (w *world) shown(neg bool, match func(line) bool) error {
	public := func(m line) bool { return m.only == "" && match(m) }
	if neg {
		if found := w.found(public); len(found) > 0 {
			return fmt.Errorf("it does: %s", found[0])
		}
		return nil
	}
	return w.wait(func() bool { return len(w.found(public)) > 0 })
}

// found returns the bot's messages in the current thread that match.
func (w *world) found(match func(line) bool) []line {
	if w.root() == "" {
		return nil
	}
	return slices.DeleteFunc(w.stage.lines(w.root()), func(m line) bool { return m.by != "" || !match(m) })
}

// buttonsOf reads "[Approve] [Deny with reason]", which comes in words.
func buttonsOf(args []string) (labels []string, given bool) {
	for _, part := range strings.Split(strings.Join(args, " "), "[")[1:] {
		given = true
		if label, _, _ := strings.Cut(part, "]"); label != "" {
			labels = append(labels, label)
		}
	}
	return labels, given
}

// slackVerbs let Slack misbehave.
func slackVerbs() map[string]verb {
	return map[string]verb{
		// "slack holds METHOD" lets the next call of it wait until "slack releases".
		"holds": func(w *world, _ bool, args []string) error {
			w.held = hold{make(chan struct{}), len(w.slack.API.Calls(args[0]))}
			w.slack.API.Fail(args[0], slacktest.Fault{Hold: w.held.release})
			return nil
		},
		"releases": func(w *world, _ bool, _ []string) error {
			close(w.held.release)
			w.held = hold{}
			return nil
		},
		// "slack sends over HTTP", before heddle starts, is mode "http".
		"sends": func(w *world, _ bool, _ []string) error {
			w.ids["SLACK_MODE"] = "mode = \"http\"\nevents_addr = \"127.0.0.1:0\""
			return nil
		},
		"is": isAsked,
	}
}

// String shows the thread and what heddle logged, for failures.
func (w *world) String() string {
	var b strings.Builder
	if w.root() != "" {
		b.WriteString("the thread:\n")
		for _, m := range w.stage.lines(w.root()) {
			fmt.Fprintf(&b, "  %s\n", m)
		}
	}
	if w.asked != nil {
		data, _ := json.Marshal(w.asked.Request.Messages) // for people to read, if it can be
		fmt.Fprintf(&b, "the model waits to answer:\n  %s\n", data)
	}
	if w.process != nil {
		fmt.Fprintf(&b, "heddle logged:\n%s", indent("  ", w.process.logged()))
	}
	return b.String()
}
