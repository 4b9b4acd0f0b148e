package discord

import "strings"

// readText returns the text of a message as people and models read it, and whether it names the bot.
// The bot's own mention is left out. Other references, <@1>, <@!1>, <@&1>, <#1>, become what name says
// for their kind, '@', '&' or '#'; "" leaves them. All else is Markdown already.
func readText(text, bot string, name func(kind byte, id string) string) (plain string, named bool) {
	var b strings.Builder
	for text != "" {
		before, kind, id, after, ok := cutReference(text)
		b.WriteString(before)
		if !ok {
			break
		}
		ref := text[len(before) : len(text)-len(after)]
		text = after
		switch shown := name(kind, id); {
		case kind == '@' && id == bot:
			named = true
			if s := b.String(); s == "" || strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\n") {
				text = strings.TrimPrefix(text, " ")
			}
		case shown != "":
			b.WriteString(shown)
		default:
			b.WriteString(ref)
		}
	}
	return strings.TrimSpace(b.String()), named
}

// cutReference cuts text around its first reference.
func cutReference(text string) (before string, kind byte, id, after string, ok bool) {
	for i := 0; i < len(text); i++ {
		if text[i] != '<' {
			continue
		}
		inner, after, ok := strings.Cut(text[i+1:], ">")
		if !ok {
			break
		}
		for _, p := range []struct {
			prefix string
			kind   byte
		}{{"@!", '@'}, {"@&", '&'}, {"@", '@'}, {"#", '#'}} {
			id, ok := strings.CutPrefix(inner, p.prefix)
			if ok && id != "" && strings.Trim(id, "0123456789") == "" {
				return text[:i], p.kind, id, after, true
			}
		}
	}
	return text, 0, "", "", false
}
