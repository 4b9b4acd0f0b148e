package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/llmtest"
)

// An event is one of a stream.
type event struct{ name, id, data string }

// follow reads the events of a thread from a position on, until the test ends.
func (b browser) follow(thread, after string) <-chan event {
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.server.URL+thread+"/events", nil)
	require.NoError(b.t, err)
	r.Header.Set("Last-Event-ID", after)
	resp, err := b.client.Do(r)
	require.NoError(b.t, err)
	require.Equal(b.t, "text/event-stream", resp.Header.Get("Content-Type"))
	events := make(chan event, 1000)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer resp.Body.Close()
		var e event
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			key, v, _ := strings.Cut(s.Text(), ": ")
			switch key {
			case "event":
				e.name = v
			case "id":
				e.id = v
			case "data":
				e.data = v
			case "":
				if e.name != "" {
					events <- e
				}
				e = event{}
			}
		}
	})
	b.t.Cleanup(func() { cancel(); wg.Wait() })
	return events
}

// until returns the ids of the items that come, up to an event that match accepts, and the last position.
func until(t *testing.T, events <-chan event, match func(event) bool) (items []string, pos string) {
	t.Helper()
	for {
		select {
		case e := <-events:
			if e.name == "item" {
				var item struct{ ID string }
				require.NoError(t, json.Unmarshal([]byte(e.data), &item))
				items = append(items, item.ID)
			}
			if e.id != "" {
				pos = e.id
			}
			if match(e) {
				return items, pos
			}
		case <-time.After(10 * time.Second):
			require.FailNow(t, "the event does not come")
		}
	}
}

// A browser that comes back gets what it has missed, and no more.
func TestStreamResumes(t *testing.T) {
	o := newOffice(t, nil, llmtest.Say("One."), llmtest.Say("Two."), llmtest.Say("Three."))
	alice := o.browser("alice")
	_, _, thread := alice.say("/threads", "first", nil)
	alice.shows(thread, "<p>One.</p>")
	idle := func(e event) bool { return e.name == "state" && strings.Contains(e.data, `"running":0`) }
	events := alice.follow(thread, "")
	items, pos := until(t, events, idle)
	require.Len(t, items, 2)
	alice.say(thread+"/say", "second", nil)
	until(t, events, func(e event) bool { return e.name == "item" && strings.Contains(e.data, "Two.") })
	all, _ := until(t, alice.follow(thread, pos), idle)
	require.Len(t, all, 2, "just what came since")
	alice.shows(thread, "<p>Two.</p>")
	_, last := until(t, alice.follow(thread, pos), idle)
	none := alice.follow(thread, last)
	items, _ = until(t, none, func(e event) bool { return e.name == "list" })
	require.Empty(t, items)
	require.Equal(t, 4, o.page.Health().Viewers)
}
