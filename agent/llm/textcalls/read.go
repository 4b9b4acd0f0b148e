package textcalls

import (
	"encoding/json"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// The keys under which models write the parts of a call. The first is what they are told.
var (
	nameKeys = []string{"tool", "tool_name", "name", "function", "function_name", "action"}
	argsKeys = []string{"args", "arguments", "parameters", "params", "input", "tool_input", "action_input"}
	listKeys = []string{"tool_calls", "calls"}
	callKeys = []string{"function", "tool_call", "function_call", "call", "action"} // a call lies within
)

// calls returns the calls that an object is, or nil if it is something else.
func (p *parser) calls(data json.RawMessage) []llm.Call {
	var o map[string]json.RawMessage
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	for _, key := range listKeys {
		var list []json.RawMessage
		if json.Unmarshal(o[key], &list) != nil || len(list) == 0 {
			continue
		}
		var all []llm.Call
		for _, element := range list {
			one := p.calls(element)
			if one == nil {
				return nil
			}
			all = append(all, one...)
		}
		return all
	}
	for _, key := range callKeys {
		if strings.HasPrefix(string(o[key]), "{") {
			return p.calls(o[key])
		}
	}
	if c, ok := p.call(o); ok {
		return []llm.Call{c}
	}
	return nil
}

// call returns the call that an object is. An object of another shape than the one asked for is a call
// only if it names a tool that exists: an answer may well hold JSON with a name in it.
func (p *parser) call(o map[string]json.RawMessage) (llm.Call, bool) {
	nameKey, name := "", ""
	for _, key := range nameKeys {
		if json.Unmarshal(o[key], &name) == nil && name != "" {
			nameKey = key
			break
		}
	}
	if nameKey == "" {
		return llm.Call{}, false
	}
	name, known := p.known(name)
	for _, key := range argsKeys {
		if value, ok := o[key]; ok && (known || nameKey == "tool" && key == "args") {
			return llm.Call{Name: name, Args: arguments(value)}, true
		}
	}
	if !known || nameKey == "name" {
		return llm.Call{}, false
	}
	delete(o, nameKey) // the arguments lie beside the name
	rest, err := json.Marshal(o)
	return llm.Call{Name: name, Args: rest}, err == nil
}

// known returns the name of a tool without what some models put before it, and whether it exists.
func (p *parser) known(name string) (string, bool) {
	if short := strings.TrimPrefix(name, "functions."); p.names[short] {
		return short, true
	}
	return name, p.names[name]
}

// arguments returns the arguments as llm.Call has them.
func arguments(value json.RawMessage) json.RawMessage {
	var text string
	switch {
	case string(value) == "null":
		return json.RawMessage("{}")
	case json.Unmarshal(value, &text) != nil:
		return value
	case strings.TrimSpace(text) == "":
		return json.RawMessage("{}")
	case strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text)):
		return json.RawMessage(text) // encoded twice
	}
	return value
}

// quote returns text as a JSON string.
func quote(text string) json.RawMessage {
	data, err := encode(text)
	if err != nil {
		panic(err) // every string has an encoding
	}
	return json.RawMessage(data)
}
