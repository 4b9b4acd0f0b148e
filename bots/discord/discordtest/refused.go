package discordtest

import (
	"net/http"
	"time"
)

// A refused is why a call does not succeed.
type refused struct {
	status  int
	code    int
	message string
	errors  object // of code 50035, nested as the body is

	after  time.Duration // of a call that comes too soon
	scope  string        // of that limit
	global bool
	bare   bool // Cloudflare answers, not Discord: no JSON
}

// reasons are Discord's codes with the status of HTTP and the words that go with them.
var reasons = map[int]struct {
	status int
	words  string
}{
	10002:  {404, "Unknown Application"},
	10003:  {404, "Unknown Channel"},
	10004:  {404, "Unknown Guild"},
	10007:  {404, "Unknown Member"},
	10008:  {404, "Unknown Message"},
	10011:  {404, "Unknown Role"},
	10013:  {404, "Unknown User"},
	10015:  {404, "Unknown Webhook"},
	10062:  {404, "Unknown interaction"},
	10063:  {404, "Unknown application command"},
	20028:  {429, "The write action you are performing on the channel has hit the write rate limit."},
	20012:  {403, "You are not authorized to perform this action on this application"},
	30034:  {429, "Max number of daily application command creates has been reached (200)"},
	40005:  {413, "Request entity too large"},
	40060:  {400, "Interaction has already been acknowledged."},
	40062:  {429, "Service resource is being rate limited."},
	50001:  {403, "Missing Access"},
	50005:  {403, "Cannot edit a message authored by another user"},
	50006:  {400, "Cannot send an empty message"},
	50007:  {403, "Cannot send messages to this user"},
	50008:  {400, "Cannot send messages in a non-text channel"},
	50013:  {403, "Missing Permissions"},
	50021:  {403, "Cannot execute action on a system message"},
	50024:  {400, "Cannot execute action on this channel type"},
	50027:  {401, "Invalid Webhook Token"},
	50035:  {400, "Invalid Form Body"},
	50083:  {400, "Thread is archived"},
	50109:  {400, "The request body contains invalid JSON."},
	160004: {400, "A thread has already been created for this message"},
	160005: {400, "Thread is locked"},
	160006: {400, "Maximum number of active threads reached"},
}

// refuse returns the refusal with one of Discord's codes.
func refuse(code int) *refused {
	r := reasons[code]
	return &refused{status: r.status, code: code, message: r.words}
}

// plain returns a refusal that has no code of its own.
func plain(status int) *refused {
	words := map[int]string{401: "401: Unauthorized", 403: "403: Forbidden", 404: "404: Not Found", 405: "405: Method Not Allowed"}[status]
	return &refused{status: status, message: words}
}

// soon returns the refusal of a call that comes too soon.
func soon(after time.Duration, scope string) *refused {
	return &refused{status: http.StatusTooManyRequests, message: "You are being rate limited.", after: after, scope: scope, global: scope == "global"}
}

// answer is what Discord sends.
func (no *refused) answer() object {
	v := object{"message": no.message, "code": no.code}
	if no.errors != nil {
		v["errors"] = no.errors
	}
	if no.status == http.StatusTooManyRequests {
		v["retry_after"], v["global"] = no.after.Seconds(), no.global
		if no.code == 0 {
			delete(v, "code")
		}
	}
	return v
}
