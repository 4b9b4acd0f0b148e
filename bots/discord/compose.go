package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// Discord's limits on what a message is made of. It counts characters; we count bytes, which are never
// fewer, except in labels.
const (
	maxContent = 2000     // of text and code together
	maxText    = 2000     // bytes of text alone
	maxCode    = 1200     // bytes of code that are shown whole, however long the text is; a choice of ours
	maxLabel   = 80       // characters of a button's label
	maxRow     = 5        // buttons
	maxRows    = 5        // of buttons
	maxFile    = 10 << 20 // bytes
	maxMissing = 60       // bytes of what says how much is missing
)

// An outgoing is a message in Discord's form.
type outgoing struct {
	Content    string                       `json:"content"`
	Components []discordgo.MessageComponent `json:"components"`
	Mentions   mentions                     `json:"allowed_mentions"`
	Flags      int                          `json:"flags,omitempty"`
	Nonce      string                       `json:"nonce,omitempty"`
	Enforce    bool                         `json:"enforce_nonce,omitempty"`

	file string // that goes along
}

// mentions are who a message may call.
type mentions struct {
	Parse []string `json:"parse"`
}

// nobody is called by our messages, whatever stands in them.
func nobody() mentions { return mentions{Parse: []string{}} }

// compose returns m in Discord's form.
func compose(m bots.Message) (outgoing, error) {
	out := outgoing{Components: []discordgo.MessageComponent{}, Mentions: nobody(), Flags: int(discordgo.MessageFlagsSuppressEmbeds)}
	if len(m.Text) > maxText {
		return out, fmt.Errorf("the text has %d bytes, at most %d are allowed", len(m.Text), maxText)
	}
	if u := m.Upload; u != nil {
		if len(u.Content) == 0 || m.Code != "" || len(m.Buttons) > 0 {
			return out, errors.New("a file with code, with buttons or without content cannot be posted")
		}
		if len(u.Content) > maxFile {
			return out, fmt.Errorf("the file has %d bytes, at most %d are allowed", len(u.Content), maxFile)
		}
		out.file = u.Name
	}
	code := apart(strings.TrimRight(m.Code, "\n"))
	switch {
	case strings.TrimSpace(code) != "":
		out.Content = fenced(strings.TrimSpace(m.Text), code, m.Lang)
	case strings.TrimSpace(m.Text) != "":
		out.Content = m.Text
	case m.Upload == nil:
		return out, errors.New("the message has neither text nor code")
	}
	rows, err := buttons(m.Buttons)
	out.Components = append(out.Components, rows...)
	return out, err
}

// fenced returns text with code under it. At least maxCode bytes of the code are shown whole; the text
// has what is left. Of more code, which nobody is to ask for, it shows what fits and says how much is
// missing.
func fenced(text, code, lang string) string {
	open, shut := "```"+lang+"\n", "\n```"
	room := maxContent - len(open) - len(shut) - len("\n")
	most := max(room-len(text), maxCode)
	missing := ""
	if len(code) > most {
		end := border(code, most-maxMissing)
		missing = fmt.Sprintf("\n-# … (characters that are not shown: %d)", utf8.RuneCountInString(code[end:]))
		code = code[:end]
	}
	if left := room - len(code) - len(missing); len(text) > left {
		text = text[:border(text, left-len("…"))] + "…"
	}
	if text != "" {
		text += "\n"
	}
	return text + open + code + shut + missing
}

// border returns the length of the longest beginning of s that has at most max bytes and ends with a
// character.
func border(s string, max int) int {
	if len(s) <= max {
		return len(s)
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return max
}

// apart returns code in which no three backticks follow each other: they would end the fence, and nothing
// that can be seen keeps Discord from that. Whoever copies such a line copies the space of no width too.
func apart(code string) string {
	for strings.Contains(code, "```") {
		code = strings.ReplaceAll(code, "```", "``"+hair+"`")
	}
	return code
}

// codeSize is the bytes of code as a fence holds it.
func codeSize(code string) int { return len(apart(code)) }

func buttons(all []bots.Button) ([]discordgo.MessageComponent, error) {
	if len(all) > maxRow*maxRows {
		return nil, fmt.Errorf("there are %d buttons, at most %d are allowed", len(all), maxRow*maxRows)
	}
	var rows []discordgo.MessageComponent
	taken := map[string]int{}
	for row := range slices.Chunk(all, maxRow) {
		var r discordgo.ActionsRow
		for _, b := range row {
			id := press{action: b.Action, value: b.Value, ask: b.Ask}.encode()
			if taken[id]++; taken[id] > 1 { // Discord wants them to differ
				action, rest, _ := strings.Cut(id, "\n")
				ask := ""
				if action, ok := strings.CutSuffix(action, asks); ok {
					id, ask = action, asks
				} else {
					id = action
				}
				id += ask + fmt.Sprintf("%s%d", nth, taken[id]) + "\n" + rest
			}
			if n := utf8.RuneCountInString(id); n > maxID {
				return nil, fmt.Errorf("the value of the button %q is %d characters too long", b.Label, n-maxID)
			}
			label := clip(b.Label, maxLabel)
			if strings.TrimSpace(label) == "" {
				label = "…"
			}
			r.Components = append(r.Components, discordgo.Button{Label: label, Style: look(b.Style), CustomID: id})
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func look(s bots.Style) discordgo.ButtonStyle {
	switch s {
	case bots.Primary:
		return discordgo.PrimaryButton
	case bots.Danger:
		return discordgo.DangerButton
	}
	return discordgo.SecondaryButton
}

// same reports whether a message that Discord has is out. A card whose words have changed since is known
// by its buttons.
func (out outgoing) same(m message) bool {
	if out.file != "" {
		return slices.ContainsFunc(readFiles(m), func(f bots.File) bool { return f.Name == out.file })
	}
	var ids []string
	for _, c := range out.Components {
		row, _ := c.(discordgo.ActionsRow)
		for _, b := range row.Components {
			if b, ok := b.(discordgo.Button); ok {
				ids = append(ids, b.CustomID)
			}
		}
	}
	theirs := customIDs(m.Components)
	if len(ids) > 0 {
		return slices.Equal(ids, theirs)
	}
	return len(theirs) == 0 && m.Content != nil && strings.TrimSpace(*m.Content) == strings.TrimSpace(out.Content)
}

// customIDs returns those of the components of a message, in order.
func customIDs(components json.RawMessage) (all []string) {
	var some []struct {
		ID         string          `json:"custom_id"`
		Components json.RawMessage `json:"components"`
	}
	if len(components) == 0 || json.Unmarshal(components, &some) != nil {
		return nil
	}
	for _, c := range some {
		if c.ID != "" {
			all = append(all, c.ID)
		}
		all = append(all, customIDs(c.Components)...)
	}
	return all
}
