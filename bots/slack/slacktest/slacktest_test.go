package slacktest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask calls a method as a client would, and returns the answer.
func ask(t *testing.T, w *Workspace, method, token string, args ...string) map[string]any {
	t.Helper()
	form := url.Values{}
	if token != "" {
		form.Set("token", token)
	}
	for i := 0; i < len(args); i += 2 {
		form.Set(args[i], args[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.PostForm(w.URL+method, form)
	require.NoError(t, err)
	defer resp.Body.Close()
	var v map[string]any
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&v))
	return v
}

func newWorkspace(t *testing.T) (w *Workspace, channel string) {
	w = New(Config{})
	t.Cleanup(w.Close)
	return w, w.AddChannel("general")
}

func TestTokens(t *testing.T) {
	w, _ := newWorkspace(t)
	for _, c := range []struct{ method, token, want string }{
		{"auth.test", "", "not_authed"},
		{"auth.test", "xoxb-wrong", "invalid_auth"},
		{"auth.test", AppToken, "not_allowed_token_type"},
		{"apps.connections.open", AppToken, "not_authed"}, // it takes the token in the header only
		{"no.such.method", BotToken, "unknown_method"},
	} {
		require.Equal(t, c.want, ask(t, w, c.method, c.token)["error"], c)
	}
	require.Equal(t, BotUser, ask(t, w, "auth.test", BotToken)["user_id"])
}

func TestScopes(t *testing.T) {
	w := New(Config{Scopes: "users:read"})
	t.Cleanup(w.Close)
	require.Equal(t, "missing_scope", ask(t, w, "chat.postMessage", BotToken, "channel", w.AddChannel("general"), "text", "x")["error"])
	require.Equal(t, true, ask(t, w, "users.info", BotToken, "user", BotUser)["ok"])
}

func TestPeopleComeInPages(t *testing.T) {
	w, _ := newWorkspace(t)
	w.AddUser("ann")
	w.AddUser("bob")
	var all []any
	cursor := ""
	for more := true; more; more = cursor != "" {
		v := ask(t, w, "users.list", BotToken, "limit", "2", "cursor", cursor)
		page := v["members"].([]any)
		require.LessOrEqual(t, len(page), 2)
		for _, p := range page {
			all = append(all, p.(map[string]any)["name"])
		}
		cursor = v["response_metadata"].(map[string]any)["next_cursor"].(string)
	}
	require.Equal(t, []any{BotName, "ann", "bob"}, all)
}

// The twin refuses what Slack refuses.
func TestRefusals(t *testing.T) {
	w, channel := newWorkspace(t)
	section := func(text string) string {
		return `[{"type":"section","text":{"type":"mrkdwn","text":"` + text + `"}}]`
	}
	button := `{"type":"button","action_id":"a","text":{"type":"plain_text","text":"x"}}`
	long := strings.Repeat("x", 3001)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"channel_not_found", []string{"channel", "C404", "text", "x"}},
		{"no_text", []string{}},
		{"invalid_blocks_format", []string{"blocks", "{"}},
		{"invalid_blocks", []string{"blocks", section("")}},
		{"invalid_blocks", []string{"blocks", section(long)}},
		{"invalid_blocks", []string{"blocks", `[{"type":"unheard"}]`}},
		{"invalid_blocks", []string{"blocks", `[{"type":"actions","elements":[]}]`}},
		{"invalid_blocks", []string{"blocks", `[{"type":"actions","elements":[` + button + `,` + button + `]}]`}},
		{"invalid_blocks", []string{"blocks", `[{"type":"actions","elements":[` + strings.Replace(button, `"x"`, `"`+long+`"`, 1) + `]}]`}},
		{"msg_blocks_too_long", []string{"blocks", "[" + strings.Repeat(strings.Trim(section(long[:2900]), "[]")+",", 4) + strings.Trim(section(long[:2900]), "[]") + "]"}},
		{"invalid_metadata_format", []string{"text", "x", "metadata", `{"event_type":"x"}`}},
	} {
		v := ask(t, w, "chat.postMessage", BotToken, append([]string{"channel", channel}, c.args...)...)
		require.Equal(t, c.want, v["error"])
	}
	require.Empty(t, w.Channel(channel))

	ts := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "text", "x")["ts"].(string)
	require.Equal(t, "msg_too_long", ask(t, w, "chat.update", BotToken, "channel", channel, "ts", ts, "text", long+long)["error"])
	require.Equal(t, "message_not_found", ask(t, w, "chat.update", BotToken, "channel", channel, "ts", "1.0", "text", "x")["error"])
	theirs := w.Say(w.AddUser("ann"), channel, "", "hi")
	require.Equal(t, "cant_update_message", ask(t, w, "chat.update", BotToken, "channel", channel, "ts", theirs, "text", "x")["error"])
	require.Equal(t, "user_not_found", ask(t, w, "users.info", BotToken, "user", "U404")["error"])
	require.Equal(t, "invalid_limit", ask(t, w, "users.list", BotToken, "limit", "1001")["error"])
	require.Equal(t, "invalid_cursor", ask(t, w, "users.list", BotToken, "cursor", "no base64")["error"])
	require.Equal(t, "invalid_cursor", ask(t, w, "users.list", BotToken, "cursor", "dGVhbTpUMQ==")["error"])
	require.Equal(t, "thread_not_found", ask(t, w, "conversations.replies", BotToken, "channel", channel, "ts", "1.0")["error"])
}

func TestTimestampsGrow(t *testing.T) {
	w, channel := newWorkspace(t)
	ann, last := w.AddUser("ann"), ""
	for range 1000 {
		ts := w.Say(ann, channel, "", "x")
		require.Greater(t, ts, last)
		last = ts
	}
}

func TestTypedText(t *testing.T) {
	w, channel := newWorkspace(t)
	ann := w.AddUser("ann")
	anna := w.AddUser("anna")
	w.Say(ann, channel, "", "@heddle tell @anna and @ann that 1 < 2 & <@U1>")
	require.Equal(t, "<@"+BotUser+"> tell <@"+anna+"> and <@"+ann+"> that 1 &lt; 2 &amp; &lt;@U1&gt;", w.Channel(channel)[0].Text)
}

func TestClickNeedsTheButton(t *testing.T) {
	w, channel := newWorkspace(t)
	ann := w.AddUser("ann")
	ts := w.Say(ann, channel, "", "x")
	require.ErrorContains(t, w.Click(ann, channel, ts, "Approve"), "no button")
	require.ErrorContains(t, w.Click(ann, channel, "1.0", "Approve"), "no message")
	require.ErrorContains(t, w.Submit(ann, "x"), "no form")
}

// get asks for an address with a token, or without one.
func get(t *testing.T, address, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	require.NoError(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}
