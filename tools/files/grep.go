package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/heddle-bot/heddle/tools"
)

type grepArgs struct {
	Pattern        string `json:"pattern" schema:"minLength=1,maxLength=2000"`
	Path           string `json:"path,omitempty" schema:"default=."`
	Glob           string `json:"glob,omitempty"`
	Literal        bool   `json:"literal,omitempty" schema:"default=false"`
	IgnoreCase     bool   `json:"ignore_case,omitempty" schema:"default=false"`
	Context        int    `json:"context,omitempty" schema:"minimum=0,maximum=10,default=0"`
	Limit          int    `json:"limit,omitempty" schema:"minimum=1,maximum=1000,default=200"`
	IncludeIgnored bool   `json:"include_ignored,omitempty" schema:"default=false"`
}

func grepTool(c Config) (tools.Tool, error) {
	t, err := tools.Define[grepArgs]("grep", tools.Query)
	t.Timeout = walkTimeout
	t.Title = title(func(a grepArgs) string { return fmt.Sprintf("grep '%s'%s", a.Pattern, in(a.Path)) })
	t.Run = func(ctx context.Context, call tools.Call) (tools.Result, error) {
		args, err := tools.Decode[grepArgs](call.Args)
		if err != nil {
			return tools.Result{}, err
		}
		q, err := args.query()
		if err != nil {
			return tools.Result{}, err
		}
		q.mask = call.Mask
		w, err := openWorkspace(call)
		if err != nil {
			return tools.Result{}, err
		}
		defer w.Close()
		found, err := args.files(ctx, w, c)
		if err != nil {
			return tools.Result{}, err
		}
		units, err := w.search(ctx, found, q)
		if err != nil {
			return tools.Result{}, err
		}
		return args.result(found, units, c.Output), nil
	}
	return t, err
}

func (a grepArgs) query() (*query, error) {
	q, err := parseQuery(a.Pattern, a.Literal, a.IgnoreCase)
	if err != nil && a.Literal {
		return nil, fmt.Errorf("pattern cannot be found: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("pattern: %w; it is a regular expression in Go's syntax (RE2: no look-around, no back-references); to look for the text as it is, set literal to true", err)
	}
	q.context = a.Context
	q.limit = a.Limit + 1 // to know whether there are more
	return q, nil
}

// files lists the files to search: one, if the path names a file.
func (a grepArgs) files(ctx context.Context, w *workspace, c Config) (*found, error) {
	rel, err := w.resolve(a.Path)
	if err != nil {
		return nil, err
	}
	f, _, err := w.open(rel)
	if err == nil {
		f.Close()
		return &found{folders: []folder{{path.Dir(rel), []string{path.Base(rel)}}}}, nil
	}
	if e := (*notFile)(nil); !errors.As(err, &e) || !e.mode.IsDir() {
		return nil, w.explain(ctx, a.Path, rel, c.Skip, err)
	}
	o := walkOptions{start: rel, from: rel}
	if a.Glob != "" {
		if o, err = w.below(a.Glob, a.Path); err != nil {
			return nil, err
		}
	}
	o.skip, o.ignore = c.Skip, !a.IncludeIgnored
	return w.find(ctx, o)
}

// result writes what was found, file by file.
func (a grepArgs) result(f *found, units []unit, output int) tools.Result {
	p := grepPage{limit: a.Limit, context: a.Context > 0, room: output - noteRoom}
	binary := 0
	for _, u := range units {
		f.lost += u.unreadable
		for _, h := range u.hits {
			if h.binary {
				binary++
			} else {
				p.file(h)
			}
		}
	}
	notes := f.notes(p.matches == 0)
	if p.matches == 0 {
		p.WriteString("no matches\n")
		if binary > 0 {
			notes += fmt.Sprintf("[not searched: %s]\n", count(binary, "binary file", "binary files"))
		}
	}
	note := count(p.matches, "match", "matches")
	if p.full {
		fmt.Fprintf(&p, "[truncated: these are the first %s; there are more: make the pattern narrower, or give a path or a glob]\n", note)
		note = "the first " + note
	}
	return tools.Result{Text: p.String() + notes, Note: note}
}

// A grepPage is the text of a result.
type grepPage struct {
	strings.Builder
	limit   int  // matches
	context bool // gaps between lines are marked
	room    int  // bytes

	matches int
	full    bool // there was more than fits
}

// file writes the hits of one file: its path, then "12:a line that matches" and "13-context".
func (p *grepPage) file(h fileHits) {
	header := escape(strings.ReplaceAll(h.rel, "\n", `\n`)) + "\n"
	if p.Len() > 0 {
		header = "\n" + header
	}
	for i, l := range h.hits {
		before := header
		if p.context && i > 0 && l.no > h.hits[i-1].no+1 {
			before = "--\n"
		}
		need := len(before) + len(l.text) + 12 // the longest number, the sign and the end
		p.full = p.full || l.match && p.matches == p.limit || p.matches > 0 && p.Len()+need > p.room
		if p.full {
			return
		}
		sign := "-"
		if l.match {
			sign = ":"
			p.matches++
		}
		for _, s := range []string{before, strconv.Itoa(l.no), sign, l.text, "\n"} {
			p.WriteString(s)
		}
		header = ""
	}
}
