package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// TestMain makes the test binary be heddle too, for the processes that scripts start.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"heddle": main})
}

// TestConversations runs testdata/*.txt. Each is a story in a Slack thread. heddle is a process of its
// own; Slack and the model live here. testdata/README.md describes the language.
// They play on every network where they can.
func TestConversations(t *testing.T) {
	for name, on := range map[string]func(*world) stage{"slack": onSlack, "discord": onDiscord} {
		t.Run(name, func(t *testing.T) {
			scripts, err := stories(name)
			require.NoError(t, err)
			testscript.Run(t, testscript.Params{
				Files:               scripts,
				RequireExplicitExec: true,
				RequireUniqueNames:  true,
				Setup:               func(env *testscript.Env) error { return setup(env, on) },
				Cmds:                language(),
			})
		})
	}
}

// baseConfig is in front of what a script has as config.toml.
const baseConfig = `
[http]
addr = "127.0.0.1:0"
[models.test]
base_url = "$MODEL_URL"
api_key_env = "MODEL_KEY"
model = "test-1"
[workspaces.work]
path = "work"
`

// modelKey is a secret that must not show up anywhere.
const modelKey = "sk-test-0123456789"

// A world is what a script plays in. It is used by one goroutine.
type world struct {
	dir   string
	env   []string
	stage stage
	model *llmtest.Server
	ids   map[string]string // of people and channels, by the name in a script

	venue
	current string            // name of the current thread; empty until a script names one
	threads map[string]string // roots by name; without a root the next message begins the thread

	asked   *llmtest.Exchange // the model's request that has not been answered to its end
	process *process
	held    hold
	astray  bool // "network withholds files"
}

// A venue is the network itself, for what only that one does.
type venue struct {
	slack   *slacktest.Workspace // nil elsewhere
	discord *discordtest.Network // likewise
	channel string
}

// A hold is a method that "slack holds".
type hold struct {
	release chan struct{} // closed by "slack releases"; nil if nothing is held
	before  int           // calls of the method until then
}

type worldKey struct{}

// root is the message at the root of the current thread, or empty.
func (w *world) root() string { return w.threads[w.current] }

// newWorld makes a world on Slack. Without replies the script answers for the model.
func newWorld(dir string, replies ...llmtest.Reply) (*world, error) {
	return newWorldOn(onSlack, dir, replies...)
}

// newWorldOn makes a world in dir, on any network.
func newWorldOn(on func(*world) stage, dir string, replies ...llmtest.Reply) (*world, error) {
	model, err := llmtest.NewServer(replies...)
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, model: model, ids: map[string]string{"MODEL_URL": model.URL}, threads: map[string]string{}}
	w.stage = on(w)
	w.ids["ELSEWHERE"] = w.ids["CHANNEL"] + "0"
	for _, name := range people() {
		w.ids[strings.ToUpper(name)] = w.stage.add(name, name == "carol")
	}
	w.env = append(slices.Clone(w.stage.env), "MODEL_KEY="+modelKey)
	return w, os.MkdirAll(filepath.Join(dir, "work"), 0o700)
}

func setup(env *testscript.Env, on func(*world) stage) error {
	w, err := newWorldOn(on, env.WorkDir)
	if err != nil {
		return err
	}
	env.Defer(w.close)
	for k, v := range w.ids {
		env.Setenv(k, v)
	}
	env.Vars = append(env.Vars, w.env...)
	w.env = env.Vars
	env.Values[worldKey{}] = w
	return nil
}

// people are the names that scripts may use. carol is of another organisation.
func people() []string { return []string{"alice", "bob", "mallory", "carol"} }

func (w *world) close() {
	if w.held.release != nil {
		close(w.held.release)
	}
	if w.process != nil {
		_ = w.process.end(syscall.SIGKILL) // it is killed: that is an error
	}
	w.model.Close()
	w.stage.close()
}

// configure writes heddle.toml from the script's config.toml.
func (w *world) configure() error {
	text, err := os.ReadFile(filepath.Join(w.dir, "config.toml"))
	if errors.Is(err, os.ErrNotExist) {
		text, err = []byte("[channels.default]\n"), nil
	}
	if err != nil {
		return err
	}
	all := os.Expand(w.stage.config+baseConfig+string(text), func(name string) string { return w.ids[name] })
	return os.WriteFile(filepath.Join(w.dir, "heddle.toml"), []byte(all), 0o600)
}

// start starts heddle and returns when it is connected.
func (w *world) start() error {
	if err := w.configure(); err != nil {
		return err
	}
	before := w.stage.opened()
	p, err := startProcess(w.dir, w.env)
	if err != nil {
		return err
	}
	w.process = p
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("heddle does not connect"))
	defer cancel()
	ctx, died := context.WithCancelCause(ctx)
	defer died(nil)
	stop := context.AfterFunc(p.over, func() { died(errors.New("heddle ended")) })
	defer stop()
	if w.ids["SLACK_MODE"] != "" {
		return introduce(w)
	}
	return w.stage.wait(ctx, func() bool { return w.stage.opened() > before })
}

// introduce tells Slack where heddle takes its events, as soon as it does.
func introduce(w *world) error {
	address := regexp.MustCompile(`msg="listening for slack" addr=(\S+)`)
	ready := func() bool {
		log := w.process.logged()
		return address.MatchString(log) && strings.Contains(log, `msg="slack may send events"`)
	}
	if err := w.eventually(ready); err != nil {
		return err
	}
	return w.slack.SendTo("http://" + address.FindStringSubmatch(w.process.logged())[1] + "/slack")
}

// halt ends heddle in the way a supervisor does.
func (w *world) halt(s os.Signal) error {
	if w.process == nil {
		return errors.New("heddle has not been started")
	}
	err := w.process.end(s)
	w.process, w.asked = nil, nil
	return err
}

// A process is a running heddle.
type process struct {
	cmd  *exec.Cmd
	over context.Context // ends when the process has

	mu  sync.Mutex
	log bytes.Buffer
	err error // how it ended
}

func startProcess(dir string, env []string) (*process, error) {
	path, err := exec.LookPath("heddle")
	if err != nil {
		return nil, err
	}
	over, end := context.WithCancel(context.Background())
	p := &process{cmd: exec.Command(path, "serve"), over: over}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = dir, env, p
	if err := p.cmd.Start(); err != nil {
		end()
		return nil, err
	}
	go func() {
		err := p.cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		end()
	}()
	return p, nil
}

// Write keeps what the process logs.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.Write(b)
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// end sends a signal and returns how the process ended.
func (p *process) end(s os.Signal) error {
	_ = p.cmd.Process.Signal(s) // it may have ended already, which p.err tells
	select {
	case <-p.over.Done():
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.over.Done()
		return fmt.Errorf("heddle did not end within %v of %v", patience, s)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
