package discordtest

import (
	"fmt"
	"strconv"
)

// Kinds of components.
const (
	kindRow       = 1
	kindButton    = 2
	kindSelect    = 3
	kindInput     = 4
	kindSection   = 9
	kindText      = 10
	kindFile      = 13
	kindSeparator = 14
	kindContainer = 17
	kindLabel     = 18
)

// Discord's limits on components.
const (
	maxRows      = 5
	maxButtons   = 5
	maxCustomID  = 100
	maxAll       = 40 // of version 2, all together
	maxAllText   = 4000
	maxFormTitle = 45
)

// components is the rule for what a message may have. What bots/discord starts to use is to be added
// first.
func components() rule {
	emoji := form(fields{"id": anyValue, "name": words(0, 100), "animated": yesNo})
	number := whole(0, 1<<31-1)
	button := fields{"id": number, "style!": whole(1, 5), "label": words(0, 80), "custom_id": words(1, maxCustomID), "url": words(1, 512),
		"disabled": yesNo, "emoji": emoji}
	option := form(fields{"label!": words(1, 100), "value!": words(1, 100), "description": words(0, 100), "default": yesNo, "emoji": emoji})
	choice := fields{"id": number, "custom_id!": words(1, maxCustomID), "options!": list(1, 25, option), "placeholder": words(0, 150),
		"min_values": whole(0, 25), "max_values": whole(1, 25), "disabled": yesNo}
	row := fields{"id": number, "components!": list(1, maxButtons, kinds(map[int]fields{kindButton: button, kindSelect: choice}))}
	text := fields{"id": number, "content!": words(1, maxAllText)}
	section := fields{"id": number, "components!": list(1, 3, kinds(map[int]fields{kindText: text})), "accessory!": kinds(map[int]fields{kindButton: button})}
	inner := map[int]fields{kindRow: row, kindText: text, kindSection: section,
		kindSeparator: {"id": number, "divider": yesNo, "spacing": whole(1, 2)},
		kindFile:      {"id": number, "file!": anyValue, "spoiler": yesNo}}
	top := map[int]fields{kindContainer: {"id": number, "components!": list(1, maxAll, kinds(inner)), "accent_color": whole(0, 1<<24-1), "spoiler": yesNo}}
	for kind, f := range inner {
		top[kind] = f
	}
	return list(0, maxAll, kinds(top))
}

// consistent refuses a message whose parts do not go together, beyond what rules of fields tell.
func (m *Message) consistent() *refused {
	var c checker
	ids := map[string]bool{}
	total, text := 0, 0
	var visit func(at string, all []any, row bool)
	visit = func(at string, all []any, row bool) {
		for i, one := range all {
			v, _ := one.(object)
			here := at + "/" + strconv.Itoa(i)
			total++
			kind := count(v, "type")
			if kind == kindText {
				text += len([]rune(str(v, "content")))
			}
			checkButton(&c, here, v)
			if name := str(v, "custom_id"); name != "" {
				if ids[name] {
					c.fail(here+"/custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
				}
				ids[name] = true
			}
			inner, _ := v["components"].([]any)
			if kind == kindRow && len(inner) > 1 && hasSelect(inner) {
				c.fail(here, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "The specified component exceeds the maximum width")
			}
			visit(here+"/components", inner, kind == kindRow)
			if accessory, ok := v["accessory"].(object); ok {
				visit(here+"/accessory", []any{accessory}, false)
			}
		}
	}
	visit("/components", m.Components, false)
	if m.flags&flagV2 == 0 {
		m.legacy(&c)
	} else {
		if m.Content != "" {
			c.fail("/content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
		}
		if total > maxAll || text > maxAllText {
			c.fail("/components", "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", "The maximum number of components or the total size of displayable text is exceeded")
		}
	}
	return c.refused()
}

// legacy checks what holds for messages without version 2.
func (m *Message) legacy(c *checker) {
	if len(m.Components) > maxRows {
		c.fail("/components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and %d in length.", maxRows)
	}
	for i, one := range m.Components {
		if v, _ := one.(object); count(v, "type") != kindRow {
			c.fail(fmt.Sprintf("/components/%d/type", i), "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
		}
	}
}

func hasSelect(all []any) bool {
	for _, one := range all {
		if v, _ := one.(object); count(v, "type") == kindSelect {
			return true
		}
	}
	return false
}

// checkButton checks that a button has what its style needs.
func checkButton(c *checker, at string, v object) {
	if count(v, "type") != kindButton {
		return
	}
	link := count(v, "style") == 5
	switch {
	case link && str(v, "url") == "":
		c.fail(at+"/url", "BASE_TYPE_REQUIRED", "This field is required")
	case link && str(v, "custom_id") != "", !link && str(v, "url") != "":
		c.fail(at, "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE", "A custom id and url cannot both be specified")
	case !link && str(v, "custom_id") == "":
		c.fail(at+"/custom_id", "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
	}
	if str(v, "label") == "" && v["emoji"] == nil {
		c.fail(at, "BUTTON_COMPONENT_INVALID_EMOJI_OR_LABEL", "A label or emoji is required")
	}
}

// numbered returns components with an id in each, as Discord adds it.
func numbered(all []any, last *int) []any {
	var out []any
	for _, one := range all {
		v := object{}
		for name, x := range one.(object) {
			v[name] = x
		}
		*last++
		if v["id"] == nil || v["id"] == float64(0) {
			v["id"] = float64(*last)
		}
		if inner, ok := v["components"].([]any); ok {
			v["components"] = numbered(inner, last)
		}
		if accessory, ok := v["accessory"].(object); ok {
			v["accessory"] = numbered([]any{accessory}, last)[0]
		}
		out = append(out, v)
	}
	return out
}
