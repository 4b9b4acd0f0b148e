package slack

import "strings"

// readText returns the text of a message as people and models read it, and whether it names the bot.
// The bot's own mention is left out, other references become names, links become Markdown, entities
// become characters. Slack escapes what people type, so that every < in text is one of its own.
func readText(text, bot string, name func(id string) string) (plain string, mentioned bool) {
	var b strings.Builder
	for text != "" {
		before, ref, after, ok := cutReference(text)
		b.WriteString(unescape(before))
		text = after
		if !ok {
			break
		}
		if id, ok := strings.CutPrefix(ref, "@"); ok && cutLabel(id) == bot {
			mentioned = true
			if b.Len() == 0 || strings.HasSuffix(b.String(), " ") {
				text = strings.TrimPrefix(text, " ")
			}
			continue
		}
		b.WriteString(readReference(ref, name))
	}
	return strings.TrimSpace(b.String()), mentioned
}

// cutReference cuts text around its first <reference>.
func cutReference(text string) (before, ref, after string, ok bool) {
	before, rest, ok := strings.Cut(text, "<")
	if !ok {
		return text, "", "", false
	}
	ref, after, ok = strings.Cut(rest, ">")
	if !ok {
		return text, "", "", false
	}
	return before, ref, after, true
}

func cutLabel(ref string) string {
	id, _, _ := strings.Cut(ref, "|")
	return id
}

// readReference returns what stands between < and > as text.
func readReference(ref string, name func(id string) string) string {
	id, label, labelled := strings.Cut(ref, "|")
	label = unescape(label)
	if id == "" {
		return label
	}
	kind, rest := id[0], unescape(id[1:])
	switch {
	case kind == '@' && labelled && label != "":
		return "@" + strings.TrimPrefix(label, "@")
	case kind == '@':
		return "@" + name(rest)
	case kind == '#' && labelled && label != "":
		return "#" + label
	case kind == '#':
		return "#" + name(rest)
	case kind == '!' && labelled:
		return label
	case kind == '!': // !here, !subteam^S1
		return "@" + rest
	}
	url := unescape(id)
	if !labelled || label == "" || bare(url) == bare(label) {
		return strings.TrimPrefix(url, "mailto:")
	}
	if strings.Count(url, "(") != strings.Count(url, ")") {
		url = "<" + url + ">"
	}
	return "[" + labelEscaper.Replace(label) + "](" + url + ")"
}

var labelEscaper = strings.NewReplacer("[", `\[`, "]", `\]`)

// bare returns a link without what Slack adds to one that was typed without it.
func bare(url string) string {
	for _, scheme := range []string{"http://", "https://", "mailto:", "tel:"} {
		url = strings.TrimPrefix(url, scheme)
	}
	return strings.TrimSuffix(url, "/")
}

var unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// unescape is the reverse of escape.
func unescape(s string) string { return unescaper.Replace(s) }
