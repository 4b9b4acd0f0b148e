package slack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

func TestReadChanges(t *testing.T) {
	th := bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "1700000000.000100"}
	ann := bots.Person{ID: "U1", Name: "ann"}
	edit := func(said bots.Said) bots.Event {
		return bots.Edited{ID: "edit/" + said.ID + "/1700000009.000000", Said: said}
	}
	root := bots.Said{ID: th.ID, Thread: th, By: ann, Text: "new", Time: stamp(th.ID)}
	mention, reply := root, root
	mention.Mention = true
	reply.ID, reply.Reply, reply.Time = "1700000007.000000", true, time.Unix(1700000007, 0).UTC()
	const (
		begin = `{"type":"message","subtype":"message_changed","hidden":true,"channel":"C1","ts":"1700000009.000100","event_ts":"1700000009.000100",`
		old   = `"previous_message":{"user":"U1","text":"old","ts":"1700000000.000100"}`
	)
	for _, c := range []struct {
		name, event string
		want        bots.Event
	}{
		{"edit", begin + old + `,"message":{"user":"U1","text":"new","ts":"1700000000.000100","edited":{"user":"U1","ts":"1700000009.000000"}}}`, edit(root)},
		{"edit that calls the bot", begin + old + `,"message":{"user":"U1","text":"<@UBOT> new","ts":"1700000000.000100","edited":{"ts":"1700000009.000000"}}}`, edit(mention)},
		{"edit in a thread", begin + old + `,"message":{"user":"U1","text":"new","ts":"1700000007.000000","thread_ts":"1700000000.000100","edited":{"ts":"1700000009.000000"}}}`, edit(reply)},
		{"edit of what came with a file", begin + old + `,"message":{"subtype":"file_share","user":"U1","text":"new","ts":"1700000000.000100","edited":{"ts":"1700000009.000000"}}}`, edit(root)},
		{"edit of which the old words are not told", begin + `"message":{"user":"U1","text":"new","ts":"1700000000.000100","edited":{"ts":"1700000009.000000"}}}`, edit(root)},
		{"preview of a link", begin + old + `,"message":{"user":"U1","text":"old","ts":"1700000000.000100","attachments":[{}]}}`, nil},
		{"preview of a link in an edited message", begin + `"previous_message":{"text":"x","edited":{"ts":"1.0"}},"message":{"user":"U1","text":"x <http://a>","ts":"1700000000.000100","edited":{"ts":"1.0"}}}`, nil},
		{"edit without new words", begin + old + `,"message":{"user":"U1","text":"old","ts":"1700000000.000100","edited":{"ts":"1700000009.000000"}}}`, nil},
		{"a reply came", begin + old + `,"message":{"user":"U1","text":"old","ts":"1700000000.000100","reply_count":1}}`, nil},
		{"echo of a reply that is shown in the channel too", begin + `"message":{"subtype":"thread_broadcast","user":"U1","text":"new","ts":"1700000000.000100"}}`, nil},
		{"edit of ours", begin + old + `,"message":{"user":"UBOT","bot_id":"BBOT","text":"new","ts":"1700000000.000100","edited":{"ts":"1700000009.000000"}}}`, nil},
		{"title of an assistant's thread", begin + `"message":{"subtype":"assistant_app_thread","user":"U1","text":"new","ts":"1.0","edited":{"ts":"1700000009.000000"}}}`, nil},
		{"change of nothing", begin + old + `}`, nil},
		{"deleted", `{"type":"message","subtype":"message_deleted","channel":"C1","ts":"9.0","deleted_ts":"1700000000.000100",` + old + `}`, bots.Deleted{ID: th.ID, Thread: th}},
		{"deleted in a thread", `{"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1700000007.000000","previous_message":{"user":"U1","ts":"1700000007.000000","thread_ts":"1700000000.000100"}}`,
			bots.Deleted{ID: "1700000007.000000", Thread: th}},
		{"deleted root of a thread", begin + old + `,"message":{"subtype":"tombstone","user":"USLACKBOT","text":"This message was deleted.","ts":"1700000000.000100","thread_ts":"1700000000.000100"}}`,
			bots.Deleted{ID: th.ID, Thread: th}},
		{"deleted by us", `{"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1.0","previous_message":{"user":"UBOT","bot_id":"BBOT","ts":"1.0"}}`, nil},
		{"deleted without a word", `{"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1.0"}`, nil},
		{"stopped", `{"type":"agent_session_stopped","user":"U1","channel":"C1","thread_ts":"1700000000.000100","event_ts":"1700000009.000000","streaming_message_ts":["1700000008.000000"]}`,
			bots.Clicked{ID: "stopped/1700000000.000100/U1/1700000009.000000", Thread: th, Message: "1700000008.000000", By: ann, Action: bots.Stop, Value: "0"}},
		{"stopped while nothing streams", `{"type":"agent_session_stopped","user":"U1","channel":"C1","thread_ts":"1700000000.000100","event_ts":"1700000009.000000","streaming_message_ts":[]}`,
			bots.Clicked{ID: "stopped/1700000000.000100/U1/1700000009.000000", Thread: th, By: ann, Action: bots.Stop, Value: "0"}},
		{"stopped by nobody", `{"type":"agent_session_stopped","channel":"C1","thread_ts":"1.0"}`, nil},
		{"thread of an assistant begins", `{"type":"message","subtype":"assistant_app_thread","user":"U1","text":"x","ts":"1.0","channel":"D1"}`, nil},
	} {
		require.Equal(t, c.want, readEvent(t, c.event), c.name)
	}
}

func TestReadAssistantThread(t *testing.T) {
	ev := readEvent(t, `{"type":"message","channel_type":"im","user":"U1","text":"x","ts":"1700000007.000000","thread_ts":"1700000000.000100","channel":"D1"}`).(bots.Said)
	require.Equal(t, bots.Thread{Platform: "slack", Workspace: "T1", Channel: "D1", ID: "1700000000.000100"}, ev.Thread)
	require.True(t, ev.Mention)
	require.True(t, ev.Reply)
}

func TestReadWhoIsFromOutside(t *testing.T) {
	for teams, outside := range map[string]bool{
		``:                                false,
		`"team":"T1",`:                    false,
		`"team":"T2",`:                    true,
		`"user_team":"T2","team":"T1",`:   true,
		`"user_team":"T1","team":"T2",`:   false,
		`"user_team":"E1",`:               false, // the organisation that T1 is a part of
		`"user_team":"E2","team":"T1",`:   true,
		`"source_team":"T2","team":"T1",`: false, // where it was written
	} {
		for _, kind := range []string{"message", "app_mention"} {
			ev := readEvent(t, `{"type":"`+kind+`","user":"U1","text":"x","ts":"1.0",`+teams+`"channel":"C1"}`).(bots.Said)
			require.Equal(t, outside, ev.By.Outside, teams)
		}
	}
}

func TestReadFiles(t *testing.T) {
	ev := readEvent(t, `{"type":"message","subtype":"file_share","user":"U1","text":"","ts":"1.0","channel":"C1","files":[
		{"id":"F1","name":"a b.png","mimetype":"image/png","size":12,"url_private":"https://files.slack.com/a b.png","url_private_download":"https://files.slack.com/download/a.png"},
		{"id":"F2","mode":"tombstone"},
		{"id":"F3","file_access":"check_file_info"},
		{"id":"F4","title":"Plan","size":"many","url_private":"https://files.slack.com/plan"},
		{"id":["F5"]}, 7, {}]}`).(bots.Said)
	require.Equal(t, []bots.File{
		{Ref: "https://files.slack.com/a%20b.png image/png", Name: "a b.png", Type: "image/png", Size: 12},
		{Ref: "F3", Name: "F3"},
		{Ref: "https://files.slack.com/plan", Name: "Plan"},
	}, ev.Files)
	require.Empty(t, readEvent(t, `{"type":"message","user":"U1","text":"x","ts":"1.0","channel":"C1","files":{"id":"F1"}}`).(bots.Said).Files)
}

func TestReadCommands(t *testing.T) {
	ann := bots.Person{ID: "U1", Name: "ann"}
	for payload, want := range map[string]bots.Event{
		`{"command":"/heddle","channel_id":"C1","user_id":"U1","team_id":"T1","text":" model <@U1|ann> &amp; co ","trigger_id":"1.2.3"}`: bots.Commanded{
			ID: "command/1.2.3", Thread: bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1"}, By: ann, Text: "model @ann & co"},
		`{"command":"/heddle","channel_id":"C1","user_id":"U1","team_id":"T2","trigger_id":"1.2.3"}`: bots.Commanded{
			ID: "command/1.2.3", Thread: bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1"}, By: bots.Person{ID: "U1", Name: "ann", Outside: true}},
		`{"ssl_check":"1"}`: nil,
	} {
		d, err := testReader().read(envelope{Type: "slash_commands", ID: "e", Payload: []byte(payload)})
		require.NoError(t, err)
		require.Equal(t, want, d.event)
	}
}

// Events of a thread are put into order, others stay as they came.
func TestPlace(t *testing.T) {
	said := func(thread, at string) item {
		return item{delivery: delivery{at: at, event: bots.Said{Thread: bots.Thread{ID: thread}, ID: at}}}
	}
	var waiting []item
	for _, it := range []item{said("a", "2"), said("b", "5"), said("a", "4"), said("b", "1"), said("a", "3"), said("a", ""), said("b", "5"), said("a", "3")} {
		waiting = append(waiting[:place(waiting, it):place(waiting, it)], append([]item{it}, waiting[place(waiting, it):]...)...)
	}
	var got []string
	for _, w := range waiting {
		got = append(got, threadOf(w.event).ID+w.at)
	}
	require.Equal(t, []string{"a2", "b1", "b5", "a3", "a3", "a4", "a", "b5"}, got)
}

func TestEventKeys(t *testing.T) {
	th := bots.Thread{Channel: "C1", ID: "1"}
	keys := map[string]bool{}
	for _, ev := range []bots.Event{
		bots.Said{ID: "1", Thread: th}, bots.Said{ID: "1", Thread: bots.Thread{Channel: "C2"}}, bots.Edited{ID: "edit/1/2", Said: bots.Said{ID: "1", Thread: th}},
		bots.Deleted{ID: "1", Thread: th}, bots.Clicked{ID: "press/1", Thread: th}, bots.Commanded{ID: "command/1", Thread: th},
	} {
		keys[eventKey(ev)] = true
	}
	require.Len(t, keys, 6)
	require.NotContains(t, keys, "")
}
