package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file is heddle without a configuration: what "heddle" alone starts with. It writes one, in memory,
// that goes the same way as a file.

// A home is what such a start finds.
type home struct {
	getenv func(string) string
	client *http.Client // asks for a server of models on this machine
	here   string       // the current directory
}

// A found is the model that such a start uses.
type found struct {
	table string // of [models.NAME]
	about string // for people
	tour  bool
}

// ollama is where Ollama serves unless it is told otherwise.
const ollama = "http://127.0.0.1:11434"

// model chooses one: of a provider whose key is in the environment, of Ollama, or else the tour.
func (h home) model(ctx context.Context) found {
	for _, p := range []struct{ env, base, model, name string }{
		{"OPENAI_API_KEY", "https://api.openai.com/v1", "gpt-5-mini", "OpenAI"},
		{"OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openrouter/auto", "OpenRouter"},
		{"DEEPSEEK_API_KEY", "https://api.deepseek.com/v1", "deepseek-chat", "DeepSeek"},
	} {
		if h.getenv(p.env) == "" {
			continue
		}
		name := p.model
		if chosen := h.getenv("HEDDLE_MODEL"); chosen != "" {
			name = chosen
		}
		return found{
			table: fmt.Sprintf("base_url = %q\napi_key_env = %q\nmodel = %q\n", p.base, p.env, name),
			about: fmt.Sprintf("%s of %s, with the key in %s", name, p.name, p.env),
		}
	}
	if name := h.local(ctx); name != "" {
		return found{table: fmt.Sprintf("base_url = %q\nmodel = %q\n", ollama+"/v1", name), about: name + " of Ollama on this machine"}
	}
	return found{table: "api = \"tour\"\n", about: "the tour, a script and no AI: there is no key of a model in the environment", tour: true}
}

// local returns a model of an Ollama server on this machine, or "".
func (h home) local(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, ollama+"/api/tags", nil)
	if err != nil {
		return ""
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	var has struct {
		Models []installed `json:"models"` // the newest first
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&has) != nil || len(has.Models) == 0 {
		return ""
	}
	if chosen := h.getenv("HEDDLE_MODEL"); chosen != "" {
		return chosen
	}
	if i := slices.IndexFunc(has.Models, installed.talks); i >= 0 {
		return has.Models[i].Name
	}
	return ""
}

// An installed is a model that Ollama has.
type installed struct {
	Name    string `json:"name"`
	Details struct {
		Family string `json:"family"`
	} `json:"details"`
}

// talks reports whether it is no model for embeddings, which Ollama lists like any other. Those are BERTs, or
// say it in their names.
func (m installed) talks() bool {
	return m.Name != "" && !strings.Contains(m.Name, "embed") && !strings.Contains(m.Details.Family, "bert")
}

// state returns the directory of the log: where the user's other programs keep theirs.
func (h home) state() (string, error) {
	if dir := h.getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "heddle"), nil
	}
	if dir := h.getenv("HOME"); dir != "" {
		return filepath.Join(dir, ".local", "state", "heddle"), nil
	}
	return "", errors.New("neither HOME nor XDG_STATE_HOME is set, so there is no place for the log: set one, or write a configuration")
}

// config returns the configuration, and what is to be told of it.
func (h home) config(ctx context.Context) (*Config, found, error) {
	dir, err := h.state()
	if err != nil {
		return nil, found{}, err
	}
	m := h.model(ctx)
	text := fmt.Sprintf("[store]\npath = %q\n[http]\naddr = \"\"\n[web]\naddr = %q\n[models.main]\n%s[workspaces.here]\npath = %q\n[channels.default]\n",
		filepath.Join(dir, "heddle.db"), h.pageAddr(), m.table, h.here)
	c, err := parse("the defaults of heddle", []byte(text), h.here)
	return c, m, err
}

// pageAddr returns where the page is served: always the same place, so that browsers stay logged in; another
// one if that is taken.
func (h home) pageAddr() string {
	if addr := h.getenv("HEDDLE_ADDR"); addr != "" {
		return addr
	}
	const usual = "127.0.0.1:8788"
	l, err := net.Listen("tcp", usual)
	if err != nil {
		return "127.0.0.1:0"
	}
	_ = l.Close()
	return usual
}

// keySize is the bytes of the key that signs cookies of the page.
const keySize = 32

// cookieKey returns the key in a file beside the log, which it makes if it is not there.
func cookieKey(store string) ([]byte, error) {
	name := store + ".webkey"
	key, err := os.ReadFile(name)
	switch {
	case err == nil && len(key) == keySize:
		return key, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the key that signs cookies: %w", err)
	}
	key = make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	if err := os.WriteFile(name, key, 0o600); err != nil {
		return nil, fmt.Errorf("the key that signs cookies: %w", err)
	}
	return key, nil
}

// origin is the address of the page for people.
func origin(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "localhost"
	}
	n, _ := strconv.Atoi(port)
	return "http://" + net.JoinHostPort(host, strconv.Itoa(n))
}
