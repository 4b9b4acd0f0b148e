package story

import (
	"regexp"
	"strconv"
	"strings"
)

// A DiffLine is one line of a unified diff. Mark and Text together are the line as it stands in the preview:
// what is approved is shown whole, whatever it is.
type DiffLine struct {
	Class string // "add", "del", "at", "file" or ""
	Mark  string // "+", "-", " " or "": the line has none
	Text  string
}

// A DiffPart is lines that stay, or a change: the lines that go and those that come in their place, which a
// page may show side by side.
type DiffPart struct {
	Stay    []DiffLine
	Was, Is []DiffLine
}

var hunk = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// diffOf reads a unified diff. Within a hunk the counts of its header say what is a change: a line "-- x" that
// goes is written "--- x", and must not pass for the header of a file, which nobody looks at twice.
func diffOf(text string) []DiffPart {
	var parts []DiffPart
	was, is := 0, 0 // lines of the hunk that are still to come
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for n, line := range lines {
		l := lineOf(line)
		switch counts := hunk.FindStringSubmatch(line); {
		case counts != nil:
			l = DiffLine{Class: "at", Text: line}
			was, is = count(counts[1]), count(counts[2])
		case was > 0 || is > 0:
			if l.Class != "add" && l.Mark != "" {
				was--
			}
			if l.Class != "del" && l.Mark != "" {
				is--
			}
		case header(lines, n, "--- ", 1), header(lines, n, "+++ ", -1):
			l = DiffLine{Class: "file", Text: line}
		}
		parts = place(parts, l)
	}
	return parts
}

// header reports whether a line outside of hunks is one of the two that name a file, of which the other is
// beside it. Alone it is taken for a change.
func header(lines []string, n int, prefix string, other int) bool {
	o := n + other
	if !strings.HasPrefix(lines[n], prefix) || o < 0 || o >= len(lines) {
		return false
	}
	return strings.HasPrefix(lines[o], map[int]string{1: "+++ ", -1: "--- "}[other])
}

// lineOf returns a line by its mark alone.
func lineOf(line string) DiffLine {
	switch {
	case strings.HasPrefix(line, "+"):
		return DiffLine{"add", "+", line[1:]}
	case strings.HasPrefix(line, "-"):
		return DiffLine{"del", "-", line[1:]}
	case strings.HasPrefix(line, " "):
		return DiffLine{"", " ", line[1:]}
	}
	return DiffLine{Text: line}
}

// place adds a line to the part that it belongs to.
func place(parts []DiffPart, l DiffLine) []DiffPart {
	var last *DiffPart
	if len(parts) > 0 {
		last = &parts[len(parts)-1]
	}
	switch {
	case l.Class == "del" && last != nil && len(last.Stay) == 0 && len(last.Is) == 0:
		last.Was = append(last.Was, l)
	case l.Class == "del":
		return append(parts, DiffPart{Was: []DiffLine{l}})
	case l.Class == "add" && last != nil && len(last.Stay) == 0:
		last.Is = append(last.Is, l)
	case l.Class == "add":
		return append(parts, DiffPart{Is: []DiffLine{l}})
	case last != nil && len(last.Stay) > 0:
		last.Stay = append(last.Stay, l)
	default:
		return append(parts, DiffPart{Stay: []DiffLine{l}})
	}
	return parts
}

// count returns the number of lines that a hunk's header gives, which is 1 if it gives none.
func count(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0 // more than there can be: each line goes by its mark
	}
	return n
}
