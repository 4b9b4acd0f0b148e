package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// This file goes through the page with a real browser, Debian's chromium, as a person does who has only just
// got the program.

// A desktop is a machine of somebody's: a home, a project, and heddle running in it.
type desktop struct {
	t    *testing.T
	dir  string
	addr string
	proc *process
}

func newDesktop(t *testing.T) *desktop {
	d := &desktop{t: t, dir: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(d.dir, "project"), 0o700))
	d.write("hello.txt", "hello moon\n")
	d.addr = freeAddr(t)
	d.start()
	t.Cleanup(func() {
		if d.proc != nil {
			_ = d.proc.end(syscall.SIGKILL)
		}
	})
	return d
}

func freeAddr(t *testing.T) string {
	l, err := listenHTTP("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (d *desktop) write(name, text string) {
	require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "project", name), []byte(text), 0o600))
}

func (d *desktop) read(name string) string {
	text, err := os.ReadFile(filepath.Join(d.dir, "project", name))
	require.NoError(d.t, err)
	return string(text)
}

// start starts heddle without any arguments.
func (d *desktop) start() {
	path, err := exec.LookPath("heddle")
	require.NoError(d.t, err)
	over, end := context.WithCancel(context.Background())
	p := &process{cmd: exec.Command(path), over: over}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.Stdout = filepath.Join(d.dir, "project"), p, p
	p.cmd.Env = []string{"HOME=" + d.dir, "HEDDLE_ADDR=" + d.addr, "PATH=" + os.Getenv("PATH")}
	require.NoError(d.t, p.cmd.Start())
	go func() {
		err := p.cmd.Wait()
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
		end()
	}()
	d.proc = p
	require.Eventually(d.t, func() bool { return link.MatchString(p.logged()) }, patience, 10*time.Millisecond, "no link is printed")
}

var link = regexp.MustCompile(`http://\S+/login\?token=\S+`)

func (d *desktop) link() string { return link.FindString(d.proc.logged()) }

// browser returns a browser of its own, which fails the test at any error on its console.
func browser(t *testing.T, width, height int64) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	require.NoError(t, err, "install chromium, or run make test, which does")
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.UserDataDir(t.TempDir()))
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	require.NoError(t, chromedp.Do(ctx, chromedp.EmulateViewport(width, height)))
	messages := chromedp.Console(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			// That the server is not there, and what it refuses, a browser tells by itself.
			if (m.IsException() || m.Type == "error") && m.Source != "network" {
				t.Errorf("the console has an error: %s", m)
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return ctx
}

// shot keeps a picture of the page where $SHOTS says, for people to look at.
func shot(t *testing.T, ctx context.Context, name string) {
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600))
}

// do runs actions in a browser.
func do(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	require.NoError(t, chromedp.Do(within, actions...))
}

// sees waits until the page shows a text.
func sees(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	var shown string
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		var err error
		shown, err = chromedp.Run(ctx, chromedp.Text(chromedp.CSS("body")))
		if err == nil && strings.Contains(shown, text) {
			return
		}
		require.True(t, time.Now().Before(deadline), "%q is not shown, but %s (%v)", text, shown, err)
	}
}

// logIn opens the link, and logs in under a name.
func logIn(t *testing.T, ctx context.Context, link, name string) {
	do(t, ctx, chromedp.Navigate(link), chromedp.WaitVisible(chromedp.CSS("#name")),
		chromedp.SendKeys(chromedp.CSS("#name"), name), chromedp.Submit(chromedp.CSS("#name")), chromedp.WaitVisible(chromedp.CSS(".start")))
	// What is visible need not have its script yet, without which Enter is only a new line.
	require.Eventually(t, func() bool {
		ready, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("document.readyState === 'complete'"))
		return err == nil && ready
	}, patience, 10*time.Millisecond)
}

// TestPage: from the link to the first approved edit, and on.
func TestPage(t *testing.T) {
	d := newDesktop(t)
	alice := browser(t, 1280, 900)
	do(t, alice, chromedp.Navigate(d.link()), chromedp.WaitVisible(chromedp.CSS("#name")))
	shot(t, alice, "login")
	logIn(t, alice, d.link(), "alice")
	shot(t, alice, "start")
	do(t, alice, chromedp.SendKeys(chromedp.CSS("#text"), "replace moon with world in hello.txt"), chromedp.KeyEvent(kb.Enter))
	do(t, alice, chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	sees(t, alice, "May I do this?")
	sees(t, alice, "hello world")
	require.Equal(t, "hello moon\n", d.read("hello.txt"), "nothing happens before somebody approves")
	shot(t, alice, "card")

	do(t, alice, chromedp.Click(chromedp.CSS(".call summary")), chromedp.WaitVisible(chromedp.CSS(".call details[open] pre")))
	sees(t, alice, "1|hello moon")
	shot(t, alice, "unfolded")

	// Reloaded in the middle, it is as it was; and by keyboard alone the card is approved.
	do(t, alice, chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	do(t, alice, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	sees(t, alice, "Approved by alice")
	sees(t, alice, "Done: hello.txt is as the diff showed.")
	require.Equal(t, "hello world\n", d.read("hello.txt"))
	shot(t, alice, "done")

	// The server dies while a card waits, and the page goes on when it is back, without a new login.
	do(t, alice, chromedp.SendKeys(chromedp.CSS("#text"), "run echo ran >> ran.txt"), chromedp.KeyEvent(kb.Enter),
		chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	require.Error(t, d.proc.end(syscall.SIGKILL))
	sees(t, alice, "Not connected")
	d.start()
	do(t, alice, chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	require.Eventually(t, func() bool {
		text, err := chromedp.Run(alice, chromedp.Evaluate[string]("document.getElementById('conn').textContent"))
		return err == nil && text == ""
	}, patience, 50*time.Millisecond)
	do(t, alice, chromedp.Click(chromedp.CSS("button[value=approve]")))
	sees(t, alice, "It ran, and said")
	require.Equal(t, "ran\n", d.read("ran.txt"))

	looks(t, alice)

	// Whoever came by the printed link is the operator where nobody is named.
	do(t, alice, chromedp.Reload(), chromedp.Click(chromedp.CSS("a[href='/console/']")), chromedp.WaitVisible(chromedp.CSS("#sessions")))
	shot(t, alice, "console")
	do(t, alice, chromedp.Click(chromedp.CSS("a[href^='/console/s/']")))
	sees(t, alice, "Approved by alice")
	shot(t, alice, "session")
}

// looks holds a thread to how it is when narrow, and takes pictures of it narrow, dark and under the list of keys.
func looks(t *testing.T, alice context.Context) {
	do(t, alice, chromedp.EmulateViewport(320, 700))
	wide, err := chromedp.Run(alice, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > 320"))
	require.NoError(t, err)
	require.False(t, wide, "nothing sticks out at 320 pixels")
	shot(t, alice, "narrow")
	do(t, alice, chromedp.EmulateViewport(1280, 900), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark})
		return err
	}))
	shot(t, alice, "dark")
	do(t, alice, chromedp.Evaluate[chromedp.Void]("document.activeElement.blur()"), chromedp.KeyEvent("?"), chromedp.WaitVisible(chromedp.CSS("#keys")))
	shot(t, alice, "keys")
}

// Two people look at one thread; both see what happens, and the first click counts.
func TestPageOfTwo(t *testing.T) {
	d := newDesktop(t)
	alice := browser(t, 1280, 900)
	logIn(t, alice, d.link(), "alice")
	do(t, alice, chromedp.SendKeys(chromedp.CSS("#text"), "run sleep 60"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	at, err := chromedp.Run(alice, chromedp.Location())
	require.NoError(t, err)
	require.NoError(t, d.proc.end(syscall.SIGTERM))
	d.start() // each start prints a link, for one person

	bob := browser(t, 800, 900)
	logIn(t, bob, d.link(), "bob")
	do(t, bob, chromedp.Navigate(at), chromedp.WaitVisible(chromedp.CSS("button[value=approve]")))
	do(t, bob, chromedp.Click(chromedp.CSS("button[value=approve]")))
	sees(t, alice, "Approved by bob")
	do(t, alice, chromedp.WaitVisible(chromedp.CSS("#stop button")))
	shot(t, alice, "running")
	do(t, alice, chromedp.Click(chromedp.CSS("#stop button")))
	sees(t, bob, "Stopped by alice")
	sees(t, alice, "Stopped by alice")
}
