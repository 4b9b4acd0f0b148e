// Package shell is the tool that runs a command in a shell of this machine.
//
// The command is not sandboxed: it may do what the program's own user may do, which is why it is an
// Action, and a person reads it first. What is kept from it is the program's environment, but for
// an allow-list, and its terminal. No command outlives its call: all it started ends with it, and
// also when this program is killed (see guard).
//
// BUG(shell): A process that makes itself the leader of another session (setsid, daemons) is not
// found again and lives on. Only a sandbox can hold it.
package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/heddle-bot/heddle/tools"
)

// Config says how commands run.
type Config struct {
	Shell string   // the absolute path of a POSIX shell; empty is /bin/sh
	Env   []string // the names of variables that commands see beside the usual ones
}

// input is what the model gives. The limits of the time are from requirement R-062.
type input struct {
	Command   string `json:"command" schema:"minLength=1,maxLength=20000"`
	Timeout   int    `json:"timeout_seconds,omitempty" schema:"minimum=1,maximum=600,default=120"`
	Directory string `json:"directory,omitempty"`
}

// timeout is longer than any that a call can ask for, so that the tool itself ends the command and
// keeps what it printed.
const timeout = 620 * time.Second

// New returns the tool. It refuses a shell that is not there.
func New(c Config) (tools.Tool, error) {
	if c.Shell == "" {
		c.Shell = "/bin/sh"
	}
	info, err := os.Stat(c.Shell)
	switch {
	case !filepath.IsAbs(c.Shell):
		return tools.Tool{}, fmt.Errorf("shell %q must be an absolute path", c.Shell)
	case err != nil:
		return tools.Tool{}, fmt.Errorf("shell: %w", err)
	case info.IsDir() || info.Mode().Perm()&0o111 == 0:
		return tools.Tool{}, fmt.Errorf("shell %q is not a program", c.Shell)
	}
	t, err := tools.Define[input]("shell", tools.Action)
	if err != nil {
		return tools.Tool{}, err
	}
	t.Description = strings.ReplaceAll(t.Description, "{shell}", c.Shell)
	t.Timeout = timeout
	t.Title = title
	t.Preview = func(_ context.Context, call tools.Call) (tools.Preview, error) {
		j, err := c.job(call)
		if err != nil {
			return tools.Preview{}, err
		}
		return j.preview(), nil
	}
	t.Run = func(ctx context.Context, call tools.Call) (tools.Result, error) {
		j, err := c.job(call)
		if err != nil {
			return tools.Result{}, err
		}
		if call.Digest != "" && call.Digest != j.preview().Digest {
			return tools.Result{}, tools.ErrChanged
		}
		return j.run(ctx, call)
	}
	return t, nil
}

// title is the command's first line.
func title(args json.RawMessage) string {
	in, err := tools.Decode[input](args)
	if err != nil {
		return "run a command"
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(in.Command), "\n")
	if strings.TrimSpace(rest) != "" {
		first += " …"
	}
	return tools.Clip("run "+first, 80)
}

// A job is all that decides what a command does.
type job struct {
	shell   string
	command string
	dir     string // absolute, symlinks resolved
	limit   time.Duration
	env     []string
}

func (c Config) job(call tools.Call) (job, error) {
	in, err := tools.Decode[input](call.Args)
	if err != nil {
		return job{}, err
	}
	if strings.TrimSpace(in.Command) == "" || strings.ContainsRune(in.Command, 0) {
		return job{}, errors.New("the command must not be blank nor hold a NUL character")
	}
	dir, err := resolve(call, in.Directory)
	if err != nil {
		return job{}, err
	}
	limit := time.Duration(in.Timeout) * time.Second
	return job{c.Shell, in.Command, dir, limit, environ(os.Environ(), c.Env)}, nil
}

// preview shows the command below what else matters, so that nothing in it can pass for that.
func (j job) preview() tools.Preview {
	return tools.Preview{
		Kind:   tools.Command,
		Text:   fmt.Sprintf("in %s, with %s, for at most %s:\n%s", j.dir, j.shell, j.limit, visible(j.command)),
		Digest: tools.Digest(j.command, j.dir, j.shell, j.limit.String()),
	}
}

// visible spells out the characters that would make a command look like another one.
func visible(command string) string {
	var b strings.Builder
	for _, r := range command {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}

// resolve returns the directory that a command runs in. It lies in the workspace.
func resolve(call tools.Call, name string) (string, error) {
	root, err := filepath.EvalSymlinks(call.Dir)
	if err != nil {
		return "", fmt.Errorf("the workspace: %w", err)
	}
	dir := name
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("there is no directory %q in the workspace%s", name, tools.DidYouMean(name, directories(root)))
	}
	if !within(root, dir) {
		return "", fmt.Errorf("directory %q is outside of the workspace", name)
	}
	for _, hidden := range call.Hidden {
		if real, err := filepath.EvalSymlinks(hidden); err == nil && within(real, dir) {
			return "", fmt.Errorf("there is no directory %q in the workspace", name)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is not a directory", name)
	}
	return dir, nil
}

func within(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}

// directories names those at the top of the workspace.
func directories(root string) []string {
	entries, _ := os.ReadDir(root) // it only feeds a hint
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// usual are the variables that a command sees, where the program has them.
var usual = []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR"}

// environ returns what a command sees of the environment env: the usual variables, LC_*, and those
// named. A variable that holds a secret is seen only if it is named.
func environ(env, named []string) []string {
	kept := []string{"TERM=dumb"}
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if slices.Contains(usual, name) || strings.HasPrefix(name, "LC_") || slices.Contains(named, name) {
			kept = append(kept, e)
		}
	}
	return kept
}
