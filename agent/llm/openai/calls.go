package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A callDelta is a piece of one call in a chunk of Chat Completions.
type callDelta struct {
	Index    *int
	ID       string
	Function struct {
		Name      string
		Arguments json.RawMessage // a string, or from some servers the object itself
	}
	Extra json.RawMessage `json:"extra_content"` // Gemini: to be sent back with the call
}

// args returns the piece's text of the arguments.
func (d *callDelta) args() string {
	var text string
	if json.Unmarshal(d.Function.Arguments, &text) == nil {
		return text // also of null
	}
	return string(d.Function.Arguments)
}

// A partial is a call that is being put together.
type partial struct {
	index    *int
	id, name string
	args     strings.Builder
	extra    json.RawMessage
}

// whole reports whether the arguments of p are all there.
func (p *partial) whole() bool {
	text := p.args.String()
	return strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// calls puts calls together, from servers that number them, name them, or do neither well.
type calls struct{ list []*partial }

// add takes in the i-th of the n pieces of a chunk.
func (c *calls) add(d *callDelta, i, n int) {
	p := c.find(d, i, n)
	if p == nil {
		p = &partial{index: d.Index}
		c.list = append(c.list, p)
	}
	if p.id == "" {
		p.id = d.ID
	}
	if p.name != d.Function.Name { // some repeat the name with each piece
		p.name += d.Function.Name
	}
	p.args.WriteString(d.args())
	if len(d.Extra) > 0 {
		p.extra = d.Extra
	}
}

// find returns the call that d is a piece of, or nil if it begins one. A piece without a name goes on
// with a call whatever its id, for some servers make up an id for each piece.
func (c *calls) find(d *callDelta, i, n int) *partial {
	p := c.same(d)
	named := d.Function.Name != ""
	switch {
	case len(c.list) == 0, p == nil && named:
		return nil
	case p == nil && n > 1 && n <= len(c.list):
		return c.list[len(c.list)-n+i]
	case p == nil:
		return c.list[len(c.list)-1]
	case named && d.ID != "" && p.id != "" && d.ID != p.id:
		return nil // one index for all calls
	case named && p.whole() && d.args() != "":
		return nil // one index, or one id, for all calls
	}
	return p
}

// same returns the newest call with d's index, or if it has none with d's id.
func (c *calls) same(d *callDelta) *partial {
	for _, p := range slices.Backward(c.list) {
		if d.Index != nil && p.index != nil && *d.Index == *p.index ||
			d.Index == nil && d.ID != "" && d.ID == p.id {
			return p
		}
	}
	return nil
}

// done returns what has been put together, and the extra content by Call.ID.
func (c *calls) done() ([]llm.Call, map[string]json.RawMessage) {
	list := slices.DeleteFunc(c.list, func(p *partial) bool { return p.name == "" && p.args.Len() == 0 })
	var all []llm.Call
	for _, p := range list {
		all = append(all, llm.Call{ID: p.id, Name: p.name, Args: args(p.args.String())})
	}
	number(all)
	extra := map[string]json.RawMessage{}
	for i, p := range list {
		if len(p.extra) > 0 {
			extra[all[i].ID] = p.extra
		}
	}
	return all, extra
}

// number gives ids to calls that have none, or that of another. They are nine letters and digits,
// because Mistral takes no other form when they are sent back.
func number(calls []llm.Call) {
	used := map[string]bool{}
	for i := range calls {
		c := &calls[i]
		for n := i + 1; c.ID == "" || used[c.ID]; n++ {
			c.ID = fmt.Sprintf("call%05d", n)
		}
		used[c.ID] = true
	}
}

// args returns the arguments as llm.Call has them.
func args(text string) json.RawMessage {
	var inner string
	if rest := strings.TrimPrefix(strings.TrimSpace(text), "{}"); strings.HasPrefix(rest, "{") {
		text = rest // some begin with an empty object and then write the true one
	}
	switch trimmed := strings.TrimSpace(text); {
	case trimmed == "" || trimmed == "null":
		return json.RawMessage("{}")
	case json.Unmarshal([]byte(trimmed), &inner) == nil && strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)):
		return json.RawMessage(inner) // encoded twice
	case json.Valid([]byte(trimmed)):
		return json.RawMessage(trimmed)
	}
	return quote(text)
}

// quote returns text as a JSON string.
func quote(text string) json.RawMessage {
	data, err := marshal(text)
	if err != nil {
		panic(err) // every string has an encoding
	}
	return data
}

// sentArgs returns the arguments of a call as they are sent back: an object in any case, because chat
// templates of servers break on others, with each request from then on.
func sentArgs(raw json.RawMessage) string {
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(trimmed) == 0 || string(trimmed) == "null":
		return "{}"
	case trimmed[0] == '{' && json.Valid(trimmed):
		return string(trimmed)
	case json.Valid(trimmed):
		return `{"malformed":` + string(trimmed) + `}`
	}
	return `{"malformed":` + string(quote(string(trimmed))) + `}`
}

// sentName returns the name of a call as it is sent back: providers refuse a request that holds a name
// with other characters, though their models write them.
func sentName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), 64)]
}
