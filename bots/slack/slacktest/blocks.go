package slacktest

import (
	"crypto/rand"
	"maps"
	"slices"
	"strings"
)

// Where blocks are shown.
type surface int

const (
	inMessage surface = iota
	inStream          // a message that is streamed: it may have tasks too
	inForm
	inHome
)

// Slack's limits on blocks.
const (
	maxMessageBlocks = 50
	maxViewBlocks    = 100
	maxBlockText     = 13_200 // all blocks of a message together, in characters
	maxMarkdown      = 12_000 // all markdown blocks of a message together, in characters
	maxID            = 255
	maxURL           = 3000
)

// blocksOf is the blocks that a surface takes. What bots/slack starts to use is to be added first.
func blocksOf(s surface) map[string]fields {
	all := map[string]fields{
		"actions": {"elements!": list(1, 25, kinds(elements("button", "static_select", "overflow", "radio_buttons", "checkboxes")))},
		"context": {"elements!": list(1, 10, kinds(map[string]fields{
			"plain_text": {"text!": words(1, 3000), "emoji": yesNo},
			"mrkdwn":     {"text!": words(1, 3000), "verbatim": yesNo},
			"image":      {"image_url!": words(1, maxURL), "alt_text!": words(1, 2000)},
		}))},
		"divider":   {},
		"header":    {"text!": text(150, "plain_text"), "level": whole(1, 4)},
		"image":     {"image_url!": words(1, maxURL), "alt_text!": words(1, 2000), "title": text(2000, "plain_text")},
		"rich_text": richText(),
		"section": {"text": text(3000), "fields": list(1, 10, text(2000)), "expand": yesNo,
			"accessory": kinds(elements("button", "static_select", "overflow", "radio_buttons", "checkboxes", "multi_static_select", "image"))},
		"input": {"label!": text(2000, "plain_text"), "hint": text(2000, "plain_text"), "optional": yesNo, "dispatch_action": yesNo,
			"element!": kinds(elements("plain_text_input", "static_select", "multi_static_select", "radio_buttons", "checkboxes"))},
	}
	if s == inMessage || s == inStream {
		all["markdown"] = fields{"text!": words(1, maxMarkdown)}
		all["table"] = table()
		all["context_actions"] = fields{"elements!": list(1, 5, kinds(elements("feedback_buttons", "icon_button")))}
	}
	if s == inStream {
		task := taskCard()
		all["task_card"] = task
		all["plan"] = fields{"title!": words(1, 2000), "tasks": list(0, 50, kinds(map[string]fields{"task_card": task}))}
	}
	for name, f := range all {
		all[name] = f.with(fields{"block_id": words(0, maxID)})
	}
	return all
}

// elements returns the elements of those names.
func elements(names ...string) map[string]fields {
	plain := func(most int) rule { return text(most, "plain_text") }
	confirm := object(fields{"title!": plain(100), "text!": text(300), "confirm!": plain(30), "deny!": plain(30), "style": oneOf("primary", "danger")})
	option := fields{"text!": text(75), "value!": words(1, 150), "description": text(75)}
	choice := func(most int) rule { return list(1, most, object(option)) }
	group := list(1, 100, object(fields{"label!": plain(75), "options!": choice(100)}))
	pick := fields{"placeholder": plain(150), "options": choice(100), "option_groups": group, "confirm": confirm, "focus_on_load": yesNo}
	verdict := object(fields{"text!": plain(75), "value!": words(1, 2000), "accessibility_label": words(1, 75)})
	all := map[string]fields{
		"button": {"text!": plain(75), "value": words(0, 2000), "url": words(1, maxURL), "style": oneOf("primary", "danger"),
			"confirm": confirm, "accessibility_label": words(1, 75)},
		"static_select":       pick.with(fields{"initial_option": object(option)}),
		"multi_static_select": pick.with(fields{"initial_options": choice(100), "max_selected_items": whole(1, 100)}),
		"overflow":            {"options!": list(1, 5, object(option.with(fields{"url": words(1, maxURL)}))), "confirm": confirm},
		"radio_buttons":       {"options!": choice(10), "initial_option": object(option), "confirm": confirm, "focus_on_load": yesNo},
		"checkboxes":          {"options!": choice(10), "initial_options": choice(10), "confirm": confirm, "focus_on_load": yesNo},
		"feedback_buttons":    {"positive_button!": verdict, "negative_button!": verdict},
		"icon_button": {"icon!": oneOf("trash"), "text!": plain(75), "value": words(0, 2000), "confirm": confirm,
			"accessibility_label": words(1, 75), "visible_to_user_ids": list(1, 10, words(1, maxID))},
		"plain_text_input": {"initial_value": words(0, 3000), "multiline": yesNo, "min_length": whole(0, 3000), "max_length": whole(1, 3000),
			"placeholder": plain(150), "focus_on_load": yesNo,
			"dispatch_action_config": object(fields{"trigger_actions_on": list(1, 2, oneOf("on_enter_pressed", "on_character_entered"))})},
	}
	maps.DeleteFunc(all, func(name string, _ fields) bool { return !slices.Contains(names, name) })
	for name, f := range all {
		all[name] = f.with(fields{"action_id": words(1, maxID)})
	}
	if slices.Contains(names, "image") {
		all["image"] = fields{"image_url!": words(1, maxURL), "alt_text!": words(1, 2000)}
	}
	return all
}

func richText() fields {
	style := object(fields{"bold": yesNo, "italic": yesNo, "strike": yesNo, "code": yesNo, "underline": yesNo})
	inline := list(0, 10_000, kinds(map[string]fields{
		"text":      {"text!": words(1, 40_000), "style": style},
		"link":      {"url!": words(1, maxURL), "text": words(1, 40_000), "unsafe": yesNo, "style": style},
		"user":      {"user_id!": words(1, maxID), "style": style},
		"channel":   {"channel_id!": words(1, maxID), "style": style},
		"emoji":     {"name!": words(1, maxID), "unicode": words(1, maxID), "style": style},
		"broadcast": {"range!": oneOf("here", "channel", "everyone"), "style": style},
		"usergroup": {"usergroup_id!": words(1, maxID), "style": style},
		"date":      {"timestamp!": whole(0, 1<<40), "format!": words(1, maxID), "url": words(1, maxURL), "fallback": words(1, 2000), "style": style},
	}))
	section := fields{"elements!": inline}
	return fields{"elements!": list(0, 1000, kinds(map[string]fields{
		"rich_text_section":      section,
		"rich_text_preformatted": section.with(fields{"border": whole(0, 1), "language": words(1, maxID)}),
		"rich_text_quote":        section.with(fields{"border": whole(0, 1)}),
		"rich_text_list": {"style!": oneOf("bullet", "ordered"), "indent": whole(0, 8), "offset": whole(0, 1<<20), "border": whole(0, 1),
			"elements!": list(0, 1000, kinds(map[string]fields{"rich_text_section": section}))},
	}))}
}

func table() fields {
	cell := kinds(map[string]fields{"raw_text": {"text!": words(1, 10_000)}, "rich_text": richText()})
	column := func(c *checker, at string, v any) {
		if v != nil { // null leaves a column as it is
			object(fields{"align": oneOf("left", "center", "right"), "is_wrapped": yesNo})(c, at, v)
		}
	}
	return fields{"rows!": list(1, 100, list(1, 20, cell)), "column_settings": list(0, 20, column)}
}

func taskCard() fields {
	rich := kinds(map[string]fields{"rich_text": richText().with(fields{"block_id": words(0, maxID)})})
	return fields{"task_id!": words(1, maxID), "title!": words(1, 2000), "status": taskStatus, "details": rich, "output": rich,
		"sources": list(0, 50, kinds(map[string]fields{"url": {"url!": words(1, maxURL), "text!": words(1, 2000)}}))}
}

func taskStatus(c *checker, at string, v any) {
	oneOf("pending", "in_progress", "complete", "error")(c, at, v)
}

// checkBlocks is the rule for the blocks of a surface, and gives those an id that have none.
func checkBlocks(s surface) rule {
	most := maxMessageBlocks
	if s == inForm || s == inHome {
		most = maxViewBlocks
	}
	each := kinds(blocksOf(s))
	return func(c *checker, place string, v any) {
		list(0, most, each)(c, place, v)
		ids, tables, markdown := map[string]bool{}, 0, 0
		for _, b := range objects(v) {
			switch str(b, "type") {
			case "section":
				if b["text"] == nil && b["fields"] == nil {
					c.fail(place, "must define either `text` or `fields`")
				}
			case "table":
				if tables++; tables > 1 {
					c.fail(place, "only_one_table_allowed")
				}
			case "markdown":
				markdown += length(str(b, "text"))
			}
			c.actions(place, b)
			id := str(b, "block_id")
			if id != "" && ids[id] {
				c.fail(place, "`block_id` must be unique: %s", id)
			}
			ids[id] = true
			fill(b)
		}
		if markdown > maxMarkdown {
			c.fail(place, "must be less than %d characters", maxMarkdown+1)
		}
	}
}

// actions checks that the elements of a block differ in their action_id.
func (c *checker) actions(place string, block map[string]any) {
	ids := map[string]bool{}
	for _, e := range objects(block, "elements") {
		id := str(e, "action_id")
		if id != "" && ids[id] {
			c.fail(place, "`action_id` must be unique: %s", id)
		}
		ids[id] = true
	}
}

// fill adds what Slack adds to a block: ids, and the flags of its texts.
func fill(block map[string]any) {
	if str(block, "block_id") == "" {
		block["block_id"] = strings.ToLower(rand.Text()[:5])
	}
	elements := elementsOf(block)
	switch str(block, "type") {
	case "actions", "section", "input":
		for _, e := range elements {
			if str(e, "action_id") == "" && str(e, "type") != "image" {
				e["action_id"] = strings.ToLower(rand.Text()[:5])
			}
			fillText(e["text"])
		}
	case "context":
		for _, e := range elements {
			fillText(e)
		}
	}
	fillText(block["text"])
	fillText(block["label"])
}

// elementsOf returns the elements of a block, wherever it keeps them.
func elementsOf(block map[string]any) []map[string]any {
	all := objects(block, "elements")
	for _, name := range []string{"accessory", "element"} {
		if e, ok := block[name].(map[string]any); ok {
			all = append(all, e)
		}
	}
	return all
}

func fillText(v any) {
	t, _ := v.(map[string]any)
	switch str(t, "type") {
	case "mrkdwn":
		if t["verbatim"] == nil {
			t["verbatim"] = false
		}
	case "plain_text":
		if t["emoji"] == nil {
			t["emoji"] = true
		}
	}
}
