package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// A web is the Web API, called as the app.
type web struct {
	api    *slack.Client
	limits *limiter

	mu sync.Mutex
	me *identity // nil until Slack has told
}

// call makes a call when the rate limit allows. Its errors are *bots.Error.
func (w *web) call(ctx context.Context, r request, f func(context.Context) error) error {
	if err := w.limits.wait(ctx, r); err != nil {
		e := &bots.Error{Err: fmt.Errorf("%s: %w", r.method, err)}
		if busy, ok := errors.AsType[*busyError](err); ok {
			e.RetryAfter = busy.after
		}
		return e
	}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	err := f(httptrace.WithClientTrace(ctx, trace))
	if err == nil {
		return nil
	}
	e := classify(err, sent.Load())
	if e.RetryAfter > 0 {
		w.limits.pause(r, e.RetryAfter)
	}
	e.Err = fmt.Errorf("%s: %w", r.method, e.Err)
	return e
}

// An identity is who we are, as auth.test tells.
type identity struct {
	team, teamName string
	url            string // of the workspace in the web, with a slash at its end
	enterprise     string // that the team is a part of; empty if of none
	user, name     string
	bot            string   // our messages carry this id
	scopes         []string // that the bot token has
}

// whoami returns who we are. It asks Slack once.
func (w *web) whoami(ctx context.Context) (*identity, error) {
	w.mu.Lock()
	me := w.me
	w.mu.Unlock()
	if me != nil {
		return me, nil
	}
	err := w.call(ctx, request{method: "auth.test"}, func(ctx context.Context) error {
		a, err := w.api.AuthTestContext(ctx)
		if err != nil {
			return err
		}
		if a.UserID == "" || a.TeamID == "" {
			return errEmpty
		}
		me = &identity{team: a.TeamID, teamName: a.Team, url: a.URL, enterprise: a.EnterpriseID, user: a.UserID, name: a.User, bot: a.BotID, scopes: scopes(a.Header)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.me = me
	w.mu.Unlock()
	return me, nil
}

func scopes(h http.Header) []string {
	return strings.FieldsFunc(h.Get("X-OAuth-Scopes"), func(r rune) bool { return r == ',' || r == ' ' })
}
