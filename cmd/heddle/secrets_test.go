package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecret(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		require.NoError(t, os.Chmod(path, mode)) // whatever the umask is
		return path
	}
	getenv := func(name string) string { return map[string]string{"SET": " value\n", "EMPTY": " "}[name] }
	for _, c := range []struct{ name, env, file, want, err string }{
		{"neither", "", "", "", ""},
		{"variable", "SET", "", "value", ""},
		{"variable not set", "UNSET", "", "", "the environment variable UNSET is not set"},
		{"variable empty", "EMPTY", "", "", "the environment variable EMPTY is not set"},
		{"file", "", file("good", "value\n", 0o600), "value", ""},
		{"file of a group", "", file("group", "value", 0o640), "value", ""},
		{"file of everybody", "", file("open", "value", 0o644), "", "run chmod 600"},
		{"file empty", "", file("empty", "\n", 0o600), "", "is empty"},
		{"a directory", "", dir, "", "is a directory: name the file in it"},
		{"a key for a name", "sk_live_secret", "", "", "is not set"},
		{"file not there", "", filepath.Join(dir, "none"), "", "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := secret(c.env, c.file, getenv)
			require.Equal(t, c.want, got)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
			require.NotContains(t, err.Error(), "sk_live_secret")
		})
	}
}

func TestSecretsNameWhatIsMissing(t *testing.T) {
	c, err := load(write(t, "[models.other]\nmodel = \"o\"\napi_key_env = \"KEY\"\n[workspaces.w]\npath = \"w\"\n[channels.default]\n"))
	require.NoError(t, err)

	err = c.secrets(func(string) string { return "" }).complete()
	require.ErrorContains(t, err, "slack.bot_token: the environment variable SLACK_BOT_TOKEN is not set")
	require.ErrorContains(t, err, "slack.app_token: the environment variable SLACK_APP_TOKEN is not set")
	require.ErrorContains(t, err, "models.other.api_key: the environment variable KEY is not set")
	require.ErrorContains(t, err, "https://api.slack.com/apps")
	require.ErrorContains(t, err, "https://platform.openai.com/api-keys")
	require.ErrorContains(t, err, "bin/heddle doctor -c config.example.toml")

	s := c.secrets(func(name string) string { return "value of " + name })
	require.NoError(t, s.complete())
	require.ElementsMatch(t, []string{"value of KEY", "value of SLACK_BOT_TOKEN", "value of SLACK_APP_TOKEN", "value of SLACK_SIGNING_SECRET", "value of DISCORD_BOT_TOKEN"}, s.values())

	c.Slack.Mode = "http"
	require.NoError(t, c.secrets(func(name string) string {
		if name == "SLACK_APP_TOKEN" {
			return ""
		}
		return "x"
	}).complete(), "over HTTP the app token is not needed")
	err = c.secrets(func(string) string { return "" }).complete()
	require.ErrorContains(t, err, "slack.signing_secret: the environment variable SLACK_SIGNING_SECRET is not set")
	require.NotContains(t, err.Error(), "slack.app_token")
	c.Slack.Mode = "socket"

	s = c.secrets(func(name string) string {
		if name == "KEY" {
			return ""
		}
		return "x"
	})
	require.ErrorContains(t, s.complete(), "KEY")
	require.NotContains(t, s.complete().Error(), "api.slack.com", "Slack is not what is missing")
}

// Whoever has configured a token need not be told where tokens come from.
func TestSecretsTeachOnlyWhatIsNotConfigured(t *testing.T) {
	config := write(t, minimal+"[slack]\nbot_token_file = \"bot\"\n")
	c, err := load(config)
	require.NoError(t, err)
	getenv := func(string) string { return "x" }
	for mode, text := range map[os.FileMode]string{0o600: " \n", 0o644: "xoxb-1"} {
		file := filepath.Join(filepath.Dir(config), "bot")
		require.NoError(t, os.WriteFile(file, []byte(text), mode))
		require.NoError(t, os.Chmod(file, mode))
		err = c.secrets(getenv).complete()
		require.ErrorContains(t, err, "slack.bot_token: "+file+" is ")
		require.NotContains(t, err.Error(), "api.slack.com")
	}
}
