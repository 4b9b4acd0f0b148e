package discord

import (
	"strings"
	"unicode/utf8"
)

// render cuts Markdown into pieces of at most max bytes, between lines if it can.
func render(markdown string, max int) []string {
	var pieces []string
	for text := strings.TrimSpace(markdown); text != ""; text = strings.TrimSpace(text) {
		n := min(len(text), max)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		if i := strings.LastIndexByte(text[:n], '\n'); n < len(text) && i > 0 {
			n = i
		}
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}
