package discordtest

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Form is a modal that a person sees.
type Form struct {
	Title    string
	CustomID string
	Fields   []Field
	from     *interaction
}

// A Field is a text input in a Form.
type Field struct {
	CustomID, Label string
	Value           string // that is there before the person writes
	Required        bool
	Least, Most     int // characters
	id              int
	label           bool // it is in a component of kind label, not in a row
}

// modal is what a form takes.
func modal() fields {
	number := whole(0, 1<<31-1)
	input := fields{"id": number, "custom_id!": words(1, maxCustomID), "style!": whole(1, 2), "label": words(0, 45), "min_length": whole(0, 4000),
		"max_length": whole(1, 4000), "required": yesNo, "value": words(0, 4000), "placeholder": words(0, 100)}
	inRow := input.with(fields{"label!": words(1, 45)})
	delete(inRow, "label")
	return fields{"title!": words(1, maxFormTitle), "custom_id!": words(1, maxCustomID), "components!": list(1, 5, kinds(map[int]fields{
		kindRow:   {"id": number, "components!": list(1, 1, kinds(map[int]fields{kindInput: inRow}))},
		kindLabel: {"id": number, "label!": words(1, 45), "description": words(0, 100), "component!": kinds(map[int]fields{kindInput: input})},
	}))}
}

func readForm(data object) *Form {
	f := &Form{Title: str(data, "title"), CustomID: str(data, "custom_id")}
	for i, one := range data["components"].([]any) {
		box := one.(object)
		in, labelled := box["component"].(object)
		name := str(box, "label")
		if !labelled {
			in = box["components"].([]any)[0].(object)
			name = str(in, "label")
		}
		required, said := in["required"].(bool)
		f.Fields = append(f.Fields, Field{CustomID: str(in, "custom_id"), Label: name, Value: str(in, "value"), Required: required || !said,
			Least: count(in, "min_length"), Most: either(count(in, "max_length"), 4000), id: 2*i + 2, label: labelled})
	}
	return f
}

// Form returns the modal that a person sees.
func (p Interactions) Form(user string) (Form, bool) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	if f := p.n.forms[user]; f != nil {
		return *f, true
	}
	return Form{}, false
}

// Dismiss closes the modal that a person sees. The application does not hear of it.
func (p Interactions) Dismiss(user string) {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	delete(p.n.forms, user)
}

// Submit fills the modal that a person sees, by custom_id or label of the fields, and sends it. It
// returns when the application has answered.
func (p Interactions) Submit(user string, values map[string]string) error {
	p.n.mu.Lock()
	f := p.n.forms[user]
	if f == nil {
		p.n.mu.Unlock()
		return errors.New("there is no form")
	}
	var boxes []object
	for i, field := range f.Fields {
		text := field.Value
		for _, name := range []string{field.Label, field.CustomID} {
			if v, ok := values[name]; ok {
				text = v
			}
		}
		size := utf8.RuneCountInString(text)
		if size == 0 && field.Required || size > 0 && size < field.Least || size > field.Most {
			p.n.mu.Unlock()
			return fmt.Errorf("the form does not take %d characters in %q", size, field.Label)
		}
		in := object{"type": kindInput, "id": field.id, "custom_id": field.CustomID, "value": text}
		if field.label {
			boxes = append(boxes, object{"type": kindLabel, "id": 2*i + 1, "component": in})
		} else {
			boxes = append(boxes, object{"type": kindRow, "id": 2*i + 1, "components": []object{in}})
		}
	}
	p.n.mu.Unlock()
	i := &interaction{kind: onSubmit, user: user, channel: f.from.channel, message: f.from.message}
	err := p.n.interact(i, object{"custom_id": f.CustomID, "components": boxes})
	if err == nil {
		p.n.mu.Lock()
		defer p.n.mu.Unlock()
		if p.n.forms[user] == f {
			delete(p.n.forms, user)
		}
	}
	return err
}

// Press presses a button of a message, named by its label or custom_id. It returns when the application
// has answered.
func (p Interactions) Press(user, channel, message, button string) error {
	p.n.mu.Lock()
	c := p.n.channel(channel)
	m := c.find(message)
	if m == nil || m.For != "" && m.For != user {
		p.n.mu.Unlock()
		return errors.New("there is no such message")
	}
	all := buttons(m.Components)
	at := slices.IndexFunc(all, func(b object) bool { return str(b, "label") == button || str(b, "custom_id") == button })
	p.n.mu.Unlock()
	switch {
	case at < 0:
		return fmt.Errorf("the message has no button %q", button)
	case whether(all[at], "disabled"):
		return fmt.Errorf("the button %q cannot be pressed", button)
	}
	i := &interaction{kind: onComponent, user: user, channel: c, message: m}
	return p.n.interact(i, object{"component_type": kindButton, "custom_id": str(all[at], "custom_id"), "id": all[at]["id"]})
}
