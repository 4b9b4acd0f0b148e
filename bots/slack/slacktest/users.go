package slacktest

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"
)

// A user is somebody that the workspace knows.
type user struct {
	name string
	team string // empty is ours
}

func authTest(w *Workspace, _ call) (map[string]any, *refused) {
	return map[string]any{"url": w.server.URL + "/", "team": "Heddle", "user": BotName,
		"team_id": TeamID, "user_id": BotUser, "bot_id": BotID, "is_enterprise_install": false}, nil
}

func connectionsOpen(w *Workspace, _ call) (map[string]any, *refused) {
	return map[string]any{"url": "ws" + strings.TrimPrefix(w.server.URL, "http") + "/link?ticket=" + w.Socket.tickets.issue()}, nil
}

// person is somebody as payloads of interactions show them.
func (w *state) person(id string) map[string]any {
	u := w.users[id]
	return map[string]any{"id": id, "username": u.name, "name": u.name, "team_id": cmp.Or(u.team, TeamID)}
}

func userInfo(w *Workspace, c call) (map[string]any, *refused) {
	id := c.args.Get("user")
	if w.users[id] == nil {
		return nil, refuse("user_not_found")
	}
	return map[string]any{"user": w.profile(id)}, nil
}

func (w *state) profile(id string) map[string]any {
	u := w.users[id]
	team := cmp.Or(u.team, TeamID)
	v := map[string]any{"id": id, "team_id": team, "name": u.name, "real_name": u.name, "deleted": false, "color": "9f69e7",
		"tz": "Europe/London", "tz_label": "Greenwich Mean Time", "tz_offset": 0, "updated": 1,
		"is_bot": id == BotUser, "is_app_user": false, "is_admin": false, "is_owner": false, "is_primary_owner": false,
		"is_restricted": false, "is_ultra_restricted": false,
		"profile": map[string]any{"display_name": u.name, "display_name_normalized": u.name, "real_name": u.name,
			"real_name_normalized": u.name, "team": team, "status_text": "", "status_emoji": ""}}
	if u.team != "" {
		v["is_stranger"] = true
	}
	return v
}

// userList returns people in the order of their ids. A cursor names the last of the page before.
func userList(w *Workspace, c call) (map[string]any, *refused) {
	const prefix = "user:"
	last, err := base64.StdEncoding.DecodeString(c.args.Get("cursor"))
	after, ok := strings.CutPrefix(string(last), prefix)
	if err != nil || len(last) > 0 && !ok {
		return nil, refuse("invalid_cursor")
	}
	most, no := limit(w, c, 1000)
	if no != nil {
		return nil, no
	}
	page, cursor := []map[string]any{}, ""
	for _, id := range slices.Sorted(maps.Keys(w.users)) {
		if id <= after {
			continue
		}
		if len(page) == most {
			cursor = base64.StdEncoding.EncodeToString([]byte(prefix + page[most-1]["id"].(string)))
			break
		}
		page = append(page, w.profile(id))
	}
	return map[string]any{"members": page, "cache_ts": time.Now().Unix(),
		"response_metadata": map[string]any{"next_cursor": cursor}}, nil
}
