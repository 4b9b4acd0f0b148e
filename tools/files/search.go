package files

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/heddle-bot/heddle/tools"
)

// Limits of a search.
const (
	maxWindow = 8 << 20 // bytes of a file that are looked at together; a longer line is searched in pieces
	maxUnit   = 32      // files that one goroutine takes at once
)

// A query is what to look for in lines.
type query struct {
	re      *regexp.Regexp
	needles []needle   // one of these is in every match; empty if that is not known
	run     *run       // so is this; for a query without needles
	context int        // lines to show before and after a line that matches
	limit   int        // lines that match to find in all
	mask    tools.Mask // of lines that are shown
}

// parseQuery makes a query of an expression. It is about single lines, without their endings.
func parseQuery(expr string, literal, ignoreCase bool) (*query, error) {
	if literal {
		expr = regexp.QuoteMeta(expr)
	}
	if ignoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	q := &query{re: re, needles: needles(parsed), run: runOf(parsed)}
	for _, n := range q.needles {
		if bytes.IndexByte(n.text, '\n') >= 0 {
			return nil, errors.New("it holds a line break, but each line is searched by itself")
		}
	}
	return q, nil
}

// A hit is a line to be shown.
type hit struct {
	no    int
	match bool // else it is context
	text  string
}

// fileHits is what was found in one file.
type fileHits struct {
	rel     string
	hits    []hit
	matches int
	binary  bool
}

// A unit is some files of one directory.
type unit struct {
	folder
	hits       []fileHits
	unreadable int
}

// search looks for q in all files of a tree. It returns the units that it searched: those at the
// beginning, up to where q.limit lines had matched, or all. What is in them does not depend on chance.
func (w *workspace) search(ctx context.Context, f *found, q *query) ([]unit, error) {
	root, err := w.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	units := f.units()
	var next, matches atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			s := searcher{query: q, max: maxWindow, cursor: cursor{root: int(root.Fd())}}
			defer s.cursor.leave(0)
			for ctx.Err() == nil && matches.Load() < int64(q.limit) {
				i := int(next.Add(1)) - 1
				if i >= len(units) {
					return
				}
				matches.Add(int64(s.unit(ctx, &units[i])))
			}
		})
	}
	wg.Wait()
	return units[:min(int(next.Load()), len(units))], context.Cause(ctx)
}

// units cuts folders into pieces, so that a large one keeps all processors busy.
func (f *found) units() []unit {
	var units []unit
	for _, d := range f.folders {
		for len(d.names) > maxUnit {
			units = append(units, unit{folder: folder{d.rel, d.names[:maxUnit]}})
			d.names = d.names[maxUnit:]
		}
		units = append(units, unit{folder: d})
	}
	return units
}

// A searcher searches one file after the other.
type searcher struct {
	*query
	cursor cursor
	max    int    // bytes of a file that are looked at together: maxWindow, but fewer in tests
	buf    []byte // what of the file is in memory
	scan   scan
	out    *fileHits

	from    int // index in buf of the first byte that has not been searched
	counted int // index in buf up to which lines are counted
	line    int // number of the line there
	shown   int // index in buf after the last line in out
	after   int // lines of context still to be shown
	inside  int // index in buf where the rest of a line begins that did not fit, or -1
}

// unit searches the files of a unit and returns how many lines match.
func (s *searcher) unit(ctx context.Context, u *unit) (matches int) {
	if _, err := s.cursor.dir(u.rel); err != nil {
		u.unreadable = len(u.names)
		return 0
	}
	for _, name := range u.names {
		fd, size, err := s.cursor.openFile(name)
		if err != nil {
			u.unreadable++
			continue
		}
		h := fileHits{}
		err = s.file(ctx, fd, size, &h)
		unix.Close(fd)
		if err != nil {
			u.unreadable++
		}
		if h.matches > 0 || h.binary {
			h.rel = join(u.rel, name)
			u.hits = append(u.hits, h)
			matches += h.matches
		}
	}
	return matches
}

// file searches an open file of the given size, until ctx ends. What is added to the file meanwhile is
// not looked at.
func (s *searcher) file(ctx context.Context, fd int, size int64, out *fileHits) error {
	if want := int(min(size, int64(s.max))); len(s.buf) < want {
		s.buf = make([]byte, max(want, min(2*len(s.buf), s.max)))
	}
	s.out = out
	s.from, s.counted, s.line, s.shown, s.after, s.inside = 0, 0, 1, 0, 0, -1
	filled := 0 // of buf
	for first := true; size > 0 && ctx.Err() == nil; first = false {
		room := s.buf[filled:]
		n, err := readFull(fd, room[:min(int64(len(room)), size)])
		if err != nil {
			return err
		}
		filled += n
		size -= int64(n)
		if n == 0 {
			size = 0 // it has been cut
		}
		if first && isBinary(s.buf[:filled]) {
			out.binary = true
			return nil
		}
		end := filled
		if i := bytes.LastIndexByte(s.buf[s.from:filled], '\n'); i >= 0 && size > 0 {
			end = s.from + i + 1
		}
		s.window(s.buf[:end])
		if out.matches >= s.limit && s.after == 0 {
			return nil
		}
		filled = s.slide(end, filled)
	}
	return nil
}

// window searches buf from s.from on; whole lines but for the last of a file.
func (s *searcher) window(buf []byte) {
	s.scan.needles = s.needles
	s.scan.reset(buf)
	for s.from < len(buf) && s.out.matches < s.limit {
		begin, end := s.next(buf)
		if begin < 0 {
			break
		}
		s.lead(buf, begin)
		s.show(buf, begin, end, true)
		s.out.matches++
		s.after = s.context
		s.from = end
	}
	s.from = len(buf)
	s.trail(buf, len(buf))
}

// next returns where the next line that matches begins and ends, or -1.
func (s *searcher) next(buf []byte) (begin, end int) {
	for from := s.from; from < len(buf); {
		at, sure := 0, false
		if len(s.needles) > 0 {
			at, sure = s.scan.next(from)
		} else {
			at = s.run.next(buf, from)
		}
		if at < 0 {
			break
		}
		begin = from + bytes.LastIndexByte(buf[from:at], '\n') + 1
		end = len(buf)
		if i := bytes.IndexByte(buf[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if sure || s.re.Match(bare(buf[begin:end])) {
			return begin, end
		}
		from = end
	}
	return -1, -1
}

// bare returns a line without its ending.
func bare(line []byte) []byte {
	line = bytes.TrimSuffix(line, newline)
	return bytes.TrimSuffix(line, []byte("\r"))
}

// lead shows the context between the last match and the line at begin.
func (s *searcher) lead(buf []byte, begin int) {
	s.trail(buf, begin)
	from := begin
	for range s.context {
		if from <= s.shown {
			break
		}
		from = max(s.shown, bytes.LastIndexByte(buf[:from-1], '\n')+1)
	}
	s.lines(buf, from, begin)
}

// trail shows what is still to be shown after the last match, up to end.
func (s *searcher) trail(buf []byte, end int) {
	for s.after > 0 && s.shown < end {
		n := bytes.IndexByte(buf[s.shown:end], '\n') + 1
		if n == 0 {
			n = end - s.shown
		}
		s.show(buf, s.shown, s.shown+n, false)
		s.after--
	}
}

// lines shows the lines of a range as context.
func (s *searcher) lines(buf []byte, from, to int) {
	for from < to {
		end := to
		if i := bytes.IndexByte(buf[from:to], '\n'); i >= 0 {
			end = from + i + 1
		}
		s.show(buf, from, end, false)
		from = end
	}
}

// show adds a line to what was found.
func (s *searcher) show(buf []byte, begin, end int, match bool) {
	s.line += bytes.Count(buf[s.counted:begin], newline)
	s.counted, s.shown = begin, end
	line, size := buf[begin:end], end-begin
	if begin == s.inside {
		line = nil // it may begin with half a secret, and nobody misses what is in the middle of such a line
	}
	s.out.hits = append(s.out.hits, hit{s.line, match, show(s.mask, line, size)})
}

// slide makes room for what comes after the first end bytes of the buffer. The lines that may be
// context of what comes stay, unless they are very long.
func (s *searcher) slide(end, filled int) (left int) {
	keep := end
	for range s.context {
		if keep <= s.shown {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	if keep = max(keep, s.shown); end-keep > len(s.buf)/2 {
		keep = end
	}
	s.line += bytes.Count(s.buf[s.counted:keep], newline)
	s.from, s.counted, s.shown, s.inside = end-keep, 0, 0, -1
	if end > 0 && s.buf[end-1] != '\n' {
		s.inside = s.from
	}
	return copy(s.buf, s.buf[keep:filled])
}
