package slacktest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// A listener is an app that is connected to a workspace, acknowledges what comes and keeps it.
type listener struct {
	t *testing.T
	w *Workspace

	mu     sync.Mutex
	all    []map[string]any
	answer func(payload map[string]any) any // goes with the acknowledgement, if it is not nil
}

func connect(t *testing.T, w *Workspace) *listener {
	a := &listener{t: t, w: w}
	var open struct{ URL string }
	require.NoError(t, json.NewDecoder(get(t, w.URL+"apps.connections.open", AppToken).Body).Decode(&open))
	ws, resp, err := websocket.DefaultDialer.Dial(open.URL, nil)
	require.NoError(t, err)
	_ = resp.Body.Close()
	var wg sync.WaitGroup
	wg.Go(func() { a.serve(ws) })
	t.Cleanup(func() {
		_ = ws.Close()
		wg.Wait()
	})
	require.NoError(t, w.Wait(t.Context(), func() bool { return w.Socket.Stats().Open == 1 }))
	return a
}

func (a *listener) serve(ws *websocket.Conn) {
	for {
		var env map[string]any
		if ws.ReadJSON(&env) != nil {
			return
		}
		if env["envelope_id"] == nil {
			continue
		}
		ack := map[string]any{"envelope_id": env["envelope_id"]}
		a.mu.Lock()
		a.all = append(a.all, env)
		if a.answer != nil && env["type"] != "events_api" {
			ack["payload"] = a.answer(env["payload"].(map[string]any))
		}
		a.mu.Unlock()
		if ws.WriteJSON(ack) != nil {
			return
		}
	}
}

// says sets what goes with acknowledgements.
func (a *listener) says(payload string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = func(map[string]any) any { return json.RawMessage(payload) }
}

// events returns the outer events with inner events of that type and subtype, once there are n.
func (a *listener) events(n int, kind, subtype string) (found []map[string]any) {
	a.t.Helper()
	require.Eventually(a.t, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		found = nil
		for _, env := range a.all {
			if str(env, "payload", "event", "type") == kind && str(env, "payload", "event", "subtype") == subtype {
				found = append(found, env["payload"].(map[string]any))
			}
		}
		return len(found) >= n
	}, 10*time.Second, time.Millisecond)
	require.Len(a.t, found, n)
	return found
}

// last returns the last envelope of a type.
func (a *listener) last(kind string) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.all) - 1; i >= 0; i-- {
		if a.all[i]["type"] == kind {
			return a.all[i]
		}
	}
	require.Fail(a.t, "there is none", kind)
	return nil
}

// send posts JSON to an address.
func send(t *testing.T, address, body string) *http.Response {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(address, "application/json", bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}
