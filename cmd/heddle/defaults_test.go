package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server answers what Ollama does.
type server func() (*http.Response, error)

func (s server) RoundTrip(*http.Request) (*http.Response, error) { return s() }

func answering(text string) server {
	return func() (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(text))}, nil
	}
}

func absent() (*http.Response, error) { return nil, errors.New("connection refused") }

// The model is one of those whose key is there, then Ollama's, then the tour. What is made of it is a
// configuration like any other.
func TestModelAtHand(t *testing.T) {
	for name, c := range map[string]struct {
		env    map[string]string
		ollama server
		want   Model
		tour   bool
	}{
		"nothing":            {nil, absent, Model{API: "tour"}, true},
		"OpenAI":             {map[string]string{"OPENAI_API_KEY": "k", "DEEPSEEK_API_KEY": "k"}, absent, Model{API: "chat", BaseURL: "https://api.openai.com/v1", Model: "gpt-5-mini", APIKeyEnv: "OPENAI_API_KEY"}, false},
		"OpenRouter":         {map[string]string{"OPENROUTER_API_KEY": "k"}, absent, Model{API: "chat", BaseURL: "https://openrouter.ai/api/v1", Model: "openrouter/auto", APIKeyEnv: "OPENROUTER_API_KEY"}, false},
		"DeepSeek":           {map[string]string{"DEEPSEEK_API_KEY": "k", "HEDDLE_MODEL": "deepseek-other"}, absent, Model{API: "chat", BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-other", APIKeyEnv: "DEEPSEEK_API_KEY"}, false},
		"Ollama":             {nil, answering(`{"models":[{"name":"qwen3:8b"},{"name":"b"}]}`), Model{API: "chat", BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3:8b"}, false},
		"an embedding first": {nil, answering(`{"models":[{"name":"bge-m3:latest","details":{"family":"bert"}},{"name":"embeddinggemma:300m","details":{"family":"gemma3"}},{"name":"llama3.2:3b","details":{"family":"llama"}}]}`), Model{API: "chat", BaseURL: "http://127.0.0.1:11434/v1", Model: "llama3.2:3b"}, false},
		"only embeddings":    {nil, answering(`{"models":[{"name":"all-minilm:l6-v2","details":{"family":"bert"}}]}`), Model{API: "tour"}, true},
		"no models":          {nil, answering(`{"models":[]}`), Model{API: "tour"}, true},
		"no Ollama":          {nil, answering(`<html>`), Model{API: "tour"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			env := map[string]string{"HOME": filepath.Join(dir, "home"), "HEDDLE_ADDR": "127.0.0.1:0"}
			for k, v := range c.env {
				env[k] = v
			}
			h := home{func(name string) string { return env[name] }, &http.Client{Transport: c.ollama}, dir}
			cfg, m, err := h.config(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.tour, m.tour)
			got := cfg.Models["main"]
			require.Equal(t, c.want.API, got.API)
			require.Equal(t, c.want.Model, got.Model)
			require.Equal(t, c.want.APIKeyEnv, got.APIKeyEnv)
			if !c.tour {
				require.Equal(t, c.want.BaseURL, got.BaseURL)
			}
			require.Equal(t, filepath.Join(dir, "home/.local/state/heddle/heddle.db"), cfg.Store.Path)
			require.Equal(t, dir, cfg.Workspaces["here"].Path)
			require.NoError(t, cfg.secrets(h.getenv).complete(), "no network needs a token")
		})
	}
	_, _, err := home{func(string) string { return "" }, &http.Client{Transport: server(absent)}, "/"}.config(t.Context())
	require.ErrorContains(t, err, "there is no place for the log")
}

// The key that signs cookies outlives the program, and is nobody else's.
func TestCookieKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heddle.db")
	key, err := cookieKey(path)
	require.NoError(t, err)
	require.Len(t, key, 32)
	again, err := cookieKey(path)
	require.NoError(t, err)
	require.Equal(t, key, again)
	info, err := os.Stat(path + ".webkey")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	other, err := cookieKey(path + "2")
	require.NoError(t, err)
	require.NotEqual(t, key, other)
}

func TestWebConfiguration(t *testing.T) {
	for text, want := range map[string]string{
		"addr = \"127.0.0.1:1\"\n":              "",
		"addr = \"0.0.0.0:1\"\n":                "set public = true",
		"addr = \"0.0.0.0:1\"\npublic = true\n": "nobody is named who may log in",
		"addr = \"0.0.0.0:1\"\npublic = true\npeople = [\"alice:HEDDLE_ALICE\"]\n": "",
		"operators = [\"alice\"]\n":          `web.operators: "alice" is none of web.people`,
		"people = [\"alice\"]\n":             "is not NAME:VARIABLE",
		"people = [\"alice:4f3c-secret\"]\n": `web.people: "alice:…" is not NAME:VARIABLE`,
		"addr = \"8080\"\n":                  "is not host:port",
	} {
		_, err := load(write(t, minimal+"[web]\n"+text))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "4f3c-secret")
	}
}
