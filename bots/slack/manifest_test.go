package slack

import (
	"encoding/json"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// called returns the methods that the source of this package names in a request.
func called(t *testing.T) []string {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	found := map[string]bool{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := goparser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if name, ok := lit.Type.(*ast.Ident); !ok || name.Name != "request" {
				return true
			}
			method := lit.Elts[0]
			if kv, ok := method.(*ast.KeyValueExpr); ok {
				method = kv.Value
			}
			s, ok := method.(*ast.BasicLit)
			require.True(t, ok, "%s: a request names its method plainly, or this test cannot see it", e.Name())
			name, err := strconv.Unquote(s.Value)
			require.NoError(t, err)
			found[name] = true
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// The manifest asks for what is called, and for no more.
func TestMethodsAreThoseThatAreCalled(t *testing.T) {
	require.Equal(t, called(t), slices.Sorted(maps.Keys(methods())))
}

func TestManifest(t *testing.T) {
	for _, c := range []struct {
		url  string
		mode bool
	}{{"", true}, {"https://heddle.example.com/slack", false}} {
		data, err := WriteManifest(c.url, false)
		require.NoError(t, err)
		var m slack.Manifest
		require.NoError(t, json.Unmarshal(data, &m))
		require.Equal(t, Manifest(c.url), m)
		require.Equal(t, c.mode, m.Settings.SocketModeEnabled)
		require.Equal(t, c.url, m.Settings.EventSubscriptions.RequestUrl)
		require.Equal(t, c.url, m.Settings.Interactivity.RequestUrl)

		data, err = WriteManifest(c.url, true)
		require.NoError(t, err)
		var again slack.Manifest
		require.NoError(t, yaml.Unmarshal(data, &again))
		require.Equal(t, m, again)
	}
	m := Manifest("")
	require.Equal(t, []string{"app_home_opened", "app_mention", "message.channels", "message.groups", "message.im", "message.mpim"}, m.Settings.EventSubscriptions.BotEvents)
	require.Subset(t, m.OAuthConfig.Scopes.Bot, []string{"app_mentions:read", "chat:write", "im:history", "users:read"})
	require.LessOrEqual(t, len(m.Display.Description), 140, "Slack takes no more")
}
