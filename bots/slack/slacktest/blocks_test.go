package slacktest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// many returns a JSON array of n times one, with %d as the number.
func many(n int, one string) string {
	var all []string
	for i := range n {
		all = append(all, strings.ReplaceAll(one, "%d", fmt.Sprint(i)))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func problemsOf(v map[string]any) []string {
	var all []string
	for _, p := range v["response_metadata"].(map[string]any)["messages"].([]any) {
		all = append(all, p.(string))
	}
	return all
}

// What Slack says about blocks that are not as it wants them.
func TestBlocksThatAreRefused(t *testing.T) {
	w, channel := newWorkspace(t)
	x := func(n int) string { return strings.Repeat("x", n) }
	button := func(more string) string {
		return `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"ok"}` + more + `}]}]`
	}
	for _, c := range []struct{ name, blocks, want string }{
		{"unknown type", `[{"type":"unheard"}]`, "unsupported type: unheard [json-pointer:/blocks/0/type]"},
		{"no type", `[{}]`, "unsupported type: <nil> [json-pointer:/blocks/0/type]"},
		{"no object", `["x"]`, "must provide an object [json-pointer:/blocks/0]"},
		{"unknown field", `[{"type":"divider","colour":"red"}]`, "invalid additional property: colour [json-pointer:/blocks/0]"},
		{"too many", many(51, `{"type":"divider"}`), "no more than 50 items allowed [json-pointer:/blocks]"},
		{"block_id", `[{"type":"divider","block_id":"` + x(256) + `"}]`, "must be less than 256 characters [json-pointer:/blocks/0/block_id]"},
		{"block_id twice", many(2, `{"type":"divider","block_id":"a"}`), "`block_id` must be unique: a [json-pointer:/blocks]"},
		{"section without text", `[{"type":"section"}]`, "must define either `text` or `fields` [json-pointer:/blocks]"},
		{"section of text that is none", `[{"type":"section","text":"x"}]`, "failed to match all allowed schemas [json-pointer:/blocks/0/text]"},
		{"section too long", `[{"type":"section","text":{"type":"mrkdwn","text":"` + x(3001) + `"}}]`, "must be less than 3001 characters [json-pointer:/blocks/0/text/text]"},
		{"section empty", `[{"type":"section","text":{"type":"mrkdwn","text":""}}]`, "must be more than 0 characters [json-pointer:/blocks/0/text/text]"},
		{"fields too many", `[{"type":"section","fields":` + many(11, `{"type":"mrkdwn","text":"x"}`) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/fields]"},
		{"field too long", `[{"type":"section","fields":[{"type":"mrkdwn","text":"` + x(2001) + `"}]}]`, "must be less than 2001 characters [json-pointer:/blocks/0/fields/0/text]"},
		{"header too long", `[{"type":"header","text":{"type":"plain_text","text":"` + x(151) + `"}}]`, "must be less than 151 characters [json-pointer:/blocks/0/text/text]"},
		{"header of mrkdwn", `[{"type":"header","text":{"type":"mrkdwn","text":"x"}}]`, "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]"},
		{"emoji counts as two", `[{"type":"header","text":{"type":"plain_text","text":"` + strings.Repeat("😀", 76) + `"}}]`, "must be less than 151 characters [json-pointer:/blocks/0/text/text]"},
		{"no elements", `[{"type":"actions","elements":[]}]`, "no less than 1 items allowed [json-pointer:/blocks/0/elements]"},
		{"elements missing", `[{"type":"actions"}]`, "missing required field: elements [json-pointer:/blocks/0]"},
		{"too many buttons", `[{"type":"actions","elements":` + many(26, `{"type":"button","action_id":"%d","text":{"type":"plain_text","text":"x"}}`) + `}]`, "no more than 25 items allowed [json-pointer:/blocks/0/elements]"},
		{"action_id twice", `[{"type":"actions","elements":` + many(2, `{"type":"button","action_id":"a","text":{"type":"plain_text","text":"x"}}`) + `}]`, "`action_id` must be unique: a [json-pointer:/blocks]"},
		{"button text", `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"` + x(76) + `"}}]}]`, "must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]"},
		{"button style", button(`,"style":"blue"`), "must be a valid enum value [json-pointer:/blocks/0/elements/0/style]"},
		{"button value", button(`,"value":"` + x(2001) + `"`), "must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]"},
		{"button url", button(`,"url":"` + x(3001) + `"`), "must be less than 3001 characters [json-pointer:/blocks/0/elements/0/url]"},
		{"button action_id", button(`,"action_id":"` + x(256) + `"`), "must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]"},
		{"button hidden from people", button(`,"visible_to_user_ids":["U1"]`), "invalid additional property: visible_to_user_ids [json-pointer:/blocks/0/elements/0]"},
		{"confirm", button(`,"confirm":{"title":{"type":"plain_text","text":"` + x(101) + `"},"text":{"type":"plain_text","text":"x"},"confirm":{"type":"plain_text","text":"x"},"deny":{"type":"plain_text","text":"x"}}`),
			"must be less than 101 characters [json-pointer:/blocks/0/elements/0/confirm/title/text]"},
		{"option text", `[{"type":"actions","elements":[{"type":"static_select","options":[{"text":{"type":"plain_text","text":"` + x(76) + `"},"value":"1"}]}]}]`,
			"must be less than 76 characters [json-pointer:/blocks/0/elements/0/options/0/text/text]"},
		{"option value", `[{"type":"actions","elements":[{"type":"static_select","options":[{"text":{"type":"plain_text","text":"x"},"value":"` + x(151) + `"}]}]}]`,
			"must be less than 151 characters [json-pointer:/blocks/0/elements/0/options/0/value]"},
		{"overflow options", `[{"type":"section","text":{"type":"mrkdwn","text":"x"},"accessory":{"type":"overflow","options":` + many(6, `{"text":{"type":"plain_text","text":"x"},"value":"%d"}`) + `}}]`,
			"no more than 5 items allowed [json-pointer:/blocks/0/accessory/options]"},
		{"context elements", `[{"type":"context","elements":` + many(11, `{"type":"mrkdwn","text":"x"}`) + `}]`, "no more than 10 items allowed [json-pointer:/blocks/0/elements]"},
		{"markdown together", many(2, `{"type":"markdown","text":"`+x(6001)+`"}`), "must be less than 12001 characters [json-pointer:/blocks]"},
		{"table rows", `[{"type":"table","rows":` + many(101, `[{"type":"raw_text","text":"x"}]`) + `}]`, "no more than 100 items allowed [json-pointer:/blocks/0/rows]"},
		{"table columns", `[{"type":"table","rows":[` + many(21, `{"type":"raw_text","text":"x"}`) + `]}]`, "no more than 20 items allowed [json-pointer:/blocks/0/rows/0]"},
		{"two tables", many(2, `{"type":"table","rows":[[{"type":"raw_text","text":"x"}]]}`), "only_one_table_allowed [json-pointer:/blocks]"},
		{"rich text", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"shout","text":"x"}]}]}]`,
			"unsupported type: shout [json-pointer:/blocks/0/elements/0/elements/0/type]"},
		{"a task outside of a stream", `[{"type":"task_card","task_id":"1","title":"x"}]`, "unsupported type: task_card [json-pointer:/blocks/0/type]"},
		{"an alert in a message", `[{"type":"alert"}]`, "unsupported type: alert [json-pointer:/blocks/0/type]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x", "blocks", c.blocks)
			require.Equal(t, "invalid_blocks", v["error"])
			require.Contains(t, problemsOf(v), "[ERROR] "+c.want)
			require.Contains(t, v["errors"], c.want)
		})
	}
	require.Empty(t, w.Channel(channel))
}

// Blocks as long as they may be are shown.
func TestBlocksThatAreTaken(t *testing.T) {
	w, channel := newWorkspace(t)
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, blocks := range []string{
		many(50, `{"type":"divider"}`),
		`[{"type":"section","text":{"type":"mrkdwn","text":"` + x(3000) + `"}}]`,
		`[{"type":"header","text":{"type":"plain_text","text":"` + x(150) + `"}}]`,
		`[{"type":"markdown","text":"` + x(12_000) + `"}]`,
		`[{"type":"actions","elements":` + many(25, `{"type":"button","action_id":"%d","text":{"type":"plain_text","text":"x"},"confirm":null}`) + `}]`,
		`[{"type":"table","rows":` + many(100, `[{"type":"raw_text","text":"x"},{"type":"rich_text","elements":[]}]`) + `,"column_settings":[null,{"align":"right"}]}]`,
		`[{"type":"context_actions","elements":[{"type":"feedback_buttons","positive_button":{"text":{"type":"plain_text","text":"+"},"value":"1"},"negative_button":{"text":{"type":"plain_text","text":"-"},"value":"0"}}]}]`,
	} {
		require.Equal(t, true, ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x", "blocks", blocks)["ok"], blocks[:40])
	}
}

// Slack adds ids and flags to blocks, and shows them so ever after.
func TestSlackFillsBlocks(t *testing.T) {
	w, channel := newWorkspace(t)
	v := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x", "blocks",
		`[{"type":"section","text":{"type":"mrkdwn","text":"hi"}},{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}}]}]`)
	blocks := objects(v, "message", "blocks")
	require.NotEmpty(t, blocks[0]["block_id"])
	require.NotEqual(t, blocks[0]["block_id"], blocks[1]["block_id"])
	require.Equal(t, false, dig(blocks[0], "text", "verbatim"))
	button := objects(blocks[1], "elements")[0]
	require.NotEmpty(t, button["action_id"])
	require.Equal(t, true, dig(button, "text", "emoji"))
	page := ask(t, w, "conversations.replies", BotToken, "channel", channel, "ts", v["ts"].(string))
	again, _ := json.Marshal(objects(page, "messages")[0]["blocks"])
	first, _ := json.Marshal(blocks)
	require.JSONEq(t, string(first), string(again))
}
