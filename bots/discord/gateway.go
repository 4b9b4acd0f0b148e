package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/cenkalti/backoff/v5"
	"github.com/gorilla/websocket"

	"github.com/heddle-bot/heddle/bots"
)

// This file keeps a connection to the Gateway: it decides after each when and how the next is opened.
// The session of a connection that broke is resumed at the address that Discord has given for it, and
// Discord sends again what was missed. If Discord has given the session up a new one begins, of which
// Discord allows 1,000 a day, and a day with more costs the token: so the budget is asked for each time.

// A gateway is one run of Listen's connections. It is used by one goroutine but for seq.
type gateway struct {
	d    *Discord
	in   *intake
	log  *slog.Logger
	pace pace

	session string       // "" is none
	resume  string       // the session's address
	seq     atomic.Int64 // of the session's latest event
	begun   time.Time    // the latest session
}

// errInvalid is a session that Discord has called invalid.
type errInvalid struct{ resumable bool }

func (e errInvalid) Error() string { return "discord calls the session invalid" }

// hold keeps connected until ctx ends or there is no hope.
func (g *gateway) hold(ctx context.Context) error {
	pause := &backoff.ExponentialBackOff{InitialInterval: g.pace.first, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: g.pace.last}
	for {
		up, err := g.connect(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if hopeless := hopeless(err); hopeless != nil {
			g.d.pulse.note(func(h *Health) { h.LastError = err.Error() })
			return hopeless
		}
		if !keeps(err) {
			g.session = ""
		}
		wait := time.Duration(0)
		_, invalid := errors.AsType[errInvalid](err)
		switch {
		case up:
			pause.Reset()
			g.log.Info("discord disconnected", "err", err, "resume", g.session != "")
		case !invalid:
			wait = pause.NextBackOff()
			if e, ok := errors.AsType[*bots.Error](err); ok {
				wait = max(wait, e.RetryAfter)
			}
			g.log.Warn("discord cannot be reached", "err", err)
			g.d.pulse.note(func(h *Health) { h.LastError = err.Error() })
		}
		if invalid {
			wait = g.pace.invalid()
		}
		if !sleep(ctx, wait) {
			return ctx.Err()
		}
	}
}

// keeps reports whether the session outlives a connection that ended so.
func keeps(err error) bool {
	if invalid, ok := errors.AsType[errInvalid](err); ok {
		return invalid.resumable
	}
	closed, ok := errors.AsType[*websocket.CloseError](err)
	if !ok {
		return true
	}
	switch closed.Code {
	case 4003, 4007, 4009: // not identified, wrong sequence, too late
		return false
	}
	return true
}

// connect opens a connection and reads it to its end. It reports whether events came in.
func (g *gateway) connect(ctx context.Context) (up bool, err error) {
	address, fresh := g.resume, g.session == ""
	if fresh {
		if address, err = g.budget(ctx); err != nil {
			return false, err
		}
		g.begun = time.Now()
		g.seq.Store(0)
	}
	c, err := g.dial(ctx, address)
	if err != nil {
		g.resume = g.fallback(fresh)
		return false, err
	}
	defer c.close()
	if err := c.hello(); err != nil {
		return false, err
	}
	if fresh {
		err = c.identify()
	} else {
		err = c.send(opResume, map[string]any{"token": g.d.rest.token, "session_id": g.session, "seq": g.seq.Load()})
	}
	if err != nil {
		return false, err
	}
	err = c.read(ctx, func(d dispatch) {
		up = true
		g.ready(d)
	})
	if up {
		g.d.pulse.disconnected()
	}
	return up, err
}

// fallback gives up a session whose address cannot be reached: the next is found at the common one.
func (g *gateway) fallback(fresh bool) string {
	if !fresh {
		g.session = ""
	}
	return ""
}

// ready takes in READY or RESUMED.
func (g *gateway) ready(d dispatch) {
	fresh := d.Type == "READY"
	if fresh {
		var r struct {
			Session string `json:"session_id"`
			Resume  string `json:"resume_gateway_url"`
		}
		_ = json.Unmarshal(d.Data, &r) // without, there is a new session next time
		g.session, g.resume = r.Session, r.Resume
	}
	g.d.pulse.connected(fresh)
	g.log.Info("discord connected", "resumed", !fresh)
}

// budget waits until a session may begin, and returns the Gateway's address.
func (g *gateway) budget(ctx context.Context) (address string, err error) {
	if g.begun != (time.Time{}) && !sleep(ctx, time.Until(g.begun.Add(g.pace.identify))) {
		return "", ctx.Err()
	}
	for {
		var b struct {
			URL    string `json:"url"`
			Shards int    `json:"shards"`
			Limit  struct {
				Remaining  int   `json:"remaining"`
				ResetAfter int64 `json:"reset_after"` // ms
			} `json:"session_start_limit"`
		}
		err := g.d.rest.do(ctx, call{method: "GET", path: path(discordgo.EndpointGatewayBot)}, &b)
		switch {
		case err != nil:
			return "", err
		case b.URL == "":
			return "", errors.New("discord does not tell where its gateway is")
		case b.Limit.Remaining > 0:
			return b.URL, nil
		}
		wait := time.Duration(b.Limit.ResetAfter)*time.Millisecond + time.Second
		g.log.Error("discord allows no more sessions today; waiting", "for", wait)
		g.d.pulse.note(func(h *Health) {
			h.LastError = "discord allows no more sessions until " + time.Now().Add(wait).UTC().Format(time.RFC3339)
		})
		if !sleep(ctx, wait) {
			return "", ctx.Err()
		}
	}
}

// intents are the events that we want.
func (c Config) intents() discordgo.Intent {
	all := discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if !c.WithoutContent {
		all |= discordgo.IntentMessageContent
	}
	return all
}

// gatewayURL returns the address with what Discord wants behind it.
func gatewayURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("the gateway's address: %w", err)
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawQuery = url.Values{"v": {discordgo.APIVersion}, "encoding": {"json"}}.Encode()
	return u.String(), nil
}

// hopeless returns an error that says what to do, if trying again cannot help to connect, or nil.
func hopeless(err error) error {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		if do := remedy(closed.Code); do != "" {
			return fmt.Errorf("discord refuses the connection: %w: %s", err, do)
		}
		return nil
	}
	r, ok := errors.AsType[*refusal](err)
	switch {
	case !ok:
	case r.status == http.StatusUnauthorized:
		return fmt.Errorf("discord refuses the token: %w: %s", err, remedy(4004))
	case r.status == http.StatusNotFound && strings.Contains(err.Error(), "/gateway/bot"):
		return fmt.Errorf("discord: there is no REST API at the configured address: correct api_url or leave it out (%w)", err)
	}
	return nil
}

// remedy returns what a person must do about the code with which a connection was closed; "" if
// another may help.
func remedy(code int) string {
	switch code {
	case 4004:
		return "on the application's page (https://discord.com/developers/applications) press “Reset Token” under “Bot”, and copy the new token"
	case 4010:
		return "the number of the shard is wrong: it must be less than how many there are"
	case 4011:
		return "the bot is in too many guilds for one connection: configure shards"
	case 4012:
		return "this release speaks a version of the Gateway that Discord has ended: update it"
	case 4013:
		return "this release asks for an intent that Discord does not know: update it"
	case 4014:
		return "on the application's page (https://discord.com/developers/applications) enable “Message Content Intent” under “Bot”, or configure the bot to do without it"
	}
	return ""
}

// sleep reports whether d went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
