package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A Registry is the set of tools that an agent has. It does not change, so it may be used
// concurrently.
type Registry struct {
	tools   []Tool // by name
	schemas map[string]*jsonschema.Schema
}

// names is what providers accept as the name of a function.
var names = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// NewRegistry returns the registry of the given tools. It refuses a tool that is not whole: no
// effect, no description, an Action without Preview, a name twice, a schema that lets unknown
// arguments pass. The error says all that is wrong.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools), schemas: map[string]*jsonschema.Schema{}}
	var errs []error
	for _, t := range r.tools {
		schema, err := t.whole()
		if err == nil && r.schemas[t.Name] != nil {
			err = errors.New("the name is taken by another tool")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("tool %q: %w", t.Name, err))
			continue
		}
		r.schemas[t.Name] = schema
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(r.tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// whole returns the tool's compiled schema, or what the tool lacks.
func (t *Tool) whole() (*jsonschema.Schema, error) {
	switch {
	case !names.MatchString(t.Name):
		return nil, fmt.Errorf("the name must match %s", names)
	case t.Effect < Query || t.Effect > Inquiry:
		return nil, errors.New("it has no Effect: say Query, Compute, Action or Inquiry")
	case strings.TrimSpace(t.Description) == "":
		return nil, errors.New("it has no Description")
	case t.Effect == Inquiry && (t.Title == nil || t.Question == nil || t.Run != nil):
		return nil, errors.New("it asks, so it needs Title and Question, and no Run")
	case t.Effect != Inquiry && (t.Title == nil || t.Run == nil || t.Question != nil):
		return nil, errors.New("it needs both Title and Run, and no Question")
	case t.Effect == Action && t.Preview == nil:
		return nil, errors.New("it acts, so it needs a Preview")
	case t.Timeout < 0:
		return nil, errors.New("its Timeout is negative")
	}
	return compile(t.Input)
}

// compile returns the schema of a tool's arguments. It loads nothing from elsewhere.
func compile(input json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return nil, fmt.Errorf("its Input is not JSON: %w", err)
	}
	const url = "tool:///input"
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("its Input: %w", err)
	}
	s, err := c.Compile(url)
	switch {
	case err != nil:
		return nil, fmt.Errorf("its Input is no valid JSON Schema: %w", err)
	case s.Types == nil || !slices.Equal(s.Types.ToStrings(), []string{"object"}):
		return nil, errors.New(`its Input must have "type": "object"`)
	case s.AdditionalProperties != false:
		return nil, errors.New(`its Input must have "additionalProperties": false`)
	}
	for name, p := range s.Properties {
		if p.Default == nil {
			continue
		}
		if err := p.Validate(*p.Default); err != nil {
			return nil, fmt.Errorf("the default of %q does not fit: %s", name, strings.Join(violations(p, name, err), "; "))
		}
	}
	return s, nil
}

// Tools returns the tools by name. The slice must not be changed.
func (r *Registry) Tools() []Tool { return r.tools }

// Check finds the tool and returns the arguments as the tool gets them: near misses coerced, defaults
// filled in, in canonical form. The error is told to the model and says all that is wrong.
//
// A near miss is a value whose meaning is plain though its type is wrong: "5" for a number, a number
// for a string, one value for a list of them, JSON written into a string, null for what may be left
// out. An unknown argument is never one: leaving it out could change what the call means.
func (r *Registry) Check(name string, args json.RawMessage) (*Tool, json.RawMessage, error) {
	i, ok := slices.BinarySearchFunc(r.tools, name, func(t Tool, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil, nil, r.unknown(name)
	}
	tool, schema := &r.tools[i], r.schemas[name]
	value, err := object(args)
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments of %s are %w; it did not run", name, err)
	}
	if err := schema.Validate(value); err != nil {
		value = fit(schema, value)
		if err := schema.Validate(value); err != nil {
			return nil, nil, fmt.Errorf("the arguments do not fit %s, so it did not run:\n- %s",
				name, strings.Join(violations(schema, "", err), "\n- "))
		}
	}
	return tool, encode(plain(fill(schema, value))), nil
}

func (r *Registry) unknown(name string) error {
	var all []string
	for _, t := range r.tools {
		all = append(all, t.Name)
	}
	if len(all) == 0 {
		return fmt.Errorf("there is no tool %q: there are no tools", Clip(name, 64))
	}
	return fmt.Errorf("there is no tool %q%s; the tools are: %s", Clip(name, 64), DidYouMean(name, all), strings.Join(all, ", "))
}
