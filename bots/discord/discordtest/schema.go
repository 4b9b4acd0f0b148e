package discordtest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A checker collects what is wrong with a body, nested as Discord tells it.
type checker struct{ errors object }

// fail notes something wrong at a place: names with slashes between.
func (c *checker) fail(at, code, format string, args ...any) {
	if c.errors == nil {
		c.errors = object{}
	}
	here := c.errors
	for name := range strings.SplitSeq(strings.Trim(at, "/"), "/") {
		if name == "" {
			continue
		}
		inner, ok := here[name].(object)
		if !ok {
			inner = object{}
			here[name] = inner
		}
		here = inner
	}
	found, _ := here["_errors"].([]object)
	here["_errors"] = append(found, object{"code": code, "message": fmt.Sprintf(format, args...)})
}

// refused returns what was found as a refusal, or nil.
func (c *checker) refused() *refused {
	if c.errors == nil {
		return nil
	}
	no := refuse(50035)
	no.errors = c.errors
	return no
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

func form(f fields) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(object)
		if !ok {
			c.fail(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
			return
		}
		c.members(at, o, f)
	}
}

// members checks the members of an object. Discord overlooks those that it does not know; here they
// are refused, since they are mistakes.
func (c *checker) members(at string, o object, f fields) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		plain, needed := strings.CutSuffix(name, "!")
		v, there := o[plain]
		switch {
		case there && v != nil:
			f[name](c, at+"/"+plain, v)
		case needed:
			c.fail(at+"/"+plain, "BASE_TYPE_REQUIRED", "This field is required")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if f[name] == nil && f[name+"!"] == nil {
			c.fail(at+"/"+name, "DISCORDTEST_UNKNOWN_FIELD", "discordtest does not know this field")
		}
	}
}

// kinds is the rule for objects that say in "type" what they are.
func kinds(all map[int]fields) rule {
	return func(c *checker, at string, v any) {
		o, ok := v.(object)
		if !ok {
			c.fail(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType")
			return
		}
		kind, _ := o["type"].(float64)
		f, ok := all[int(kind)]
		if !ok {
			var known []string
			for _, k := range slices.Sorted(maps.Keys(all)) {
				known = append(known, strconv.Itoa(k))
			}
			c.fail(at+"/type", "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (%s).", strings.Join(known, ", "))
			return
		}
		c.members(at, o, f.with(fields{"type!": anyValue}))
	}
}

func anyValue(*checker, string, any) {}

func list(least, most int, each rule) rule {
	return func(c *checker, at string, v any) {
		l, ok := v.([]any)
		switch {
		case !ok:
			c.fail(at, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
			return
		case len(l) < least || len(l) > most:
			c.fail(at, "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
			return
		}
		for i, one := range l {
			each(c, at+"/"+strconv.Itoa(i), one)
		}
	}
}

func words(least, most int) rule {
	return func(c *checker, at string, v any) {
		s, ok := v.(string)
		switch n := utf8.RuneCountInString(s); {
		case !ok:
			c.fail(at, "STRING_TYPE_CONVERT", "Could not interpret \"%v\" as string.", v)
		case n == 0 && least > 0:
			c.fail(at, "BASE_TYPE_REQUIRED", "This field is required")
		case least > 1 && n < least, least == 1 && n > most:
			c.fail(at, "BASE_TYPE_BAD_LENGTH", "Must be between %d and %d in length.", least, most)
		case n > most:
			c.fail(at, "BASE_TYPE_MAX_LENGTH", "Must be %d or fewer in length.", most)
		}
	}
}

func yesNo(c *checker, at string, v any) {
	if _, ok := v.(bool); !ok {
		c.fail(at, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
	}
}

func whole(least, most int) rule {
	return func(c *checker, at string, v any) {
		switch n, ok := v.(float64); {
		case !ok || n != math.Trunc(n):
			c.fail(at, "NUMBER_TYPE_COERCE", "Value \"%v\" is not int.", v)
		case n < float64(least):
			c.fail(at, "NUMBER_TYPE_MIN", "int value should be greater than or equal to %d.", least)
		case n > float64(most):
			c.fail(at, "NUMBER_TYPE_MAX", "int value should be less than or equal to %d.", most)
		}
	}
}

// oneOf is the rule for one of some numbers or strings, as JSON has them.
func oneOf(values ...any) rule {
	return func(c *checker, at string, v any) {
		if !slices.Contains(values, v) {
			c.fail(at, "BASE_TYPE_CHOICES", "Value must be one of %s.", strings.Trim(strings.ReplaceAll(fmt.Sprintf("%v", values), " ", ", "), "[]"))
		}
	}
}

// id is the rule for snowflakes. A number in JSON will do too.
func id(c *checker, at string, v any) {
	if s := fmt.Sprint(v); snowflake(s) == 0 {
		c.fail(at, "NUMBER_TYPE_COERCE", "Value \"%s\" is not snowflake.", s)
	}
}

// str returns the string that stands at the end of a path in an object, or "".
func str(v any, path ...string) string {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	s, _ := v.(string)
	return s
}

// whether returns a flag of an object.
func whether(o object, name string) bool {
	yes, _ := o[name].(bool)
	return yes
}

// count returns a number of an object.
func count(o object, name string) int {
	n, _ := o[name].(float64)
	return int(n)
}

// texts returns the strings of a list in an object.
func texts(o object, name string) []string {
	l, _ := o[name].([]any)
	var all []string
	for _, one := range l {
		all = append(all, fmt.Sprint(one))
	}
	return all
}
