package main

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/openai"
	"github.com/heddle-bot/heddle/agent/llm/textcalls"
	"github.com/heddle-bot/heddle/agent/llm/tour"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/prompts"
)

// tourPause is how long the tour takes for a word: about as fast as people read.
const tourPause = 15 * time.Millisecond

// models makes the clients of all configured models, by name.
func (c *Config) models(s secrets, log *slog.Logger) (map[string]llm.Model, error) {
	all := map[string]llm.Model{}
	for name, m := range c.Models {
		if m.API == "tour" {
			all[name] = tour.Tour{Pause: tourPause}
			continue
		}
		model, err := openai.New(openai.Config{
			BaseURL:         m.BaseURL,
			Key:             s.models[name],
			Model:           m.Model,
			API:             m.API,
			MaxOutputTokens: m.MaxOutputTokens,
			Temperature:     m.Temperature,
			Images:          m.Images,
			Logger:          log,
		})
		if err != nil {
			return nil, fmt.Errorf("models.%s: %w", name, err)
		}
		if m.Tools == "text" {
			model = textcalls.Wrap(model, prompts.Text("textcalls.md"))
		}
		all[name] = model
	}
	return all, nil
}

// channel returns what holds in the channel of that address, and whether the bot works there.
func (c *Config) channel(id string) (Channel, bool) {
	if ch, ok := c.Channels[id]; ok {
		return ch, true
	}
	ch, ok := c.Channels["default"]
	return ch, ok
}

// settings returns the function that tells the agent what holds in a session.
func (c *Config) settings(models map[string]llm.Model) func(session string) (agent.Settings, error) {
	hidden := []string{filepath.Dir(c.Store.Path)}
	choices := map[string]agent.Choice{}
	for name, m := range c.Models {
		choices[name] = agent.Choice{Model: models[name], ID: m.Model, Window: agent.Window(m.ContextWindow), Images: m.Images}
	}
	return func(session string) (agent.Settings, error) {
		id := session[:max(0, strings.LastIndexByte(session, '/'))]
		ch, ok := c.channel(id)
		if !ok {
			return agent.Settings{}, fmt.Errorf("the channel %s is not configured any more: add [channels.%q] or [channels.default]", id, id)
		}
		model := choices[ch.Model]
		return agent.Settings{
			Workspace: ch.Workspace,
			Dir:       c.Workspaces[ch.Workspace].Path,
			Hidden:    hidden,
			Model:     model.Model,
			ModelName: ch.Model,
			ModelID:   model.ID,
			Approvers: ch.Approvers,
			Models:    choices,
			Window:    model.Window,
			Images:    model.Images,
			Limits:    c.limits(ch),
		}, nil
	}
}

// nobody is whom a channel lets in that is not configured: no user of any network has this id.
const nobody = "-"

// chat returns what a bot is to do in a thread's channel.
func (c *Config) chat(t bots.Thread) bots.Channel {
	ch, ok := c.channel(t.ChannelID())
	if !ok {
		return bots.Channel{Allow: []string{nobody}, Mention: bots.Mentioned}
	}
	return bots.Channel{
		Allow:     ch.Allow,
		Approvers: ch.Approvers,
		Bots:      ch.Bots,
		Outside:   ch.Outside != nil && *ch.Outside,
		Mention:   ch.Mention,
		Model:     ch.Model,
		Models:    slices.Sorted(maps.Keys(c.Models)),
		Busy:      ch.Busy,
		Limits:    c.limits(ch),
	}
}

// limits are those of a turn in a channel.
func (c *Config) limits(ch Channel) agent.Limits {
	return agent.Limits{
		Steps:    ch.Steps,
		Time:     time.Duration(c.Limits.TurnTime),
		Tokens:   c.Limits.TurnTokens,
		Output:   c.Limits.ToolOutput,
		Approval: time.Duration(c.Limits.ApprovalTime),
	}
}
