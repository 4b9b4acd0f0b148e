package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/heddle-bot/heddle/prompts"
)

// Define returns a tool whose words are the file of that name in package prompts and whose Input is
// the Schema of T. What it does, its functions and its Timeout, is left to be filled in. It panics
// if there is no such file.
func Define[T any](name string, effect Effect) (Tool, error) {
	words := prompts.ForTool(name)
	input, err := Schema[T](words.Params)
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: %w", name, err)
	}
	return Tool{Name: name, Description: words.Description, Guidance: words.Guidance, Effect: effect, Input: input}, nil
}

// Schema returns the strict JSON Schema of a struct: no other keys, nothing null, and every field
// required that its json tag does not mark omitempty. A field's schema tag narrows it:
//
//	Limit int `json:"limit,omitempty" schema:"minimum=1,maximum=2000,default=200"`
//	Mode string `json:"mode" schema:"enum=text|regexp"`
//
// with minLength, maxLength, minimum, maximum, minItems, maxItems, default and enum; values hold no
// comma. The words for each field are in params by its JSON name, for those of inner structs by
// their path ("edits.old"). A field without words and words without a field are errors.
func Schema[T any](params map[string]string) (json.RawMessage, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, err
	}
	d := describer{params: maps.Clone(params)}
	d.object(s, t, "")
	for _, name := range slices.Sorted(maps.Keys(d.params)) {
		d.fail(name, errors.New("is described, but there is no such parameter"))
	}
	if len(d.errs) > 0 {
		return nil, errors.Join(d.errs...)
	}
	return json.Marshal(s)
}

// A describer adds words and limits to a schema made from a type.
type describer struct {
	params map[string]string // those not used yet
	errs   []error
}

func (d *describer) fail(param string, err error) {
	d.errs = append(d.errs, fmt.Errorf("parameter %s: %w", param, err))
}

func (d *describer) object(s *jsonschema.Schema, t reflect.Type, prefix string) {
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		p := s.Properties[name]
		if p == nil || field.Anonymous || !field.IsExported() {
			continue
		}
		param := prefix + name
		p.Description = d.params[param]
		if p.Description == "" {
			d.fail(param, errors.New("has no description"))
		}
		delete(d.params, param)
		d.value(p, field.Type, param)
		for setting := range strings.SplitSeq(field.Tag.Get("schema"), ",") {
			if err := narrow(p, setting); err != nil {
				d.fail(param, err)
			}
		}
		if p.Default != nil && slices.Contains(s.Required, name) {
			d.fail(param, errors.New("has a default, so it needs omitempty"))
		}
	}
}

// value forbids null and goes into lists and structs.
func (d *describer) value(s *jsonschema.Schema, t reflect.Type, param string) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case s.Items != nil:
		d.value(s.Items, t.Elem(), param)
	case t.Kind() == reflect.Struct && s.Properties != nil:
		d.object(s, t, param+".")
	}
}

// narrow applies one setting of a schema tag.
func narrow(s *jsonschema.Schema, setting string) error {
	if setting == "" {
		return nil
	}
	key, value, _ := strings.Cut(setting, "=")
	for t, keys := range map[string][]string{
		"string": {"minLength", "maxLength", "enum"},
		"array":  {"minItems", "maxItems"},
	} {
		if slices.Contains(keys, key) && s.Type != t {
			return fmt.Errorf("schema tag %q is only for type %s", setting, t)
		}
	}
	var err error
	switch key {
	case "minLength":
		s.MinLength, err = pointer(strconv.Atoi(value))
	case "maxLength":
		s.MaxLength, err = pointer(strconv.Atoi(value))
	case "minItems":
		s.MinItems, err = pointer(strconv.Atoi(value))
	case "maxItems":
		s.MaxItems, err = pointer(strconv.Atoi(value))
	case "minimum":
		s.Minimum, err = pointer(strconv.ParseFloat(value, 64))
	case "maximum":
		s.Maximum, err = pointer(strconv.ParseFloat(value, 64))
	case "enum":
		for v := range strings.SplitSeq(value, "|") {
			s.Enum = append(s.Enum, v)
		}
	case "default":
		s.Default = json.RawMessage(value)
		if s.Type == "string" {
			s.Default = encode(value)
		}
		if !json.Valid(s.Default) {
			err = errors.New("the value is not JSON")
		}
	default:
		err = errors.New("there is no such keyword")
	}
	if err != nil {
		return fmt.Errorf("schema tag %q: %w", setting, err)
	}
	return nil
}

func pointer[N any](n N, err error) (*N, error) { return &n, err }
