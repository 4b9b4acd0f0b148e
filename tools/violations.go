package tools

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// violations says in plain words all that err, of s.Validate, found. The value is called name, or
// "the arguments" if that is empty.
func violations(s *jsonschema.Schema, name string, err error) []string {
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []string{err.Error()}
	}
	var all []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) == 0 {
			all = append(all, say(s, name, e)...)
		}
	}
	walk(invalid)
	slices.Sort(all)
	return slices.Compact(all)
}

// say returns what a violation without causes is about.
func say(s *jsonschema.Schema, name string, e *jsonschema.ValidationError) []string {
	where := path(name, e.InstanceLocation)
	what := "the arguments"
	if where != "" {
		what = strconv.Quote(where)
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		var all []string
		for _, missing := range k.Missing {
			all = append(all, fmt.Sprintf("%q is missing", path(name, append(slices.Clone(e.InstanceLocation), missing))))
		}
		return all
	case *kind.AdditionalProperties:
		return unknown(known(s, e.InstanceLocation), where, k.Properties)
	}
	return []string{what + " " + reason(e)}
}

func unknown(known []string, where string, given []string) []string {
	var all []string
	for _, key := range given {
		hint := DidYouMean(key, known)
		switch {
		case hint == "" && len(known) == 0:
			hint = ": there are no arguments"
		case hint == "":
			hint = ": there are " + strings.Join(known, ", ")
		}
		name := Clip(key, 64)
		if where != "" {
			name = where + "." + name
		}
		all = append(all, fmt.Sprintf("%q is unknown%s", name, hint))
	}
	return all
}

// reason says what a value must be.
func reason(e *jsonschema.ValidationError) string {
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", article(strings.Join(k.Want, " or ")), article(k.Got))
	case *kind.Enum:
		var want []string
		for _, v := range k.Want {
			want = append(want, string(encode(v)))
		}
		hint := ""
		if got, ok := k.Got.(string); ok {
			hint = DidYouMean(strconv.Quote(got), want)
		}
		return "must be one of " + strings.Join(want, ", ") + hint
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return fmt.Sprintf("must have at least %d characters, not %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters, not %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %d items, not %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %d items, not %d", k.Want, k.Got)
	case *kind.Minimum:
		return fmt.Sprintf("must be at least %s, not %s", rat(k.Want), rat(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("must be at most %s, not %s", rat(k.Want), rat(k.Got))
	case *kind.Pattern:
		return fmt.Sprintf("must match %s", k.Want)
	}
	_, why, _ := strings.Cut(e.Error(), ": ") // it begins with the place
	return "does not fit: " + why
}

func article(t string) string {
	switch {
	case t == "null":
		return t
	case strings.ContainsAny(t[:1], "aeiou"):
		return "an " + t
	}
	return "a " + t
}

func rat(r *big.Rat) string {
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// path names a place in the arguments: edits[2].old.
func path(name string, location []string) string {
	for _, part := range location {
		switch _, err := strconv.Atoi(part); {
		case err == nil && name != "":
			name += "[" + part + "]"
		case name != "":
			name += "." + part
		default:
			name = part
		}
	}
	return name
}

// known returns the names that the object at a place may have.
func known(s *jsonschema.Schema, location []string) []string {
	for _, part := range location {
		s = target(s)
		switch {
		case s.Properties[part] != nil:
			s = s.Properties[part]
		case s.Items2020 != nil:
			s = s.Items2020
		default:
			return nil
		}
	}
	var all []string
	for name := range target(s).Properties {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}
