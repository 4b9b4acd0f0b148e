//go:build fidelity

package fidelity

import (
	"testing"
	"time"

	"github.com/heddle-bot/heddle/bots/discord/discordtest"
	"github.com/heddle-bot/heddle/internal/nodetest"
)

func TestFidelity(t *testing.T) {
	for _, name := range nodetest.Programs(t, "discord.js") {
		t.Run(name, func(t *testing.T) {
			n := discordtest.New(discordtest.Config{HeartbeatEvery: 500 * time.Millisecond})
			defer n.Close()
			nodetest.Run(t, name, verbs(n), "DISCORD_URL="+n.URL, "BOT_TOKEN="+discordtest.BotToken, "GUILD="+discordtest.GuildID, "APP="+discordtest.AppID)
		})
	}
}
