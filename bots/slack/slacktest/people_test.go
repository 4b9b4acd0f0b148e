package slacktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEditsAndDeletions(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	root := w.Say(ann, channel, "", "first")
	w.People.Edit(channel, root, "@heddle second")
	changed := a.events(1, "message", "message_changed")[0]["event"]
	require.Equal(t, "<@"+BotUser+"> second", str(changed, "message", "text"))
	require.Equal(t, ann, str(changed, "message", "edited", "user"))
	require.Equal(t, "first", str(changed, "previous_message", "text"))
	a.events(0, "app_mention", "") // an edit is no mention

	w.People.Unfurl(channel, root)
	unfurled := a.events(2, "message", "message_changed")[1]["event"]
	require.Equal(t, str(unfurled, "previous_message", "text"), str(unfurled, "message", "text"))
	require.NotEmpty(t, objects(unfurled, "message", "attachments"))

	reply := w.Say(ann, channel, root, "reply")
	w.People.Delete(channel, root)
	tomb := a.events(3, "message", "message_changed")[2]["event"]
	require.Equal(t, "tombstone", str(tomb, "message", "subtype"))
	require.Equal(t, "<@"+BotUser+"> second", str(tomb, "previous_message", "text"))
	require.Equal(t, "message_not_found", ask(t, w, "reactions.add", BotToken, "channel", channel, "timestamp", root, "name", "eyes")["error"])
	posted := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "thread_ts", root, "text", "the thread stays")
	require.Equal(t, root, str(posted, "message", "thread_ts"))
	thread := objects(ask(t, w, "conversations.replies", BotToken, "channel", channel, "ts", root), "messages")
	require.Equal(t, []any{"tombstone", nil, nil}, []any{thread[0]["subtype"], thread[1]["subtype"], thread[2]["subtype"]})
	ask(t, w, "chat.delete", BotToken, "channel", channel, "ts", str(posted, "ts"))
	w.People.Delete(channel, reply)
	deleted := a.events(2, "message", "message_deleted")[1]["event"]
	require.Equal(t, reply, str(deleted, "deleted_ts"))
	require.Equal(t, "thread_not_found", ask(t, w, "conversations.replies", BotToken, "channel", channel, "ts", root)["error"])
	require.Panics(t, func() { w.People.Edit(channel, root, "x") }, "it is gone")
}

func TestCommands(t *testing.T) {
	w, channel := newWorkspace(t)
	ann := w.AddUser("ann")
	require.ErrorContains(t, w.People.Command(ann, channel, "help"), "not connected")
	a := connect(t, w)
	require.NoError(t, w.People.Command(ann, channel, "help me"))
	env := a.last("slash_commands")
	require.Equal(t, true, env["accepts_response_payload"])
	p := env["payload"].(map[string]any)
	require.Equal(t, []any{"/heddle", "help me", channel, ann, "general"}, []any{p["command"], p["text"], p["channel_id"], p["user_id"], p["channel_name"]})
	require.Empty(t, w.Channel(channel))

	a.says(`{"text":"here you are"}`)
	require.NoError(t, w.People.Command(ann, channel, ""))
	require.Equal(t, ann, w.Channel(channel)[0].For)
	a.says(`{"text":"for all","response_type":"in_channel"}`)
	require.NoError(t, w.People.Command(ann, channel, ""))
	require.Empty(t, w.Channel(channel)[1].For)
	a.says(`{"blocks":[{"type":"unheard"}]}`)
	require.ErrorContains(t, w.People.Command(ann, channel, ""), "invalid_blocks")
}

func TestResponseURL(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	ask(t, w, "chat.postEphemeral", BotToken, "channel", channel, "user", ann, "text", "only you", "blocks",
		`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}}]}]`)
	ts := w.Channel(channel)[0].TS
	require.NoError(t, w.Click(ann, channel, ts, "Go"))
	address := str(a.last("interactive"), "payload", "response_url")
	require.Equal(t, 200, send(t, address, `{"replace_original":true,"text":"changed"}`).StatusCode)
	require.Equal(t, "changed", w.Channel(channel)[0].Text)
	require.Equal(t, 200, send(t, address, `{"text":"beside"}`).StatusCode)
	require.Equal(t, ann, w.Channel(channel)[1].For)
	require.Equal(t, 200, send(t, address, `{"text":"for all","response_type":"in_channel"}`).StatusCode)
	require.Empty(t, w.Channel(channel)[2].For)
	require.Equal(t, 404, send(t, address, `{"blocks":[{"type":"unheard"}]}`).StatusCode)
	require.Equal(t, 200, send(t, address, `{"delete_original":true}`).StatusCode)
	require.Len(t, w.Channel(channel), 2)
	require.Equal(t, 404, send(t, address, `{"text":"the sixth"}`).StatusCode)
	w.mu.Lock()
	for _, h := range w.responses {
		h.left, h.until = 1, time.Now().Add(-1)
	}
	w.mu.Unlock()
	require.Equal(t, 404, send(t, address, `{"text":"late"}`).StatusCode)
	require.Len(t, w.Channel(channel), 2)
}

// In a channel that is shared, everything that a person of the other team does says where they are from.
func TestPeopleFromAnotherTeam(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann, bob := connect(t, w), w.AddUser("ann"), w.People.AddStranger("bob")
	w.Say(ann, channel, "", "ours")
	require.Equal(t, false, a.events(1, "message", "")[0]["is_ext_shared_channel"])
	w.Say(bob, channel, "", "@heddle theirs")
	mention := a.events(1, "app_mention", "")[0]
	require.Equal(t, true, mention["is_ext_shared_channel"])
	require.Equal(t, TeamID, mention["team_id"])
	require.Equal(t, OtherTeam, str(mention, "event", "user_team"))
	require.Equal(t, OtherTeam, str(ask(t, w, "users.info", BotToken, "user", bob), "user", "team_id"))
	require.Equal(t, true, dig(ask(t, w, "users.info", BotToken, "user", bob), "user", "is_stranger"))
	require.Equal(t, true, dig(ask(t, w, "conversations.info", BotToken, "channel", channel), "channel", "is_ext_shared"))
	ts := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x", "blocks",
		`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}}]}]`)["ts"].(string)
	require.NoError(t, w.Click(bob, channel, ts, "Go"))
	require.Equal(t, OtherTeam, str(a.last("interactive"), "payload", "user", "team_id"))
	w.People.Attach(bob, channel, "", "see", Attachment{Name: "a.txt", Content: "text", Unknown: true})
	file := objects(a.events(1, "message", "file_share")[0], "event", "files")[0]
	require.Equal(t, "check_file_info", file["file_access"])
	require.Nil(t, file["url_private"])
	require.NotEmpty(t, str(ask(t, w, "files.info", BotToken, "file", str(file, "id")), "file", "url_private"))
}

func TestStopIsTold(t *testing.T) {
	w, channel, root, call := startedStream(t, Config{}, "markdown_text", "x")
	a := connect(t, w)
	require.NoError(t, w.People.Stop("UANN", channel, root))
	event := a.events(1, "agent_session_stopped", "")[0]["event"]
	require.Equal(t, []any{root, "UANN"}, []any{dig(event, "thread_ts"), dig(event, "user")})
	require.Equal(t, []any{w.Thread(channel, root)[1].TS}, dig(event, "streaming_message_ts"))
	require.Equal(t, "stopped_by_user", call("chat.appendStream", "markdown_text", "x")["error"])
}

func TestAssistant(t *testing.T) {
	w, _ := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	channel, thread := w.People.StartAssistant(ann)
	require.Equal(t, thread, str(a.events(1, "assistant_thread_started", "")[0], "event", "assistant_thread", "thread_ts"))
	at := []string{"channel_id", channel, "thread_ts", thread}
	for method, args := range map[string][]string{
		"assistant.threads.setStatus":           {"status", "is thinking", "loading_messages", `["one","two"]`},
		"assistant.threads.setTitle":            {"title", "Numbers"},
		"assistant.threads.setSuggestedPrompts": {"prompts", `[{"title":"Add","message":"Add 1 and 2"}]`},
	} {
		require.Equal(t, true, ask(t, w, method, BotToken, append(args, at...)...)["ok"])
	}
	got := w.People.Assistant(channel, thread)
	require.Equal(t, []any{"is thinking", "Numbers", []string{"Add"}, []string{"one", "two"}}, []any{got.Status, got.Title, got.Prompts, got.Loading})
	ask(t, w, "chat.postMessage", BotToken, "channel", channel, "thread_ts", thread, "text", "3")
	require.Empty(t, w.People.Assistant(channel, thread).Status, "a message takes it away")
	ask(t, w, "assistant.threads.setStatus", BotToken, append(at, "status", "is thinking")...)
	w.mu.Lock()
	w.assistants[channel+"/"+thread].until = time.Now()
	w.mu.Unlock()
	require.Empty(t, w.People.Assistant(channel, thread).Status, "it is gone after two minutes")
}
