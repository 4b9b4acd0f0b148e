package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// A rest is Discord's REST API, called as the bot. The library's own client is not used: it tries
// posts again by itself, and waits for rate limits without heeding the context.
type rest struct {
	base   string // with the version
	token  string
	http   *http.Client
	limits *limiter

	mu sync.Mutex
	me *user // nil until Discord has told
}

// A call is one request to Discord.
type call struct {
	method string
	path   string // behind the version
	class  bots.Class
	body   any          // nil is none
	file   *bots.Upload // beside the body; nil is none
	free   bool         // an answer to an interaction: its address is its right, and no limit is for it
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 16 << 20

// route returns the call as Discord's limits see it: the route, and the channel, guild or webhook that
// it is about.
func (c call) route() (route, about string) {
	path, _, _ := strings.Cut(c.path, "?")
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := 1; i < len(parts); i++ {
		switch {
		case parts[0] == "webhooks" && i == 2, i == 1 && (parts[0] == "channels" || parts[0] == "guilds" || parts[0] == "webhooks"):
			about += parts[i]
			parts[i] = "*"
		case strings.Trim(parts[i], "0123456789") == "":
			parts[i] = "*"
		}
	}
	return c.method + " /" + strings.Join(parts, "/"), about
}

// do makes a call when the limits allow, and decodes the answer into out, if that is not nil. Its
// errors are *bots.Error. It never tries again.
func (r *rest) do(ctx context.Context, c call, out any) error {
	name, _ := c.route()
	fail := func(e *bots.Error) error {
		e.Err = fmt.Errorf("%s: %w", name, e.Err)
		return e
	}
	leave := func(*http.Response, *refusal) {}
	if !c.free {
		var err error
		if leave, err = r.limits.enter(ctx, c); err != nil {
			e := &bots.Error{Err: err}
			if busy, ok := errors.AsType[*busyError](err); ok {
				e.RetryAfter = busy.after
			}
			return fail(e)
		}
	}
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	req, err := r.request(ctx, c)
	if err != nil {
		leave(nil, nil)
		return fail(&bots.Error{Permanent: true, Err: err})
	}
	resp, err := r.http.Do(req)
	if err != nil {
		leave(nil, nil)
		return fail(&bots.Error{Unsure: sent.Load(), Err: err})
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	refused := readRefusal(resp, answer)
	leave(resp, refused)
	switch {
	case refused != nil:
		return fail(classify(refused))
	case err == nil && out != nil:
		err = json.Unmarshal(answer, out)
	}
	if err != nil { // it is done, but we do not know with what result
		return fail(&bots.Error{Unsure: true, Err: err})
	}
	return nil
}

func (r *rest) request(ctx context.Context, c call) (*http.Request, error) {
	var body io.Reader
	var contentType string
	if c.body != nil {
		data, err := json.Marshal(c.body)
		if err != nil {
			return nil, fmt.Errorf("encoding the body: %w", err)
		}
		body, contentType = bytes.NewReader(data), "application/json"
		if c.file != nil {
			body, contentType = form(data, c.file)
		}
	}
	req, err := http.NewRequestWithContext(ctx, c.method, r.base+c.path, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if !c.free {
		req.Header.Set("Authorization", "Bot "+r.token)
	}
	req.Header.Set("User-Agent", "DiscordBot (https://github.com/heddle-bot/heddle, 1)")
	return req, nil
}

// form returns a body with a file beside it.
func form(payload []byte, file *bots.Upload) (io.Reader, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreatePart(map[string][]string{ // writing to memory does not fail
		"Content-Disposition": {`form-data; name="payload_json"`},
		"Content-Type":        {"application/json"},
	})
	_, _ = part.Write(payload)
	part, _ = w.CreateFormFile("files[0]", file.Name)
	_, _ = part.Write(file.Content)
	_ = w.Close()
	return &b, w.FormDataContentType()
}

// path returns what an address of the library's is behind the version of the API.
func path(endpoint string) string {
	return "/" + strings.TrimPrefix(endpoint, discordgo.EndpointAPI)
}

// whoami returns who we are. It asks Discord once.
func (r *rest) whoami(ctx context.Context) (*user, error) {
	r.mu.Lock()
	me := r.me
	r.mu.Unlock()
	if me != nil {
		return me, nil
	}
	me = &user{}
	if err := r.do(ctx, call{method: "GET", path: path(discordgo.EndpointUser("@me"))}, me); err != nil {
		return nil, err
	}
	if me.ID == "" {
		return nil, &bots.Error{Err: errors.New("discord does not tell who we are")}
	}
	r.mu.Lock()
	r.me = me
	r.mu.Unlock()
	return me, nil
}
