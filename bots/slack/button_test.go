package slack_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// card is an approval as the bot posts it: two buttons deny.
func card() bots.Message {
	return bots.Message{Key: "card", Class: bots.Approval, Text: "May I?", Code: "rm x", Buttons: []bots.Button{
		{Label: "Approve", Action: bots.Approve, Value: "1.1.1 sha256:aa", Style: bots.Primary},
		{Label: "Deny", Action: bots.Deny, Value: "1.1.1 sha256:aa", Style: bots.Danger},
		{Label: "Deny with reason", Action: bots.Deny, Value: "1.1.1\nsha256:aa", Ask: "What should be done instead?"},
		{Label: "Stop", Action: bots.Stop},
		{Label: "Deny the other", Action: bots.Deny, Value: "1.1.2"},
	}}
}

func TestClicks(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	th := f.root()
	f.accepted(1)
	id := f.post(th, card())
	m := f.w.Thread(f.c, th.ID)[1]
	require.Equal(t, []string{"Approve", "Deny", "Deny with reason", "Stop", "Deny the other"}, m.Labels())
	require.Equal(t, "primary", m.Buttons[0].Style)
	require.Equal(t, "danger", m.Buttons[1].Style)
	require.Equal(t, "approve", m.Buttons[0].ActionID)

	ids := map[string]bool{}
	for i, c := range []struct {
		label  string
		action bots.Action
		value  string
	}{
		{"Approve", bots.Approve, "1.1.1 sha256:aa"},
		{"Deny", bots.Deny, "1.1.1 sha256:aa"},
		{"Stop", bots.Stop, ""},
		{"Deny the other", bots.Deny, "1.1.2"},
		{"Deny the other", bots.Deny, "1.1.2"},
	} {
		require.NoError(t, f.w.Click(f.bob, f.c, string(id), c.label))
		got := f.accepted(i + 2)[i+1].(bots.Clicked)
		ids[got.ID] = true
		got.ID, got.By.Name = "", ""
		require.Equal(t, bots.Clicked{Thread: th, Message: id, By: bots.Person{ID: f.bob}, Action: c.action, Value: c.value}, got)
	}
	require.Len(t, ids, 5, "each press is its own")
}

func TestClickIsNotAcknowledgedUnlessAccepted(t *testing.T) {
	f := newFixture(t, slacktest.Config{AckWithin: time.Second})
	f.listen()
	th := f.root()
	f.accepted(1)
	id := f.post(th, card())
	f.mu.Lock()
	f.fail = []error{errors.New("the disk is full")}
	f.mu.Unlock()
	require.ErrorContains(t, f.w.Click(f.bob, f.c, string(id), "Approve"), "timeout")
	require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Approve"))
	f.accepted(2)
}

func TestClickInADirectMessage(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	c := f.w.Direct(f.alice)
	th := bots.Thread{Platform: "slack", Workspace: slacktest.TeamID, Channel: c, ID: f.w.Say(f.alice, c, "", "hello")}
	id := f.post(th, card())
	require.NoError(t, f.w.Click(f.alice, c, string(id), "Approve"))
	require.Equal(t, th, f.accepted(2)[1].(bots.Clicked).Thread)
}

func TestReason(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	th := f.root()
	f.accepted(1)
	id := f.post(th, card())
	for i, c := range []struct{ typed, reason string }{{"  use <trash> & keep it \n", "use <trash> & keep it"}, {"", ""}} {
		require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Deny with reason"))
		f.wait("the form", func() bool { _, ok := f.w.View(f.bob); return ok })
		v, _ := f.w.View(f.bob)
		require.Equal(t, "Deny with reason", v.Title)
		require.Equal(t, "What should be done instead?", v.Question)
		require.NoError(t, f.w.Submit(f.bob, c.typed))
		got := f.accepted(i + 2)[i+1].(bots.Clicked)
		require.Equal(t, "form/"+v.ID, got.ID)
		got.ID, got.By.Name = "", ""
		require.Equal(t, bots.Clicked{Thread: th, Message: id, By: bots.Person{ID: f.bob}, Action: bots.Deny,
			Value: "1.1.1\nsha256:aa", Reason: c.reason}, got)
		_, open := f.w.View(f.bob)
		require.False(t, open)
	}
}

func TestFormThatDoesNotOpenIsTold(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	th := f.root()
	id := f.post(th, card())
	f.w.API.Fail("views.open", slacktest.Fault{Error: "expired_trigger_id"})
	require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Deny with reason"))
	f.wait("a word to bob", func() bool {
		thread := f.w.Thread(f.c, th.ID)
		return len(thread) == 3 && thread[2].For == f.bob && strings.Contains(thread[2].Text, "press the button again")
	})
}

func TestAnswerThatIsNotAcceptedKeepsTheForm(t *testing.T) {
	f := newFixture(t, slacktest.Config{AckWithin: time.Second})
	f.listen()
	th := f.root()
	f.accepted(1)
	id := f.post(th, card())
	require.NoError(t, f.w.Click(f.bob, f.c, string(id), "Deny with reason"))
	f.wait("the form", func() bool { _, ok := f.w.View(f.bob); return ok })
	f.mu.Lock()
	f.fail = []error{errors.New("the disk is full")}
	f.mu.Unlock()
	require.Error(t, f.w.Submit(f.bob, "no"))
	require.NoError(t, f.w.Submit(f.bob, "no"))
	f.accepted(2)
}

func TestOtherInteractionsAreAcknowledged(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	f.w.Socket.Raw(`{"envelope_id":"e1","type":"interactive","payload":{"type":"shortcut","callback_id":"x"}}`)
	f.w.Socket.Raw(`{"envelope_id":"e2","type":"slash_commands","payload":{"command":"/x"}}`)
	f.w.Socket.Raw(`{"envelope_id":"e3","type":"from_the_future","payload":{}}`)
	f.w.Socket.Raw(`{"envelope_id":"e4","type":"interactive","payload":{"type":"view_submission","view":{"callback_id":"heddle.ask","private_metadata":"{"}}}`)
	f.wait("acknowledgements", func() bool { return f.w.Socket.Stats().Acks == 4 })
	require.Empty(t, f.got())
}
