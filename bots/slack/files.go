package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// fetchWithin is how long a file may take, whoever asks for it.
const fetchWithin = 5 * time.Minute

// maxRedirects is how often a file may be said to lie elsewhere.
const maxRedirects = 3

// A file is one attachment of a message.
type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title"`
	Type     string `json:"mimetype"`
	Mode     string `json:"mode"`
	Size     int64  `json:"size"`
	URL      string `json:"url_private"`
	Download string `json:"url_private_download"`
}

// readFiles decodes the files of a message. What is odd about one costs neither the others nor the
// text. Files that are deleted, and those that are nowhere, are left out.
func readFiles(raw json.RawMessage) []bots.File {
	var each []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &each) != nil {
		return nil
	}
	var all []bots.File
	for _, raw := range each {
		var f file
		_ = json.Unmarshal(raw, &f) // what could be read counts
		all = f.appendTo(all)
	}
	return all
}

// appendTo appends the file if it is anywhere. Its Ref is a URL, or the id where Slack does not tell
// one, as in channels that are shared with another organisation; and, after a space, the type that is
// to be found there.
func (f file) appendTo(all []bots.File) []bots.File {
	address := strings.ReplaceAll(cmp.Or(f.URL, f.Download, f.ID), " ", "%20")
	if address == "" || f.Mode == "tombstone" || f.Mode == "hidden_by_limit" {
		return all
	}
	return append(all, bots.File{
		Ref:  strings.TrimSpace(address + " " + f.Type),
		Name: cmp.Or(f.Name, f.Title, f.ID),
		Type: f.Type,
		Size: f.Size,
	})
}

// A fetcher opens files.
type fetcher struct {
	cfg Config
	web *web
}

// fetch opens a file by its Ref. Who reads it bounds its size.
func (f fetcher) fetch(ctx context.Context, ref string) (io.ReadCloser, error) {
	address, mimeType, _ := strings.Cut(ref, " ")
	if !strings.Contains(address, "://") {
		var err error
		if address, err = f.addressOf(ctx, address); err != nil {
			return nil, err
		}
	}
	resp, err := f.download(ctx, address)
	if err != nil {
		return nil, err
	}
	if e := notTheFile(resp, mimeType); e != nil {
		_ = resp.Body.Close()
		return nil, e
	}
	return resp.Body, nil
}

// addressOf asks Slack where a file is.
func (f fetcher) addressOf(ctx context.Context, id string) (address string, err error) {
	err = f.web.call(ctx, request{method: "files.info", class: bots.Notice}, func(ctx context.Context) error {
		got, _, _, err := f.web.api.GetFileInfoContext(ctx, id, 0, 0)
		if err == nil {
			address = cmp.Or(got.URLPrivate, got.URLPrivateDownload)
		}
		return err
	})
	if err == nil && address == "" {
		err = &bots.Error{Permanent: true, Err: fmt.Errorf("slack does not say where the file %s is", id)}
	}
	return address, err
}

// download asks for what is at address, as the bot. The token goes to Slack's own hosts and to that
// of the Web API, and nowhere else, wherever a redirect leads.
func (f fetcher) download(ctx context.Context, address string) (*http.Response, error) {
	client := *f.cfg.HTTPClient
	client.Timeout = fetchWithin
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range maxRedirects + 1 {
		u, err := url.Parse(address)
		if err == nil && !f.trusted(u) {
			err = fmt.Errorf("it lies outside of slack, at %s", u.Hostname())
		}
		if err != nil {
			return nil, &bots.Error{Permanent: true, Err: fmt.Errorf("fetching a file: %w", err)}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, &bots.Error{Permanent: true, Err: fmt.Errorf("fetching a file: %w", err)}
		}
		req.Header.Set("Authorization", "Bearer "+f.cfg.BotToken)
		resp, err := client.Do(req)
		if err != nil {
			return nil, &bots.Error{Err: fmt.Errorf("fetching a file: %w", err)}
		}
		next, err := resp.Location()
		if err != nil || resp.StatusCode < 300 || resp.StatusCode > 399 {
			return resp, nil
		}
		_ = resp.Body.Close()
		if next.Query().Has("redir") { // the page for signing in
			return nil, mayNotRead()
		}
		address = next.String()
	}
	return nil, &bots.Error{Permanent: true, Err: errors.New("fetching a file: slack sends us from place to place")}
}

// trusted reports whether the token may be sent to u: every call goes to the one, and files are at
// the others.
func (f fetcher) trusted(u *url.URL) bool {
	if api, err := url.Parse(f.cfg.APIURL); err == nil && api.Host != "" && u.Scheme == api.Scheme && strings.EqualFold(u.Host, api.Host) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return u.Scheme == "https" && u.User == nil && slices.ContainsFunc([]string{"slack.com", "slack-gov.com"}, func(domain string) bool {
		return host == domain || strings.HasSuffix(host, "."+domain)
	})
}

func mayNotRead() error {
	return &bots.Error{Permanent: true, Err: errors.New(
		"fetching a file: slack wants somebody to sign in: add the scope files:read under “OAuth & Permissions”, and reinstall the app")}
}

// notTheFile returns why an answer is not the file of that type, or nil.
func notTheFile(resp *http.Response, mimeType string) error {
	fail := &bots.Error{Err: fmt.Errorf("fetching a file: slack answers %s", resp.Status)}
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		fail.RetryAfter = max(time.Duration(seconds)*time.Second, time.Second)
		return fail
	case status >= 500:
		return fail
	case status != http.StatusOK:
		fail.Permanent = true
		return fail
	}
	page := func(contentType string) bool {
		kind, _, _ := mime.ParseMediaType(contentType)
		return kind == "text/html" || kind == "application/xhtml+xml"
	}
	if page(resp.Header.Get("Content-Type")) && !page(mimeType) {
		return mayNotRead()
	}
	return nil
}
