package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Click presses a button: the first of the message whose label or action_id is button. It returns
// when the app has acknowledged. It fails if the button is not there, and as Slack shows it to the
// person if the app does not answer.
func (w *Workspace) Click(user, channel, ts, button string) error {
	payload, err := press(w, user, channel, ts, button)
	if err != nil {
		return err
	}
	_, err = interact(w.Socket, "interactive", payload)
	return err
}

func press(w *Workspace, user, channel, ts, button string) (map[string]any, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channel(channel)
	i := slices.IndexFunc(c.messages, func(m *Message) bool { return m.TS == ts && (m.For == "" || m.For == user) })
	if i < 0 {
		return nil, fmt.Errorf("there is no message %s in %s", ts, channel)
	}
	m := c.messages[i]
	action := pressed(m.blocks, button, w.next())
	if action == nil {
		return nil, fmt.Errorf("the message has no button %q but %q", button, m.Labels())
	}
	container := map[string]any{"type": "message", "message_ts": ts, "channel_id": channel, "is_ephemeral": m.For != ""}
	if m.Thread != "" {
		container["thread_ts"] = m.Thread
	}
	payload := interaction(w, "block_actions", user)
	maps.Copy(payload, map[string]any{
		"channel": map[string]any{"id": channel, "name": c.name}, "container": container, "message": m.json(),
		"response_url": newResponseURL(w, c, user, ts), "state": map[string]any{"values": map[string]any{}}, "actions": []any{action},
	})
	return payload, nil
}

// interaction is what all interactions tell.
func interaction(w *Workspace, kind, user string) map[string]any {
	return map[string]any{"type": kind, "api_app_id": appID, "token": "verification", "trigger_id": newTrigger(w, user),
		"team": map[string]any{"id": TeamID, "domain": "heddle"}, "user": w.person(user), "enterprise": nil, "is_enterprise_install": false}
}

// pressed returns the action of pressing a button of the blocks, named by its label or action_id, or
// nil if it is not there.
func pressed(blocks []any, button, now string) map[string]any {
	for _, b := range blocks {
		o, _ := b.(map[string]any)
		for _, e := range elementsOf(o) {
			if str(e, "type") != "button" || str(e, "text", "text") != button && str(e, "action_id") != button {
				continue
			}
			action := map[string]any{"block_id": str(b, "block_id"), "action_ts": now}
			for _, name := range []string{"type", "action_id", "text", "value", "style", "url"} {
				if e[name] != nil {
					action[name] = e[name]
				}
			}
			return action
		}
	}
	return nil
}

// View returns the form that a person sees.
func (w *Workspace) View(user string) (View, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return seen(w.views, user)
}

func seen(views map[string]*View, user string) (View, bool) {
	v := views[user]
	if v == nil {
		return View{}, false
	}
	return *v, true
}

// Submit fills the first field of the form that a person sees and sends it. The form closes when the
// app acknowledges, unless it answers with another form or with what is wrong; then Submit fails if
// something is wrong. Without an answer the form stays and Submit fails.
func (w *Workspace) Submit(user, answer string) error {
	w.mu.Lock()
	v := w.views[user]
	if v == nil {
		w.mu.Unlock()
		return fmt.Errorf("%s sees no form", user)
	}
	values := map[string]any{}
	for _, b := range objects(v.def, "blocks") {
		if str(b, "type") == "input" {
			field := map[string]any{"type": str(b, "element", "type"), "value": any(answer)}
			if answer == "" {
				field["value"] = nil
			}
			values[str(b, "block_id")] = map[string]any{str(b, "element", "action_id"): field}
			break
		}
	}
	payload := interaction(w, "view_submission", user)
	payload["view"], payload["response_urls"] = v.json(values), []any{}
	w.mu.Unlock()
	raw, err := interact(w.Socket, "interactive", payload)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.wake()
	return submitted(w, v, raw)
}

// submitted does with a form what the app answered to its submission.
func submitted(w *Workspace, v *View, raw json.RawMessage) error {
	var in struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   map[string]any    `json:"view"`
	}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &in); err != nil {
			return fmt.Errorf("slack shows that the app failed: %w", err)
		}
	}
	switch in.Action {
	case "", "clear":
		delete(w.views, v.user)
	case "errors":
		var lines []string
		for _, block := range slices.Sorted(maps.Keys(in.Errors)) {
			if !slices.ContainsFunc(objects(v.def, "blocks"), func(b map[string]any) bool { return str(b, "block_id") == block }) {
				return fmt.Errorf("slack shows that the app failed: there is no block %q", block)
			}
			lines = append(lines, in.Errors[block])
		}
		return fmt.Errorf("the form says: %s", strings.Join(lines, "; "))
	case "update", "push":
		if no := checkView(in.View, "modal"); no != nil {
			return fmt.Errorf("slack shows that the app failed: %s %q", no.code, no.problems)
		}
		if in.Action == "update" {
			v.show(in.View, w.next()+".h")
		} else {
			w.views[v.user] = newView(w, v.user, in.View)
		}
	default:
		return fmt.Errorf("slack shows that the app failed: response_action %q", in.Action)
	}
	return nil
}
