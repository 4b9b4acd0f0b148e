//go:build fidelity

package fidelity

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

func TestFidelity(t *testing.T) {
	node, err := exec.LookPath("node")
	require.NoError(t, err, "install Node 20 or newer, or run make fidelity")
	_, err = os.Stat("node_modules/@slack/bolt")
	require.NoError(t, err, "Slack's clients are missing: run make fidelity")
	programs, err := filepath.Glob("*.test.mjs")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			w := slacktest.New(slacktest.Config{PingEvery: 100 * time.Millisecond, AckWithin: time.Second, PageSize: 3})
			defer w.Close()
			people := httptest.NewServer(serve(verbs(w)))
			defer people.Close()
			cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=spec", "--test-timeout=60000", name)
			cmd.Env = append(os.Environ(), "SLACK_URL="+w.URL, "PEOPLE_URL="+people.URL,
				"BOT_TOKEN="+slacktest.BotToken, "APP_TOKEN="+slacktest.AppToken, "SIGNING_SECRET="+slacktest.SigningSecret)
			out, err := cmd.CombinedOutput()
			t.Logf("%s", out)
			require.NoError(t, err)
		})
	}
}

// A verb is something that a program asks for: arguments in, a value of JSON out.
type verb func(args []string) (any, error)

// serve answers POST /verb with a list of arguments in the body.
func serve(all map[string]verb) http.Handler {
	mux := http.NewServeMux()
	for name, do := range all {
		mux.HandleFunc("POST /"+name, func(rw http.ResponseWriter, r *http.Request) {
			var args []string
			var v any
			err := json.NewDecoder(r.Body).Decode(&args)
			if err == nil {
				v, err = do(append(args, make([]string, 6)...)) // those left out are empty
			}
			if err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(rw).Encode(v) // the program may have gone
		})
	}
	return mux
}
