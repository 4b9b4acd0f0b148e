package shell

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	maxStream = 10 << 20 // bytes kept of each of stdout and stderr
	maxRecent = 2000     // bytes that a watcher is shown
)

// An output is what a command prints. It may be written and read concurrently.
type output struct {
	mu       sync.Mutex
	out, err stream
	recent   []byte // the end of both, as they came
	total    int    // bytes of both
}

type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

func (o *output) stdout() io.Writer { return writer(func(p []byte) { o.add(&o.out, p) }) }
func (o *output) stderr() io.Writer { return writer(func(p []byte) { o.add(&o.err, p) }) }

func (o *output) add(s *stream, p []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s.add(p)
	o.total += len(p)
	o.recent = append(o.recent, p[max(0, len(p)-maxRecent):]...)
	o.recent = o.recent[max(0, len(o.recent)-maxRecent):]
}

// show calls progress at every pace at which there is something new, until stop, which waits for
// the last of these calls.
func (o *output) show(progress func(string)) (stop func()) {
	if progress == nil {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for seen := 0; ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			o.mu.Lock()
			total, tail := o.total, string(o.recent)
			o.mu.Unlock()
			if total > seen {
				seen = total
				progress(clean(tail))
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// A stream keeps the first and the last half of maxStream bytes.
type stream struct {
	head, tail []byte
	lost       int // bytes between them
}

const half = maxStream / 2

func (s *stream) add(p []byte) {
	n := min(half-len(s.head), len(p))
	s.head = append(s.head, p[:n]...)
	s.tail = append(s.tail, p[n:]...)
	if len(s.tail) > 2*half { // not at each write: that would copy the tail every time
		s.trim()
	}
}

func (s *stream) trim() {
	if cut := len(s.tail) - half; cut > 0 {
		s.lost += cut
		s.tail = append(s.tail[:0], s.tail[cut:]...)
	}
}

// all returns what is kept, with a note of what is not.
func (s *stream) all() string {
	s.trim()
	note := ""
	if s.lost > 0 {
		note = fmt.Sprintf("\n[... %d bytes of output were not kept ...]\n", s.lost)
	}
	return string(s.head) + note + string(s.tail)
}

// escapes are what colours and moves the cursor of a terminal.
var escapes = regexp.MustCompile("\x1b(" +
	`\[[0-?]*[ -/]*[@-~]` + // control sequences
	"|\\][^\x07\x1b]*(\x07|\x1b\\\\)" + // operating system commands
	`|[ -/]+[0-~]|[0-Z\\^-~]` + // others
	")")

// clean makes text of what a command printed: no escapes, one kind of line break, and a visible mark
// for each byte that is no text.
func clean(raw string) string {
	text := strings.ToValidUTF8(escapes.ReplaceAllString(raw, ""), "\uFFFD")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '\uFFFD'
		}
		return r
	}, text)
}
