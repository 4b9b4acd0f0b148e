package shell

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/heddle-bot/heddle/tools"
)

// Secrets are masked before output is cut, as half a secret is not known for one. While a command
// runs, its output is cut at places where only one side is there: so tools.Overlap bytes more are kept
// at a cut than are shown, and what is at the very edge is dropped after masking (tools.Mask.Part).
// That would not do for a watcher: what has been printed so far may end in half a secret, and the
// pieces of stdout and of stderr may come in turn. So a watcher is shown whole lines.

const (
	maxStream = 10 << 20 // bytes shown of each of stdout and stderr
	maxRecent = 2000     // bytes that a watcher is shown
)

// An output is what a command prints. It may be written and read concurrently.
type output struct {
	mask     tools.Mask
	mu       sync.Mutex
	out, err stream
	recent   []byte // the last lines of both, as they ended
	total    int    // bytes of all such lines
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
	const most = maxRecent + tools.Overlap // a longer line is not shown
	lines := s.lines(p)
	o.total += len(lines)
	o.recent = append(o.recent, lines[max(0, len(lines)-most):]...)
	o.recent = o.recent[max(0, len(o.recent)-most):]
}

// part makes text of a part of what was printed. before and after are as in Mask.Part.
func (o *output) part(raw string, before, after bool) string {
	// Cleaned first: colours within a secret would hide it.
	return o.mask.Part(clean(raw), before, after)
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
			total, recent, cut := o.total, string(o.recent), o.total > len(o.recent)
			o.mu.Unlock()
			if total > seen {
				seen = total
				if cut { // it begins within a line
					recent = recent[strings.IndexAny(recent, "\r\n")+1:]
				}
				tail := o.part(recent, false, false)
				progress(strings.ToValidUTF8(tail[max(0, len(tail)-maxRecent):], ""))
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

// A stream keeps the first and the last half of what was printed.
type stream struct {
	head, tail []byte
	lost       int // bytes between them

	line []byte // the beginning of the last line, if that is not over
	long bool   // that line is too long to be shown to a watcher
}

const half = maxStream/2 + tools.Overlap // bytes

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

// all returns what is kept, with a note of what is not. It is passed through part, whole or in two.
func (s *stream) all(part func(raw string, before, after bool) string) string {
	s.trim()
	if s.lost == 0 {
		return part(string(s.head)+string(s.tail), false, false)
	}
	note := fmt.Sprintf("\n[... %d bytes of output were not kept ...]\n", s.lost+2*tools.Overlap)
	return part(string(s.head), false, true) + note + part(string(s.tail), true, false)
}

// lines returns the lines that p ends, each whole. For one of more than tools.Overlap bytes there is
// an ellipsis.
func (s *stream) lines(p []byte) []byte {
	if s.long {
		end := bytes.IndexAny(p, "\r\n") + 1
		if end == 0 {
			return nil
		}
		p, s.long = p[end:], false
	}
	end := bytes.LastIndexAny(p, "\r\n") + 1
	if end > 0 {
		end += len(s.line)
	}
	s.line = append(s.line, p...)
	lines, rest := s.line[:end:end], s.line[end:]
	s.line = rest
	if len(rest) > tools.Overlap {
		lines = append(lines, "…\n"...)
		s.line, s.long = nil, true
	}
	return lines
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
