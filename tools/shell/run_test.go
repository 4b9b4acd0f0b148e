package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

func TestResultHasAllThreeParts(t *testing.T) {
	for _, test := range []struct {
		command string
		want    tools.Result
	}{
		{"echo out; echo err >&2", tools.Result{Text: "exit status 0\nstdout:\nout\nstderr:\nerr", Note: "exit status 0"}},
		{"echo out; exit 3", tools.Result{Text: "exit status 3\nstdout:\nout\nstderr: (empty)", Note: "exit status 3", Failed: true}},
		{"true", tools.Result{Text: "exit status 0\nstdout: (empty)\nstderr: (empty)", Note: "exit status 0"}},
		{"kill -KILL $$", tools.Result{
			Text: "killed by signal 9 (killed)\nstdout: (empty)\nstderr: (empty)", Note: "killed by signal 9 (killed)", Failed: true,
		}},
		{`printf '\033[31mred\033[0m \377\000 世界\r\n'`, tools.Result{
			Text: "exit status 0\nstdout:\nred \uFFFD\uFFFD 世界\nstderr: (empty)", Note: "exit status 0",
		}},
		{"cat; cat <&0 >&2", tools.Result{Text: "exit status 0\nstdout: (empty)\nstderr: (empty)", Note: "exit status 0"}},
		{"X=1; cd /", tools.Result{Text: "exit status 0\nstdout: (empty)\nstderr: (empty)", Note: "exit status 0"}},
		{"echo $X ${PWD##*/}", tools.Result{Text: "exit status 0\nstdout:\nws\nstderr: (empty)", Note: "exit status 0"}},
	} {
		dir := filepath.Join(t.TempDir(), "ws")
		require.NoError(t, os.Mkdir(dir, 0o777))
		got, err := do(t, t.Context(), tools.Call{Dir: dir}, map[string]any{"command": test.command})
		require.NoError(t, err)
		require.Equal(t, test.want, got, test.command)
	}
}

func TestCommandHasNoTerminal(t *testing.T) {
	got, err := do(t, t.Context(), tools.Call{}, map[string]any{"command": ": < /dev/tty"})
	require.NoError(t, err)
	require.True(t, got.Failed)
}

func TestCommandSeesNoSecretOfOurs(t *testing.T) {
	t.Setenv("SLACK_BOT_TOKEN", "xoxb-secret")
	t.Setenv("LC_MESSAGES", "C")
	got, err := do(t, t.Context(), tools.Call{}, map[string]any{"command": "env"})
	require.NoError(t, err)
	require.NotContains(t, got.Text, "xoxb-secret")
	require.Contains(t, got.Text, "TERM=dumb")
	require.Contains(t, got.Text, "LC_MESSAGES=C")
	require.Contains(t, got.Text, "PATH="+os.Getenv("PATH"))
}

// A fifo tells who is alive: it can be read to its end when the last process that has it open for
// writing is gone.
func fifo(t *testing.T, dir string) (alive func(), gone func()) {
	t.Helper()
	name := filepath.Join(dir, "fifo")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	require.NoError(t, f.SetReadDeadline(time.Now().Add(time.Minute)))
	alive = func() {
		t.Helper()
		_, err := io.ReadFull(f, make([]byte, len("alive\n")))
		for ; err == io.EOF; time.Sleep(time.Millisecond) { // nobody has opened it yet
			_, err = io.ReadFull(f, make([]byte, len("alive\n")))
		}
		require.NoError(t, err)
	}
	gone = func() {
		t.Helper()
		_, err := io.ReadAll(f)
		require.NoError(t, err, "a process lives on")
	}
	return alive, gone
}

// stubborn is a command whose grandchild ignores SIGTERM and holds all that it has inherited.
const stubborn = `echo early; echo warned >&2; exec 9> fifo; (trap '' TERM; (sleep 600 & echo alive >&9; wait) & wait) & wait`

func TestTimeoutEndsAllOfIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alive, gone := fifo(t, dir)
	got, err := do(t, t.Context(), tools.Call{Dir: dir}, map[string]any{"command": stubborn, "timeout_seconds": 3})
	require.ErrorIs(t, err, tools.ErrTimeout)
	require.EqualError(t, err, "the command timed out after 3s and was ended with all that it had started: give it more time, up to 600 seconds, or less to do")
	require.Contains(t, got.Text, "stdout:\nearly\nstderr:\nwarned", "what was printed is kept")
	alive()
	gone()
}

func TestCancelEndsAllOfIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alive, gone := fifo(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("a person stopped it")
	var wg sync.WaitGroup
	wg.Go(func() {
		alive()
		cancel(stopped)
	})
	got, err := do(t, ctx, tools.Call{Dir: dir}, map[string]any{"command": stubborn})
	wg.Wait()
	require.ErrorIs(t, err, stopped)
	require.NotErrorIs(t, err, tools.ErrTimeout)
	require.Contains(t, got.Text, "early")
	require.Equal(t, "killed by signal 15 (terminated)", got.Note)
	gone()
}

// A command that cleans up when it is told to end has the time to, and it is not taken for a
// success.
func TestCommandMayCleanUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alive, gone := fifo(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		alive()
		cancel()
	})
	got, err := do(t, ctx, tools.Call{Dir: dir}, map[string]any{
		"command": "trap 'echo cleaned; exit 0' TERM; exec 9> fifo; echo alive >&9; sleep 600 & wait",
	})
	wg.Wait()
	require.ErrorIs(t, err, context.Canceled)
	require.Contains(t, got.Text, "cleaned")
	gone()
}

func TestBackgroundEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alive, gone := fifo(t, dir)
	got, err := do(t, t.Context(), tools.Call{Dir: dir}, map[string]any{"command": "exec 9> fifo; sleep 600 & echo alive >&9; echo done"})
	require.NoError(t, err)
	require.Equal(t, "exit status 0\n(a process that was left in the background has been ended)\nstdout:\ndone\nstderr: (empty)", got.Text)
	alive()
	gone()
}

// victim names the variable that makes the test binary a program that runs a command and is killed.
const victim = "HEDDLE_SHELL_TEST_VICTIM"

func runAsVictim(dir string) {
	tool, err := New(Config{})
	if err == nil {
		args := []byte(`{"command":"exec 9> fifo; (trap '' TERM HUP; echo alive >&9; sleep 600) & wait","timeout_seconds":600}`)
		_, err = tools.Run(context.Background(), &tool, tools.Call{Dir: dir, Args: args})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func TestNothingOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alive, gone := fifo(t, dir)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victim+"="+dir)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	alive()
	require.NoError(t, cmd.Process.Kill())
	require.EqualError(t, cmd.Wait(), "signal: killed")
	gone()
}

func TestHugeOutput(t *testing.T) {
	t.Parallel()
	got, err := do(t, t.Context(), tools.Call{}, map[string]any{
		"command": "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo; echo last; head -c 12000000 /dev/zero | tr '\\0' y >&2",
	})
	require.NoError(t, err)
	require.False(t, got.Failed)
	require.Less(t, len(got.Text), 2*maxStream+1000)
	require.Contains(t, got.Text, "stdout:\nfirst\nxxx")
	require.Contains(t, got.Text, "\n[... 19514252 bytes of output were not kept ...]\n")
	require.Contains(t, got.Text, "xxx\nlast\nstderr:\nyyy")
	require.Contains(t, got.Text, "\n[... 1514240 bytes of output were not kept ...]\n")
}

func TestProgressShowsTheTail(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var tails []string
	got, err := do(t, t.Context(), tools.Call{Dir: dir, Progress: func(tail string) {
		mu.Lock()
		defer mu.Unlock()
		tails = append(tails, tail)
		if !strings.Contains(tail, "one\n") || !strings.Contains(tail, "two\n") {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, "seen"), nil, 0o666); err != nil {
			t.Error(err)
		}
	}}, map[string]any{"command": `echo one; printf '\033[1mtwo\033[0m\n' >&2; while [ ! -e seen ]; do sleep 0.02; done; echo three`})
	require.NoError(t, err)
	require.Contains(t, got.Text, "three")
	require.NotEmpty(t, tails)
	require.NotContains(t, strings.Join(tails, ""), "\x1b")
}

func TestCommandsRunSideBySide(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			got, err := do(t, t.Context(), tools.Call{}, map[string]any{"command": fmt.Sprintf("echo %d; exit %d", i, i)})
			if err != nil || got.Text != fmt.Sprintf("exit status %d\nstdout:\n%d\nstderr: (empty)", i, i) {
				t.Errorf("%d: %+v, %v", i, got, err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkCommand(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if _, err := do(b, b.Context(), tools.Call{Dir: dir}, map[string]any{"command": "true"}); err != nil {
			b.Fatal(err)
		}
	}
}
