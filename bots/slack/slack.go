// Package slack connects the agent to Slack: Socket Mode or HTTP in, the Web API out.
//
// What people say, press and command comes in on web sockets that the program opens (socket.go), so
// that no address of ours has to be reachable, or by requests of Slack's to ours (http.go). It is
// decoded by small structs of our own (event.go), offered to the bot in order, once (intake.go), and
// acknowledged only when the bot has taken it. Messages go out as
// mrkdwn (render.go) in blocks (compose.go), a turn at work as a stream of tasks where Slack has streams
// (stream.go, tasks.go), at the rate that Slack allows (limit.go), and every
// refusal is sorted into what can be tried again and what cannot (errors.go).
//
// What may be changed here is how Slack is spoken to. What a thread shows is decided in package
// bots. The names of actions and the form of metadata and of a button's value are in messages
// already posted, and are for ever.
//
// BUG(slack): what people write while the program is down longer than Slack tries to deliver (some
// six minutes) is not caught up with.
//
// BUG(slack): if the program dies between the start of a stream and its receipt while an older stream of
// the same thread is open too, the older one may be taken for it: streams have no key before they end.
//
// BUG(slack): mrkdwn has no escape for stars, underscores and tildes, so a literal *word* shows bold.
package slack

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// Name is the Info.Name of this network.
const Name = "slack"

// maxText is the size of a piece of text, in bytes. Slack counts characters: 3,000 in a section,
// and 4,000 in the plain text of an edit.
const maxText = 3000

// editEvery paces how often one thread's progress changes. All threads together share 50 edits and 100
// additions to streams a minute; see limiter.
const editEvery = 2 * time.Second

// Config is how to reach a workspace.
type Config struct {
	BotToken      string        // xoxb-…, of the installed app
	AppToken      string        // xapp-…, with the scope connections:write; only Socket Mode needs it
	SigningSecret string        // if not empty, events come to Handler; if empty, by Socket Mode
	APIURL        string        // of the Web API; empty is Slack's own
	HTTPClient    *http.Client  // for the Web API; nil is one with a timeout. It must have one: Slack's answers may never come
	SilentFor     time.Duration // that a socket may show no sign of life before it counts as dead; 0 is 30 s
	Logger        *slog.Logger  // nil logs nothing
}

// Slack is one workspace, connected as one app. It implements bots.Platform.
type Slack struct {
	cfg     Config
	web     *web
	names   *names
	streams *streams

	hooks *hooks
	pulse *pulse

	status status
}

var _ bots.Platform = (*Slack)(nil)

// New returns the workspace that the tokens are for. It asks Slack nothing yet.
func New(c Config) (*Slack, error) {
	if err := checkTokens(c); err != nil {
		return nil, err
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{Timeout: 30 * time.Second}
	}
	if c.SilentFor == 0 {
		c.SilentFor = 30 * time.Second
	}
	limits := newLimiter()
	opts := []slack.Option{slack.OptionAppLevelToken(c.AppToken), slack.OptionHTTPClient(c.HTTPClient)}
	if c.APIURL != "" {
		opts = append(opts, slack.OptionAPIURL(strings.TrimRight(c.APIURL, "/")+"/"))
	}
	p := &pulse{}
	w := &web{api: slack.New(c.BotToken, opts...), limits: limits}
	return &Slack{
		cfg:     c,
		web:     w,
		names:   newNames(),
		streams: newStreams(w, c.Logger),
		hooks:   &hooks{secret: c.SigningSecret, log: c.Logger, pulse: p},
		pulse:   p,
	}, nil
}

// checkTokens tells tokens that are missing or in each other's place by how they begin.
func checkTokens(c Config) error {
	for _, t := range []struct{ what, token, begin, where string }{
		{"bot token", c.BotToken, "xoxb-", "“OAuth & Permissions”, “Bot User OAuth Token”"},
		{"app token", c.AppToken, "xapp-", "“Basic Information”, “App-Level Tokens”"},
	} {
		switch {
		case t.begin == "xapp-" && c.SigningSecret != "":
		case t.token == "":
			return fmt.Errorf("slack: the %s is missing: it is on the app's page under %s", t.what, t.where)
		case !strings.HasPrefix(t.token, t.begin):
			return fmt.Errorf("slack: the %s must begin with %s: it is on the app's page under %s", t.what, t.begin, t.where)
		}
	}
	if c.HTTPClient != nil && c.HTTPClient.Timeout == 0 {
		return errors.New("slack: Config.HTTPClient needs a timeout")
	}
	return nil
}

// Info implements bots.Platform.
func (s *Slack) Info() bots.Info {
	return bots.Info{
		Name:      Name,
		EditEvery: editEvery,
		Render:    func(markdown string) []string { return render(markdown, maxText) },
		MaxText:   maxText,
		MaxLabel:  maxLabel,
		MaxCode:   maxCode,
		CodeSize:  codeSize,
		Mention:   s.names.mention,
		Abilities: bots.Abilities{
			Working:    s.working,
			WorkingFor: statusFor,
			Fetch:      fetcher{s.cfg, s.web}.fetch,
			Earlier:    past{s.web, s.names}.earlier,
			Home:       s.web.home,
			MaxHome:    maxHome,
			Link:       s.web.link,
			Direct:     func(channel string) bool { return direct(channel, "") },
		},
	}
}
