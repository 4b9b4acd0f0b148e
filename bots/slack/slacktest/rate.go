package slacktest

import (
	"slices"
	"time"
)

// A callLog is when methods were called in the last minute: by method, and by place where the limit
// is for each of them.
type callLog map[string][]time.Time

// window is the time that Slack's rate limits count in.
const window = time.Minute

// tiers are Slack's rate limits by tier, in calls a minute. Slack promises that many and tells nobody
// how many more it lets through; here there are none.
var tiers = [...]int{1: 1, 2: 20, 3: 50, 4: 100}

// admit notes a call, or refuses it because of the rate limits.
func (l callLog) admit(name string, m method, c call, now time.Time) *refused {
	lane, most := name, 0
	switch {
	case m.tier > 0:
		most = tiers[m.tier]
	case name == "chat.postMessage": // one a second, with short bursts
		lane, most = name+" "+c.args.Get("channel"), 60
	case name == "assistant.threads.setStatus": // is not told; others keep to one a second
		lane, most = name+" "+c.args.Get("channel_id")+" "+c.args.Get("thread_ts"), 60
	default: // "hundreds a minute"
		most = 300
	}
	recent := slices.DeleteFunc(l[lane], func(t time.Time) bool { return now.Sub(t) >= window })
	if len(recent) >= most {
		l[lane] = recent
		return &refused{code: "ratelimited", after: recent[len(recent)-most].Add(window).Sub(now)}
	}
	l[lane] = append(recent, now)
	return nil
}
