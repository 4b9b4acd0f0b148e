package files

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern is a glob. One without a slash is about names at any depth, as in .gitignore and ripgrep;
// one that ends in a slash is about directories. A nil *pattern matches every file.
type pattern struct {
	text   string
	names  bool   // text is about names
	suffix string // if not empty, text is only "*" and this
	dirs   bool
	depth  int // names that a matching path has at most; 0 is any number
}

func parsePattern(text string) (*pattern, error) {
	p := &pattern{text: text}
	p.text, p.dirs = strings.CutSuffix(p.text, "/")
	rooted := strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./")
	p.text = strings.TrimPrefix(strings.TrimPrefix(p.text, "."+"/"), "/")
	if p.text == "" || !doublestar.ValidatePattern(p.text) {
		return nil, fmt.Errorf("%q is not a glob: it has *, ?, ** for any directories, [a-z] and {one,two}; a backslash takes the meaning of the next character away", text)
	}
	if rest, ok := strings.CutPrefix(p.text, "**/"); ok && !strings.Contains(rest, "/") {
		p.text, rooted = rest, false
	}
	p.names = !rooted && !strings.Contains(p.text, "/")
	if tail, ok := strings.CutPrefix(p.text, "*"); ok && p.names && !strings.ContainsAny(tail, `*?[{\`) {
		p.suffix = tail
	}
	if !p.names && !strings.Contains(p.text, "**") && !strings.Contains(p.text, "{") {
		p.depth = strings.Count(p.text, "/") + 1
	}
	return p, nil
}

// start returns the directory that everything that can match is in.
func (p *pattern) start() string {
	if p.names || strings.Contains(p.text, `\`) {
		return "."
	}
	dir, _ := doublestar.SplitPattern(p.text)
	return dir
}

// match reports whether a path is looked for. The pattern is relative to the directory from.
func (p *pattern) match(from, rel, name string, isDir bool) bool {
	if p == nil {
		return !isDir
	}
	switch {
	case isDir != p.dirs:
		return false
	case p.suffix != "":
		return strings.HasSuffix(name, p.suffix)
	case p.names:
		return doublestar.MatchUnvalidated(p.text, name)
	}
	return doublestar.MatchUnvalidated(p.text, relativeTo(from, rel))
}

// below reports whether anything below a directory can match.
func (p *pattern) below(from, rel string) bool {
	return p == nil || p.depth == 0 || strings.Count(relativeTo(from, rel), "/")+1 < p.depth
}

func relativeTo(from, rel string) string {
	if from == "." {
		return rel
	}
	return rel[len(from)+1:]
}
