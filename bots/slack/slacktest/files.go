package slacktest

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A File is one that somebody has put into the workspace.
type File struct {
	ID    string
	Name  string
	Title string
	Type  string // of its content, by MIME
	Data  []byte
	User  string

	link   string // where Slack says it is
	length int    // announced by the bot; -1 once the file is complete
	there  bool   // the bot has sent the content
	veiled bool   // events tell its id only
	moved  string // where its address leads, if not to it
	in     []string
}

// maxFile is the most that one file may have, in bytes.
const maxFile = 1 << 30

func (f File) json() map[string]any {
	if f.veiled {
		return map[string]any{"id": f.ID, "created": 0, "timestamp": 0, "user": "", "mode": "file_access",
			"file_access": "check_file_info"}
	}
	v := f.whole()
	for _, name := range []string{"channels", "groups", "ims"} {
		delete(v, name) // files.info tells
	}
	return v
}

// whole is the file as files.info tells of it.
func (f File) whole() map[string]any {
	const archive = "https://heddle.slack.invalid"
	kind := strings.TrimPrefix(path.Ext(f.Name), ".")
	return map[string]any{"id": f.ID, "created": 1, "timestamp": 1, "name": f.Name, "title": f.Title, "mimetype": f.Type, "filetype": kind,
		"pretty_type": strings.ToUpper(kind), "user": f.User, "user_team": TeamID, "editable": false, "size": len(f.Data), "mode": "hosted",
		"is_external": false, "external_type": "", "is_public": true, "public_url_shared": false, "display_as_bot": false, "username": "",
		"url_private": f.link, "url_private_download": f.link, "permalink": archive + "/files/" + f.User + "/" + f.ID + "/" + url.PathEscape(f.Name),
		"permalink_public": archive + "/" + f.ID, "has_rich_preview": false, "file_access": "visible",
		"channels": append([]string{}, f.in...), "groups": []string{}, "ims": []string{}}
}

// keep puts a new file into the workspace.
func keep(w *Workspace, f File) *File {
	f.ID = "F0" + rand.Text()[:9]
	if f.link == "" {
		f.link = w.server.URL + "/files-pri/" + TeamID + "-" + f.ID + "/" + url.PathEscape(f.Name)
	}
	w.files[f.ID] = &f
	return &f
}

func uploadURL(w *Workspace, c call) (map[string]any, *refused) {
	n, err := strconv.Atoi(c.args.Get("length"))
	switch {
	case err != nil || n < 0:
		return nil, refuse("invalid_arguments", "must provide an integer [json-pointer:/length]")
	case n == 0:
		return nil, refuse("missing_argument")
	case n > maxFile:
		return nil, refuse("file_upload_size_restricted")
	case length(c.args.Get("alt_txt")) > 1000:
		return nil, refuse("alt_txt_too_large")
	case c.args.Has("snippet_type") && n > 1<<20:
		return nil, refuse("snippet_too_large")
	}
	name := c.args.Get("filename")
	f := keep(w, File{Name: name, Title: name, User: BotUser, length: n})
	return map[string]any{"upload_url": w.server.URL + "/upload/v1/" + f.ID, "file_id": f.ID}, nil
}

// receive takes the content of a file that the bot has announced: as it is, or as a part of a form.
func receive(w *Workspace, rw http.ResponseWriter, r *http.Request) {
	var body io.Reader = http.MaxBytesReader(rw, r.Body, maxFile)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		parts, err := r.MultipartReader()
		if err == nil {
			body, err = parts.NextPart()
		}
		if err != nil {
			http.Error(rw, "no file", http.StatusBadRequest)
			return
		}
	}
	data, err := io.ReadAll(body)
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.files[r.PathValue("file")]
	switch {
	case f == nil || f.there:
		http.Error(rw, "not found", http.StatusNotFound)
	case err != nil || len(data) != f.length:
		http.Error(rw, fmt.Sprintf("%d bytes were announced", f.length), http.StatusBadRequest)
	default:
		f.Data, f.Type, f.there = data, http.DetectContentType(data), true
		fmt.Fprintf(rw, "OK - %d", len(data))
	}
}

func completeUpload(w *Workspace, c call) (map[string]any, *refused) {
	var asked []struct{ ID, Title string }
	if err := json.Unmarshal([]byte(c.args.Get("files")), &asked); err != nil || len(asked) == 0 {
		return nil, refuse("invalid_arguments", "must provide an array [json-pointer:/files]")
	}
	var ch *channel
	if c.args.Get("channel_id") != "" {
		var no *refused
		if ch, no = w.place(c, "channel_id"); no != nil {
			return nil, no
		}
	}
	if c.args.Get("thread_ts") != "" && (ch == nil || ch.thread(c.args.Get("thread_ts")) == "") {
		return nil, refuse("invalid_arguments", "thread not found [json-pointer:/thread_ts]")
	}
	for _, a := range asked {
		if f := w.files[a.ID]; f == nil || !f.there || f.length < 0 {
			return nil, refuse("file_not_found")
		}
	}
	var told []map[string]any
	var files []File
	for _, a := range asked {
		f := w.files[a.ID]
		f.length = -1
		if a.Title != "" {
			f.Title = a.Title
		}
		told = append(told, map[string]any{"id": f.ID, "title": f.Title})
		if ch != nil {
			f.in = append(f.in, ch.id)
		}
		files = append(files, *f)
	}
	if ch != nil {
		m := &Message{TS: w.next(), User: BotUser, Thread: ch.thread(c.args.Get("thread_ts")), Files: files,
			Text: c.args.Get("initial_comment"), Fallback: c.args.Get("initial_comment")}
		post(w, ch, m)
	}
	return map[string]any{"files": told}, nil
}

func fileInfo(w *Workspace, c call) (map[string]any, *refused) {
	f := w.files[c.args.Get("file")]
	if f == nil || f.length > 0 {
		return nil, refuse("file_not_found")
	}
	return map[string]any{"file": f.whole(), "comments": []any{}, "response_metadata": map[string]any{"next_cursor": ""}}, nil
}

// download answers with the content of a file, or leads whom it does not know to the page where
// people log in: that answers with 200, as Slack's does.
func download(w *Workspace, rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	f := w.files[strings.TrimPrefix(r.PathValue("file"), TeamID+"-")]
	allowed := r.Header.Get("Authorization") == "Bearer "+BotToken && slices.Contains(strings.Split(w.cfg.Scopes, ","), "files:read")
	w.mu.Unlock()
	switch {
	case !allowed:
		http.Redirect(rw, r, "/signin?redir="+r.URL.EscapedPath(), http.StatusFound)
	case f == nil || f.Name != r.PathValue("name"):
		http.NotFound(rw, r)
	case f.moved != "":
		http.Redirect(rw, r, f.moved, http.StatusFound)
	default:
		rw.Header().Set("Content-Type", f.Type)
		http.ServeContent(rw, r, f.Name, time.Time{}, strings.NewReader(string(f.Data)))
	}
}

func signIn(_ *Workspace, rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(rw, "<!DOCTYPE html><html><head><title>Sign in to Slack</title></head><body></body></html>\n")
}
