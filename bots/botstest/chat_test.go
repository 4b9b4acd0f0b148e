package botstest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/botstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestChat(t *testing.T) {
	botstest.Run(t, func(*testing.T) (bots.Platform, botstest.Fixture) {
		c := &botstest.Chat{}
		return c, c
	})
}
