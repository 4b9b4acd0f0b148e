package slacktest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// triggerFor is how long a press may be answered with a form.
const triggerFor = 3 * time.Second

// A trigger lets the bot open one form.
type trigger struct {
	user  string
	until time.Time
}

// A View is a form that a person sees.
type View struct {
	ID       string
	Title    string
	Question string
	private  string
	callback string
	blocks   []blockJSON
}

// Click presses a button: the first of the message whose label or action_id is button. It returns
// when the app has acknowledged. It fails if the button is not there, and as Slack shows it to the
// person if the app does not answer.
func (w *Workspace) Click(user, channel, ts, button string) error {
	payload, err := w.press(user, channel, ts, button)
	if err != nil {
		return err
	}
	_, err = w.Socket.interact(payload)
	return err
}

func (w *state) press(user, channel, ts, button string) (map[string]any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channel(channel)
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.TS == ts && (m.For == "" || m.For == user) })
	if i < 0 {
		return nil, fmt.Errorf("there is no message %s in %s", ts, channel)
	}
	m := c.messages[i]
	i = slices.IndexFunc(m.Buttons, func(b Button) bool { return b.Label == button || b.ActionID == button })
	if i < 0 {
		return nil, fmt.Errorf("the message has no button %q but %q", button, m.Labels())
	}
	b, now := m.Buttons[i], w.next()
	id := "trigger." + now
	w.triggers[id] = trigger{user, time.Now().Add(triggerFor)}
	container := map[string]any{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": m.For != ""}
	if m.Thread != "" {
		container["thread_ts"] = m.Thread
	}
	return map[string]any{
		"type": "block_actions", "api_app_id": appID, "token": "verification", "trigger_id": id,
		"team": map[string]any{"id": TeamID, "domain": "heddle"}, "user": w.person(user),
		"channel": map[string]any{"id": channel, "name": c.name}, "container": container, "message": m.json(),
		"response_url": "https://hooks.slack.invalid/actions",
		"actions": []any{map[string]any{
			"type": "button", "action_id": b.ActionID, "block_id": "b1", "value": b.Value, "style": b.Style, "action_ts": now,
			"text": map[string]any{"type": "plain_text", "text": b.Label},
		}},
	}, nil
}

func (w *state) person(id string) map[string]any {
	return map[string]any{"id": id, "username": w.users[id], "name": w.users[id], "team_id": TeamID}
}

// View returns the form that a person sees.
func (w *Workspace) View(user string) (View, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.views[user]
	if v == nil {
		return View{}, false
	}
	return *v, true
}

// Submit fills the first field of the form that a person sees and sends it. The form closes when the
// app acknowledges; otherwise it stays and Submit fails.
func (w *Workspace) Submit(user, answer string) error {
	w.mu.Lock()
	v := w.views[user]
	if v == nil {
		w.mu.Unlock()
		return fmt.Errorf("%s sees no form", user)
	}
	values := map[string]any{}
	for _, b := range v.blocks {
		if b.Type == "input" {
			field := map[string]any{"type": b.Element.Type, "value": any(answer)}
			if answer == "" {
				field["value"] = nil
			}
			values[b.BlockID] = map[string]any{b.Element.ActionID: field}
			break
		}
	}
	payload := map[string]any{
		"type": "view_submission", "api_app_id": appID, "token": "verification", "trigger_id": "trigger." + w.next(),
		"team": map[string]any{"id": TeamID, "domain": "heddle"}, "user": w.person(user), "response_urls": []any{},
		"view": map[string]any{"id": v.ID, "team_id": TeamID, "type": "modal", "callback_id": v.callback,
			"private_metadata": v.private, "state": map[string]any{"values": values}},
	}
	w.mu.Unlock()
	if _, err := w.Socket.interact(payload); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, user)
	w.wake()
	return nil
}

func openView(w *Workspace, c call) (map[string]any, refused) {
	var in struct {
		Trigger string `json:"trigger_id"`
		View    struct {
			Type     string      `json:"type"`
			Callback string      `json:"callback_id"`
			Private  string      `json:"private_metadata"`
			Title    *textJSON   `json:"title"`
			Submit   *textJSON   `json:"submit"`
			Close    *textJSON   `json:"close"`
			Blocks   []blockJSON `json:"blocks"`
		} `json:"view"`
	}
	if err := json.Unmarshal(c.body, &in); err != nil {
		return nil, "invalid_json"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.triggers[in.Trigger]
	switch v := in.View; {
	case !ok:
		return nil, "exchanged_trigger_id"
	case time.Now().After(t.until):
		return nil, "expired_trigger_id"
	case v.Type != "modal", !v.Title.valid(24, "plain_text"), !v.Submit.valid(24, "plain_text"), v.Close != nil && !v.Close.valid(24, "plain_text"),
		length(v.Private) > 3000, length(v.Callback) > maxID, len(v.Blocks) == 0, len(v.Blocks) > 100,
		slices.ContainsFunc(v.Blocks, func(b blockJSON) bool { return !b.valid() || b.Type == "actions" }):
		return nil, "invalid_arguments"
	}
	delete(w.triggers, in.Trigger)
	view := &View{ID: "V" + strings.ReplaceAll(w.next(), ".", ""), Title: in.View.Title.Text,
		private: in.View.Private, callback: in.View.Callback, blocks: in.View.Blocks}
	if label := in.View.Blocks[0].Label; label != nil {
		view.Question = label.Text
	}
	w.views[t.user] = view
	w.wake()
	return map[string]any{"view": map[string]any{"id": view.ID, "type": "modal"}}, ""
}

func userInfo(w *Workspace, c call) (map[string]any, refused) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := c.args.Get("user")
	if w.users[id] == "" {
		return nil, "user_not_found"
	}
	return map[string]any{"user": w.profile(id)}, ""
}

func (w *state) profile(id string) map[string]any {
	name := w.users[id]
	return map[string]any{"id": id, "team_id": TeamID, "name": name, "is_bot": id == BotUser,
		"profile": map[string]any{"display_name": name, "real_name": name}}
}

// userList returns people in the order of their ids. A cursor names the last of the page before.
func userList(w *Workspace, c call) (map[string]any, refused) {
	const prefix, maxLimit = "user:", 1000
	last, err := base64.StdEncoding.DecodeString(c.args.Get("cursor"))
	after, ok := strings.CutPrefix(string(last), prefix)
	limit := number(c.args.Get("limit"), maxLimit)
	switch {
	case err != nil, len(last) > 0 && !ok:
		return nil, "invalid_cursor"
	case limit > maxLimit:
		return nil, "invalid_limit"
	}
	if w.cfg.PageSize > 0 {
		limit = min(limit, w.cfg.PageSize)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	page, cursor := []map[string]any{}, ""
	for _, id := range slices.Sorted(maps.Keys(w.users)) {
		if id <= after {
			continue
		}
		if len(page) == limit {
			cursor = base64.StdEncoding.EncodeToString([]byte(prefix + page[limit-1]["id"].(string)))
			break
		}
		page = append(page, w.profile(id))
	}
	return map[string]any{"members": page, "cache_ts": time.Now().Unix(),
		"response_metadata": map[string]any{"next_cursor": cursor}}, ""
}

func authTest(*Workspace, call) (map[string]any, refused) {
	return map[string]any{"url": "https://heddle.slack.invalid/", "team": "Heddle", "user": BotName,
		"team_id": TeamID, "user_id": BotUser, "bot_id": BotID}, ""
}

func connectionsOpen(w *Workspace, _ call) (map[string]any, refused) {
	return map[string]any{"url": "ws" + strings.TrimPrefix(w.server.URL, "http") + "/link"}, ""
}
