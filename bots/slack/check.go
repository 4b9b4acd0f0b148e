package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// login is whoami that tries until Slack answers. It fails if Slack refuses the token, or ctx ends.
func (s *Slack) login(ctx context.Context) (*identity, error) {
	return backoff.Retry(ctx, func() (*identity, error) {
		me, err := s.web.whoami(ctx)
		if err == nil {
			return me, nil
		}
		if hopeless := hopeless(err); hopeless != nil {
			return nil, backoff.Permanent(hopeless)
		}
		s.cfg.Logger.Warn("slack does not answer", "err", err)
		s.pulse.note(func(h *Health) { h.LastError = err.Error() })
		if e, ok := errors.AsType[*bots.Error](err); ok && e.RetryAfter > 0 {
			return nil, &backoff.RetryAfterError{Duration: e.RetryAfter}
		}
		return nil, err
	}, backoff.WithMaxElapsedTime(0))
}

// A Finding is the outcome of one check.
type Finding struct {
	Name string // what was checked
	OK   bool
	Text string // what was found; if not OK, what to do
}

// Check looks whether the tokens can do what is needed of them, and whether the bot is in the channels
// of those addresses, which are like bots.Thread.ChannelID. It posts nothing. It ends with ctx or after
// half a minute, and two seconds more for each channel.
func (s *Slack) Check(ctx context.Context, channels ...string) []Finding {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second+time.Duration(len(channels))*2*time.Second)
	defer cancel()
	me, all := s.checkBot(ctx)
	if s.cfg.SigningSecret != "" {
		all = append(all, Finding{"slack signing secret", true, "there is one; whether it is the right one shows when Slack sends something"})
	} else {
		all = append(all, s.checkApp(ctx))
	}
	if me == nil {
		return all
	}
	for _, address := range channels {
		ok, text := s.web.checkChannel(ctx, me, address)
		all = append(all, Finding{"channel " + address, ok, text})
	}
	return all
}

// checkBot also returns who the bot is, if Slack tells.
func (s *Slack) checkBot(ctx context.Context) (*identity, []Finding) {
	me, err := s.web.whoami(ctx)
	if err != nil {
		return nil, []Finding{{Name: "slack bot token", Text: advice(err)}}
	}
	all := []Finding{{"slack bot token", true, fmt.Sprintf("connected to %s as %s", me.teamName, me.name)}}
	if len(me.scopes) == 0 {
		return me, all // a proxy may drop the header that lists them
	}
	missing := slices.DeleteFunc(needed(), func(scope string) bool { return slices.Contains(me.scopes, scope) })
	if len(missing) > 0 {
		return me, append(all, Finding{Name: "slack scopes", Text: fmt.Sprintf(
			"add %s on the app's page under “OAuth & Permissions”, then reinstall the app", strings.Join(missing, ", "))})
	}
	return me, append(all, Finding{"slack scopes", true, "all that are needed"})
}

func (s *Slack) checkApp(ctx context.Context) Finding {
	const name = "slack socket mode"
	err := s.web.call(ctx, request{method: "apps.connections.open"}, func(ctx context.Context) error {
		_, _, err := s.web.api.StartSocketModeContext(ctx)
		return err
	})
	if err != nil {
		return Finding{Name: name, Text: advice(err)}
	}
	return Finding{name, true, "a connection may be opened"}
}

// advice returns what to do about err.
func advice(err error) string {
	if hopeless := hopeless(err); hopeless != nil {
		return hopeless.Error()
	}
	return err.Error()
}

// hopeless returns an error that says what to do, if trying again cannot help to connect, or nil.
func hopeless(err error) error {
	refused, ok := errors.AsType[slack.SlackErrorResponse](err)
	if !ok {
		if status, ok := errors.AsType[slack.StatusCodeError](err); ok && status.Code == http.StatusNotFound {
			return fmt.Errorf("slack: there is no Web API at the configured address: correct api_url or leave it out (%w)", err)
		}
		return nil
	}
	do := remedy(refused.Err)
	if do == "" {
		return nil
	}
	if refused.Needed != "" {
		do += " (needed: " + refused.Needed + ")"
	}
	return fmt.Errorf("slack refuses the connection: %w: %s", err, do)
}

// remedy returns what a person must do about a refusal to connect; "" if waiting may help.
func remedy(code string) string {
	switch code {
	case "invalid_auth", "not_authed":
		return "copy both tokens from the app's page again, and check that they belong to the same app"
	case "account_inactive", "token_revoked", "token_expired":
		return "the app was removed from the workspace or its token revoked: reinstall it and copy the new tokens"
	case "missing_scope", "no_permission":
		return "add the scope to the token (bot token: “OAuth & Permissions”, then reinstall; app token: create one with connections:write)"
	case "not_allowed_token_type":
		return "this is another kind of token: the bot token begins with xoxb-, the app token with xapp-"
	case "access_denied", "forbidden_team", "team_access_not_granted", "ekm_access_denied", "org_login_required", "app_not_installed":
		return "an administrator of the workspace must allow the app"
	case "socket_mode_not_enabled", "socket_mode_disabled":
		return "switch Socket Mode on, on the app's page under “Socket Mode”"
	}
	return ""
}
