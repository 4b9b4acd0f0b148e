package slacktest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// streaming starts a stream and returns what calls it further.
func startedStream(t *testing.T, c Config, args ...string) (w *Workspace, channel, root string, call func(method string, args ...string) map[string]any) {
	w = New(c)
	t.Cleanup(w.Close)
	channel = w.AddChannel("general")
	ann := w.AddUser("ann")
	root = w.Say(ann, channel, "", "hi")
	args = append([]string{"channel", channel, "thread_ts", root, "recipient_team_id", TeamID, "recipient_user_id", ann}, args...)
	v := ask(t, w, "chat.startStream", BotToken, args...)
	require.Equal(t, true, v["ok"], v)
	return w, channel, root, func(method string, args ...string) map[string]any {
		return ask(t, w, method, BotToken, append([]string{"channel", channel, "ts", v["ts"].(string)}, args...)...)
	}
}

func TestStreamOfMarkdown(t *testing.T) {
	w, channel, root, call := startedStream(t, Config{}, "markdown_text", "one ")
	require.Equal(t, true, call("chat.appendStream", "markdown_text", "two ")["ok"])
	require.Equal(t, "streaming_mode_mismatch", call("chat.appendStream", "chunks", `[{"type":"markdown_text","text":"x"}]`)["error"])
	require.Equal(t, "streaming_state_conflict", call("chat.update", "text", "x")["error"])
	require.Equal(t, "markdown_text_or_chunks_required", call("chat.appendStream")["error"])
	require.Equal(t, "cannot_provide_both_markdown_text_and_chunks", call("chat.appendStream", "markdown_text", "x", "chunks", "[]")["error"])
	require.Equal(t, "msg_blocks_too_long", call("chat.appendStream", "markdown_text", strings.Repeat("x", 12_001))["error"])
	v := call("chat.stopStream", "markdown_text", "three", "metadata", `{"event_type":"heddle","event_payload":{"key":"k"}}`,
		"blocks", `[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Again"}}]}]`)
	require.Equal(t, true, v["ok"], v)
	m := w.Thread(channel, root)[1]
	require.Equal(t, "one two three", m.Fallback)
	require.Equal(t, []string{"Again"}, m.Labels())
	require.Equal(t, "k", m.Key)
	require.Equal(t, "ended", m.Stream.State)
	require.Equal(t, "message_not_in_streaming_state", call("chat.appendStream", "markdown_text", "x")["error"])
	require.Equal(t, "message_not_in_streaming_state", call("chat.stopStream")["error"])
	require.Equal(t, true, call("chat.update", "text", "x")["ok"])
}

func TestStreamOfChunks(t *testing.T) {
	w, channel, root, call := startedStream(t, Config{}, "task_display_mode", "plan")
	for _, chunks := range []string{
		`[{"type":"plan_update","title":"Work"},{"type":"task_update","id":"1","title":"Read","status":"in_progress","details":"a"}]`,
		`[{"type":"task_update","id":"2","title":"Write","status":"pending"},{"type":"markdown_text","text":"said"}]`,
		`[{"type":"task_update","id":"1","title":"Read it","status":"complete","details":"b","output":"done","sources":[{"type":"url","url":"https://example.com","text":"here"}]}]`,
	} {
		v := call("chat.appendStream", "chunks", chunks)
		require.Equal(t, true, v["ok"], v)
	}
	for _, c := range []struct{ chunks, want string }{
		{`[{"type":"noise"}]`, "unsupported type: noise [json-pointer:/chunks/0/type]"},
		{`[{"type":"task_update","id":"1","title":"x","status":"done"}]`, "must be a valid enum value [json-pointer:/chunks/0/status]"},
		{`[{"type":"task_update","id":"1"}]`, "missing required field: title [json-pointer:/chunks/0]"},
		{`[{"type":"blocks","blocks":` + many(51, `{"type":"divider"}`) + `}]`, "no more than 50 items allowed [json-pointer:/chunks/0/blocks]"},
	} {
		v := call("chat.appendStream", "chunks", c.chunks)
		require.Equal(t, "invalid_chunks", v["error"])
		require.Contains(t, problemsOf(v), "[ERROR] "+c.want)
	}
	require.Equal(t, "streaming_mode_mismatch", call("chat.appendStream", "markdown_text", "x")["error"])
	require.Equal(t, true, call("chat.appendStream", "chunks", `[{"type":"blocks","blocks":`+many(50, `{"type":"divider"}`)+`}]`)["ok"])
	require.Equal(t, "msg_blocks_too_many", call("chat.appendStream", "chunks", `[{"type":"blocks","blocks":[{"type":"divider"}]}]`)["error"])
	require.Equal(t, true, call("chat.stopStream")["ok"])
	m := w.Thread(channel, root)[1]
	require.Equal(t, "Work", m.Stream.Title)
	require.Equal(t, []Task{{"1", "Read it", "complete", "ab", "done"}, {"2", "Write", "pending", "", ""}}, m.Stream.Tasks)
	require.Equal(t, "said", m.Fallback)
}

func TestWhoMayStream(t *testing.T) {
	w, channel := newWorkspace(t)
	ann := w.AddUser("ann")
	root := w.Say(ann, channel, "", "hi")
	direct := w.Direct(ann)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"missing_recipient_team_id", []string{"channel", channel, "thread_ts", root}},
		{"missing_recipient_user_id", []string{"channel", channel, "thread_ts", root, "recipient_team_id", TeamID}},
		{"user_not_found", []string{"channel", channel, "thread_ts", root, "recipient_team_id", TeamID, "recipient_user_id", "U404"}},
		{"thread_not_found", []string{"channel", channel, "thread_ts", "1.2", "recipient_team_id", TeamID, "recipient_user_id", ann}},
		{"invalid_arguments", []string{"channel", direct, "thread_ts", w.Say(ann, direct, "", "x"), "task_display_mode", "loud"}},
	} {
		require.Equal(t, c.want, ask(t, w, "chat.startStream", BotToken, c.args...)["error"])
	}
	require.Equal(t, true, ask(t, w, "chat.startStream", BotToken, "channel", direct, "thread_ts", w.Say(ann, direct, "", "x"))["ok"])
	require.Equal(t, "message_not_owned_by_app", ask(t, w, "chat.appendStream", BotToken, "channel", channel, "ts", root, "markdown_text", "x")["error"])

	w = New(Config{NoStreams: true})
	t.Cleanup(w.Close)
	direct = w.Direct(w.AddUser("ann"))
	require.Equal(t, "channel_type_not_supported",
		ask(t, w, "chat.startStream", BotToken, "channel", direct, "thread_ts", w.Say("UANN", direct, "", "x"))["error"])
}

// A person who presses Stop ends the stream; a stream that takes too long ends by itself.
func TestStreamsEnd(t *testing.T) {
	w, channel, root, call := startedStream(t, Config{}, "markdown_text", "x")
	require.NoError(t, w.People.Stop("UANN", channel, root))
	require.Equal(t, "stopped_by_user", call("chat.appendStream", "markdown_text", "x")["error"])
	require.Equal(t, "message_not_in_streaming_state", call("chat.stopStream")["error"])
	require.Equal(t, true, call("chat.update", "text", "x")["ok"])
	require.ErrorContains(t, w.People.Stop("UANN", channel, root), "nothing is streamed")

	_, _, _, call = startedStream(t, Config{StreamFor: time.Nanosecond})
	require.Equal(t, "message_not_in_streaming_state", call("chat.appendStream", "markdown_text", "x")["error"])
}
