package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// samples holds shapes of what Slack answers and sends: all members that there may be. They are not
// part of the repository.
const samples = "../../../../shared/slack-samples"

// documented is what Slack's documentation has and the samples do not have.
var documented = []string{
	"conversations.replies /messages/0/client_msg_id",
	"chat.stopStream /channel", "chat.stopStream /ts", "chat.stopStream /message",
	"app-backend/views/ViewSubmissionPayload /response_urls", "app-backend/views/ViewSubmissionPayload /view/blocks",
}

// sample returns a sample, or skips the test if they are missing.
func sample(t *testing.T, name string) any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(samples, name+".json"))
	if os.IsNotExist(err) {
		t.Skipf("Slack's samples are missing: there is no %s", samples)
	}
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(data, &v))
	return v
}

// differ returns what in v the sample does not have, or has with another type. What is open in the
// sample, an empty object, may hold anything; null may stand for anything.
func differ(at string, v, sample any) (all []string) {
	switch s := sample.(type) {
	case map[string]any:
		o, ok := v.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(o)) {
			switch want, known := s[name]; {
			case len(s) == 0 || o[name] == nil:
			case !known:
				all = append(all, at+"/"+name)
			default:
				all = append(all, differ(at+"/"+name, o[name], want)...)
			}
		}
		return all
	case []any:
		l, ok := v.([]any)
		if !ok {
			break
		}
		for i, one := range l {
			all = append(all, differElement(fmt.Sprint(at, "/", i), one, s)...)
		}
		return all
	default:
		if fmt.Sprintf("%T", v) == fmt.Sprintf("%T", sample) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s is %T, not %T", at, v, sample)}
}

// differElement compares an element of a list with those of the sample: with the one of its type, if
// they have types, or else with the nearest.
func differElement(at string, v any, samples []any) (best []string) {
	for i, s := range samples {
		if kind := str(v, "type"); kind != "" && str(s, "type") != "" && str(s, "type") != kind {
			continue
		}
		found := differ(at, v, s)
		if found == nil {
			return nil
		}
		if i == 0 || best == nil || len(found) < len(best) {
			best = found
		}
	}
	return best
}

// same fails the test if v has what the sample has not.
func same(t *testing.T, name string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	var plain any
	require.NoError(t, json.Unmarshal(data, &plain))
	method := strings.TrimPrefix(name, "api/")
	all := slices.DeleteFunc(differ("", plain, sample(t, name)), func(p string) bool { return slices.Contains(documented, method+" "+p) })
	require.Empty(t, all, name)
}

// shaped is a call of the test of shapes.
type shaped struct {
	method string
	args   []string
}

// Answers have no member that Slack's do not have.
func TestShapesOfAnswers(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	root := w.Say(ann, channel, "", "hi <@U1>")
	blocks := `[{"type":"section","text":{"type":"mrkdwn","text":"x"}},{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"}}]},
		{"type":"header","text":{"type":"plain_text","text":"x"}},{"type":"context","elements":[{"type":"mrkdwn","text":"x"}]},{"type":"divider"}]`
	ts := ask(t, w, "chat.postMessage", BotToken, "channel", channel, "thread_ts", root, "text", "x", "blocks", blocks)["ts"].(string)
	stream := ask(t, w, "chat.startStream", BotToken, "channel", channel, "thread_ts", root, "recipient_team_id", TeamID, "recipient_user_id", ann)["ts"].(string)
	v := ask(t, w, "files.getUploadURLExternal", BotToken, "filename", "a.txt", "length", "5")
	upload(t, str(v, "upload_url"), "hello")
	opened := ask(t, w, "views.open", BotToken, "trigger_id", a.trigger(ann, channel), "view", form)
	home := `{"type":"home","blocks":[{"type":"divider"}]}`
	for _, c := range []shaped{
		{"auth.test", nil},
		{"chat.postMessage", []string{"channel", channel, "thread_ts", root, "text", "x", "blocks", blocks}},
		{"chat.postMessage", []string{"channel", channel, "text", "x", "blocks", `[{"type":"unheard"}]`}},
		{"chat.update", []string{"channel", channel, "ts", ts, "text", "y", "blocks", blocks}},
		{"chat.postEphemeral", []string{"channel", channel, "user", ann, "text", "x"}},
		{"chat.startStream", []string{"channel", channel, "thread_ts", root, "recipient_team_id", TeamID, "recipient_user_id", ann}},
		{"chat.appendStream", []string{"channel", channel, "ts", stream, "markdown_text", "x"}},
		{"chat.stopStream", []string{"channel", channel, "ts", stream}},
		{"conversations.replies", []string{"channel", channel, "ts", root, "include_all_metadata", "true"}},
		{"conversations.history", []string{"channel", channel}},
		{"conversations.info", []string{"channel", channel}},
		{"users.info", []string{"user", ann}},
		{"files.getUploadURLExternal", []string{"filename", "a.txt", "length", "5"}},
		{"files.completeUploadExternal", []string{"files", `[{"id":"` + str(v, "file_id") + `"}]`, "channel_id", channel}},
		{"assistant.threads.setStatus", []string{"channel_id", channel, "thread_ts", root, "status", "x"}},
		{"assistant.threads.setTitle", []string{"channel_id", channel, "thread_ts", root, "title", "x"}},
		{"reactions.add", []string{"channel", channel, "timestamp", root, "name", "eyes"}},
		{"views.open", []string{"trigger_id", a.trigger(ann, channel), "view", form}},
		{"views.publish", []string{"user_id", ann, "view", home}},
		{"views.update", []string{"view_id", str(opened, "view", "id"), "view", form}},
		{"chat.delete", []string{"channel", channel, "ts", ts}},
	} {
		same(t, "api/"+c.method, ask(t, w, c.method, BotToken, c.args...))
	}
}
