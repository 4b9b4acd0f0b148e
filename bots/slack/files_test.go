package slack_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// attached returns the files of a message as Listen delivers them.
func (f *fixture) attached(files ...slacktest.Attachment) []bots.File {
	f.w.People.Attach(f.alice, f.c, "", "@heddle look", files...)
	got := f.accepted(1)[0].(bots.Said).Files
	require.Len(f.t, got, len(files))
	return got
}

func (f *fixture) fetch(ref string) (string, error) {
	body, err := f.s.Info().Fetch(f.t.Context(), ref)
	if err != nil {
		return "", err
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	require.NoError(f.t, err)
	return string(content), nil
}

func TestFetch(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	for i, file := range f.attached(
		slacktest.Attachment{Name: "a b.txt", Type: "text/plain", Content: "0"},
		slacktest.Attachment{Name: "page.html", Type: "text/html", Content: "1"},
		slacktest.Attachment{Name: "shared.png", Type: "image/png", Content: "2", Unknown: true},
	) {
		content, err := f.fetch(file.Ref)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(i), content)
	}
	all := f.got()[0].(bots.Said).Files
	moved := slacktest.Attachment{Name: "moved.txt", Type: "text/plain", Moved: strings.TrimSuffix(all[0].Ref, " text/plain")}
	f.w.People.Attach(f.alice, f.c, "", "@heddle look", moved)
	content, err := f.fetch(f.accepted(2)[1].(bots.Said).Files[0].Ref)
	require.NoError(t, err)
	require.Equal(t, "0", content, "slack may send us to another of its hosts")
	require.Equal(t, "a b.txt", all[0].Name)
	require.Equal(t, "text/plain", all[0].Type)
	require.EqualValues(t, 1, all[0].Size)
}

// A page on which people would sign in is not the file.
func TestFetchWithoutTheScope(t *testing.T) {
	f := newFixture(t, slacktest.Config{Scopes: "chat:write,users:read"})
	f.listen()
	file := f.attached(slacktest.Attachment{Name: "a.txt", Type: "text/plain", Content: "0"})[0]
	_, err := f.fetch(file.Ref)
	require.ErrorContains(t, err, "files:read")
	require.True(t, failure(t, err).Permanent)
	_, err = f.fetch(f.w.URL[:len(f.w.URL)-len("api/")] + "signin image/png")
	require.ErrorContains(t, err, "files:read", "without a redirect")
}

// The token goes to nobody but Slack, whatever a message or a redirect says.
func TestFetchKeepsTheToken(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	f.listen()
	asked := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer elsewhere.Close()
	own := strings.TrimSuffix(f.w.URL, "/api/")
	files := f.attached(
		slacktest.Attachment{Name: "a", Type: "x/y", URL: elsewhere.URL + "/a"},
		slacktest.Attachment{Name: "b", Type: "x/y", Moved: elsewhere.URL + "/b"},
		slacktest.Attachment{Name: "c", Type: "x/y", Moved: "/files-pri/c"},
	)
	for _, ref := range []string{
		files[0].Ref,
		files[1].Ref,
		files[2].Ref,
		strings.Replace(own, "http://", "https://", 1) + "/files-pri/F1",
		strings.Replace(own, "http://", "http://files.slack.com@", 1) + "x/",
		"http://files.slack.com/a", "https://notslack.com/a", "https://slack.com.invalid/a", "https://x:y@files.slack.com/a", "://",
	} {
		_, err := f.fetch(ref)
		require.True(t, failure(t, err).Permanent, ref)
		require.NotContains(t, err.Error(), slacktest.BotToken)
	}
	require.Zero(t, asked)
}

func TestFetchFails(t *testing.T) {
	f := newFixture(t, slacktest.Config{})
	own := strings.TrimSuffix(f.w.URL, "/api/")
	_, err := f.fetch(own + "/files-pri/FNONE/x image/png")
	require.True(t, failure(t, err).Permanent)
	_, err = f.fetch("FNONE")
	require.ErrorContains(t, err, "file_not_found")
	f.w.API.Fail("files.info", slacktest.Fault{Status: 429, RetryAfter: "7"})
	_, err = f.fetch("FNONE")
	require.Positive(t, failure(t, err).RetryAfter)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = f.s.Info().Fetch(ctx, own+"/files-pri/FNONE/x")
	require.ErrorIs(t, err, context.Canceled)
}

func TestEarlier(t *testing.T) {
	f := newFixture(t, slacktest.Config{PageSize: 3})
	mallory := f.w.People.AddStranger("mallory")
	f.listen()
	root := f.w.Say(f.alice, f.c, "", "the *plan* is <https://x.invalid>")
	f.post(f.thread(root), bots.Message{Key: "k", Text: "words of ours"})
	for i := range 6 {
		f.w.Say(f.bob, f.c, root, fmt.Sprint(i))
	}
	f.w.People.Attach(mallory, f.c, root, "", slacktest.Attachment{Name: "a.txt", Type: "text/plain"})
	ask := f.w.Say(f.alice, f.c, root, "@heddle what do you think?")
	f.w.Say(f.bob, f.c, root, "later")
	f.accepted(10)

	texts := func(most int, before string) (got []string, cut bool) {
		all, cut, err := f.s.Info().Earlier(t.Context(), f.thread(root), before, most)
		require.NoError(t, err)
		for _, s := range all {
			require.Equal(t, f.thread(root), s.Thread)
			got = append(got, s.By.Name+": "+s.Text)
		}
		return got, cut
	}
	got, cut := texts(100, ask)
	require.Equal(t, []string{"alice: the *plan* is <https://x.invalid>", "bob: 0", "bob: 1", "bob: 2", "bob: 3", "bob: 4", "bob: 5", "mallory: "}, got)
	require.False(t, cut)
	got, cut = texts(3, ask)
	require.Equal(t, []string{"alice: the *plan* is <https://x.invalid>", "bob: 5", "mallory: "}, got)
	require.True(t, cut)
	got, cut = texts(1, ask)
	require.Len(t, got, 1)
	require.True(t, cut)
	got, cut = texts(8, ask)
	require.Len(t, got, 8)
	require.False(t, cut)

	all, _, err := f.s.Info().Earlier(t.Context(), f.thread(root), ask, 2)
	require.NoError(t, err)
	require.True(t, all[1].By.Outside)
	require.Len(t, all[1].Files, 1)
	require.True(t, all[1].Reply)
	require.False(t, all[0].Reply)

	f.w.API.Fail("conversations.replies", slacktest.Fault{Error: "not_in_channel"})
	_, _, err = f.s.Info().Earlier(t.Context(), f.thread(root), ask, 2)
	require.True(t, failure(t, err).Permanent)
}
