package main

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// The decoder stops at the first value of a wrong type, and what it decodes does not show which keys
// were written and where. So the file is walked over before.

// A survey is what stands in a configuration file.
type survey struct {
	file     string
	at       map[string]position // by key, as keyName writes it; tables are keys too
	problems []string            // unknown keys and values of a wrong type, in the order of the file
	mistyped bool                // whether there is one of the latter

	parser unstable.Parser
}

// A position is a place in the file; both count from 1.
type position struct{ line, column int }

// surveyOf walks over text. It ends at what is not TOML, which is for the decoder to tell.
func surveyOf(file string, text []byte) *survey {
	s := &survey{file: file, at: map[string]position{}}
	s.parser.Reset(text)
	var table []string // whose keys follow; nil where they are of no table that is known
	root := true
	for s.parser.NextExpression() {
		e := s.parser.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			if root || table != nil {
				s.keyValue(table, e)
			}
		case unstable.Table, unstable.ArrayTable:
			root = false
			path, t := s.key(nil, e)
			if t != nil && (e.Kind == unstable.ArrayTable || !isTable(t)) {
				s.wrongType(path, t, s.at[keyName(path...)])
				t = nil
			}
			if table = path; t == nil {
				table = nil
			}
		}
	}
	return s
}

// key notes where the key of e stands, in a table, and returns its path and type; nil if it is not known.
func (s *survey) key(table []string, e *unstable.Node) (path []string, t reflect.Type) {
	path = slices.Clone(table)
	var here position
	for it := e.Key(); it.Next(); {
		if len(path) == len(table) {
			here = s.position(it.Node())
		}
		path = append(path, string(it.Node().Data))
	}
	for n := len(table) + 1; n <= len(path); n++ {
		if t = typeAt(path[:n]); t == nil {
			s.add(here, "%s", unknown(path))
			return path, nil
		}
		if name := keyName(path[:n]...); !s.has(name) {
			s.at[name] = here
		}
	}
	return path, t
}

func (s *survey) keyValue(table []string, e *unstable.Node) {
	path, t := s.key(table, e)
	if t == nil {
		return
	}
	at := s.at[keyName(path...)]
	value := e.Value()
	if value.Raw.Length > 0 { // tables and lists do not have it
		at = s.position(value)
	}
	if !fits(t, value) {
		s.wrongType(path, t, at)
		return
	}
	if value.Kind == unstable.InlineTable {
		for it := value.Children(); it.Next(); {
			s.keyValue(path, it.Node())
		}
	}
}

func (s *survey) position(n *unstable.Node) position {
	before := s.parser.Data()[:n.Raw.Offset]
	return position{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')}
}

func (s *survey) add(at position, format string, args ...any) {
	s.problems = append(s.problems, fmt.Sprintf("%s:%d:%d: ", s.file, at.line, at.column)+fmt.Sprintf(format, args...))
}

func (s *survey) wrongType(path []string, t reflect.Type, at position) {
	s.mistyped = true
	s.add(at, "%s: expected %s", keyName(path...), expected(t))
}

// has reports whether the key was written.
func (s *survey) has(key string) bool {
	_, ok := s.at[key]
	return ok
}

// where returns the place of key, or of the nearest table around it that was written.
func (s *survey) where(key string) string {
	for key != "" {
		if p, ok := s.at[key]; ok {
			return fmt.Sprintf("%s:%d:%d", s.file, p.line, p.column)
		}
		key = key[:max(0, strings.LastIndexByte(key, '.'))]
	}
	return s.file
}

// keyName writes a key as TOML has it: channels."slack/T1/C1".steps.
func keyName(path ...string) string {
	parts := slices.Clone(path)
	for i, p := range parts {
		if !bareKey.MatchString(p) {
			parts[i] = strconv.Quote(p)
		}
	}
	return strings.Join(parts, ".")
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// typeAt returns the type of the key in a Config, or nil if there is no such key.
func typeAt(path []string) reflect.Type {
	t := reflect.TypeFor[Config]()
	for _, name := range path {
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			i := slices.Index(keys(t), name)
			if i < 0 {
				return nil
			}
			t = t.Field(i).Type
		default:
			return nil
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t
}

func isTable(t reflect.Type) bool { return t.Kind() == reflect.Struct || t.Kind() == reflect.Map }

// isText reports whether values of type t are written in quotes.
func isText(t reflect.Type) bool {
	return t.Kind() == reflect.String || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fits reports whether a value can be one of type t. What is in an inline table is not looked at.
func fits(t reflect.Type, value *unstable.Node) bool {
	switch {
	case isText(t): // also a Duration, of which the decoder would take a number for nanoseconds
		return value.Kind == unstable.String
	case isTable(t):
		return value.Kind == unstable.InlineTable
	case t.Kind() == reflect.Slice:
		if value.Kind != unstable.Array {
			return false
		}
		for it := value.Children(); it.Next(); {
			if !fits(t.Elem(), it.Node()) {
				return false
			}
		}
		return true
	case t.Kind() == reflect.Bool:
		return value.Kind == unstable.Bool
	case t.Kind() == reflect.Float64:
		return value.Kind == unstable.Float || value.Kind == unstable.Integer
	}
	return value.Kind == unstable.Integer
}

// expected says how a value of type t is written.
func expected(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Duration]():
		return `a time span in quotes, like "90s", "10m" or "168h"`
	case isText(t):
		return `a text in quotes`
	case isTable(t):
		return "a table"
	case t.Kind() == reflect.Slice:
		return `a list of texts in quotes, like ["U012AB3CD"]`
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
