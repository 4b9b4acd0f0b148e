package slacktest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// upload sends content to an upload URL and returns the status of the answer.
func upload(t *testing.T, address, content string) int {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(address, "application/octet-stream", strings.NewReader(content))
	require.NoError(t, err)
	defer resp.Body.Close()
	return resp.StatusCode
}

func TestBotUploads(t *testing.T) {
	w, channel := newWorkspace(t)
	a, root := connect(t, w), w.Say(w.AddUser("ann"), channel, "", "hi")
	v := ask(t, w, "files.getUploadURLExternal", BotToken, "filename", "a.txt", "length", "5")
	files := `[{"id":"` + str(v, "file_id") + `","title":"Report"}]`
	complete := func() map[string]any {
		return ask(t, w, "files.completeUploadExternal", BotToken, "files", files, "channel_id", channel, "thread_ts", root, "initial_comment", "see")
	}
	require.Equal(t, "file_not_found", complete()["error"], "it has no content yet")
	require.Equal(t, 400, upload(t, str(v, "upload_url"), "long content"))
	require.Equal(t, 200, upload(t, str(v, "upload_url"), "hello"))
	require.Equal(t, 404, upload(t, str(v, "upload_url"), "hello"), "once")
	require.Equal(t, true, complete()["ok"])
	require.Equal(t, "file_not_found", complete()["error"], "once")
	m := w.Thread(channel, root)[1]
	require.Equal(t, []string{"see", "Report", "hello"}, []string{m.Text, m.Files[0].Title, string(m.Files[0].Data)})
	require.Equal(t, BotUser, str(a.events(1, "message", "file_share")[0], "event", "user"))
	require.Equal(t, "a.txt", str(ask(t, w, "files.info", BotToken, "file", str(v, "file_id")), "file", "name"))
}

// A file is for who has the token and the scope; others get a page where people log in, with status 200.
func TestDownloads(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	w.People.Attach(ann, channel, "", "@heddle look", Attachment{Name: "a b.png", Content: "\x89PNG\r\n\x1a\n..."})
	event := a.events(1, "message", "file_share")[0]["event"]
	require.Equal(t, "<@"+BotUser+"> look", str(event, "text"))
	require.Len(t, a.events(1, "file_shared", ""), 1)
	require.Equal(t, str(event, "ts"), str(a.events(1, "app_mention", "file_share")[0], "event", "ts"))
	file := objects(event, "files")[0]
	require.Equal(t, "image/png", file["mimetype"])
	body := func(token string) string {
		resp := get(t, str(file, "url_private"), token)
		require.Equal(t, 200, resp.StatusCode)
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(data)
	}
	require.Equal(t, "\x89PNG\r\n\x1a\n...", body(BotToken))
	require.Contains(t, body(""), "<!DOCTYPE html>")
	require.Contains(t, body("xoxb-wrong"), "<!DOCTYPE html>")
	require.Equal(t, 404, get(t, w.server.URL+"/files-pri/"+TeamID+"-F404/x", BotToken).StatusCode)
}

// A file may be elsewhere, or its address may lead elsewhere.
func TestFilesElsewhere(t *testing.T) {
	w, channel := newWorkspace(t)
	a, ann := connect(t, w), w.AddUser("ann")
	w.People.Attach(ann, channel, "", "see", Attachment{Name: "a", URL: "https://example.com/a"}, Attachment{Name: "b", Moved: w.server.URL + "/signin"})
	files := objects(a.events(1, "message", "file_share")[0], "event", "files")
	require.Equal(t, "https://example.com/a", files[0]["url_private"])
	require.Equal(t, "/signin", get(t, str(files[1], "url_private"), BotToken).Request.URL.Path)
}
