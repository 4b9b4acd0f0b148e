package discordtest

import (
	"fmt"
	"hash/crc32"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// limits are when calls were let through: by bucket and place, and "" for all together.
type limits map[string][]time.Time

// Discord's limits: of each bucket as it is commonly seen, and of all calls together.
const (
	bucketCalls  = 5
	bucketWindow = 5 * time.Second
	globalCalls  = 50
	globalWindow = time.Second
)

// take lets a call through, or tells how long it has to wait.
func (l limits) take(key string, most int, window time.Duration, now time.Time) (left int, reset time.Duration, ok bool) {
	recent := slices.DeleteFunc(l[key], func(t time.Time) bool { return now.Sub(t) >= window })
	ok = len(recent) < most
	if ok {
		recent = append(recent, now)
	}
	l[key] = recent
	return most - len(recent), recent[0].Add(window).Sub(now), ok
}

// banned reports whether Cloudflare lets nothing through any more.
func (a *API) banned() bool { return a.Invalid() >= a.n.cfg.MaxInvalid }

// admit notes a call and sets the headers that tell how many more may come, or refuses it.
func (a *API) admit(name string, r route, q *request, h http.Header) *refused {
	now := time.Now()
	if a.banned() {
		no := soon(10*time.Minute, "")
		no.bare = true
		return no
	}
	if r.free {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !r.hook { // calls with the token of an interaction do not count to the global limit
		if _, reset, ok := a.limits.take("", globalCalls, globalWindow, now); !ok {
			return soon(reset, "global")
		}
	}
	bucket := fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(name)))
	major := []string{bucket}
	for _, p := range []string{"channel", "guild", "app", "token"} {
		major = append(major, q.r.PathValue(p))
	}
	left, reset, ok := a.limits.take(strings.Join(major, "/"), bucketCalls, bucketWindow, now)
	h.Set("X-RateLimit-Limit", strconv.Itoa(bucketCalls))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(now.Add(reset).UnixMilli())/1000))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", reset.Seconds()))
	h.Set("X-RateLimit-Bucket", bucket)
	if !ok {
		return soon(reset, "user")
	}
	return nil
}

// headers sets what goes with a refusal.
func (no *refused) headers(h http.Header) {
	if no.status != http.StatusTooManyRequests {
		return
	}
	h.Set("Retry-After", strconv.Itoa(int(math.Ceil(no.after.Seconds()))))
	if no.scope != "" {
		h.Set("X-RateLimit-Scope", no.scope)
	}
	if no.global {
		h.Set("X-RateLimit-Global", "true")
	}
}
