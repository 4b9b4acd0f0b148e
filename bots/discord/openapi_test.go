package discord_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/discord"
	"github.com/heddle-bot/heddle/bots/discord/discordtest"
)

// published is where Discord's own description of its API lies, if it is there: beside the checkout.
const published = "../../../shared/specs/discord_openapi.json"

// TestRequestsAreAsPublished has the adapter do all that it does, and checks every body that it sends
// against Discord's published description. Where that is not at hand, the rules of discordtest still
// hold, which refuses a field that it does not know.
func TestRequestsAreAsPublished(t *testing.T) {
	calls := everything(t)
	sent := map[string]int{}
	for _, c := range calls {
		require.Less(t, c.Status, 400, "%s is refused by discordtest", c.Route)
		if c.Body != nil {
			sent[c.Route]++
		}
	}
	for _, route := range []string{
		"POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}", "POST /channels/{channel}/messages/{message}/threads",
		"PATCH /channels/{channel}", "POST /users/@me/channels", "PUT /applications/{app}/commands",
		"POST /interactions/{interaction}/{token}/callback", "PATCH /webhooks/{app}/{token}/messages/{message}", "POST /webhooks/{app}/{token}",
	} {
		require.Positive(t, sent[route], "nothing is sent to %s", route)
	}
	text, err := os.ReadFile(filepath.FromSlash(published))
	if os.IsNotExist(err) {
		t.Logf("checked by the rules of discordtest only: %s is not there", published)
		return
	}
	require.NoError(t, err)
	api := readAPI(t, text)
	require.Error(t, api.body(t, "POST /channels/{channel}/messages").Validate(map[string]any{"content": 5.0}), "the description is looked at")
	for _, c := range calls {
		if c.Body == nil {
			continue
		}
		schema := api.body(t, c.Route)
		var body any = c.Body
		if list, ok := c.Body[""]; ok {
			body = list
		}
		require.NoError(t, schema.Validate(body), "%s %v", c.Route, c.Body)
	}
	t.Logf("checked %d bodies against %s", len(calls), published)
}

// everything has the adapter talk as it does in all kinds of conversations, and returns its calls.
func everything(t *testing.T) []discordtest.Call {
	f := newFixture(t, quick)
	f.listen()
	f.registered(setCommands, 1)
	thread := f.say("hello")
	f.accepted(1)
	button := func(label, ask string) bots.Button {
		return bots.Button{Label: label, Action: bots.Deny, Value: "1.1.1 d", Style: bots.Danger, Ask: ask}
	}
	card := f.post(thread, bots.Message{Key: "1/card/1.1.1/1", Class: bots.Approval, Text: "May I?", Code: "rm -r build", Lang: "sh",
		Buttons: []bots.Button{button("Deny", ""), button("Deny with reason", "Why not?")}})
	require.NoError(t, f.d.Edit(t.Context(), thread, bots.MessageID(card.ID), bots.Message{Key: "1/card/1.1.1/1", Text: "Denied."}))
	require.NoError(t, f.d.Edit(t.Context(), thread, bots.MessageID(card.ID), bots.Message{Key: "1/card/1.1.1/1", Text: "May I?", Buttons: []bots.Button{button("Deny", ""), button("Deny with reason", "Why not?")}}))
	f.post(thread, bots.Message{Key: "1/file/1", Class: bots.Notice, Text: "a file", Upload: &bots.Upload{Name: "a.txt", Content: []byte("text")}})
	f.d.Info().Working(t.Context(), thread, true)

	require.NoError(t, f.n.Interactions.Press(f.bob, thread.ID, card.ID, "Deny"))
	_, err := f.d.Post(t.Context(), thread, bots.Message{Key: "told/1", Text: "you may not", For: f.bob})
	require.NoError(t, err)
	_, err = f.d.Post(t.Context(), thread, bots.Message{Key: "told/2", Text: "nor you", For: f.alice})
	require.NoError(t, err)
	require.NoError(t, f.n.Interactions.Press(f.bob, thread.ID, card.ID, "Deny with reason"))
	form, open := f.n.Interactions.Form(f.bob)
	require.True(t, open)
	require.NoError(t, f.n.Interactions.Submit(f.bob, map[string]string{form.Fields[0].CustomID: "not on a Friday"}))
	require.NoError(t, f.n.Interactions.Command(f.bob, thread.ID, "/heddle status"))
	_, err = f.d.Post(t.Context(), thread, bots.Message{Key: "told/3", Text: "nothing runs", For: f.bob})
	require.NoError(t, err)
	require.NoError(t, f.n.Interactions.Command(f.bob, f.c, "/ask", discordtest.Option{Name: "request", Value: "why?"}))
	require.NoError(t, f.n.Interactions.Menu(f.bob, f.c, thread.ID, "Ask Heddle about this"))
	_, err = f.n.Interactions.Complete(f.bob, f.c, "/heddle model", discordtest.Option{Name: "name", Value: ""})
	require.NoError(t, err)
	f.n.Places.Archive(thread.ID, true)
	calls := f.n.API.Calls("")
	require.NoError(t, f.d.Edit(t.Context(), thread, bots.MessageID(card.ID), bots.Message{Key: "1/card/1.1.1/1", Text: "Denied."}))
	for _, c := range f.n.API.Calls("")[len(calls):] {
		if c.Status < 400 { // the first is refused, as the thread is in the archive
			calls = append(calls, c)
		}
	}
	require.Equal(t, discord.Name, f.d.Info().Name)
	return calls
}

// An api is Discord's description.
type api struct {
	paths    map[string]map[string]any // by path, whose arguments have no names, and method
	names    map[string]string         // the paths with names
	compiler *jsonschema.Compiler
}

var argument = regexp.MustCompile(`\{[^}]*\}`)

func readAPI(t *testing.T, text []byte) api {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	require.NoError(t, err)
	a := api{map[string]map[string]any{}, map[string]string{}, jsonschema.NewCompiler()}
	require.NoError(t, a.compiler.AddResource("discord.json", doc))
	for path, methods := range doc.(map[string]any)["paths"].(map[string]any) {
		bare := argument.ReplaceAllString(path, "{}")
		a.paths[bare], a.names[bare] = methods.(map[string]any), path
	}
	return a
}

// body returns the schema of what is sent to a route, written as in discordtest.
func (a api) body(t *testing.T, route string) *jsonschema.Schema {
	method, path, _ := strings.Cut(route, " ")
	bare := argument.ReplaceAllString(path, "{}")
	operation, ok := a.paths[bare][strings.ToLower(method)].(map[string]any)
	require.True(t, ok, "Discord does not publish %s", route)
	var of struct {
		RequestBody struct {
			Content map[string]json.RawMessage `json:"content"`
		} `json:"requestBody"`
	}
	data, err := json.Marshal(operation)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &of))
	require.Contains(t, of.RequestBody.Content, "application/json", route)
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	schema, err := a.compiler.Compile("discord.json#/paths/" + escape.Replace(a.names[bare]) + "/" + strings.ToLower(method) + "/requestBody/content/application~1json/schema")
	require.NoError(t, err)
	return schema
}
