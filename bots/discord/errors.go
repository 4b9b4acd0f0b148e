package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// A refusal is an answer that is no success.
type refusal struct {
	status int
	code   int // Discord's own; 0 is none
	text   string
	after  time.Duration // of 429
	global bool          // of 429: all calls have to wait
	shared bool          // of 429: others have used the limit up
}

func (r *refusal) Error() string {
	if r.code == 0 {
		return fmt.Sprintf("discord answers %d %s", r.status, http.StatusText(r.status))
	}
	return fmt.Sprintf("discord answers %d: %s (%d)", r.status, r.text, r.code)
}

// busyFor is the wait when Discord says that it is too much without saying for how long.
const busyFor = 5 * time.Second

// readRefusal returns what an answer refuses, or nil.
func readRefusal(resp *http.Response, body []byte) *refusal {
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	var said struct {
		Code       int             `json:"code"`
		Message    string          `json:"message"`
		RetryAfter float64         `json:"retry_after"`
		Global     bool            `json:"global"`
		Errors     json.RawMessage `json:"errors"`
	}
	_ = json.Unmarshal(body, &said) // a proxy answers without
	r := &refusal{status: resp.StatusCode, code: said.Code, text: said.Message}
	if len(said.Errors) > 0 && len(said.Errors) < 500 {
		r.text += " " + string(said.Errors)
	}
	if r.status != http.StatusTooManyRequests {
		return r
	}
	r.after = time.Duration(said.RetryAfter * float64(time.Second))
	if after, err := seconds(resp.Header.Get("Retry-After")); err == nil && after > r.after && r.after <= 0 {
		r.after = after
	}
	if r.after <= 0 {
		r.after = busyFor
	}
	r.global = said.Global || resp.Header.Get("X-RateLimit-Global") == "true"
	r.shared = resp.Header.Get("X-RateLimit-Scope") == "shared"
	return r
}

// codeOf returns Discord's code of a refusal, or 0.
func codeOf(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code
	}
	return 0
}

// classify sorts a refusal.
func classify(r *refusal) *bots.Error {
	e := &bots.Error{Err: r}
	switch {
	case r.status == http.StatusTooManyRequests:
		e.RetryAfter = r.after
	case r.status >= 500:
		e.Unsure = true
	case r.code == discordgo.ErrCodeUnknownMessage:
		e.Permanent = true
		e.Err = errors.Join(bots.ErrUnknownMessage, r)
	case r.code == discordgo.ErrCodeMaximumNumberOfActiveThreadsReached:
		e.RetryAfter = time.Minute
	default:
		e.Permanent = r.status == http.StatusRequestEntityTooLarge || permanent(r.code)
	}
	return e
}

// permanent reports whether the code is a refusal of just this message, here and for ever. A refusal
// of the token is none: once whoever runs the program has mended it, the message can be posted.
func permanent(code int) bool {
	switch code {
	case discordgo.ErrCodeUnknownChannel, discordgo.ErrCodeUnknownGuild, discordgo.ErrCodeUnknownUser,
		discordgo.ErrCodeMissingAccess, discordgo.ErrCodeThreadIsLocked, discordgo.ErrCodeCannotExecuteActionOnThisChannelType,
		discordgo.ErrCodeCannotExecuteActionOnDMChannel, discordgo.ErrCodeCannotSendMessagesInVoiceChannel:
		return true // the place
	case discordgo.ErrCodeInvalidFormBody, discordgo.ErrCodeCannotSendEmptyMessage, discordgo.ErrCodeRequestEntityTooLarge,
		discordgo.ErrCodeFileUploadedExceedsTheMaximumSize, discordgo.ErrCodeInvalidFileUploaded, discordgo.ErrCodeTheRequestBodyContainsInvalidJSON:
		return true // the form
	case discordgo.ErrCodeMissingPermissions, discordgo.ErrCodeCannotSendMessagesToThisUser, discordgo.ErrCodeCannotEditFromAnotherUser,
		discordgo.ErrCodeExplicitContentCannotBeSentToTheDesiredRecipients, discordgo.ErrCodeChannelVerificationLevelTooHigh,
		discordgo.ErrCodeUnknownInteraction, discordgo.ErrCodeUnknownWebhook, discordgo.ErrCodeInvalidWebhookTokenProvided,
		discordgo.ErrCodeCannotExecuteActionOnSystemMessage:
		return true // the right
	}
	return false
}

// passes reports whether what Discord was asked for may be answered later. What it refuses for a reason that
// it tells, it refuses again: whoever waits for that would wait for ever.
func passes(err error) bool {
	e, ok := errors.AsType[*bots.Error](err)
	if !ok || e.Permanent || hopeless(err) != nil {
		return false
	}
	r, refused := errors.AsType[*refusal](err)
	return !refused || r.code == 0 || r.status == http.StatusTooManyRequests || r.status >= 500
}
