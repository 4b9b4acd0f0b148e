package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func upload(key string) bots.Message {
	return bots.Message{Key: key, Text: "the whole answer", Upload: &bots.Upload{Name: "answer.md", Content: []byte("# Answer")}}
}

func TestUpload(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	require.NotEmpty(t, f.post(th, upload("k")))
	m := f.w.Thread(f.c, th.ID)[1]
	require.Equal(t, "the whole answer", m.Text)
	require.Equal(t, "# Answer", string(m.Files[0].Data))
	require.Equal(t, "answer.md", m.Files[0].Title)
}

// A file whose post may have come through is looked for, and is not posted twice.
func TestUploadWhoseAnswerIsLost(t *testing.T) {
	for _, c := range []struct {
		name    string
		applied bool
	}{{"it came through", true}, {"it did not", false}} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, slacktest.Config{})
			th := f.root()
			f.w.API.Fail("files.completeUploadExternal", slacktest.Fault{Drop: true, Applied: c.applied})
			_, err := f.s.Post(t.Context(), th, upload("k"))
			require.True(t, failure(t, err).Unsure)
			again := upload("k")
			again.Unsure = true
			require.NotEmpty(t, f.post(th, again))
			require.Len(t, f.w.Thread(f.c, th.ID), 2, "the root and one file")
			require.NotEmpty(t, f.post(th, upload("another")))
			require.Len(t, f.w.Thread(f.c, th.ID), 3)
		})
	}
}

func TestUploadWithoutTheScope(t *testing.T) {
	f := newFixture(t, slacktest.Config{Scopes: "chat:write,users:read"})
	_, err := f.s.Post(t.Context(), f.root(), upload("k"))
	require.True(t, failure(t, err).Permanent)
	require.ErrorContains(t, err, "files:write")
}

// That the bot is at work is shown around the thread, until it posts there or says that it is done.
func TestStatus(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	th := f.root()
	shown := func() string { return f.w.People.Assistant(f.c, th.ID).Status }
	working := f.s.Info().Working
	working(t.Context(), th, true)
	require.Equal(t, "is working…", shown())
	f.post(th, bots.Message{Key: "k", Text: "done"})
	require.Empty(t, shown())
	working(t.Context(), th, true)
	working(t.Context(), th, false)
	require.Empty(t, shown())

	f.w.API.Fail("assistant.threads.setStatus", slacktest.Fault{Error: "method_not_supported_for_channel_type"})
	working(t.Context(), th, true)
	calls := len(f.w.API.Calls("assistant.threads.setStatus"))
	working(t.Context(), th, true)
	require.Len(t, f.w.API.Calls("assistant.threads.setStatus"), calls, "where Slack refuses it nobody tries again")
}
