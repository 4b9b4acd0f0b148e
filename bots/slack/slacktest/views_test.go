package slacktest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const form = `{"type":"modal","callback_id":"ask","private_metadata":"p","title":{"type":"plain_text","text":"Title"},
"submit":{"type":"plain_text","text":"Send"},"blocks":[{"type":"input","block_id":"why","label":{"type":"plain_text","text":"Why?"},
"element":{"type":"plain_text_input","action_id":"answer"}}]}`

// trigger presses a button and returns the trigger that comes with it.
func (a *listener) trigger(user, channel string) string {
	v := ask(a.t, a.w, "chat.postMessage", BotToken, "channel", channel, "text", "x", "blocks",
		`[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}}]}]`)
	require.NoError(a.t, a.w.Click(user, channel, v["ts"].(string), "Go"))
	return str(a.last("interactive"), "payload", "trigger_id")
}

func TestTriggersServeOnceAndShortly(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	id := a.trigger(ann, channel)
	open := func(id string) any { return ask(t, w, "views.open", BotToken, "trigger_id", id, "view", form)["error"] }
	require.Nil(t, open(id))
	require.Equal(t, "exchanged_trigger_id", open(id))
	require.Equal(t, "invalid_trigger_id", open("1.2.3"))
	id = a.trigger(ann, channel)
	w.mu.Lock()
	w.triggers[id] = trigger{user: ann, until: time.Now().Add(-1)}
	w.mu.Unlock()
	require.Equal(t, "expired_trigger_id", open(id))
}

func TestViewsThatAreRefused(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	with := func(was, is string) string { return strings.Replace(form, was, is, 1) }
	for _, c := range []struct{ view, want string }{
		{"[]", "must provide an object [json-pointer:/view]"},
		{`{"type":"modal"}`, "missing required field: title [json-pointer:/view]"},
		{with(`"modal"`, `"home"`), "unsupported type: home [json-pointer:/view/type]"},
		{with(`"Title"`, `"`+strings.Repeat("x", 25)+`"`), "must be less than 25 characters [json-pointer:/view/title/text]"},
		{with(`"Send"`, `"`+strings.Repeat("x", 25)+`"`), "must be less than 25 characters [json-pointer:/view/submit/text]"},
		{with(`"p"`, `"`+strings.Repeat("x", 3001)+`"`), "must be less than 3001 characters [json-pointer:/view/private_metadata]"},
		{with(`"ask"`, `"`+strings.Repeat("x", 256)+`"`), "must be less than 256 characters [json-pointer:/view/callback_id]"},
		{with(`"submit":{"type":"plain_text","text":"Send"},`, ``), "missing required field: submit [json-pointer:/view]"},
		{with(`"callback_id"`, `"colour"`), "invalid additional property: colour [json-pointer:/view]"},
		{with(`"plain_text_input"`, `"feedback_buttons"`), "unsupported type: feedback_buttons [json-pointer:/view/blocks/0/element/type]"},
		{with(`"action_id":"answer"`, `"max_length":3001`), "must be an integer from 1 to 3000 [json-pointer:/view/blocks/0/element/max_length]"},
		{`{"type":"modal","title":{"type":"plain_text","text":"x"},"blocks":` + many(101, `{"type":"divider"}`) + `}`, "no more than 100 items allowed [json-pointer:/view/blocks]"},
		{`{"type":"modal","title":{"type":"plain_text","text":"x"},"blocks":[{"type":"markdown","text":"x"}]}`, "unsupported type: markdown [json-pointer:/view/blocks/0/type]"},
	} {
		v := ask(t, w, "views.open", BotToken, "trigger_id", a.trigger(ann, channel), "view", c.view)
		require.Equal(t, "invalid_arguments", v["error"])
		require.Contains(t, problemsOf(v), "[ERROR] "+c.want)
	}
	v := ask(t, w, "views.open", BotToken, "trigger_id", a.trigger(ann, channel), "view", with(`"p"`, `"`+strings.Repeat("x", 250_000)+`"`))
	require.Equal(t, "view_too_large", v["error"])
}

func TestForms(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	opened := ask(t, w, "views.open", BotToken, "trigger_id", a.trigger(ann, channel), "view", form)
	id, hash := str(opened, "view", "id"), str(opened, "view", "hash")
	update := func(args ...string) map[string]any {
		return ask(t, w, "views.update", BotToken, append(args, "view", strings.Replace(form, "Why?", "Why so?", 1))...)
	}
	require.Equal(t, "not_found", update("view_id", "V404")["error"])
	require.Equal(t, "invalid_arguments", update()["error"])
	require.Equal(t, "hash_conflict", update("view_id", id, "hash", "old")["error"])
	require.Equal(t, true, update("view_id", id, "hash", hash)["ok"])
	require.Equal(t, "hash_conflict", update("view_id", id, "hash", hash)["error"])
	seen, _ := w.View(ann)
	require.Equal(t, "Why so?", seen.Question)

	a.says(`{"response_action":"errors","errors":{"why":"say more"}}`)
	require.ErrorContains(t, w.Submit(ann, "x"), "say more")
	a.says(`{"response_action":"errors","errors":{"who":"say more"}}`)
	require.ErrorContains(t, w.Submit(ann, "x"), `no block "who"`)
	a.says(`{"response_action":"update","view":` + form + `}`)
	require.NoError(t, w.Submit(ann, "because"))
	p := a.last("interactive")["payload"]
	require.Equal(t, "because", str(p, "view", "state", "values", "why", "answer", "value"))
	require.Equal(t, []any{"ask", "p", id}, []any{dig(p, "view", "callback_id"), dig(p, "view", "private_metadata"), dig(p, "view", "id")})
	seen, _ = w.View(ann)
	require.Equal(t, "Why?", seen.Question)
	a.says(`{}`)
	require.NoError(t, w.Submit(ann, "because"))
	_, open := w.View(ann)
	require.False(t, open)
	require.ErrorContains(t, w.People.Close(ann), "sees no form")

	view := strings.Replace(form, `"callback_id"`, `"notify_on_close":true,"callback_id"`, 1)
	ask(t, w, "views.open", BotToken, "trigger_id", a.trigger(ann, channel), "view", view)
	require.NoError(t, w.People.Close(ann))
	require.Equal(t, "view_closed", str(a.last("interactive"), "payload", "type"))
}

func TestHome(t *testing.T) {
	w, _ := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	w.People.OpenHome(ann)
	require.Nil(t, dig(a.events(1, "app_home_opened", "")[0], "event", "view"))
	require.Error(t, w.People.Press(ann, "Go"))
	view := `{"type":"home","external_id":"e","blocks":[{"type":"header","text":{"type":"plain_text","text":"Home"}},
		{"type":"actions","elements":[{"type":"button","action_id":"go","value":"7","text":{"type":"plain_text","text":"Go"}}]}]}`
	publish := func(args ...string) map[string]any {
		return ask(t, w, "views.publish", BotToken, append(args, "view", view)...)
	}
	require.Equal(t, "invalid_arguments", publish("user_id", "U404")["error"])
	v := publish("user_id", ann)
	require.Equal(t, true, v["ok"], v)
	require.Equal(t, "hash_conflict", publish("user_id", ann, "hash", "old")["error"])
	require.Equal(t, true, publish("user_id", ann, "hash", str(v, "view", "hash"))["ok"])
	require.Equal(t, "duplicate_external_id", publish("user_id", w.AddUser("bob"))["error"])
	home, _ := w.People.Home(ann)
	require.Equal(t, "Home", home.Text)
	w.People.OpenHome(ann)
	require.Equal(t, home.ID, str(a.events(2, "app_home_opened", "")[1], "event", "view", "id"))
	require.NoError(t, w.People.Press(ann, "Go"))
	p := a.last("interactive")["payload"]
	require.Equal(t, []any{"view", home.ID}, []any{dig(p, "container", "type"), dig(p, "container", "view_id")})
	require.Equal(t, "7", objects(p, "actions")[0]["value"])
	require.ErrorContains(t, w.People.Press(ann, "Stop"), "no button")
}
