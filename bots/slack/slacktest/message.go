package slacktest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Message is one message as it is now.
type Message struct {
	TS       string
	Thread   string // the ts of the root; empty in the channel
	User     string
	Text     string // what is shown, in mrkdwn: the text of the blocks if there are any
	Fallback string // the text proper, for notifications
	Buttons  []Button
	Key      string // of the bot's metadata
	Edits    int
	For      string // only this person sees it
	Files    []File
	Stream   Stream
	content
}

// A content is the rest of what a message holds.
type content struct {
	team      string // of the author, if it is another than the bot's
	blocks    []any
	metadata  json.RawMessage
	reactions []string // of the bot
	edited    string   // the ts of the last edit
	unfurled  bool     // links in it are shown with what is behind them
	notice    string   // the subtype, if it is Slack's own and tells what somebody did to the channel
	gone      bool     // deleted while its thread stays
}

// A Button is what a person can press.
type Button struct {
	ActionID string
	Label    string
	Value    string
	Style    string
}

// Labels returns the labels of the message's buttons.
func (m Message) Labels() []string {
	var all []string
	for _, b := range m.Buttons {
		all = append(all, b.Label)
	}
	return all
}

// Reactions returns the names of the emoji that the bot has put on the message.
func (m Message) Reactions() []string { return slices.Clone(m.reactions) }

// Thread returns the messages of a thread, the root and private ones included, oldest first.
func (w *Workspace) Thread(channel, root string) []Message {
	return w.messages(channel, func(m *Message) bool { return m.TS == root || m.Thread == root })
}

// Channel returns all messages of a channel and its threads, oldest first.
func (w *Workspace) Channel(channel string) []Message {
	return w.messages(channel, func(*Message) bool { return true })
}

func (w *state) messages(channel string, which func(*Message) bool) []Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []Message
	for _, m := range w.channel(channel).messages {
		if which(m) {
			all = append(all, *m)
		}
	}
	return all
}

// set makes the message what the bot wants it to be. Text without blocks takes old blocks away.
func (m *Message) set(p posting) {
	switch {
	case p.markdown != nil:
		m.Fallback, m.blocks = *p.markdown, nil
	case p.text != nil:
		m.Fallback, m.blocks = *p.text, nil
	}
	if p.blocks != nil {
		m.blocks = p.blocks
	}
	if p.markdown != nil || p.text != nil || p.blocks != nil {
		m.Stream.Title, m.Stream.Tasks, m.Stream.replaced = "", nil, true // they are blocks too
	}
	if p.metadata != nil {
		m.metadata = p.metadata
		m.Key = metadataKey(p.metadata)
	}
	m.show()
}

// show derives what a person sees of the message.
func (m *Message) show() {
	m.Text, m.Buttons = m.Fallback, nil
	if len(m.blocks) > 0 {
		m.Text = shown(m.blocks)
		if m.Stream.State != "" && !m.Stream.replaced {
			m.Text = strings.TrimLeft(m.Fallback+"\n"+m.Text, "\n")
		}
	}
	if s := m.Stream.shown(); s != "" {
		m.Text = strings.TrimRight(s+"\n"+m.Text, "\n")
	}
	m.Buttons = buttons(m.blocks)
}

// shown returns the texts of blocks, one a line.
func shown(blocks []any) string {
	var lines []string
	for _, b := range blocks {
		switch str(b, "type") {
		case "markdown", "task_card":
			lines = append(lines, str(b, "text")+str(b, "title"))
		case "rich_text", "table":
			lines = append(lines, flat(b))
		case "context":
			for _, e := range objects(b, "elements") {
				lines = append(lines, str(e, "text")+str(e, "alt_text"))
			}
		default:
			if text := str(b, "text", "text"); text != "" {
				lines = append(lines, text)
			}
			for _, f := range objects(b, "fields") {
				lines = append(lines, str(f, "text"))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// flat returns all text in a tree of blocks, without its form.
func flat(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			b.WriteString(flat(one))
		}
	case map[string]any:
		b.WriteString(str(v, "text") + flat(v["elements"]) + flat(v["rows"]))
	}
	return b.String()
}

func buttons(blocks []any) []Button {
	var all []Button
	for _, b := range blocks {
		o, _ := b.(map[string]any)
		for _, e := range elementsOf(o) {
			if str(e, "type") == "button" {
				all = append(all, Button{str(e, "action_id"), str(e, "text", "text"), str(e, "value"), str(e, "style")})
			}
		}
	}
	return all
}

func metadataKey(raw json.RawMessage) string {
	var meta map[string]any
	_ = json.Unmarshal(raw, &meta) // checked before
	return str(meta, "event_payload", "key")
}

// json returns the message as the Web API and events show it.
func (m *Message) json() map[string]any {
	if m.notice != "" {
		return map[string]any{"type": "message", "subtype": m.notice, "ts": m.TS, "user": m.User, "text": m.Fallback}
	}
	v := map[string]any{"type": "message", "ts": m.TS, "user": m.User, "text": m.Fallback, "team": TeamID}
	if m.Thread != "" {
		v["thread_ts"] = m.Thread
	}
	if m.Edits > 0 {
		v["edited"] = map[string]any{"user": m.User, "ts": m.edited}
	}
	if len(m.Files) > 0 {
		var files []map[string]any
		for _, f := range m.Files {
			files = append(files, f.json())
		}
		v["files"], v["upload"], v["subtype"] = files, false, "file_share"
	}
	if m.unfurled {
		v["attachments"] = []any{map[string]any{"id": 1, "from_url": "https://example.com/", "title": "Example", "fallback": "Example"}}
	}
	if len(m.reactions) > 0 {
		var all []map[string]any
		for _, name := range m.reactions {
			all = append(all, map[string]any{"name": name, "users": []string{BotUser}, "count": 1})
		}
		v["reactions"] = all
	}
	switch {
	case m.gone:
		v["user"], v["subtype"], v["hidden"], v["text"] = "USLACKBOT", "tombstone", true, "This message was deleted."
	case m.User == BotUser:
		v["bot_id"], v["app_id"] = BotID, appID
		v["bot_profile"] = map[string]any{"id": BotID, "app_id": appID, "name": BotName, "deleted": false, "updated": 1, "team_id": TeamID}
		if m.blocks != nil {
			v["blocks"] = m.blocks
		}
	default:
		if len(m.Files) == 0 {
			v["client_msg_id"] = "msg-" + m.TS
		} else {
			delete(v, "team")
		}
		if m.Fallback != "" {
			v["blocks"] = typedBlocks(m.TS, m.Fallback)
		}
		if m.team != "" {
			v["team"], v["user_team"], v["source_team"] = m.team, m.team, m.team
		}
	}
	return v
}

// special is what stands between angle brackets in Slack's own form of text.
var special = regexp.MustCompile(`<([@#!]?)([^>|]*)(?:\|([^>]*))?>`)

// typedBlocks returns the block that Slack makes of what a person types.
func typedBlocks(id, text string) []any {
	elements, rest := []any{}, 0
	plain := func(s string) {
		if s != "" {
			s = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
			elements = append(elements, map[string]any{"type": "text", "text": s})
		}
	}
	for _, at := range special.FindAllStringSubmatchIndex(text, -1) {
		plain(text[rest:at[0]])
		rest = at[1]
		name := text[at[4]:at[5]]
		switch text[at[2]:at[3]] {
		case "@":
			elements = append(elements, map[string]any{"type": "user", "user_id": name})
		case "#":
			elements = append(elements, map[string]any{"type": "channel", "channel_id": name})
		case "!":
			elements = append(elements, map[string]any{"type": "broadcast", "range": name})
		default:
			elements = append(elements, map[string]any{"type": "link", "url": name})
		}
	}
	plain(text[rest:])
	section := map[string]any{"type": "rich_text_section", "elements": elements}
	return []any{map[string]any{"type": "rich_text", "block_id": "b" + id, "elements": []any{section}}}
}

// find returns a message that everybody sees, or the mark of one that is gone.
func (c *channel) find(ts string) *Message {
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.TS == ts && m.For == "" })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// String is the message in one line, for failures of tests.
func (m Message) String() string {
	s := fmt.Sprintf("%s %s: %q", m.TS, m.User, m.Text)
	if len(m.Buttons) > 0 {
		s += fmt.Sprintf(" %q", m.Labels())
	}
	if m.For != "" {
		s += " for " + m.For
	}
	return s
}
