package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A checker collects what is wrong with a piece of JSON, in Slack's words.
type checker struct{ problems []string }

func (c *checker) fail(at, format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...)+" [json-pointer:"+at+"]")
}

// A rule looks at the value that stands at a place.
type rule func(c *checker, at string, v any)

// fields are the members that an object may have, and their rules. A name with "!" must be there.
type fields map[string]rule

// with returns f and more.
func (f fields) with(more fields) fields {
	all := maps.Clone(f)
	maps.Copy(all, more)
	return all
}

func object(f fields) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(map[string]any)
		if !ok {
			c.fail(at, "must provide an object")
			return
		}
		c.members(at, o, f)
	}
}

// members checks the members of an object in the order of their names.
func (c *checker) members(at string, o map[string]any, f fields) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		plain, needed := strings.CutSuffix(name, "!")
		v, there := o[plain]
		switch {
		case there && v != nil:
			f[name](c, at+"/"+plain, v)
		case needed:
			c.fail(at, "missing required field: %s", plain)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if f[name] == nil && f[name+"!"] == nil && name != "type" {
			c.fail(at, "invalid additional property: %s", name)
		}
	}
}

// kinds is the rule for objects that say in "type" what they are.
func kinds(all map[string]fields) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(map[string]any)
		if !ok {
			c.fail(at, "must provide an object")
			return
		}
		f, ok := all[str(o, "type")]
		if !ok {
			c.fail(at+"/type", "unsupported type: %v", o["type"])
			return
		}
		c.members(at, o, f)
	}
}

func list(least, most int, each rule) rule {
	return func(c *checker, at string, v any) {
		l, ok := v.([]any)
		switch {
		case !ok:
			c.fail(at, "must provide an array")
			return
		case len(l) < least:
			c.fail(at, "no less than %d items allowed", least)
		case len(l) > most:
			c.fail(at, "no more than %d items allowed", most)
		}
		for i, one := range l {
			each(c, at+"/"+strconv.Itoa(i), one)
		}
	}
}

// length counts characters as Slack does: UTF-16 code units.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

func words(least, most int) rule {
	return func(c *checker, at string, v any) {
		s, ok := v.(string)
		switch n := length(s); {
		case !ok:
			c.fail(at, "must provide a string")
		case n < least:
			c.fail(at, "must be more than %d characters", least-1)
		case n > most:
			c.fail(at, "must be less than %d characters", most+1)
		}
	}
}

func oneOf(values ...string) rule {
	return func(c *checker, at string, v any) {
		if s, ok := v.(string); !ok || !slices.Contains(values, s) {
			c.fail(at, "must be a valid enum value")
		}
	}
}

func yesNo(c *checker, at string, v any) {
	if _, ok := v.(bool); !ok {
		c.fail(at, "must provide a boolean")
	}
}

func whole(least, most int) rule {
	return func(c *checker, at string, v any) {
		n, ok := v.(float64)
		if !ok || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
			c.fail(at, "must be an integer from %d to %d", least, most)
		}
	}
}

// text is the rule for text objects of one of the types.
func text(most int, types ...string) rule {
	all := map[string]fields{
		"plain_text": {"text!": words(1, most), "emoji": yesNo},
		"mrkdwn":     {"text!": words(1, most), "verbatim": yesNo},
	}
	for _, t := range []string{"plain_text", "mrkdwn"} {
		if len(types) > 0 && !slices.Contains(types, t) {
			delete(all, t)
		}
	}
	return func(c *checker, at string, v any) {
		var inner checker
		kinds(all)(&inner, at, v)
		if inner.problems != nil {
			c.fail(at, "failed to match all allowed schemas")
			c.problems = append(c.problems, inner.problems...)
		}
	}
}

// decode returns the objects of a JSON array.
func decode(raw string) (all []any, ok bool) {
	err := json.Unmarshal([]byte(raw), &all)
	return all, err == nil
}

// str returns the string that stands at the end of a path in an object, or "".
func str(v any, path ...string) string {
	s, _ := dig(v, path...).(string)
	return s
}

// objects returns the objects of the array at the end of a path.
func objects(v any, path ...string) []map[string]any {
	l, _ := dig(v, path...).([]any)
	var all []map[string]any
	for _, one := range l {
		if o, ok := one.(map[string]any); ok {
			all = append(all, o)
		}
	}
	return all
}

func dig(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(map[string]any)
		v = o[name]
	}
	return v
}
