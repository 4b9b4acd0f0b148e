package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// fetchWithin is how long a file may take, whoever asks for it.
const fetchWithin = 5 * time.Minute

// An attachment is a file of a message. Its address is good for a day.
type attachment struct {
	ID   string `json:"id"`
	Name string `json:"filename"`
	Type string `json:"content_type"`
	Size int64  `json:"size"`
	URL  string `json:"url"`
}

func attachments(m message) (all []attachment) {
	if len(m.Attachments) > 0 {
		_ = json.Unmarshal(m.Attachments, &all) // what is odd about one file does not cost the words
	}
	return all
}

// readFiles decodes the files of a message. A Ref is the ids of channel, message and file: the file's
// address is asked for when it is fetched.
func readFiles(m message) []bots.File {
	var all []bots.File
	for _, a := range attachments(m) {
		if a.ID != "" {
			all = append(all, bots.File{Ref: m.Channel + "/" + m.ID + "/" + a.ID, Name: a.Name, Type: a.Type, Size: a.Size})
		}
	}
	return all
}

// A fetcher opens files.
type fetcher struct{ rest *rest }

// fetch opens a file by its Ref. Who reads it bounds its size.
func (f fetcher) fetch(ctx context.Context, ref string) (io.ReadCloser, error) {
	p := strings.Split(ref, "/")
	if len(p) != 3 {
		return nil, &bots.Error{Permanent: true, Err: fmt.Errorf("%q names no file of discord", ref)}
	}
	var m message
	c := call{method: "GET", path: path(discordgo.EndpointChannelMessage(p[0], p[1])), class: bots.Notice}
	if err := f.rest.do(ctx, c, &m); err != nil {
		return nil, fmt.Errorf("looking for a file: %w", err)
	}
	for _, a := range attachments(m) {
		if a.ID == p[2] {
			return f.download(ctx, a.URL)
		}
	}
	return nil, &bots.Error{Permanent: true, Err: errors.New("the file does not exist any more")}
}

// download asks for what is at an address, without our token. It is one that Discord has given, yet
// no other host is asked than Discord's and that of the REST API.
func (f fetcher) download(ctx context.Context, address string) (io.ReadCloser, error) {
	u, err := url.Parse(address)
	if err != nil || !f.trusted(u) {
		return nil, &bots.Error{Permanent: true, Err: errors.New("fetching a file: it lies outside of discord")}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &bots.Error{Permanent: true, Err: fmt.Errorf("fetching a file: %w", err)}
	}
	client := *f.rest.http
	client.Timeout = fetchWithin
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return nil, &bots.Error{Err: fmt.Errorf("fetching a file: %w", err)}
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	e := &bots.Error{Err: fmt.Errorf("fetching a file: discord answers %s", resp.Status)}
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		after, _ := seconds(resp.Header.Get("Retry-After"))
		e.RetryAfter = max(after, time.Second)
	case resp.StatusCode < 500:
		e.Permanent = true
	}
	return nil, e
}

// trusted reports whether u is at Discord, or where our calls go.
func (f fetcher) trusted(u *url.URL) bool {
	if api, err := url.Parse(f.rest.base); err == nil && u.Scheme == api.Scheme && strings.EqualFold(u.Host, api.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	for _, domain := range []string{"discordapp.com", "discordapp.net", "discord.com"} {
		if u.Scheme == "https" && (host == domain || strings.HasSuffix(host, "."+domain)) {
			return true
		}
	}
	return false
}
