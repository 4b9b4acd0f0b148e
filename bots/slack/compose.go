package slack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// Slack's limits on what a message is made of, in characters.
const (
	maxLabel   = 75   // of a button
	maxValue   = 2000 // of a button
	maxButtons = 25   // in one row
	maxCode    = 2900 // bytes of code in one fence: what is left of a section beside the fence and a note
	maxFences  = 3    // all blocks together may have some 13,200 characters
	maxSummary = 150  // bytes of code in the plain text of a message without other text; a choice of ours
)

// A content is a message in Slack's form.
type content struct {
	text   string // for notifications, and for clients that show no blocks
	blocks []slack.Block
}

// compose returns m in Slack's form.
func compose(m bots.Message) (content, error) {
	if len(m.Text) > maxText {
		return content{}, fmt.Errorf("the text has %d bytes, at most %d are allowed", len(m.Text), maxText)
	}
	c := content{text: m.Text}
	if strings.TrimSpace(m.Text) != "" {
		c.blocks = append(c.blocks, section(m.Text))
	}
	code := apart(escape(strings.TrimRight(m.Code, "\n")))
	if strings.TrimSpace(code) != "" {
		c.blocks = append(c.blocks, fences(code)...)
	}
	if len(c.blocks) == 0 {
		return content{}, errors.New("the message has neither text nor code")
	}
	if strings.TrimSpace(c.text) == "" {
		line, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
		c.text = cut(line, maxSummary, true)[0]
	}
	rows, err := buttons(m.Buttons)
	c.blocks = append(c.blocks, rows...)
	return c, err
}

// section returns a block of mrkdwn. Verbatim keeps Slack from finding channels and people in it by
// itself; expand from folding it.
func section(mrkdwn string) slack.Block {
	text := &slack.TextBlockObject{Type: slack.MarkdownType, Text: mrkdwn, Verbatim: true}
	return slack.NewSectionBlock(text, nil, nil, slack.SectionBlockOptionExpand(true))
}

// fences returns escaped code as sections, and says how many lines did not fit.
func fences(code string) []slack.Block {
	parts, more := fill(strings.Split(code, "\n"))
	var blocks []slack.Block
	for i, p := range parts {
		p = fenceOpen + p + fenceClose
		if i == len(parts)-1 && more > 0 {
			p += fmt.Sprintf("\n_… %d more lines_", more)
			if more == 1 {
				p = strings.TrimSuffix(p, "s_") + "_"
			}
		}
		blocks = append(blocks, section(p))
	}
	return blocks
}

// fill puts lines into at most maxFences parts of at most maxCode bytes; more is the number of lines
// that did not fit whole.
func fill(lines []string) (parts []string, more int) {
	for i, line := range lines {
		for j, p := range cut(line, maxCode, true) {
			last := len(parts) - 1
			switch {
			case last >= 0 && j == 0 && len(parts[last])+1+len(p) <= maxCode:
				parts[last] += "\n" + p
			case len(parts) == maxFences:
				return parts, len(lines) - i
			default:
				parts = append(parts, p)
			}
		}
	}
	return parts, 0
}

func buttons(all []bots.Button) ([]slack.Block, error) {
	var rows []slack.Block
	taken := map[string]int{}
	for row := range slices.Chunk(all, maxButtons) {
		var elements []slack.BlockElement
		for _, b := range row {
			p := press{action: b.Action, value: b.Value, ask: b.Ask}
			id, value := p.encode()
			if taken[id]++; taken[id] > 1 { // Slack wants them to differ
				id += fmt.Sprintf("%s%d", nth, taken[id])
			}
			if len(value) > maxValue {
				return nil, fmt.Errorf("the value of the button %q has %d bytes, at most %d are allowed", b.Label, len(value), maxValue)
			}
			e := slack.NewButtonBlockElement(id, value, plainText(b.Label, maxLabel))
			e.Style = look(b.Style)
			elements = append(elements, e)
		}
		rows = append(rows, slack.NewActionBlock("", elements...))
	}
	return rows, nil
}

func look(s bots.Style) slack.Style {
	switch s {
	case bots.Primary:
		return slack.StylePrimary
	case bots.Danger:
		return slack.StyleDanger
	}
	return slack.StyleDefault
}

// plainText returns s without any formatting, cut to max characters. Slack refuses an empty text.
func plainText(s string, max int) *slack.TextBlockObject {
	r := []rune(s)
	if len(r) > max {
		r = append(r[:max-1], '…')
	}
	if strings.TrimSpace(string(r)) == "" {
		r = []rune("…")
	}
	return slack.NewTextBlockObject(slack.PlainTextType, string(r), false, false)
}

// A press is what a button is for, as it is written into the button. The written form is for ever.
type press struct {
	action bots.Action
	value  string
	ask    string // the question of the form that the button opens, or ""
}

// The parts of an action_id beside the action.
const (
	asks = ".ask" // the value is the question, a line feed, and the value proper
	nth  = "#"    // and a number: the action is in the message before
)

func (p press) encode() (actionID, value string) {
	if p.ask == "" {
		return string(p.action), p.value
	}
	return string(p.action) + asks, strings.Join(strings.Fields(p.ask), " ") + "\n" + p.value
}

func decodePress(actionID, value string) press {
	actionID, _, _ = strings.Cut(actionID, nth)
	action, ask := strings.CutSuffix(actionID, asks)
	p := press{action: bots.Action(action), value: value}
	if ask {
		p.ask, p.value, _ = strings.Cut(value, "\n")
	}
	return p
}
