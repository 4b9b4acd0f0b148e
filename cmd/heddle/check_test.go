package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestZeroIsNotLeftOut(t *testing.T) {
	_, err := load(write(t, minimal+"steps = 0\n[limits]\nsteps = 0\nturn_time = \"0s\"\nturn_tokens = 0\nconcurrent_turns = 0\napproval_time = \"0s\"\ntool_output = 0\n"))
	require.Error(t, err)
	requireLines(t, err.Error(), []string{
		"limits.steps: must be more than 0", "limits.turn_time: must be more than 0", "limits.turn_tokens: must be more than 0",
		"limits.concurrent_turns: must be more than 0", "limits.approval_time: must be more than 0",
		"limits.tool_output: 0 bytes are too few", "channels.default.steps: must be more than 0",
	})
	_, err = load(write(t, minimal+"[channels.\"slack/T1/C1\"]\n[limits]\nhard_steps = -2\n"))
	require.Error(t, err)
	requireLines(t, err.Error(), []string{"heddle.toml:9:1: limits.hard_steps: must be more than 0"})
	_, err = load(write(t, minimal+"model = \"\"\nworkspace = \"\"\nmention = \"\"\n[store]\npath = \"\"\n[slack]\nbot_token_env = \"\"\napp_token_env = \"\"\n"))
	require.Error(t, err)
	requireLines(t, err.Error(), []string{
		"store.path: is empty", "slack.bot_token_env: is empty", "slack.app_token_env: is empty",
		`channels.default.workspace: is empty: write "main"`, `channels.default.model: is empty: write "main"`,
		`channels.default.mention: "" is not known`,
	})
	c, err := load(write(t, minimal+"[http]\naddr = \"\"\n"))
	require.NoError(t, err)
	require.Empty(t, c.HTTP.Addr, "which switches it off")
}

func TestLoadTakesAByteOrderMark(t *testing.T) {
	_, err := load(write(t, "\ufeff"+minimal))
	require.NoError(t, err)
	_, err = load(write(t, "\ufeffx = 1\n"+minimal))
	require.ErrorContains(t, err, "heddle.toml:1:1: unknown key x")
}

// What is wrong in [channels.default] is told there, not at every channel that takes it over.
func TestLoadTellsInheritedMistakesOnce(t *testing.T) {
	_, err := load(write(t, minimal+`
mention = "never"
steps = 1000
allow = ["alice"]
approvers = ["U2"]
[channels."slack/T1/C1"]
[channels."slack/T1/C2"]
allow = ["U1"]
`))
	require.Error(t, err)
	requireLines(t, err.Error(), []string{
		`heddle.toml:8:1: channels.default.mention: "never" is not known`,
		"heddle.toml:9:1: channels.default.steps: 1000 is more than",
		`heddle.toml:10:1: channels.default.allow: "alice" is not the id of a person`,
		"heddle.toml:11:1: channels.default.approvers: U2 may approve but is not in allow",
		`heddle.toml:13:2: channels."slack/T1/C2".approvers: U2 may approve but is not in allow`,
	})
}

func TestLoadRefusesIdsThatCannotMatch(t *testing.T) {
	for address, want := range map[string]string{
		"slack/T0/general":                   `"general" is not the id of a Slack channel`,
		"slack/T0/c1":                        `"c1" is not the id of a Slack channel`,
		"slack/acme/C1":                      `"acme" is not the id of a Slack workspace`,
		"irc/x/y":                            `is not the address of a channel on a network that there is: for Slack write "slack/`,
		"discord/x/y":                        `"x" is not the id of a Discord server`,
		"discord/123456789012345678/general": `"general" is not the id of a Discord channel`,
		"DISCORD/123456789012345678/123456789012345679": `write the network in lower case: "discord"`,
		"discord/123456789012345678/123456789012345679": "", "discord/@me/123456789012345679": "",
		"Slack/T0/C1":         `write the network in lower case`,
		"Default":             `write it in lower case: [channels.default]`,
		"slack/T0/C1/1.1":     "is not the address of a channel",
		"slack/T0/":           "is not the address of a channel",
		"slack/E0ORG/G0GROUP": "", "slack/T0/D0DIRECT": "",
	} {
		_, err := load(write(t, minimal+"[channels.\""+address+"\"]\n"))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "heddle.toml:7:2: channels."+keyName(address)+": ")
	}
	for _, id := range []string{"alice", "@U1", "u1", "<@U1>", "", "C1", "U"} {
		_, err := load(write(t, minimal+"allow = [\""+id+"\"]\n"))
		require.ErrorContains(t, err, "Copy member ID", id)
	}
	_, err := load(write(t, minimal+"allow = [\"U1\", \"W0AB\"]\n"))
	require.NoError(t, err)
}

func TestStoreKeepsOutOfWorkspaces(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "w/sub"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "w"), filepath.Join(dir, "link")))
	for _, c := range []struct {
		store, workspace string
		ok               bool
	}{
		{"heddle.db", ".", false},
		{"w/heddle.db", "w", false},
		{"heddle.db", "w", false},
		{"w/heddle.db", "w/sub/deeper", false},
		{"link/heddle.db", "w", false},
		{"w/heddle.db", "link/sub", false},
		{"w/state/heddle.db", "w", true},
		{"w/sub/heddle.db", "link", true},
		{"state/heddle.db", ".", true},
		{"w/heddle.db", "w2", true},
	} {
		config := filepath.Join(dir, "heddle.toml")
		text := "[models.main]\nmodel = \"m\"\n[workspaces.main]\npath = \"" + c.workspace + "\"\n[channels.default]\n[store]\npath = \"" + c.store + "\"\n"
		require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
		_, err := load(config)
		if c.ok {
			require.NoError(t, err, c)
			continue
		}
		require.ErrorContains(t, err, "heddle.toml:7:1: store.path: no tool may reach", c)
		require.ErrorContains(t, err, "give the log a directory of its own")
	}
}

// A mistake that many make: the token where the name of its variable belongs.
func TestLoadDoesNotRepeatSecrets(t *testing.T) {
	for line, want := range map[string]string{
		"[slack]\nbot_token_env = \"xoxb-1234-real-secret\"\n":                   "heddle.toml:8:1: slack.bot_token_env: this is not the name of an environment variable",
		"[models.b]\nmodel = \"m\"\napi_key_env = \"sk-real-secret\"\n":          "heddle.toml:9:1: models.b.api_key_env: this is not the name",
		"[models.b]\nmodel = \"m\"\nbase_url = \"me:real-secret@example.com\"\n": "heddle.toml:9:1: models.b.base_url: must not hold a user or password",
	} {
		config := write(t, minimal+line)
		for _, o := range []outcome{runWith(nil, "serve", "-c", config), runWith(nil, "doctor", "--offline", "-c", config)} {
			require.Equal(t, 1, o.code)
			require.Contains(t, o.stdout+o.stderr, want)
			require.NotContains(t, o.stdout+o.stderr, "real-secret")
		}
	}
}
