package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/tools"
)

// This file makes errors about paths helpful.

// Limits of what is looked at and told.
const (
	maxSiblings = 2_000  // names of a directory that are compared with a missing one
	maxLooked   = 50_000 // files among which one of the same name is looked for
	maxEntries  = 20     // of a directory that is told instead of a file
	maxMeant    = 3
)

// explain adds to an error from opening rel, which a call named as name, what may help.
func (w *workspace) explain(ctx context.Context, name, rel string, skip []string, err error) error {
	if e := (*notFile)(nil); errors.As(err, &e) {
		if e.mode.IsDir() {
			return fmt.Errorf("%s is a directory, not a file; it has %s", rel, entries(w, rel))
		}
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("opening %s: %w", rel, err)
	}
	meant := guess(ctx, w, rel, skip)
	if len(meant) == 0 {
		return fmt.Errorf("%s does not exist: look for it with glob", name)
	}
	return fmt.Errorf("%s does not exist, did you mean %s?", name, strings.Join(meant, " or "))
}

// names returns names in a directory, those of directories with a slash.
func names(w *workspace, rel string) []string {
	dir, err := w.folder(rel)
	if err != nil {
		return nil
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	found, _ := f.ReadDir(maxSiblings) // what there is
	var list []string
	for _, e := range found {
		name := e.Name()
		if w.isHidden(path.Join(rel, name)) {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// entries lists some names in a directory.
func entries(w *workspace, rel string) string {
	all := names(w, rel)
	if len(all) == 0 {
		return "no entries"
	}
	more := ""
	if n := len(all) - maxEntries; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(all[:min(len(all), maxEntries)], ", ") + more
}

// guess returns existing paths that a missing one may have been meant to be.
func guess(ctx context.Context, w *workspace, rel string, skip []string) []string {
	dir, wrong, rest := firstMissing(w, rel)
	var beside []string
	for _, n := range names(w, dir) {
		beside = append(beside, strings.TrimSuffix(n, "/"))
	}
	var meant []string
	for _, n := range tools.Nearest(wrong, beside) {
		if p := path.Join(dir, n, rest); w.exists(p) {
			meant = append(meant, p)
		}
	}
	found, err := w.find(ctx, walkOptions{start: ".", skip: skip, ignore: true, links: true, max: maxLooked})
	if err != nil {
		return meant // the call is being ended
	}
	base := path.Base(rel)
	for p := range found.paths() {
		if len(meant) >= maxMeant {
			break
		}
		if strings.EqualFold(path.Base(p), base) && !slices.Contains(meant, p) {
			meant = append(meant, p)
		}
	}
	return meant[:min(len(meant), maxMeant)]
}

// firstMissing splits a path that does not exist around the first part that is missing.
func firstMissing(w *workspace, rel string) (dir, missing, rest string) {
	dir = "."
	parts := strings.Split(rel, "/")
	for i, p := range parts {
		if !w.exists(path.Join(dir, p)) {
			return dir, p, strings.Join(parts[i+1:], "/")
		}
		dir = path.Join(dir, p)
	}
	return path.Dir(rel), path.Base(rel), ""
}

// exists reports whether there is something that may be spoken of.
func (w *workspace) exists(rel string) bool {
	_, err := w.root.Lstat(rel)
	return err == nil && !w.isHidden(rel)
}
