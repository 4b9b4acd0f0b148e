package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// This file turns what a model wrote into the arguments that a tool gets. The values are those of
// encoding/json with numbers as json.Number, so that no digit is lost on the way.

// Canonical returns args in a form that is the same for the same arguments: the order of keys,
// whitespace and the form of numbers do not matter. Text that is no JSON is returned as it is.
func Canonical(args json.RawMessage) string {
	v, err := decode(args)
	if err != nil {
		return string(args)
	}
	return string(encode(plain(v)))
}

// Decode returns validated arguments as the type that their schema was made from.
func Decode[T any](args json.RawMessage) (T, error) {
	var v T
	d := json.NewDecoder(bytes.NewReader(args))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, fmt.Errorf("reading the arguments: %w", err)
	}
	return v, nil
}

// object returns the object that a model wrote as arguments. An object written into a string is
// taken out of it, and nothing at all is the empty object.
func object(args json.RawMessage) (any, error) {
	v, err := decode(args)
	if text, ok := v.(string); ok {
		v, err = decode([]byte(text))
	}
	switch {
	case err == io.EOF, err == nil && v == nil:
		return map[string]any{}, nil
	case err != nil:
		return nil, notJSON(err)
	}
	return v, nil
}

func notJSON(err error) error {
	where := ""
	if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
		where = fmt.Sprintf(" after %d bytes", e.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("they end too early")
	}
	return fmt.Errorf("not JSON (%w%s): write exactly one JSON object, with quotes and line breaks inside strings escaped", err, where)
}

func decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more after the first value")
	}
	return v, nil
}

// encode is the JSON of v on one line, with sorted keys and readable text.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tools: %v", err)) // it was JSON before
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// plain writes the numbers in v in one form.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

// number returns n without fraction and exponent where it has an integral value that a float64 can
// tell from its neighbours, else in the shortest form. Digits alone stay as they are.
func number(n json.Number) json.Number {
	f, err := strconv.ParseFloat(string(n), 64)
	switch {
	case f == 0 && err == nil:
		return "0"
	case err != nil || !strings.ContainsAny(string(n), ".eE"):
		return n
	case f == math.Trunc(f) && math.Abs(f) < 1e18:
		return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// fit returns v with near misses turned into what s asks for. What cannot be turned stays.
func fit(s *jsonschema.Schema, v any) any {
	s = target(s)
	if s.Types != nil && !slices.ContainsFunc(s.Types.ToStrings(), func(t string) bool { return is(t, v) }) {
		for _, t := range s.Types.ToStrings() {
			if w, ok := turn(t, v); ok {
				v = w
				break
			}
		}
	}
	switch v := v.(type) {
	case []any:
		if items := s.Items2020; items != nil {
			for i := range v {
				v[i] = fit(items, v[i])
			}
		}
	case map[string]any:
		for name, p := range s.Properties {
			old, given := v[name]
			switch {
			case !given:
			case old == nil && !slices.Contains(s.Required, name) && p.Validate(nil) != nil:
				delete(v, name)
			default:
				v[name] = fit(p, old)
			}
		}
	}
	return v
}

// target follows references. Only so many, as a schema may refer to itself.
func target(s *jsonschema.Schema) *jsonschema.Schema {
	for range 8 {
		if s.Ref == nil {
			break
		}
		s = s.Ref
	}
	return s
}

// is reports whether v has a type of JSON Schema.
func is(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case json.Number:
		return t == "number" || t == "integer" && !strings.ContainsAny(string(number(v)), ".eE")
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

// turn returns v as a value of type t, if that is plainly meant.
func turn(t string, v any) (any, bool) {
	switch w := v.(type) {
	case nil:
		return nil, false
	case string:
		if t == "boolean" {
			w = strings.ToLower(w)
		}
		if inner, err := decode([]byte(w)); err == nil && is(t, inner) {
			return inner, true
		}
	case json.Number:
		if t == "string" {
			return string(w), true
		}
	case bool:
		if t == "string" {
			return strconv.FormatBool(w), true
		}
	}
	if t == "array" {
		return []any{v}, true
	}
	return nil, false
}

// fill adds the defaults of what is missing in v.
func fill(s *jsonschema.Schema, v any) any {
	s = target(s)
	switch v := v.(type) {
	case []any:
		if items := s.Items2020; items != nil {
			for i := range v {
				v[i] = fill(items, v[i])
			}
		}
	case map[string]any:
		for name, p := range s.Properties {
			p = target(p)
			if old, given := v[name]; given {
				v[name] = fill(p, old)
			} else if p.Default != nil {
				v[name] = copied(*p.Default)
			}
		}
	}
	return v
}

// copied returns a v that shares nothing with it.
func copied(v any) any {
	switch v := v.(type) {
	case []any:
		w := make([]any, len(v))
		for i := range v {
			w[i] = copied(v[i])
		}
		return w
	case map[string]any:
		w := make(map[string]any, len(v))
		for k := range v {
			w[k] = copied(v[k])
		}
		return w
	}
	return v
}
