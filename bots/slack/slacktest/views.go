package slacktest

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// triggerFor is how long a press may be answered with a form.
const triggerFor = 3 * time.Second

// maxView is the most that a view may have, in bytes of JSON.
const maxView = 250_000

// A trigger lets the bot open one form.
type trigger struct {
	user  string
	until time.Time
	used  bool
}

// trigger returns the id of a new trigger.
func newTrigger(w *Workspace, user string) string {
	id := strings.Replace(w.next(), ".", ".1234.", 1)
	w.triggers[id] = trigger{user: user, until: time.Now().Add(triggerFor)}
	return id
}

// exchange uses a trigger up.
func exchange(w *Workspace, id string) (user string, no *refused) {
	t, ok := w.triggers[id]
	switch {
	case !ok:
		return "", refuse("invalid_trigger_id")
	case t.used:
		return "", refuse("exchanged_trigger_id")
	case time.Now().After(t.until):
		return "", refuse("expired_trigger_id")
	}
	t.used = true
	w.triggers[id] = t
	return t.user, nil
}

// A View is a form that a person sees, or the app's home.
type View struct {
	ID       string
	Hash     string
	Title    string
	Question string // the label of the first field
	Text     string // the texts of the blocks
	Buttons  []Button
	user     string
	def      map[string]any // as the bot gave it
	blocks   []any
}

// readView reads and checks the argument "view".
func readView(c call, kinds ...string) (map[string]any, *refused) {
	raw := c.args.Get("view")
	if len(raw) > maxView {
		return nil, refuse("view_too_large")
	}
	var def map[string]any
	if err := json.Unmarshal([]byte(raw), &def); err != nil {
		return nil, refuse("invalid_arguments", "must provide an object [json-pointer:/view]")
	}
	if no := checkView(def, kinds...); no != nil {
		return nil, no
	}
	return def, nil
}

// checkView refuses a view that is not as Slack wants those kinds to be.
func checkView(def map[string]any, kinds ...string) *refused {
	var found checker
	all := fields{"private_metadata": words(0, 3000), "callback_id": words(0, maxID), "external_id": words(0, maxID)}
	kind := str(def, "type")
	switch {
	case !slices.Contains(kinds, kind):
		found.fail("/view/type", "unsupported type: %v", def["type"])
	case kind == "home":
		found.members("/view", def, all.with(fields{"blocks!": checkBlocks(inHome)}))
	default:
		label := text(24, "plain_text")
		found.members("/view", def, all.with(fields{"blocks!": checkBlocks(inForm), "title!": label, "submit": label, "close": label,
			"clear_on_close": yesNo, "notify_on_close": yesNo, "submit_disabled": yesNo}))
		if def["submit"] == nil && slices.ContainsFunc(objects(def, "blocks"), func(b map[string]any) bool { return b["type"] == "input" }) {
			found.fail("/view", "missing required field: submit")
		}
	}
	if found.problems != nil {
		return refuse("invalid_arguments", found.problems...)
	}
	return nil
}

// show makes v what its definition says.
func (v *View) show(def map[string]any, hash string) {
	v.def, v.Hash = def, hash
	v.blocks, _ = def["blocks"].([]any)
	v.Title, v.Text, v.Buttons, v.Question = str(def, "title", "text"), shown(v.blocks), buttons(v.blocks), ""
	for _, b := range v.blocks {
		if v.Question = str(b, "label", "text"); v.Question != "" {
			break
		}
	}
}

// json is the view as the Web API and payloads show it, with what a person has put in.
func (v *View) json(values map[string]any) map[string]any {
	out := map[string]any{"id": v.ID, "team_id": TeamID, "app_id": appID, "app_installed_team_id": TeamID, "bot_id": BotID, "hash": v.Hash,
		"type": v.def["type"], "blocks": v.blocks, "private_metadata": str(v.def, "private_metadata"), "callback_id": str(v.def, "callback_id"),
		"external_id": str(v.def, "external_id"), "title": v.def["title"], "submit": v.def["submit"], "close": v.def["close"],
		"clear_on_close": v.def["clear_on_close"] == true, "notify_on_close": v.def["notify_on_close"] == true,
		"root_view_id": v.ID, "previous_view_id": nil, "state": map[string]any{"values": values}}
	return out
}

// taken reports whether another view than id has the external_id of def.
func taken(w *Workspace, def map[string]any, id string) bool {
	ext := str(def, "external_id")
	for _, all := range []map[string]*View{w.views, w.homes} {
		for _, v := range all {
			if ext != "" && str(v.def, "external_id") == ext && v.ID != id {
				return true
			}
		}
	}
	return false
}

func newView(w *Workspace, user string, def map[string]any) *View {
	v := &View{ID: "V0" + strings.ReplaceAll(w.next(), ".", ""), user: user}
	v.show(def, w.next()+".h")
	return v
}

func openView(w *Workspace, c call) (map[string]any, *refused) {
	def, no := readView(c, "modal")
	if no != nil {
		return nil, no
	}
	if taken(w, def, "") {
		return nil, refuse("duplicate_external_id")
	}
	user, no := exchange(w, c.args.Get("trigger_id"))
	if no != nil {
		return nil, no
	}
	v := newView(w, user, def)
	w.views[user] = v
	return map[string]any{"view": v.json(map[string]any{})}, nil
}

func publishView(w *Workspace, c call) (map[string]any, *refused) {
	def, no := readView(c, "home")
	if no != nil {
		return nil, no
	}
	user, hash := c.args.Get("user_id"), c.args.Get("hash")
	v := w.homes[user]
	switch {
	case w.users[user] == nil:
		return nil, refuse("invalid_arguments", "invalid `user_id`")
	case hash != "" && (v == nil || v.Hash != hash):
		return nil, refuse("hash_conflict")
	case taken(w, def, idOf(v)):
		return nil, refuse("duplicate_external_id")
	}
	if v == nil {
		v = newView(w, user, def)
		w.homes[user] = v
	} else {
		v.show(def, w.next()+".h")
	}
	return map[string]any{"view": v.json(map[string]any{})}, nil
}

func idOf(v *View) string {
	if v == nil {
		return ""
	}
	return v.ID
}

func updateView(w *Workspace, c call) (map[string]any, *refused) {
	id, ext := c.args.Get("view_id"), c.args.Get("external_id")
	if (id == "") == (ext == "") {
		return nil, refuse("invalid_arguments", "one of view_id and external_id is needed")
	}
	var v *View
	for _, all := range []map[string]*View{w.views, w.homes} {
		for _, one := range all {
			if id != "" && one.ID == id || ext != "" && str(one.def, "external_id") == ext {
				v = one
			}
		}
	}
	if v == nil {
		return nil, refuse("not_found")
	}
	def, no := readView(c, str(v.def, "type"))
	switch hash := c.args.Get("hash"); {
	case no != nil:
		return nil, no
	case hash != "" && hash != v.Hash:
		return nil, refuse("hash_conflict")
	case taken(w, def, v.ID):
		return nil, refuse("duplicate_external_id")
	}
	v.show(def, w.next()+".h")
	return map[string]any{"view": v.json(map[string]any{})}, nil
}
