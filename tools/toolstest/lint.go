package toolstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-bot/heddle/tools"
)

// What words about tools need at least, and how alike those of two tools may be.
const (
	leastDescription = 80 // characters
	leastParameter   = 15
	mostAlike        = 0.5 // of the words that either has, in both
)

// Lint returns what is wrong with the words of tools that a model is given together: each tool
// and each parameter is described at some length, there is an example, and no two tools read the same.
func Lint(all []tools.Tool) []string {
	var wrong []string
	for i, t := range all {
		if n := utf8.RuneCountInString(t.Description); n < leastDescription {
			wrong = append(wrong, fmt.Sprintf("%s: the description has %d characters, %d are the least", t.Name, n, leastDescription))
		}
		if words := t.Description + string(t.Input); !strings.Contains(words, "Example") && !strings.Contains(words, "e.g.") {
			wrong = append(wrong, t.Name+": there is no example")
		}
		wrong = append(wrong, lintParameters(t)...)
		for _, other := range all[:i] {
			if a := alike(t.Description, other.Description); a > mostAlike {
				wrong = append(wrong, fmt.Sprintf("%s and %s: the descriptions share %.0f%% of their words", other.Name, t.Name, 100*a))
			}
		}
	}
	return wrong
}

func lintParameters(t tools.Tool) []string {
	var schema struct {
		Properties map[string]struct {
			Description string `json:"description"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(t.Input, &schema); err != nil {
		return []string{fmt.Sprintf("%s: %v", t.Name, err)}
	}
	var wrong []string
	for name, p := range schema.Properties {
		if n := utf8.RuneCountInString(p.Description); n < leastParameter {
			wrong = append(wrong, fmt.Sprintf("%s: the description of %s has %d characters, %d are the least", t.Name, name, n, leastParameter))
		}
	}
	return wrong
}

// alike returns the share of the words of either text that both have.
func alike(a, b string) float64 {
	first, second := wordsOf(a), wordsOf(b)
	both := 0
	for w := range first {
		if second[w] {
			both++
		}
	}
	return float64(both) / float64(max(1, len(first)+len(second)-both))
}

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		words[w] = true
	}
	return words
}
