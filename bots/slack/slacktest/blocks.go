package slacktest

import (
	"encoding/json"
	"unicode/utf16"
)

// A blockJSON is a block of a message or a form, as far as it is checked here.
type blockJSON struct {
	Type     string        `json:"type"`
	BlockID  string        `json:"block_id,omitempty"`
	Text     *textJSON     `json:"text,omitempty"`
	Elements []elementJSON `json:"elements,omitempty"`
	Label    *textJSON     `json:"label,omitempty"`
	Element  *elementJSON  `json:"element,omitempty"`
	Optional bool          `json:"optional,omitempty"`
}

type textJSON struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Verbatim bool   `json:"verbatim,omitempty"`
}

type elementJSON struct {
	Type      string    `json:"type"`
	ActionID  string    `json:"action_id,omitempty"`
	Text      *textJSON `json:"text,omitempty"`
	Value     string    `json:"value,omitempty"`
	Style     string    `json:"style,omitempty"`
	MaxLength int       `json:"max_length,omitempty"`
}

// Slack's limits on blocks, in characters and numbers.
const (
	maxBlocks      = 50
	maxBlockText   = 13_200 // all blocks of a message together
	maxSection     = 3000
	maxElements    = 25
	maxButtonText  = 75
	maxButtonValue = 2000
	maxID          = 255
	maxInputLabel  = 2000
)

// length counts characters as Slack does: UTF-16 code units.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

// checkBlocks decodes the blocks of a message and refuses what Slack refuses.
func checkBlocks(raw string) ([]blockJSON, refused) {
	var blocks []blockJSON
	if err := json.Unmarshal([]byte(raw), &blocks); err != nil {
		return nil, "invalid_blocks_format"
	}
	if len(blocks) > maxBlocks {
		return nil, "invalid_blocks"
	}
	ids, sum := map[string]bool{}, 0
	for _, b := range blocks {
		if !b.valid() || b.BlockID != "" && ids[b.BlockID] {
			return nil, "invalid_blocks"
		}
		ids[b.BlockID] = true
		if b.Text != nil {
			sum += length(b.Text.Text)
		}
	}
	if sum > maxBlockText {
		return nil, "msg_blocks_too_long"
	}
	return blocks, ""
}

func (b blockJSON) valid() bool {
	if len(b.BlockID) > maxID {
		return false
	}
	switch b.Type {
	case "section":
		return b.Text.valid(maxSection, "mrkdwn", "plain_text")
	case "divider":
		return true
	case "actions":
		return validActions(b.Elements)
	case "input":
		return b.Label.valid(maxInputLabel, "plain_text") && b.Element != nil &&
			b.Element.Type == "plain_text_input" && b.Element.MaxLength >= 0 && b.Element.MaxLength <= 3000
	}
	return false // what bots/slack starts to use is to be checked here first
}

func validActions(elements []elementJSON) bool {
	if len(elements) == 0 || len(elements) > maxElements {
		return false
	}
	ids := map[string]bool{}
	for _, e := range elements {
		style := e.Style == "" || e.Style == "primary" || e.Style == "danger"
		if e.Type != "button" || !style || !e.Text.valid(maxButtonText, "plain_text") ||
			length(e.Value) > maxButtonValue || e.ActionID == "" || len(e.ActionID) > maxID || ids[e.ActionID] {
			return false
		}
		ids[e.ActionID] = true
	}
	return true
}

func (t *textJSON) valid(max int, types ...string) bool {
	if t == nil || t.Text == "" || length(t.Text) > max {
		return false
	}
	for _, typ := range types {
		if t.Type == typ {
			return true
		}
	}
	return false
}
