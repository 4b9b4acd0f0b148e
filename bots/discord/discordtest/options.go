package discordtest

import (
	"errors"
	"fmt"
	"slices"
)

// A filling is how a person fills in a command.
type filling struct {
	n        *Network
	channel  *channel
	complete bool   // the last option is still being typed
	resolved object // what ids stand for
}

// options returns what an interaction says about options: sub commands as they are nested.
func (f filling) options(of object, path []string, given []Option) ([]object, error) {
	known := asList(of["options"])
	named := func(name string) object {
		at := slices.IndexFunc(known, func(one any) bool { return str(one, "name") == name })
		if at < 0 {
			return nil
		}
		return known[at].(object)
	}
	if len(path) > 0 {
		sub := named(path[0])
		if kind := count(sub, "type"); kind != optCommand && kind != optGroup {
			return nil, fmt.Errorf("there is no sub command %q", path[0])
		}
		inner, err := f.options(sub, path[1:], given)
		return []object{{"name": path[0], "type": count(sub, "type"), "options": inner}}, err
	}
	all := []object{}
	for i, g := range given {
		o := named(g.Name)
		if o == nil {
			return nil, fmt.Errorf("the command has no option %q", g.Name)
		}
		focused := f.complete && i == len(given)-1
		v, err := f.value(o, g, focused)
		if err != nil {
			return nil, err
		}
		one := object{"name": g.Name, "type": count(o, "type"), "value": v}
		if focused {
			one["focused"] = true
		}
		all = append(all, one)
	}
	for _, one := range known {
		o := one.(object)
		if kind := count(o, "type"); kind == optCommand || kind == optGroup {
			return nil, errors.New("the command needs a sub command")
		}
		if whether(o, "required") && !f.complete && !slices.ContainsFunc(given, func(g Option) bool { return g.Name == str(o, "name") }) {
			return nil, fmt.Errorf("the command needs the option %q", str(o, "name"))
		}
	}
	return all, nil
}

// value returns the value of one option as the interaction has it.
func (f filling) value(o object, g Option, focused bool) (any, error) {
	switch kind := count(o, "type"); {
	case focused && !whether(o, "autocomplete"):
		return nil, fmt.Errorf("the option %q is not completed", g.Name)
	case kind == optUser:
		f.resolve("users", fmt.Sprint(g.Value), f.n.users[fmt.Sprint(g.Value)].json())
	case kind == optChannel:
		f.resolve("channels", fmt.Sprint(g.Value), f.n.channelJSON(f.n.channel(fmt.Sprint(g.Value))))
	case kind == optFile:
		file, ok := g.Value.(File)
		if !ok {
			return nil, fmt.Errorf("the option %q takes a File", g.Name)
		}
		kept := f.n.keep(f.channel.id, []File{file})
		f.resolve("attachments", kept[0].id, f.n.attachments(&Message{Files: kept})[0])
		return kept[0].id, nil
	case kind == optString:
		s, ok := g.Value.(string)
		if most := either(count(o, "max_length"), 6000); !ok || len([]rune(s)) > most || len([]rune(s)) < count(o, "min_length") {
			return nil, fmt.Errorf("the option %q takes no such text", g.Name)
		}
		if choices := asList(o["choices"]); len(choices) > 0 && !slices.ContainsFunc(choices, func(c any) bool { return str(c, "value") == s }) {
			return nil, fmt.Errorf("the option %q offers no %q", g.Name, s)
		}
	}
	return g.Value, nil
}

func (f filling) resolve(kind, id string, v object) {
	all, ok := f.resolved[kind].(object)
	if !ok {
		all = object{}
		f.resolved[kind] = all
	}
	all[id] = v
}
