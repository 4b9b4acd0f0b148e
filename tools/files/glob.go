package files

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/heddle-bot/heddle/tools"
)

type globArgs struct {
	Pattern        string `json:"pattern" schema:"minLength=1"`
	Path           string `json:"path,omitempty" schema:"default=."`
	Limit          int    `json:"limit,omitempty" schema:"minimum=1,maximum=5000,default=500"`
	IncludeIgnored bool   `json:"include_ignored,omitempty" schema:"default=false"`
}

func globTool(c Config) (tools.Tool, error) {
	t, err := tools.Define[globArgs]("glob", tools.Query)
	t.Timeout = walkTimeout
	t.Title = title(func(a globArgs) string { return "glob " + a.Pattern + in(a.Path) })
	t.Run = func(ctx context.Context, call tools.Call) (tools.Result, error) {
		args, err := tools.Decode[globArgs](call.Args)
		if err != nil {
			return tools.Result{}, err
		}
		w, err := openWorkspace(call)
		if err != nil {
			return tools.Result{}, err
		}
		defer w.Close()
		found, err := args.find(ctx, w, c)
		if err != nil {
			return tools.Result{}, err
		}
		return args.result(found, c.Output), nil
	}
	return t, err
}

// in says where, for titles.
func in(dir string) string {
	if dir == "" || dir == "." {
		return ""
	}
	return " in " + dir
}

// find lists what is asked for.
func (a globArgs) find(ctx context.Context, w *workspace, c Config) (*found, error) {
	o, err := w.below(a.Pattern, a.Path)
	if err != nil {
		return nil, err
	}
	o.skip, o.ignore, o.links = c.Skip, !a.IncludeIgnored, true
	return w.walk(ctx, a.Path, o)
}

// below returns the options to find a glob in a directory. It begins as deep in it as it can.
func (w *workspace) below(glob, dir string) (walkOptions, error) {
	from, err := w.resolve(dir)
	if err != nil {
		return walkOptions{}, err
	}
	if rel, ok := within(path.Join(w.dir, from), glob); ok {
		glob = rel
	} else if rel, ok := within(path.Join(w.asked, from), glob); ok {
		glob = rel
	}
	o := walkOptions{start: from, from: from}
	if o.want, err = parsePattern(glob); err != nil {
		return o, err
	}
	deep := path.Join(from, o.want.start())
	if at, err := w.resolve(deep); err != nil {
		return o, err
	} else if at == deep && w.isDir(at) {
		o.start = at
	}
	return o, nil
}

func (w *workspace) isDir(rel string) bool {
	info, err := w.root.Lstat(rel)
	return err == nil && info.IsDir()
}

// walk is find for a directory that a call named as name.
func (w *workspace) walk(ctx context.Context, name string, o walkOptions) (*found, error) {
	if !w.isDir(o.start) {
		if w.exists(o.start) {
			return nil, fmt.Errorf("%s is not a directory", name)
		}
		_, _, err := w.open(o.start)
		return nil, w.explain(ctx, name, o.start, o.skip, err)
	}
	return w.find(ctx, o)
}

// result lists what was found.
func (a globArgs) result(f *found, output int) tools.Result {
	var s strings.Builder
	total, shown := 0, 0
	for p := range f.paths() {
		total++
		if shown == total-1 && shown < a.Limit && s.Len()+len(p)+1 < output-noteRoom {
			s.WriteString(escape(strings.ReplaceAll(p, "\n", `\n`)) + "\n")
			shown++
		}
	}
	if total == 0 {
		s.WriteString("no files match\n")
	}
	if shown < total {
		fmt.Fprintf(&s, "[truncated: these are the first %d of %d; make the pattern narrower or give a path]\n", shown, total)
	}
	s.WriteString(f.notes(total == 0))
	return tools.Result{Text: s.String(), Note: count(total, "file", "files")}
}

// notes says what was not looked at, as far as that matters.
func (f *found) notes(empty bool) string {
	var s strings.Builder
	if f.unreadable > 0 {
		fmt.Fprintf(&s, "[%s could not be read]\n", count(f.unreadable, "directory", "directories"))
	}
	if f.lost > 0 {
		fmt.Fprintf(&s, "[%s could not be read]\n", count(f.lost, "file", "files"))
	}
	if empty && f.passed > 0 {
		fmt.Fprintf(&s, "[passed over as .gitignore says: %s; include_ignored looks there, too]\n", count(f.passed, "file or directory", "files and directories"))
	}
	return s.String()
}
