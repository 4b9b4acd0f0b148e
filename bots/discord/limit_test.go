package discord

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// told is an answer with Discord's headers.
func told(bucket string, left int, after string) *http.Response {
	return &http.Response{Header: http.Header{
		"X-Ratelimit-Bucket":      {bucket},
		"X-Ratelimit-Remaining":   {fmt.Sprint(left)},
		"X-Ratelimit-Reset-After": {after},
	}}
}

func posting(channel string, class bots.Class) call {
	return call{method: "POST", path: "/channels/" + channel + "/messages", class: class}
}

func TestRoutes(t *testing.T) {
	for _, c := range []struct{ method, path, route, about string }{
		{"POST", "/channels/12/messages", "POST /channels/*/messages", "12"},
		{"GET", "/channels/12/messages?limit=5", "GET /channels/*/messages", "12"},
		{"PATCH", "/channels/12/messages/34", "PATCH /channels/*/messages/*", "12"},
		{"GET", "/users/@me", "GET /users/@me", ""},
		{"PATCH", "/webhooks/12/aB-c/messages/@original", "PATCH /webhooks/*/*/messages/@original", "12aB-c"},
		{"PUT", "/applications/12/commands", "PUT /applications/*/commands", ""},
	} {
		route, about := call{method: c.method, path: c.path}.route()
		require.Equal(t, c.route, route)
		require.Equal(t, c.about, about)
	}
}

func TestLimiterHeedsTheHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		leave, err := l.enter(t.Context(), posting("1", bots.Final))
		require.NoError(t, err)
		leave(told("b", 0, "2.5"), nil)
		start := time.Now()
		leave, err = l.enter(t.Context(), posting("2", bots.Final))
		require.NoError(t, err)
		require.Zero(t, time.Since(start), "another channel has a bucket of its own")
		leave(nil, nil)
		leave, err = l.enter(t.Context(), posting("1", bots.Final))
		require.NoError(t, err)
		require.Equal(t, 2500*time.Millisecond, time.Since(start))
		leave(told("b", 4, "5"), nil)

		// Two routes of one bucket.
		other := call{method: "DELETE", path: "/channels/1/messages/2"}
		leave, err = l.enter(t.Context(), other)
		require.NoError(t, err)
		leave(told("b", 0, "1"), nil)
		start = time.Now()
		leave, err = l.enter(t.Context(), posting("1", bots.Final))
		require.NoError(t, err)
		require.Equal(t, time.Second, time.Since(start))
		leave(nil, nil)
	})
}

func TestLimiterOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		leave, err := l.enter(t.Context(), posting("1", bots.Final))
		require.NoError(t, err)
		var mu sync.Mutex
		var order []string
		for i, class := range []bots.Class{bots.Notice, bots.Final, bots.Approval, bots.Notice, bots.Final, bots.Approval} {
			go func() {
				leave, err := l.enter(t.Context(), posting("1", class))
				require.NoError(t, err)
				time.Sleep(time.Second)
				mu.Lock()
				order = append(order, fmt.Sprint(int(class), "/", i))
				mu.Unlock()
				leave(nil, nil)
			}()
			synctest.Wait()
		}
		_, err = l.enter(t.Context(), posting("1", bots.Progress))
		require.ErrorContains(t, err, "at the rate limit", "progress does not wait")
		leave(told("b", 1, "1"), nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"0/2", "0/5", "1/1", "1/4", "2/0", "2/3"}, order)
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		leave, err := l.enter(t.Context(), posting("1", bots.Final))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { _, err := l.enter(ctx, posting("1", bots.Approval)); done <- err }()
		synctest.Wait()
		go func() {
			leave, err := l.enter(t.Context(), posting("1", bots.Final))
			leave(nil, nil)
			done <- err
		}()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		leave(nil, nil)
		require.NoError(t, <-done, "the next in line gets its turn")
	})
}

func TestNeverMoreThanFiftyASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		var at []time.Time
		for i := range 300 {
			leave, err := l.enter(t.Context(), posting(fmt.Sprint(i), bots.Final))
			require.NoError(t, err)
			leave(nil, nil)
			at = append(at, time.Now())
		}
		for i := range at {
			if i >= 50 {
				require.Greater(t, at[i].Sub(at[i-50]), time.Second)
			}
		}
		require.Less(t, at[299].Sub(at[0]), 10*time.Second)
	})
}

func TestRefusedCallsHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, start := newLimiter(), time.Now()
		for range 9999 {
			leave, err := l.enter(t.Context(), posting("1", bots.Final))
			require.NoError(t, err)
			leave(nil, &refusal{status: http.StatusForbidden})
		}
		require.Greater(t, time.Since(start), 10*time.Minute)
	})
}

func TestGlobalAndSharedRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		wait := func(channel string) time.Duration {
			start := time.Now()
			leave, err := l.enter(t.Context(), posting(channel, bots.Final))
			require.NoError(t, err)
			leave(nil, nil)
			return time.Since(start)
		}
		refuse := func(r refusal) {
			leave, err := l.enter(t.Context(), posting("1", bots.Final))
			require.NoError(t, err)
			leave(nil, &r)
		}
		refuse(refusal{status: 429, after: 3 * time.Second})
		require.Zero(t, wait("2"))
		require.Equal(t, 3*time.Second, wait("1"))
		refuse(refusal{status: 429, after: 3 * time.Second, global: true})
		require.Equal(t, 3*time.Second, wait("2"))
	})
}

func TestLanesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter()
		for i := range 3 * maxLanes {
			leave, err := l.enter(t.Context(), posting(fmt.Sprint(i), bots.Final))
			require.NoError(t, err)
			leave(nil, nil)
		}
		require.LessOrEqual(t, len(l.lanes), maxLanes)
	})
}

func TestCustomIDs(t *testing.T) {
	value := "1.2.1 " + strings.Repeat("0123456789abcdef", 4)
	for _, p := range []press{
		{bots.Approve, value, ""},
		{bots.Deny, value, "Why not?"},
		{bots.Choose, "1.1.1 0", "Your answer"},
	} {
		require.Equal(t, p, decodePress(p.encode()))
	}
	long := press{bots.Deny, value, strings.Repeat("よ", 150)}
	got := decodePress(long.encode())
	require.Equal(t, value, got.value)
	require.NotEmpty(t, got.ask)
	require.LessOrEqual(t, len([]rune(long.encode())), maxID)
	require.Equal(t, press{bots.Approve, "1", ""}, decodePress("approve#2\n1"))
	require.Equal(t, press{bots.Deny, "1", "why"}, decodePress("deny?#2\n1\nwhy"))
}

func TestReadText(t *testing.T) {
	name := func(kind byte, id string) string {
		return map[string]string{"@1": "@alice", "#3": "#general"}[string(kind)+id]
	}
	for _, c := range []struct {
		text, want string
		named      bool
	}{
		{"<@9> hello", "hello", true},
		{"hello <@!9> there", "hello there", true},
		{"hello <@9>", "hello", true},
		{"<@1> <@2> <#3> <@&4> <x> a < b > c <", "@alice <@2> #general <@&4> <x> a < b > c <", false},
		{"if a<b { <@1> }", "if a<b { @alice }", false},
	} {
		got, named := readText(c.text, "9", name)
		require.Equal(t, c.want, got)
		require.Equal(t, c.named, named)
	}
}
