package files

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/heddle-bot/heddle/tools"
)

// This file says why a text that was to be replaced is not there.

// Limits of what is compared and shown.
const (
	hintLines  = 12     // of the file that are shown
	hintLooked = 50_000 // lines that are compared
	likeEnough = 0.5    // share of words that a similar line has in common
)

// numbered is a line as read shows it.
var numbered = regexp.MustCompile(`(?m)^ *[0-9]+\|`)

// hint says what a model should do whose old text is not in the file.
func hint(mask tools.Mask, f *flat, old string) string {
	if bare := numbered.ReplaceAllString(old, ""); bare != old && len(f.find(asIn(bare, f), false)) > 0 {
		return `old has the line numbers that read shows; leave out everything up to the "|"`
	}
	if plain := strings.ReplaceAll(old, "\r\n", "\n"); plain != old && bytes.Contains(f.text, []byte(plain)) {
		return `the lines of old end in CRLF, those of the file in LF; write old with LF`
	}
	lines := strings.SplitN(string(f.text), "\n", hintLooked+1)
	lines = lines[:min(len(lines), hintLooked)]
	want := strings.Split(strings.Trim(asIn(old, f), "\n"), "\n")
	if at := sameWords(lines, want); at >= 0 {
		return "it differs from old only in white space; the file has\n" + region(mask, lines, at, len(want))
	}
	if at := similar(lines, want); at >= 0 {
		return "the nearest to it that the file has is\n" + region(mask, lines, at, len(want)) + "read the file again if that is not what you expect"
	}
	return "nothing in the file is like it: read the file again"
}

// sameWords returns where the lines are as wanted but for white space, or -1.
func sameWords(lines, want []string) int {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	var wanted []string
	for _, s := range want {
		wanted = append(wanted, squeeze(s))
	}
	if strings.Join(wanted, "") == "" {
		return -1
	}
	have := make([]string, len(lines))
	for i, s := range lines {
		have[i] = squeeze(s)
	}
next:
	for i := range len(have) - len(wanted) + 1 {
		for j, s := range wanted {
			// The first and the last line may be parts of lines.
			if have[i+j] != s && (j > 0 && j < len(wanted)-1 || !strings.Contains(have[i+j], s)) {
				continue next
			}
		}
		return i
	}
	return -1
}

// similar returns where the lines are most like those wanted, judged by the longest of them; or -1.
func similar(lines, want []string) int {
	longest := 0
	for i, s := range want {
		if len(strings.TrimSpace(s)) > len(strings.TrimSpace(want[longest])) {
			longest = i
		}
	}
	words := wordsOf(want[longest])
	best, at := likeEnough, -1
	for i, s := range lines {
		if like := alike(words, wordsOf(s)); like > best {
			best, at = like, i
		}
	}
	if at < 0 {
		return -1
	}
	return max(0, at-longest)
}

// wordPattern finds words and single signs.
var wordPattern = regexp.MustCompile(`[\pL\pN_]+|[^\pL\pN_\s]`)

func wordsOf(line string) []string {
	return wordPattern.FindAllString(line[:min(len(line), maxLine)], -1)
}

// alike returns which share of the words of a and b they have in common.
func alike(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	left := map[string]int{}
	for _, w := range a {
		left[w]++
	}
	common := 0
	for _, w := range b {
		if left[w] > 0 {
			left[w]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

// region shows n lines of a file from an index on.
func region(mask tools.Mask, lines []string, at, n int) string {
	var s strings.Builder
	for i := at; i < min(at+min(n, hintLines), len(lines)); i++ {
		fmt.Fprintf(&s, "%d|%s\n", i+1, show(mask, []byte(lines[i]), 0))
	}
	return s.String()
}
