package slack

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// Slack's limits on what a message is made of, in characters.
const (
	maxLabel   = 75   // of a button
	maxValue   = 2000 // of a button
	maxButtons = 25   // in one row
	maxFence   = 2900 // bytes of code in one fence: what is left of a section beside the fence and notes
	maxCode    = 8700 // bytes of code in one message, escaped: all blocks together, and the text is one, may have some 13,200 characters
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
		c.text = cut(line, maxSummary)[0]
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

// codeSize is the bytes of code as a fence holds it.
func codeSize(code string) int { return len(apart(escape(code))) }

// fences returns escaped code as sections. Of more than maxCode, which nobody is to ask for, it shows
// the beginning and says how much is missing.
func fences(code string) []slack.Block {
	note := ""
	if len(code) > maxCode {
		end := mrkdwn(maxCode).Border(code, maxCode, true)
		note = fmt.Sprintf("\n_… (characters that are not shown: %d)_", utf8.RuneCountInString(unescape(code[end:])))
		code = code[:end]
	}
	var blocks []slack.Block
	parts := fill(strings.Split(code, "\n"))
	for i, p := range parts {
		text := "```\n" + p.code + "\n```"
		if p.within {
			text = "_the line goes on:_\n" + text
		}
		if i == len(parts)-1 {
			text += note
		}
		blocks = append(blocks, section(text))
	}
	return blocks
}

// A fenced is the code of one fence.
type fenced struct {
	code   string
	within bool // it goes on with the last line of the fence before
}

// fill puts lines into parts of at most maxFence bytes. Two that follow each other are more than
// maxFence, but for some bytes at which a line cannot be cut, so there are at most seven.
func fill(lines []string) []fenced {
	var parts []fenced
	for _, line := range lines {
		for i, p := range cut(line, maxFence) {
			last := len(parts) - 1
			if last >= 0 && i == 0 && len(parts[last].code)+1+len(p) <= maxFence {
				parts[last].code += "\n" + p
			} else {
				parts = append(parts, fenced{p, i > 0})
			}
		}
	}
	return parts
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
