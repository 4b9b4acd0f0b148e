package tools

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cap returns text in at most max bytes: its head and its tail, cut between lines where that costs
// little, with a note between them of how much was left out. The note says how to read the whole if
// that was kept as an artefact of the given name. Text that may hold secrets is masked before.
func Cap(text string, max int, artefact string) string {
	if len(text) <= max {
		return text
	}
	how := ""
	if artefact != "" {
		how = fmt.Sprintf("; read the whole with the tool read, path %q", "artefact:"+artefact)
	}
	note := func(n int) string { return fmt.Sprintf("\n[... %d of %d bytes left out%s ...]\n", n, len(text), how) }
	room := max - len(note(len(text)))
	if room < 0 {
		return head(text, max)
	}
	first := atLine(head(text, room/2))
	last := tail(text, room-len(first))
	if i := strings.IndexByte(last, '\n'); i >= 0 && i < len(last)/4 {
		last = last[i+1:]
	}
	return first + note(len(text)-len(first)-len(last)) + last
}

// atLine drops a last line that is not whole, unless it is most of the text.
func atLine(text string) string {
	if i := strings.LastIndexByte(text, '\n'); i > len(text)/4*3 {
		return text[:i]
	}
	return text
}

// head returns at most the first n bytes, and tail the last, without cutting a character.
func head(text string, n int) string {
	n = max(0, min(n, len(text)))
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func tail(text string, n int) string {
	at := len(text) - max(0, min(n, len(text)))
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return text[at:]
}

// Clip returns text as one line of at most max runes, for titles: line breaks and other space become
// one blank, what cannot be seen is dropped, and an ellipsis stands for what did not fit. Text that may
// hold secrets is masked before.
func Clip(text string, max int) string {
	// A rune has at most 4 bytes; longer texts need not be looked at to their end.
	line := strings.Join(strings.Fields(head(text, 16*max)), " ")
	line = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
	runes := []rune(line)
	if len(runes) <= max && len(text) <= 16*max {
		return line
	}
	return strings.TrimSpace(string(runes[:min(len(runes), max-1)])) + "…"
}

// Digest returns a digest that binds each of the parts and where one ends and the next begins.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:", len(p))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// maxNearest bounds what Nearest returns.
const maxNearest = 3

// Nearest returns those among the candidates that word may have been meant to be, the likeliest
// first: a few letters differ, or one is a part of the other. It is empty if none is near.
func Nearest(word string, among []string) []string {
	type near struct {
		name string
		away int
	}
	var all []near
	lower := strings.ToLower(word)
	for _, name := range among {
		other := strings.ToLower(name)
		away := distance(lower, other)
		part := min(len(lower), len(other)) >= 3 && (strings.Contains(lower, other) || strings.Contains(other, lower))
		if away <= max(len(lower), len(other))/3 || part {
			all = append(all, near{name, away})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.away, b.away), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, n := range all[:min(len(all), maxNearest)] {
		if n.away <= all[0].away+1 { // worse than the best ones is noise
			names = append(names, n.name)
		}
	}
	return names
}

// DidYouMean returns the end of an error message about word, ", did you mean a or b?", or "" if no
// candidate is near.
func DidYouMean(word string, among []string) string {
	near := Nearest(word, among)
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(near, " or ") + "?"
}

// distance counts the letters to insert, drop, change or swap with their neighbour to get from a to
// b. Long words are compared by their ends, where paths differ.
func distance(a, b string) int {
	const longest = 128
	s, t := []rune(tail(a, longest)), []rune(tail(b, longest))
	var older []int
	prev := make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range s {
		row := make([]int, len(t)+1)
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, prev = prev, row
	}
	return prev[len(t)]
}
