package slack

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// errEmpty is an answer that says neither yes nor no.
var errEmpty = errors.New("slack's answer is empty")

// busyFor is the wait when Slack says that it is too much without saying for how long.
const busyFor = 30 * time.Second

// classify sorts the failure of a call. sent says whether the request may have reached Slack.
func classify(err error, sent bool) *bots.Error {
	e := &bots.Error{Err: err}
	if busy, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		e.RetryAfter = max(busy.RetryAfter, time.Second)
		return e
	}
	if _, ok := errors.AsType[*strconv.NumError](err); ok { // of Retry-After
		e.RetryAfter = busyFor
		return e
	}
	if refused, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		refusal(e, refused.Err)
		return e
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		switch {
		case status.Code == http.StatusTooManyRequests:
			e.RetryAfter = busyFor
		case status.Code >= 500:
			e.Unsure = true
		}
		return e
	}
	e.Unsure = sent
	return e
}

// refusedFor returns the code with which Slack has refused a call, or "" if it has not.
func refusedFor(err error) string {
	refused, _ := errors.AsType[slack.SlackErrorResponse](err)
	return refused.Err
}

// refusal sorts the error code of an answer.
func refusal(e *bots.Error, code string) {
	switch code {
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		e.RetryAfter = busyFor
	case "fatal_error", "internal_error", "request_timeout", "service_unavailable":
		e.Unsure = true // "some aspect of the operation may have succeeded"
	case "message_not_found":
		e.Permanent = true
		e.Err = errors.Join(bots.ErrUnknownMessage, e.Err)
	default:
		e.Permanent = permanent(code)
	}
}

// permanent reports whether the code is a refusal of just this message, here and for ever. A refusal
// of the token is none: once whoever runs the program has mended it, the message can be posted.
func permanent(code string) bool {
	switch code {
	case "channel_not_found", "not_in_channel", "user_not_in_channel", "user_not_found", "is_archived", "is_inactive",
		"channel_is_archived", "channel_type_not_supported", "messages_tab_disabled", "cannot_dm_bot", "thread_not_found",
		"thread_locked", "cannot_reply_to_message", "invalid_thread_ts":
		return true // the place
	case "invalid_blocks", "invalid_blocks_format", "block_mismatch", "msg_too_long", "msg_blocks_too_long", "no_text",
		"too_many_attachments", "invalid_metadata_format", "invalid_metadata_schema", "metadata_too_large", "metadata_must_be_sent_from_app",
		"invalid_arguments", "invalid_arg_name", "invalid_array_arg", "invalid_form_data":
		return true // the form
	case "cant_update_message", "edit_window_closed", "update_failed", "is_bot", "external_channel_migrating",
		"restricted_action", "restricted_action_read_only_channel", "restricted_action_thread_only_channel",
		"restricted_action_non_threadable_channel", "restricted_action_thread_locked", "slack_connect_blocked_file_type",
		"team_not_found", "as_user_not_supported", "not_allowed":
		return true // the right
	}
	return false
}
