package slacktest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every method refuses a token without its scope, and says which it lacks.
func TestMissingScopes(t *testing.T) {
	w := New(Config{Scopes: "none:at_all"})
	t.Cleanup(w.Close)
	channel := w.AddChannel("general")
	direct := w.Direct(w.AddUser("ann"))
	for _, c := range []struct{ method, channel, want string }{
		{"chat.postMessage", channel, "chat:write"},
		{"chat.update", channel, "chat:write"},
		{"chat.delete", channel, "chat:write"},
		{"chat.postEphemeral", channel, "chat:write"},
		{"chat.startStream", channel, "chat:write"},
		{"chat.appendStream", channel, "chat:write"},
		{"chat.stopStream", channel, "chat:write"},
		{"conversations.replies", channel, "channels:history"},
		{"conversations.replies", direct, "im:history"},
		{"conversations.history", channel, "channels:history"},
		{"conversations.info", channel, "channels:read"},
		{"conversations.info", direct, "im:read"},
		{"users.info", "", "users:read"},
		{"users.list", "", "users:read"},
		{"files.getUploadURLExternal", "", "files:write"},
		{"files.completeUploadExternal", "", "files:write"},
		{"files.info", "", "files:read"},
		{"assistant.threads.setStatus", "", "chat:write"},
		{"assistant.threads.setTitle", "", "assistant:write"},
		{"assistant.threads.setSuggestedPrompts", "", "assistant:write"},
		{"reactions.add", channel, "reactions:write"},
	} {
		v := ask(t, w, c.method, BotToken, "channel", c.channel)
		require.Equal(t, map[string]any{"ok": false, "error": "missing_scope", "needed": c.want, "provided": "none:at_all"}, v, c.method)
	}
	require.Equal(t, true, ask(t, w, "auth.test", BotToken)["ok"])
}

// A call with arguments that are missing or unknown is told so.
func TestArguments(t *testing.T) {
	w, channel := newWorkspace(t)
	for _, c := range []struct {
		method string
		args   []string
		want   string
	}{
		{"chat.postMessage", []string{"text", "x"}, "missing required field: channel"},
		{"chat.postMessage", []string{"channel", channel, "text", "x", "colour", "red"}, "invalid additional property: colour"},
		{"chat.update", []string{"channel", channel, "text", "x"}, "missing required field: ts"},
		{"chat.startStream", []string{"channel", channel}, "missing required field: thread_ts"},
		{"users.info", nil, "missing required field: user"},
		{"views.open", []string{"trigger_id", "1.2.3"}, "missing required field: view"},
		{"files.getUploadURLExternal", []string{"length", "1"}, "missing required field: filename"},
		{"reactions.add", []string{"channel", channel, "timestamp", "1.2"}, "missing required field: name"},
		{"assistant.threads.setTitle", []string{"channel_id", channel, "thread_ts", "1.2"}, "missing required field: title"},
	} {
		v := ask(t, w, c.method, BotToken, c.args...)
		require.Equal(t, "invalid_arguments", v["error"], c.method)
		require.Contains(t, problemsOf(v), "[ERROR] "+c.want)
	}
}

// What methods refuse, in Slack's words.
func TestRefusalsOfMethods(t *testing.T) {
	w, channel := newWorkspace(t)
	ann := w.AddUser("ann")
	gone, old := w.AddChannel("gone"), w.AddChannel("old")
	w.SetState(gone, Absent)
	w.SetState(old, Archived)
	theirs := w.Say(ann, channel, "", "hi")
	ours := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x", "blocks",
		`[{"type":"rich_text","elements":[]}]`)["ts"].(string)
	long := strings.Repeat("x", 12_001)
	section := `[{"type":"section","text":{"type":"mrkdwn","text":"x"}}]`
	for _, c := range []struct {
		want, method string
		args         []string
	}{
		{"not_in_channel", "chat.postMessage", []string{"channel", gone, "text", "x"}},
		{"is_archived", "chat.postMessage", []string{"channel", old, "text", "x"}},
		{"is_inactive", "chat.update", []string{"channel", old, "ts", ours, "text", "x"}},
		{"markdown_text_conflict", "chat.postMessage", []string{"channel", channel, "text", "x", "markdown_text", "x"}},
		{"markdown_text_conflict", "chat.update", []string{"channel", channel, "ts", ours, "blocks", section, "markdown_text", "x"}},
		{"msg_too_long", "chat.postMessage", []string{"channel", channel, "markdown_text", long}},
		{"msg_too_long", "chat.update", []string{"channel", channel, "ts", ours, "text", long[:4001]}},
		{"block_mismatch", "chat.update", []string{"channel", channel, "ts", ours, "text", "x", "blocks", section}},
		{"no_text", "chat.update", []string{"channel", channel, "ts", ours}},
		{"cant_update_message", "chat.update", []string{"channel", channel, "ts", theirs, "text", "x"}},
		{"cant_delete_message", "chat.delete", []string{"channel", channel, "ts", theirs}},
		{"message_not_found", "chat.delete", []string{"channel", channel, "ts", "1.2"}},
		{"user_not_in_channel", "chat.postEphemeral", []string{"channel", channel, "user", "U404", "text", "x"}},
		{"channel_not_found", "conversations.history", []string{"channel", "C404"}},
		{"not_in_channel", "conversations.history", []string{"channel", gone}},
		{"channel_not_found", "conversations.info", []string{"channel", "C404"}},
		{"thread_not_found", "conversations.replies", []string{"channel", channel}},
		{"invalid_cursor", "conversations.replies", []string{"channel", channel, "ts", ours, "cursor", "next"}},
		{"message_not_found", "reactions.add", []string{"channel", channel, "timestamp", "1.2", "name", "eyes"}},
		{"invalid_name", "reactions.add", []string{"channel", channel, "timestamp", theirs, "name", ":eyes:"}},
		{"invalid_thread_ts", "assistant.threads.setStatus", []string{"channel_id", channel, "thread_ts", "1.2", "status", "x"}},
		{"channel_not_found", "assistant.threads.setStatus", []string{"channel_id", "C404", "thread_ts", theirs, "status", "x"}},
		{"invalid_arguments", "assistant.threads.setStatus", []string{"channel_id", channel, "thread_ts", theirs}},
		{"invalid_arguments", "assistant.threads.setStatus", []string{"channel_id", channel, "thread_ts", theirs, "status", "x", "loading_messages", many(11, `"%d"`)}},
		{"invalid_arguments", "assistant.threads.setSuggestedPrompts", []string{"channel_id", channel, "thread_ts", theirs, "prompts", `[{"title":"x"}]`}},
		{"missing_argument", "files.getUploadURLExternal", []string{"filename", "a", "length", "0"}},
		{"alt_txt_too_large", "files.getUploadURLExternal", []string{"filename", "a", "length", "1", "alt_txt", long}},
		{"file_not_found", "files.completeUploadExternal", []string{"files", `[{"id":"F404"}]`}},
		{"invalid_arguments", "files.completeUploadExternal", []string{"files", `[]`}},
		{"file_not_found", "files.info", []string{"file", "F404"}},
		{"invalid_metadata_format", "chat.postMessage", []string{"channel", channel, "text", "x", "metadata", "{"}},
	} {
		require.Equal(t, c.want, ask(t, w, c.method, BotToken, c.args...)["error"], "%s %.200q", c.method, c.args)
	}
	require.Equal(t, true, ask(t, w, "reactions.add", BotToken, "channel", channel, "timestamp", theirs, "name", "eyes")["ok"])
	require.Equal(t, "already_reacted", ask(t, w, "reactions.add", BotToken, "channel", channel, "timestamp", theirs, "name", "eyes")["error"])
	require.Equal(t, []string{"eyes"}, w.Channel(channel)[0].Reactions())
}

func TestEditWindow(t *testing.T) {
	w := New(Config{EditWithin: 1})
	t.Cleanup(w.Close)
	channel := w.AddChannel("general")
	ts := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x")["ts"].(string)
	require.Equal(t, "edit_window_closed", ask(t, w, "chat.update", BotToken, "channel", channel, "ts", ts, "text", "y")["error"])
}

// Text without blocks takes the blocks away; blocks without text leave the text.
func TestUpdateOfTextAndBlocks(t *testing.T) {
	w, channel := newWorkspace(t)
	section := `[{"type":"section","text":{"type":"mrkdwn","text":"section"}}]`
	ts := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "first", "blocks", section)["ts"].(string)
	last := func() Message { return w.Channel(channel)[0] }
	require.Equal(t, "section", last().Text)
	ask(t, w, "chat.update", BotToken, "channel", channel, "ts", ts, "text", "second")
	require.Equal(t, "second", last().Text)
	ask(t, w, "chat.update", BotToken, "channel", channel, "ts", ts, "blocks", section)
	require.Equal(t, "section", last().Text)
	require.Equal(t, "second", last().Fallback)
}

// With Tiers, a method that is called too often answers 429 and says when to come again; others go on.
func TestTiers(t *testing.T) {
	w := New(Config{Tiers: true})
	t.Cleanup(w.Close)
	channel, other := w.AddChannel("general"), w.AddChannel("other")
	fill := func(n int, method string, args ...string) {
		for range n {
			require.NotEqual(t, "ratelimited", ask(t, w, method, BotToken, args...)["error"])
		}
		require.Equal(t, "ratelimited", ask(t, w, method, BotToken, args...)["error"])
	}
	fill(20, "users.list")
	fill(50, "chat.update", "channel", channel, "ts", "1.2", "text", "x")
	fill(60, "chat.postMessage", "channel", channel, "text", "x")
	require.Equal(t, true, ask(t, w, "chat.postMessage", BotToken, "channel", other, "text", "x")["ok"])
	fill(100, "users.info", "user", BotUser)
	resp := get(t, w.URL+"users.list", BotToken)
	require.Equal(t, 429, resp.StatusCode)
	require.Regexp(t, `^([1-9]|[1-5]\d|60)$`, resp.Header.Get("Retry-After"))
}

// A thread comes in pages, oldest first; a channel newest first and without what is said in threads.
func TestHistoryAndReplies(t *testing.T) {
	w, channel := newWorkspace(t)
	ann := w.AddUser("ann")
	root := w.Say(ann, channel, "", "root")
	for _, text := range []string{"1", "2", "3"} {
		w.Say(ann, channel, root, text)
	}
	second := w.Say(ann, channel, "", "second")
	texts := func(v map[string]any) (all []string) {
		for _, m := range objects(v, "messages") {
			all = append(all, str(m, "text"))
		}
		return all
	}
	page := ask(t, w, "conversations.replies", BotToken, "channel", channel, "ts", root, "limit", "3")
	require.Equal(t, []string{"root", "1", "2"}, texts(page))
	require.Equal(t, true, page["has_more"])
	first := objects(page, "messages")
	require.Equal(t, []any{root, 3.0, []any{ann}}, []any{first[0]["thread_ts"], first[0]["reply_count"], first[0]["reply_users"]})
	require.Equal(t, ann, first[1]["parent_user_id"])
	page = ask(t, w, "conversations.replies", BotToken, "channel", channel, "ts", root, "cursor", str(page, "response_metadata", "next_cursor"))
	require.Equal(t, []string{"3"}, texts(page))
	require.Equal(t, []string{"second", "root"}, texts(ask(t, w, "conversations.history", BotToken, "channel", channel)))
	require.Equal(t, []string{"second"}, texts(ask(t, w, "conversations.history", BotToken, "channel", channel, "oldest", root)))
	require.Equal(t, []string{"root"}, texts(ask(t, w, "conversations.history", BotToken, "channel", channel, "latest", second)))
	require.Equal(t, []string{"second"}, texts(ask(t, w, "conversations.history", BotToken, "channel", channel, "oldest", second, "inclusive", "true")))
}
