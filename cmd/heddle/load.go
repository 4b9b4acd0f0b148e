package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// load reads the configuration file at path, fills in the defaults and makes its paths absolute. The
// error names everything that is wrong with it, one mistake a line.
func load(path string) (*Config, error) {
	if path == "" {
		return nil, errors.New("-c needs the name of a file, and what it was given is empty")
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no configuration file %s: copy config.example.toml to it, or name another one with -c or HEDDLE_CONFIG", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return parse(path, text, dir)
}

// parse is load of a text. Paths in it are relative to dir.
func parse(name string, text []byte, dir string) (*Config, error) {
	c, written, problems := decode(name, text)
	if c == nil {
		return nil, listed(problems)
	}
	c.fill(written)
	c.resolve(dir)
	if problems = append(problems, c.check(written)...); len(problems) > 0 {
		return nil, listed(problems)
	}
	return c, nil
}

// listed returns an error of one problem a line, or nil.
func listed(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "\n"))
}

// byteOrderMark is what some editors of Windows put in front of a file in UTF-8.
const byteOrderMark = "\ufeff"

// decode parses text, and says which keys are written in it. Without a Config the problems are such
// that nothing more can be said.
func decode(path string, text []byte) (*Config, *survey, []string) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	written := surveyOf(path, text)
	if written.mistyped {
		return nil, written, written.problems
	}
	var c Config
	err := toml.Unmarshal(text, &c)
	var broken *toml.DecodeError
	switch {
	case err == nil:
		return &c, written, written.problems
	case errors.As(err, &broken):
		row, column := broken.Position()
		what := strings.TrimPrefix(broken.Error(), "toml: ")
		if key := keyName(broken.Key()...); key != "" {
			what = key + ": " + what
		}
		return nil, written, append(written.problems, fmt.Sprintf("%s:%d:%d: %s", path, row, column, what))
	}
	return nil, written, append(written.problems, fmt.Sprintf("%s: %v", path, err))
}

// unknown says which part of key is not known and what was probably meant.
func unknown(key []string) string {
	t := reflect.TypeFor[Config]()
	for i, name := range key {
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
			continue
		case reflect.Struct:
		default:
			return fmt.Sprintf("unknown key %s", keyName(key[:i+1]...))
		}
		names := keys(t)
		at := slices.Index(names, name)
		if at < 0 {
			s := "unknown key " + keyName(key[:i+1]...)
			if near := nearest(name, names); near != "" {
				return s + fmt.Sprintf(", did you mean %q?", near)
			}
			return s + "; known here: " + strings.Join(names, ", ")
		}
		t = t.Field(at).Type
	}
	return "unknown key " + keyName(key...)
}

// keys returns the TOML names of the fields of a struct, in order.
func keys(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("toml"))
	}
	return names
}

// nearest returns the name that name is a misspelling of, or "".
func nearest(name string, names []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance is how many letters have to be added, removed or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// resolve makes the paths absolute. dir is that of the configuration file.
func (c *Config) resolve(dir string) {
	abs := func(p *string) {
		if *p != "" && !filepath.IsAbs(*p) {
			*p = filepath.Join(dir, *p)
		}
	}
	abs(&c.Store.Path)
	abs(&c.Slack.BotTokenFile)
	abs(&c.Slack.AppTokenFile)
	abs(&c.Discord.BotTokenFile)
	abs(&c.Slack.SigningSecretFile)
	for name, w := range c.Workspaces {
		abs(&w.Path)
		c.Workspaces[name] = w
	}
	for name, m := range c.Models {
		abs(&m.APIKeyFile)
		c.Models[name] = m
	}
}
