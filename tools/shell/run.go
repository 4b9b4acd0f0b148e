package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/heddle-bot/heddle/tools"
)

const (
	// patience is how long a command that was told to end (SIGTERM) has before it is killed, and how
	// long a process left in the background may keep the output open after the shell has ended.
	patience = 2 * time.Second
	// pace is how often a watcher is shown the output so far.
	pace = 500 * time.Millisecond
)

// run runs the command and waits until all of it has ended.
func (j job) run(ctx context.Context, call tools.Call) (tools.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, j.limit, fmt.Errorf(
		"the command %w after %s and was ended with all that it had started: give it more time, up to 600 seconds, or less to do", tools.ErrTimeout, j.limit))
	defer cancel()
	out := output{mask: call.Mask}
	var ended atomic.Bool // by us
	cmd := exec.CommandContext(ctx, j.shell, "-c", "--", j.command)
	cmd.Dir, cmd.Env = j.dir, j.env
	cmd.Stdout, cmd.Stderr = out.stdout(), out.stderr()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // its own group, and no terminal to ask on
	cmd.WaitDelay = patience
	cmd.Cancel = func() error {
		ended.Store(true)
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}

	g, err := newGuard()
	if err != nil {
		return tools.Result{}, err
	}
	if err := cmd.Start(); err != nil {
		g.end()
		return tools.Result{}, fmt.Errorf("starting %s: %w", j.shell, err)
	}
	stop := out.show(call.Progress)
	if err = g.watch(cmd.Process.Pid); err != nil {
		cancel()
	}
	waited := cmd.Wait()
	syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left in the background, if anything
	g.end()
	stop()

	note, failed := outcome(cmd)
	r := tools.Result{Text: out.text(note, errors.Is(waited, exec.ErrWaitDelay)), Note: note, Failed: failed}
	if err == nil && ended.Load() {
		err = context.Cause(ctx)
	}
	return r, err
}

// outcome says how the shell ended, and whether that means that the command failed.
func outcome(cmd *exec.Cmd) (note string, failed bool) {
	state := cmd.ProcessState
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return fmt.Sprintf("killed by signal %d (%s)", s.Signal(), s.Signal()), true
	}
	return fmt.Sprintf("exit status %d", state.ExitCode()), !state.Success()
}

// A guard ends a command's process group should this program die: it is a process of its own that
// waits for the end of its input, which comes when nobody is left to write to it.
//
// PR_SET_PDEATHSIG would not do. It reaches only the shell and not what that has started, is sent when
// the thread ends that started it and not the program, and exists on one system only.
type guard struct {
	cmd   *exec.Cmd
	input io.Writer
}

// script reads the number of the group, then waits.
const script = `read group && { read end; kill -s KILL -- "-$group"; }`

func newGuard() (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C in our terminal is not for it
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting the guard of a command: %w", err)
	}
	return &guard{cmd, input}, nil
}

// watch names the group.
func (g *guard) watch(group int) error {
	if _, err := fmt.Fprintf(g.input, "%d\n", group); err != nil {
		return fmt.Errorf("the guard of a command: %w", err)
	}
	return nil
}

// end dismisses the guard, in this order: it must not take the closing of its input for our death.
func (g *guard) end() {
	g.cmd.Process.Kill()
	g.cmd.Wait()
}

// text is what the model reads.
func (o *output) text(note string, left bool) string {
	var b strings.Builder
	b.WriteString(note)
	if left {
		b.WriteString("\n(a process that was left in the background has been ended)")
	}
	for _, s := range []struct {
		name string
		*stream
	}{{"stdout", &o.out}, {"stderr", &o.err}} {
		text := strings.TrimRight(s.all(o.part), "\n")
		if text == "" {
			fmt.Fprintf(&b, "\n%s: (empty)", s.name)
		} else {
			fmt.Fprintf(&b, "\n%s:\n%s", s.name, text)
		}
	}
	return b.String()
}
