package main

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

const example = "../../config.example.toml"

func TestExampleIsTheDefaults(t *testing.T) {
	text, err := os.ReadFile(example)
	require.NoError(t, err)
	c, written, problems := decode(example, text)
	require.Empty(t, problems)

	bare, none, problems := decode("bare", []byte(`
[models.main]
model = "gpt-5-mini"
api_key_env = "OPENAI_API_KEY"
context_window = 400_000
max_output_tokens = 16_000
[workspaces.main]
path = "."
[channels.default]
approvers = []
allow = []
bots = []
`))
	require.Empty(t, problems)
	bare.fill(none)
	require.Equal(t, bare, c, "what the example says is not what is left out means")
	c.fill(written)
	require.Equal(t, bare, c)
}

func TestExampleLoads(t *testing.T) {
	c, err := load(example)
	require.NoError(t, err)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(root, "state/heddle.db"), c.Store.Path)
	require.Equal(t, root, c.Workspaces["main"].Path)
}

// TestExampleHasEveryKey also keeps the comments in the example from naming keys that are gone.
func TestExampleHasEveryKey(t *testing.T) {
	text, err := os.ReadFile(example)
	require.NoError(t, err)
	tables := map[string]map[string]bool{}
	table := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "#")
		if m := regexp.MustCompile(`^\[(\w+)`).FindStringSubmatch(line); m != nil {
			table = m[1]
		} else if m := regexp.MustCompile(`^(\w+) = `).FindStringSubmatch(line); m != nil {
			if tables[table] == nil {
				tables[table] = map[string]bool{}
			}
			tables[table][m[1]] = true
		}
	}
	want := map[string]map[string]bool{}
	config := reflect.TypeFor[Config]()
	for i := range config.NumField() {
		f := config.Field(i)
		if f.Type.Kind() == reflect.Map {
			f.Type = f.Type.Elem()
		}
		names := map[string]bool{}
		for _, name := range keys(f.Type) {
			names[name] = true
		}
		want[f.Tag.Get("toml")] = names
	}
	require.Equal(t, want, tables)
}

const minimal = `
[models.main]
model = "m"
[workspaces.main]
path = "w"
[channels.default]
`

// write puts a configuration into a directory of its own and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "heddle.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestLoadFillsIn(t *testing.T) {
	path := write(t, minimal+`
steps = 20
busy = "queue"
approvers = ["U1"]
[channels."slack/T1/C1"]
busy = "interrupt"
approvers = []
[slack]
bot_token_file = "bot"
[limits]
turn_time = "90s"
`)
	c, err := load(path)
	require.NoError(t, err)
	dir := filepath.Dir(path)
	require.Equal(t, filepath.Join(dir, "w"), c.Workspaces["main"].Path)
	require.Equal(t, filepath.Join(dir, "bot"), c.Slack.BotTokenFile)
	require.Empty(t, c.Slack.BotTokenEnv, "a file instead")
	require.Equal(t, "SLACK_APP_TOKEN", c.Slack.AppTokenEnv)
	require.Equal(t, Duration(90*time.Second), c.Limits.TurnTime)
	require.Equal(t, Channel{
		Workspace: "main", Model: "main", Mention: "thread", Busy: "interrupt", Steps: 20, Outside: new(bool),
		Approvers: []string{}, // empty, not left out
	}, c.Channels["slack/T1/C1"])
	require.Equal(t, []string{"U1"}, c.Channels["default"].Approvers)
}

// A channel may shut out whom the default lets in.
func TestOutside(t *testing.T) {
	c, err := load(write(t, minimal+`
outside = true
[channels."slack/T1/C1"]
outside = false
[channels."slack/T1/C2"]
busy = "queue"
`))
	require.NoError(t, err)
	for channel, want := range map[string]bool{"C1": false, "C2": true, "C3": true} {
		require.Equal(t, want, c.chat(bots.Thread{Platform: "slack", Workspace: "T1", Channel: channel, ID: "1"}).Outside, channel)
	}
	c, err = load(write(t, minimal))
	require.NoError(t, err)
	require.False(t, c.chat(bots.Thread{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "1"}).Outside)
}

func TestLoadNamesMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // each a part of one line of the error, in order
	}{
		"unknown keys": {"[store]\npaht = \"x\"\n[modles.main]\nmodel = \"m\"\n" + minimal + "stesp = 3\nx = 1\n",
			[]string{
				`heddle.toml:2:1: unknown key store.paht, did you mean "path"?`,
				`heddle.toml:3:2: unknown key modles, did you mean "models"?`,
				`heddle.toml:11:1: unknown key channels.default.stesp, did you mean "steps"?`,
				`heddle.toml:12:1: unknown key channels.default.x; known here: workspace, model, `,
			}},
		"unknown and wrong": {minimal + "stesp = 3\n[slack]\nmode = \"smoke\"\n", []string{`did you mean "steps"`, `slack.mode: "smoke" is not known: write "socket"`}},
		"no TOML":           {"[store\n", []string{"heddle.toml:1:"}},
		"wrong types": {"stoer = 1\n[limits]\nsteps = \"ten\"\nturn_time = 600\n[channels]\ndefault = {allow = [1], busy = true}\n[models.main]\ntemperature = \"hot\"\n[[store]]\n[slack.mode]\nx = 1\n",
			[]string{
				`heddle.toml:1:1: unknown key stoer, did you mean "store"?`,
				"heddle.toml:3:9: limits.steps: expected a whole number",
				`heddle.toml:4:13: limits.turn_time: expected a time span in quotes, like "90s"`,
				"heddle.toml:6:12: channels.default.allow: expected a list of texts in quotes",
				"heddle.toml:6:32: channels.default.busy: expected a text in quotes",
				"heddle.toml:8:15: models.main.temperature: expected a number",
				"heddle.toml:9:3: store: expected a table",
				"heddle.toml:10:2: slack.mode: expected a text in quotes",
			}},
		"another case": {minimal + "Steps = 3\n[Limits]\nsteps = 3\n", []string{
			`heddle.toml:7:1: unknown key channels.default.Steps, did you mean "steps"?`,
			`heddle.toml:8:2: unknown key Limits, did you mean "limits"?`}},
		"a key twice":     {"[limits]\nsteps = 1\nsteps = 2\n", []string{"heddle.toml:3:1: steps: key steps is already defined"}},
		"no whole number": {"[limits]\nsteps = 99999999999999999999\n", []string{"heddle.toml:2:9: limits.steps: "}},
		"wrong duration":  {"[limits]\nturn_time = \"ten\"\n", []string{`heddle.toml:2:13: limits.turn_time: "ten" is not a time span: write "90s"`}},
		"empty": {"", []string{
			"models: there is no model: add", "workspaces: there is no workspace: add", "channels: there is no channel: add"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(write(t, c.text))
			require.Error(t, err)
			requireLines(t, err.Error(), c.want)
		})
	}
}

// allWrong has a mistake in every value that can have one.
const allWrong = `
[http]
addr = "8787"
[limits]
steps = 60
turn_time = "-1s"
tool_output = 10
[slack]
mode = "post"
events_addr = "3000"
api_url = "slack.com"
app_token_env = "A"
app_token_file = "a"
[models.a]
base_url = "https://me:secret@example.com"
api = "soap"
tools = "some"
temperature = 3
context_window = 1000
max_output_tokens = 1000
[models.b]
model = "b"
[workspaces.a]
[workspaces.b]
path = "b"
[channels.default]
[channels."slack/C1"]
workspace = "bb"
model = "a"
mention = "never"
busy = "loop"
steps = 51
allow = ["@me", "U2"]
approvers = ["U1"]
`

func TestLoadNamesEveryWrongValue(t *testing.T) {
	_, err := load(write(t, allWrong))
	require.Error(t, err)
	requireLines(t, err.Error(), []string{
		`heddle.toml:3:1: http.addr: "8787" is not host:port`,
		"heddle.toml:6:1: limits.turn_time: must be more than 0",
		"heddle.toml:7:1: limits.tool_output: 10 bytes are too few",
		"heddle.toml:5:1: limits.steps: 60 is more than limits.hard_steps (50): lower",
		`heddle.toml:9:1: slack.mode: "post" is not known: write "socket" or "http"`,
		`heddle.toml:10:1: slack.events_addr: "3000" is not host:port`,
		`heddle.toml:11:1: slack.api_url: "slack.com" is not an http or https URL`,
		"heddle.toml:12:1: slack.app_token_env: both this and slack.app_token_file are given, keep one",
		"models.a.base_url: must not hold a user or password",
		`models.a.api: "soap" is not known: write "chat" or "responses"`,
		`models.a.tools: "some" is not known: write "native" or "text"`,
		"heddle.toml:14:2: models.a.model: is missing",
		"models.a.temperature: must be between 0 and 2, not 3",
		"models.a.max_output_tokens: 1000 leaves no room",
		"workspaces.a.path: is missing",
		"channels.default.workspace: is missing, and there is more than one: write one of a, b",
		"channels.default.model: is missing, and there is more than one",
		`heddle.toml:27:2: channels."slack/C1": is not the address of a channel: write "slack/T012AB3CD/C012AB3CD"`,
		`heddle.toml:28:1: channels."slack/C1".workspace: there is no [workspaces.bb]; did you mean "b"?`,
		`channels."slack/C1".mention: "never" is not known`,
		`channels."slack/C1".busy: "loop" is not known: write "steer" or "queue" or "interrupt"`,
		`channels."slack/C1".steps: 51 is more than limits.hard_steps (50)`,
		`channels."slack/C1".allow: "@me" is not the id of a person`,
		`channels."slack/C1".approvers: U1 may approve but is not in allow`,
	})
	require.NotContains(t, err.Error(), "me:secret")
}

// requireLines checks that each line of text names the file and contains the part that is wanted.
func requireLines(t *testing.T, text string, parts []string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	require.Len(t, lines, len(parts), text)
	for i, part := range parts {
		require.Contains(t, lines[i], part)
		require.Contains(t, lines[i], "heddle.toml")
	}
}

func TestLoadWithoutAFileSaysWhatToDo(t *testing.T) {
	_, err := load(filepath.Join(t.TempDir(), "none.toml"))
	require.ErrorContains(t, err, "copy config.example.toml")
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"paht", "path", 2}} {
		require.Equal(t, c.want, distance(c.a, c.b), "%s %s", c.a, c.b)
		require.Equal(t, c.want, distance(c.b, c.a), "%s %s", c.b, c.a)
	}
}

func FuzzDecode(f *testing.F) {
	text, err := os.ReadFile(example)
	require.NoError(f, err)
	f.Add(string(text))
	f.Add(minimal)
	f.Add("[models]\nmain = 3\n")
	f.Add("channels.x.y.z = [1, {a = 2}]\n[[store]]\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, written, problems := decode("f", []byte(text))
		require.True(t, c != nil || len(problems) > 0)
		if c != nil {
			c.fill(written)
			c.resolve("/d")
			c.check(written)
		}
	})
}
