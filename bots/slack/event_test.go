package slack

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

func testReader() *reader {
	names := map[string]string{"U1": "ann"}
	return &reader{me: &identity{team: "T1", enterprise: "E1", user: "UBOT", bot: "BBOT"}, name: func(id string) string {
		if n := names[id]; n != "" {
			return n
		}
		return id
	}}
}

func readEvent(t *testing.T, inner string) bots.Event {
	t.Helper()
	payload := fmt.Sprintf(`{"team_id":"TOTHER","event":%s}`, inner)
	d, err := testReader().read(envelope{Type: "events_api", ID: "e", Payload: json.RawMessage(payload)})
	require.NoError(t, err)
	require.Nil(t, d.form)
	return d.event
}

func TestReadMessages(t *testing.T) {
	th := bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "1700000000.000100"}
	at := time.Unix(1700000000, 100_000).UTC()
	ann := bots.Person{ID: "U1", Name: "ann"}
	later := bots.Said{ID: "1700000007.000000", Thread: th, By: ann, Text: "x", Reply: true, Time: time.Unix(1700000007, 0).UTC()}
	mention := bots.Said{ID: th.ID, Thread: th, By: ann, Text: "hi", Mention: true, Time: at}
	for _, c := range []struct {
		name, event string
		want        bots.Event
	}{
		{"app_mention", `{"type":"app_mention","user":"U1","text":"<@UBOT> hi","ts":"1700000000.000100","channel":"C1"}`, mention},
		{"the same as message", `{"type":"message","user":"U1","text":"<@UBOT> hi","ts":"1700000000.000100","channel":"C1","channel_type":"channel","client_msg_id":"x"}`, mention},
		{"reply", `{"type":"message","user":"U1","text":"x","ts":"1700000007.000000","thread_ts":"1700000000.000100","channel":"C1"}`, later},
		{"reply shown in the channel too", `{"type":"message","subtype":"thread_broadcast","user":"U1","text":"x","ts":"1700000007.000000","thread_ts":"1700000000.000100","channel":"C1"}`, later},
		{"root of a thread", `{"type":"message","user":"U1","text":"x","ts":"1700000000.000100","thread_ts":"1700000000.000100","channel":"C1"}`,
			bots.Said{ID: th.ID, Thread: th, By: ann, Text: "x", Time: at}},
		{"with a file", `{"type":"message","subtype":"file_share","files":[{}],"user":"U1","text":"x","ts":"1700000000.000100","channel":"C1"}`,
			bots.Said{ID: th.ID, Thread: th, By: ann, Text: "x", Time: at}},
		{"direct", `{"type":"message","channel_type":"im","user":"U2","text":"x","ts":"1700000000.000100","channel":"D1"}`,
			bots.Said{ID: th.ID, Thread: bots.Thread{Platform: "slack", Workspace: "T1", Channel: "D1", ID: th.ID}, By: bots.Person{ID: "U2", Name: "U2"}, Text: "x", Mention: true, Time: at}},
		{"another bot", `{"type":"message","bot_id":"B2","text":"x","ts":"1700000000.000100","channel":"C1"}`,
			bots.Said{ID: th.ID, Thread: th, By: bots.Person{ID: "B2", Name: "B2", Bot: true}, Text: "x", Time: at}},
		{"odd ts", `{"type":"message","user":"U1","text":"x","ts":"soon","channel":"C1"}`,
			bots.Said{ID: "soon", Thread: bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "soon"}, By: ann, Text: "x"}},
		{"our bot", `{"type":"message","bot_id":"BBOT","text":"x","ts":"1.0","channel":"C1"}`, nil},
		{"our user", `{"type":"message","user":"UBOT","text":"x","ts":"1.0","channel":"C1"}`, nil},
		{"edit", `{"type":"message","subtype":"message_changed","ts":"1.0","channel":"C1","message":{"user":"U1","text":"x"}}`, nil},
		{"join", `{"type":"message","subtype":"channel_join","user":"U1","ts":"1.0","channel":"C1"}`, nil},
		{"nobody", `{"type":"message","text":"x","ts":"1.0","channel":"C1"}`, nil},
		{"nowhere", `{"type":"message","user":"U1","text":"x","ts":"1.0"}`, nil},
		{"home", `{"type":"app_home_opened","user":"U1","channel":"D1","tab":"home","event_ts":"1515449522000016","view":{"id":"V1"}}`,
			bots.HomeOpened{ID: "home/U1/1515449522000016", Workspace: "T1", By: ann}},
		{"another tab", `{"type":"app_home_opened","user":"U1","channel":"D1","tab":"messages","event_ts":"1515449522000016"}`, nil},
		{"something else", `{"type":"reaction_added","user":"U1"}`, nil},
	} {
		require.Equal(t, c.want, readEvent(t, c.event), c.name)
	}
}

func TestReadRefusesWhatIsBroken(t *testing.T) {
	for _, env := range []envelope{
		{Type: "events_api", Payload: json.RawMessage(`{"event":[]}`)},
		{Type: "interactive", Payload: json.RawMessage(`"x"`)},
		{Type: "interactive", Payload: json.RawMessage(`{"type":"view_submission","view":{"callback_id":"heddle.ask","private_metadata":""}}`)},
	} {
		_, err := testReader().read(env)
		require.Error(t, err, string(env.Payload))
	}
}

func TestReadText(t *testing.T) {
	for _, c := range []struct {
		in, want  string
		mentioned bool
	}{
		{"<@UBOT> do it", "do it", true},
		{"please <@UBOT> do it", "please do it", true},
		{"do it <@UBOT|heddle>", "do it", true},
		{"<@UBOT>", "", true},
		{"<@UBOT>: do it", ": do it", true},
		{"ask <@U1> and <@U2> and <@U3|carl>", "ask @ann and @U2 and @carl", false},
		{"in <#C1|general> or <#C2> or <#C3|>", "in #general or #C2 or #C3", false},
		{"<!here> <!channel> <!subteam^S1|@team> <!date^1^{date}|today>", "@here @channel @team today", false},
		{"<https://x.dev/a?b=1&amp;c=2>", "https://x.dev/a?b=1&c=2", false},
		{"<https://x.dev|the site> <http://x.dev|x.dev> <mailto:a@x.dev|a@x.dev>", "[the site](https://x.dev) http://x.dev a@x.dev", false},
		{"1 &lt; 2 &amp;&amp; 3 &gt; 2, &lt;@UBOT&gt;, &amp;lt;", "1 < 2 && 3 > 2, <@UBOT>, &lt;", false},
		{"```\ncode\n```", "```\ncode\n```", false},
		{"a <b", "a <b", false},
		{"<> <|x>", "x", false},
	} {
		got, mentioned := readText(c.in, "UBOT", testReader().name)
		require.Equal(t, c.want, got, c.in)
		require.Equal(t, c.mentioned, mentioned, c.in)
	}
}

func TestPressIsReadAsItWasWritten(t *testing.T) {
	for _, p := range []press{
		{action: bots.Approve, value: "1.1.1 abc"},
		{action: bots.Deny, value: "1.1.1 abc", ask: "Why not?"},
		{action: bots.Deny, value: "two\nlines", ask: "Why not?"},
		{action: bots.Stop},
	} {
		id, value := p.encode()
		require.Equal(t, p, decodePress(id, value))
		require.Equal(t, p, decodePress(id+nth+"2", value))
	}
	require.Equal(t, press{action: "deny", value: "v", ask: "Why?"}, decodePress("deny.ask", "Why?\nv"), "the form is in posted messages, for ever")
}

func TestRecentForgets(t *testing.T) {
	r := recent{known: map[string]bool{}}
	for i := range 25_000 {
		r.add(fmt.Sprint(i))
	}
	require.True(t, r.has("24999"))
	require.True(t, r.has("15000"))
	require.False(t, r.has("14999"))
	require.Len(t, r.known, 10_000)
}

func TestNames(t *testing.T) {
	n := newNames()
	for range 3 {
		require.Equal(t, "U1", n.get("U1"))
	}
	require.Len(t, n.wanted, 1, "asked for once")
	n.learn("U1", "ann")
	require.Equal(t, "ann", n.get("U1"))
	for i := range 2 * maxNames {
		n.get(fmt.Sprint(i)) // nobody looks anything up: it must not block
	}
	for i := range 2 * maxNames {
		n.learn(fmt.Sprint(i), "x")
	}
	require.LessOrEqual(t, len(n.known), maxNames)
}

func BenchmarkRead(b *testing.B) {
	r := testReader()
	env := envelope{Type: "events_api", Payload: json.RawMessage(`{"team_id":"T1","event":{"type":"app_mention","user":"U1",` +
		`"text":"<@UBOT> look at <https://x.dev|this> &amp; tell <@U2>","ts":"1700000000.000100","channel":"C1","blocks":[{"type":"rich_text"}]}}`)}
	for b.Loop() {
		if _, err := r.read(env); err != nil {
			b.Fatal(err)
		}
	}
}
