package slack

import "strings"

// A margin is what stands before the lines of a block.
type margin struct {
	quotes int    // around the block
	depth  int    // of lists within the innermost quote
	mark   string // bullet, number or checkbox, to be written before the first line
	gap    string // between the block and the one before
}

// Deeper quotes and lists are shown as if they were of this depth: the margin has to leave room for text.
const maxQuotes, maxDepth = 3, 5

const indent = "    "

// quote is what begins a line in all quotes around it. Slack has one level of them, so further ones
// are shown as they are written.
func (m margin) quote() string {
	if m.quotes == 0 {
		return ""
	}
	return "> " + strings.Repeat("&gt; ", min(m.quotes, maxQuotes)-1)
}

// first returns what the first line of a block begins with.
func (m margin) first() string {
	if m.mark == "" {
		return m.rest()
	}
	return m.quote() + strings.Repeat(indent, min(m.depth, maxDepth)-1) + m.mark + " "
}

// rest returns what further lines begin with.
func (m margin) rest() string { return m.quote() + strings.Repeat(indent, min(m.depth, maxDepth)) }

// next returns the margin of the block that follows in the same item or quote.
func (m margin) next() margin {
	m.mark, m.gap = "", m.blank()
	if m.depth > 0 {
		m.gap = "\n"
	}
	return m
}

// blank returns an empty line, within quotes if m is.
func (m margin) blank() string { return "\n" + strings.TrimRight(m.quote(), " ") + "\n" }

// quoted returns the margin of a quote at m.
func (m margin) quoted() margin { return margin{quotes: m.quotes + 1, gap: m.gap} }

// item returns the margin of an item of a list at m.
func (m margin) item(mark string) margin { return margin{m.quotes, m.depth + 1, mark, m.gap} }
