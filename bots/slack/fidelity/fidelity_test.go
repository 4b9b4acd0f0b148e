//go:build fidelity

package fidelity

import (
	"testing"
	"time"

	"github.com/heddle-bot/heddle/bots/slack/slacktest"
	"github.com/heddle-bot/heddle/internal/nodetest"
)

func TestFidelity(t *testing.T) {
	for _, name := range nodetest.Programs(t, "@slack/bolt") {
		t.Run(name, func(t *testing.T) {
			w := slacktest.New(slacktest.Config{PingEvery: 100 * time.Millisecond, AckWithin: time.Second, PageSize: 3})
			defer w.Close()
			nodetest.Run(t, name, verbs(w), "SLACK_URL="+w.URL,
				"BOT_TOKEN="+slacktest.BotToken, "APP_TOKEN="+slacktest.AppToken, "SIGNING_SECRET="+slacktest.SigningSecret)
		})
	}
}
