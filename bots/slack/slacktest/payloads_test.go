package slacktest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Events, interactions and commands have no member that Slack's do not have.
func TestShapesOfPayloads(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann, bob := connect(t, w), w.AddUser("ann"), w.People.AddStranger("bob")
	root := w.Say(ann, channel, "", "@heddle hi")
	w.People.Edit(channel, root, "hello")
	w.People.Delete(channel, w.Say(bob, channel, root, "reply"))
	w.People.Attach(ann, channel, root, "see", Attachment{Name: "a.txt", Content: "hello"})
	w.People.OpenHome(ann)
	require.NoError(t, w.People.Command(ann, channel, "help"))
	ask(t, w, "views.open", BotToken, "trigger_id", a.trigger(ann, channel), "view", form)
	same(t, "app-backend/interactive-components/BlockActionPayload", a.last("interactive")["payload"])
	require.NoError(t, w.Submit(ann, "x"))
	same(t, "app-backend/views/ViewSubmissionPayload", a.last("interactive")["payload"])
	command := a.last("slash_commands")["payload"].(map[string]any)
	require.Equal(t, "false", command["is_enterprise_install"], "it is text here: commands are forms")
	delete(command, "is_enterprise_install")
	same(t, "app-backend/slash-commands/SlashCommandPayload", command)
	for _, c := range []struct {
		sample, kind, subtype string
		n                     int
	}{
		{"AppMention", "app_mention", "", 1},
		{"MessageChanged", "message", "message_changed", 1},
		{"MessageDeleted", "message", "message_deleted", 1},
		{"MessageFileShare", "message", "file_share", 1},
		{"FileShared", "file_shared", "", 1},
		{"AppHomeOpened", "app_home_opened", "", 1},
	} {
		t.Run(c.sample, func(t *testing.T) {
			same(t, "events/"+c.sample+"Payload", a.events(c.n, c.kind, c.subtype)[0])
		})
	}
}
