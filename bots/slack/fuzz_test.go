package slack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// Whatever Slack sends, what is made of it has what the bot relies on.
func FuzzReadEnvelope(f *testing.F) {
	for _, seed := range []struct{ kind, payload string }{
		{"events_api", `{"event":{"type":"message","user":"U1","text":"<@UBOT> hi","ts":"1.1","thread_ts":"1.0","channel":"C1","files":[{"id":"F1"}]}}`},
		{"events_api", `{"event":{"type":"message","subtype":"message_changed","channel":"C1","message":{"user":"U1","text":"x","ts":"1.1","edited":{"ts":"2.0"}},"previous_message":{"user":"U1","text":"y","ts":"1.1"}}}`},
		{"events_api", `{"event":{"type":"message","subtype":"message_deleted","channel":"C1","deleted_ts":"1.1","previous_message":{"user":"U1","ts":"1.1"}}}`},
		{"events_api", `{"event":{"type":"agent_session_stopped","user":"U1","channel":"C1","thread_ts":"1.0","event_ts":"2.0"}}`},
		{"events_api", `{"event":{"type":"app_home_opened","user":"U1","channel":"D1","tab":"home","event_ts":"1515449522000016"}}`},
		{"interactive", `{"type":"block_actions","user":{"id":"U1","team_id":"T2"},"container":{"channel_id":"C1","message_ts":"1.1"},"actions":[{"type":"button","action_id":"approve","value":"1.1.1 x","action_ts":"3.0"}]}`},
		{"slash_commands", `{"channel_id":"C1","user_id":"U1","text":"help","trigger_id":"1.2.3"}`},
	} {
		f.Add(seed.kind, []byte(seed.payload))
	}
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		d, err := testReader().read(envelope{Type: kind, Payload: payload})
		if err != nil || d.event == nil {
			return
		}
		require.NotEmpty(t, eventKey(d.event))
		if ev, ok := d.event.(bots.HomeOpened); ok { // it happens in no thread
			require.NotEmpty(t, ev.By.ID)
			require.Equal(t, "T1", ev.Workspace)
			return
		}
		thread := threadOf(d.event)
		require.Equal(t, Name, thread.Platform)
		switch ev := d.event.(type) {
		case bots.Said:
			require.NotEmpty(t, ev.ID)
			require.NotEmpty(t, ev.By.ID)
			require.NotEmpty(t, thread.ID)
			require.NotEmpty(t, thread.Channel)
		case bots.Edited:
			require.NotEmpty(t, ev.Said.ID)
			require.NotEqual(t, ev.ID, ev.Said.ID)
			require.NotEmpty(t, thread.ID)
		case bots.Deleted:
			require.NotEmpty(t, ev.ID)
			require.NotEmpty(t, thread.ID)
		case bots.Commanded:
			require.NotEmpty(t, thread.Channel)
		}
	})
}
