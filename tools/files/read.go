package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"

	"github.com/heddle-bot/heddle/tools"
)

// maxHash is the size of the largest file whose lines are all counted and whose digest is taken. Of a
// larger one only the lines asked for are looked for.
const maxHash = 4 << 30

// artefact begins the paths of earlier outputs that were too long to be shown.
const artefact = "artefact:"

type readArgs struct {
	Path   string `json:"path" schema:"minLength=1"`
	Offset int    `json:"offset,omitempty" schema:"minimum=1,default=1"`
	Limit  int    `json:"limit,omitempty" schema:"minimum=1,maximum=2000,default=2000"`
}

func readTool(c Config) (tools.Tool, error) {
	t, err := tools.Define[readArgs]("read", tools.Query)
	t.Timeout = readTimeout
	t.Title = title(func(a readArgs) string { return "read " + a.Path })
	t.Run = func(ctx context.Context, call tools.Call) (tools.Result, error) {
		args, err := tools.Decode[readArgs](call.Args)
		if err != nil {
			return tools.Result{}, err
		}
		if name, ok := strings.CutPrefix(args.Path, artefact); ok {
			return readArtefact(ctx, c, call, name, args)
		}
		return readFile(ctx, c, call, args)
	}
	return t, err
}

func readFile(ctx context.Context, c Config, call tools.Call, args readArgs) (tools.Result, error) {
	w, err := openWorkspace(call)
	if err != nil {
		return tools.Result{}, err
	}
	defer w.Close()
	rel, err := w.resolve(args.Path)
	if err != nil {
		return tools.Result{}, err
	}
	f, info, err := w.open(rel)
	if err != nil {
		return tools.Result{}, w.explain(ctx, args.Path, rel, c.Skip, err)
	}
	defer f.Close()
	p := newPager(args, c.Output, call.Mask)
	p.whole = info.Size() <= maxHash
	if err := p.read(ctx, f); err != nil {
		return tools.Result{}, fmt.Errorf("%s %w", rel, about(err, info.Size()))
	}
	r, err := p.result(rel, info.Size())
	if p.ended && err == nil {
		r.Seen = map[string]string{rel: hex.EncodeToString(p.hash.Sum(nil))}
	}
	return r, err
}

// about adds the size of the file to the error that it is binary.
func about(err error, n int64) error {
	if errors.Is(err, errBinary) {
		return fmt.Errorf("%w (%s)", err, size(n))
	}
	return fmt.Errorf("could not be read: %w", err)
}

func readArtefact(ctx context.Context, c Config, call tools.Call, name string, args readArgs) (tools.Result, error) {
	if call.Artefact == nil {
		return tools.Result{}, errors.New("no output of this session was kept")
	}
	data, err := call.Artefact(name)
	if errors.Is(err, fs.ErrNotExist) {
		return tools.Result{}, fmt.Errorf("this session has no artefact %q: take the name from the note in the shortened output", name)
	}
	if err != nil {
		return tools.Result{}, fmt.Errorf("reading artefact %q: %w", name, err)
	}
	p := newPager(args, c.Output, call.Mask)
	p.whole, p.binary = true, true
	if err := p.read(ctx, bytes.NewReader(data)); err != nil {
		return tools.Result{}, err
	}
	return p.result(args.Path, int64(len(data)))
}

// errBinary says that something cannot be shown as text.
var errBinary = errors.New("is a binary file and cannot be shown")

// A pager takes lines out of a text that it reads once, in pieces.
type pager struct {
	readArgs
	room   int  // bytes that the lines may have
	whole  bool // read on to the end, for the survey and the digest
	binary bool // take what is no text, too

	mask   tools.Mask
	survey survey
	hash   hash.Hash
	page   strings.Builder
	shown  int       // lines on the page
	full   bool      // the page has no room for the line after
	ended  bool      // the text was read to its end
	line   beginning // of the line that is not over yet
}

// A beginning is what has come of a line: all of it that may be shown, and how long it is.
type beginning struct {
	b    []byte
	size int
}

func (l *beginning) add(b []byte) {
	l.b = append(l.b, b[:min(len(b), maxBegin+1-len(l.b))]...)
	l.size += len(b)
}

// noteRoom is what a result has besides its lines: the header and the note about what follows.
const noteRoom = 700

func newPager(args readArgs, output int, mask tools.Mask) *pager {
	return &pager{readArgs: args, room: output - noteRoom, mask: mask, hash: sha256.New()}
}

// read goes through the text.
func (p *pager) read(ctx context.Context, r io.Reader) error {
	buf := make([]byte, 256<<10)
	for ctx.Err() == nil {
		n, err := io.ReadFull(r, buf)
		b := buf[:n]
		if p.survey.size == 0 && !p.binary && isBinary(b) {
			return fmt.Errorf("%w: %s", errBinary, kindOf(b))
		}
		before := p.survey.lines()
		if p.survey.size > 0 && p.survey.last != '\n' {
			before-- // that line goes on
		}
		p.hash.Write(b)
		p.survey.add(b)
		p.take(b, before+1)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			p.ended = true
			if p.line.size > 0 {
				p.put(p.survey.lines())
			}
			return nil
		}
		if err != nil {
			return err
		}
		if p.full && !p.whole {
			return nil
		}
	}
	return context.Cause(ctx)
}

// take puts the lines of a piece that are asked for on the page. Its first line has number no.
func (p *pager) take(b []byte, no int) {
	for len(b) > 0 && !p.full {
		if no < p.Offset { // skip quickly
			i := bytes.IndexByte(b, '\n')
			if i < 0 {
				return
			}
			b = b[i+1:]
			no++
			continue
		}
		line, rest, over := bytes.Cut(b, newline)
		if no == 1 && p.line.size == 0 {
			line = bytes.TrimPrefix(line, bom)
		}
		p.line.add(line)
		b = rest
		if !over {
			return
		}
		p.put(no)
		no++
	}
}

// put puts the line that has come together on the page, if there is room.
func (p *pager) put(no int) {
	if p.full || no < p.Offset {
		return
	}
	line := fmt.Sprintf("%d|%s\n", no, show(p.mask, p.line.b, p.line.size))
	p.line = beginning{b: p.line.b[:0]}
	if p.shown == p.Limit || p.shown > 0 && p.page.Len()+len(line) > p.room {
		p.full = true
		return
	}
	p.page.WriteString(line)
	p.shown++
}

// result returns the page with what there is to know about it.
func (p *pager) result(name string, bytes int64) (tools.Result, error) {
	total := p.survey.lines()
	head := fmt.Sprintf("%s: %s", name, &p.survey)
	if bytes > 0 {
		head += ", " + size(bytes)
	}
	if !p.ended {
		head = fmt.Sprintf("%s: %s; a file of more than %s is not read to its end, so its lines are not counted and it cannot be changed with edit", name, size(bytes), size(maxHash))
	}
	if p.Offset > max(total, 1) {
		return tools.Result{}, fmt.Errorf("offset %d is beyond the end of %s, which has %d lines", p.Offset, name, total)
	}
	last := p.Offset + p.shown - 1
	foot := ""
	switch {
	case !p.ended:
		foot = fmt.Sprintf("[truncated: these are lines %d to %d; go on with offset %d]\n", p.Offset, last, last+1)
	case last < total:
		foot = fmt.Sprintf("[truncated: these are lines %d to %d of %d; go on with offset %d]\n", p.Offset, last, total, last+1)
	}
	note := fmt.Sprintf("lines %d to %d of %d", p.Offset, last, total)
	if p.shown == 0 {
		note = "empty"
	} else if !p.ended {
		note = fmt.Sprintf("lines %d to %d", p.Offset, last)
	}
	return tools.Result{Text: head + "\n" + p.page.String() + foot, Note: note}, nil
}
