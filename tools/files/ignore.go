package files

import (
	"bytes"
	"strings"

	"golang.org/x/sys/unix"
)

// This file is git's rules of what to ignore: gitignore(5), compared with git itself in the tests. Rules
// from outside of the workspace (core.excludesFile, directories above) do not count. As a walk does
// not enter what is ignored, a path is judged by itself, not by the directories that it is in.

const (
	ignoreFile = ".gitignore"
	maxRules   = 1 << 20 // bytes of a file with rules; what is longer is cut there
)

// rules are those of one file, and above them weaker ones. A nil *rules ignores nothing.
type rules struct {
	above *rules
	base  string // directory that the rules are about
	list  []rule // the last that fits decides
}

// A rule is one line.
type rule struct {
	keep    bool     // "!": what fits is not ignored
	dirOnly bool     // "name/"
	parts   []string // of a path relative to base; nil if the rule is about names at any depth
	name    string   // the pattern for names
	kind    ruleKind // of name: most are so simple that no pattern has to be matched
}

type ruleKind int

const (
	wild   ruleKind = iota // name is a pattern
	plain                  // name is a name
	suffix                 // name is what names end in
)

// ignored reports whether a path is to be ignored. name is its last element.
func (r *rules) ignored(rel, name string, isDir bool) bool {
	for ; r != nil; r = r.above {
		for i := len(r.list) - 1; i >= 0; i-- {
			if r.list[i].fits(r.base, rel, name, isDir) {
				return !r.list[i].keep
			}
		}
	}
	return false
}

func (r *rule) fits(base, rel, name string, isDir bool) bool {
	switch {
	case r.dirOnly && !isDir:
		return false
	case r.parts != nil:
		if base != "." {
			rel = rel[len(base)+1:]
		}
		return matchParts(r.parts, rel)
	case r.kind == plain:
		return name == r.name
	case r.kind == suffix:
		return strings.HasSuffix(name, r.name)
	}
	return matchName(r.name, name)
}

// readRules reads a file with rules where the cursor is. Without such a file it returns above.
func readRules(c *cursor, name, base string, above *rules) *rules {
	fd, size, err := c.openFile(name)
	if err != nil {
		return above
	}
	defer unix.Close(fd)
	data := make([]byte, min(size, maxRules))
	n, err := readFull(fd, data)
	if err != nil {
		return above
	}
	list := parseRules(data[:n])
	if len(list) == 0 {
		return above
	}
	return &rules{above: above, base: base, list: list}
}

func parseRules(data []byte) []rule {
	var list []rule
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if r, ok := parseRule(line); ok {
			list = append(list, r)
		}
	}
	return list
}

func parseRule(line string) (rule, bool) {
	var r rule
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line = trimSpaces(line)
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if line == "" {
		return r, false
	}
	if strings.Contains(line, "/") {
		r.parts = splitParts(strings.TrimPrefix(line, "/"))
		return r, true
	}
	r.name = line
	tail, star := strings.CutPrefix(line, "*")
	switch {
	case !strings.ContainsAny(line, `*?[\`):
		r.kind = plain
	case star && !strings.ContainsAny(tail, `*?[\`):
		r.kind, r.name = suffix, tail
	}
	return r, true
}

// splitParts cuts a pattern at its slashes, but not within classes.
func splitParts(p string) []string {
	var parts []string
	var part strings.Builder
	for i := 0; i < len(p); {
		n := 1
		switch p[i] {
		case '/':
			parts = append(parts, part.String())
			part.Reset()
			i++
			continue
		case '\\':
			n = min(2, len(p)-i)
			if strings.HasPrefix(p[i+1:], "/") {
				i++
				continue
			}
		case '[':
			length, _ := inClass(p[i:], 0)
			n = max(n, length)
		}
		part.WriteString(p[i : i+n])
		i += n
	}
	return append(parts, part.String())
}

// trimSpaces drops spaces at the end that no backslash protects.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
			end = min(i+1, len(s))
		case s[i] != ' ':
			end = i + 1
		}
	}
	return s[:end]
}

// matchParts matches a path with a pattern that was cut at its slashes: "**" is any number of
// directories, at the end at least one name.
func matchParts(parts []string, rel string) bool {
	for len(parts) > 0 {
		if stars := parts[0]; len(stars) > 1 && strings.Trim(stars, "*") == "" {
			if len(parts) == 1 {
				return true
			}
			for {
				if matchParts(parts[1:], rel) {
					return true
				}
				_, rest, more := strings.Cut(rel, "/")
				if !more {
					return false
				}
				rel = rest
			}
		}
		name, rest, more := strings.Cut(rel, "/")
		if !matchName(parts[0], name) || more == (len(parts) == 1) {
			return false
		}
		parts, rel = parts[1:], rest
	}
	return true
}

// matchName matches a name with a pattern of *, ?, [classes] and backslashes, byte by byte as git does.
func matchName(p, s string) bool {
	back, from := -1, 0 // where to go on if the last star has to take one more byte
	i, j := 0, 0
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			back, from = i+1, j
			i++
			continue
		}
		if n := matchByte(p[i:], s[j]); n > 0 {
			i += n
			j++
			continue
		}
		if back < 0 {
			return false
		}
		from++
		i, j = back, from
	}
	return strings.Trim(p[i:], "*") == ""
}

// matchByte returns the length of the first element of p if it matches c, else 0.
func matchByte(p string, c byte) int {
	switch {
	case p == "":
		return 0
	case p[0] == '?':
		return 1
	case p[0] == '[':
		if n, in := inClass(p, c); in {
			return n
		}
		return 0
	case p[0] == '\\':
		if len(p) > 1 && p[1] == c {
			return 2
		}
		return 0
	case p[0] == c:
		return 1
	}
	return 0
}

// inClass returns the length of "[...]" at the beginning of p, 0 if it is not closed, and whether it
// has c.
func inClass(p string, c byte) (n int, in bool) {
	i, not := 1, false
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		not = true
		i++
	}
	for first := true; i < len(p); first = false {
		if p[i] == ']' && !first {
			return i + 1, in != not
		}
		if name, n := className(p[i:]); n > 0 {
			of, known := isOf(name, c)
			if !known {
				return 0, false
			}
			in = in || of
			i += n
			continue
		}
		lo, n := classByte(p[i:])
		i += n
		hi := lo
		if i+1 < len(p) && p[i] == '-' && p[i+1] != ']' {
			hi, n = classByte(p[i+1:])
			i += 1 + n
		}
		in = in || lo <= c && c <= hi
	}
	return 0, false
}

// classByte returns the first byte in a class, which a backslash may stand before, and its length.
func classByte(p string) (byte, int) {
	if p[0] == '\\' && len(p) > 1 {
		return p[1], 2
	}
	return p[0], 1
}

// className returns the name of a class like [:digit:] and how long that is written; 0 if p does not
// begin with one.
func className(p string) (name string, n int) {
	if !strings.HasPrefix(p, "[:") {
		return "", 0
	}
	inner, _, closed := strings.Cut(p[2:], "]")
	name, ok := strings.CutSuffix(inner, ":")
	if !closed || !ok {
		return "", 0
	}
	return name, len(name) + 4
}

// isOf reports whether c is of the class of that name, and whether there is such a class.
func isOf(name string, c byte) (in, known bool) {
	digit := '0' <= c && c <= '9'
	lower, upper := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z'
	graph := '!' <= c && c <= '~'
	switch name {
	case "digit":
		return digit, true
	case "lower":
		return lower, true
	case "upper":
		return upper, true
	case "alpha":
		return lower || upper, true
	case "alnum":
		return lower || upper || digit, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "blank":
		return c == ' ' || c == '\t', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "graph":
		return graph, true
	case "print":
		return graph || c == ' ', true
	case "cntrl":
		return c < ' ' || c == 0x7F, true
	}
	return false, false
}
