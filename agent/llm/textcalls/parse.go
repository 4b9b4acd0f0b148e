package textcalls

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

const space = " \t\r\n"

// parse splits a reply into its text and the calls that follow it. What a model writes after its calls
// is left out: it is fences and tags, or results that it makes up.
func parse(text string, names map[string]bool) (string, []llm.Call) {
	end, calls := scan(text, names, true)
	return strings.Trim(text[:end], space), calls
}

// safe returns how many bytes of the beginning of a reply are text, whatever comes.
func safe(text string, names map[string]bool) int {
	end, _ := scan(text, names, false)
	return len(strings.TrimRight(text[:end], space))
}

// maxCandidates bounds how many braces of a reply are looked at.
const maxCandidates = 100

// scan returns where the first call begins, with the fence or tag before it, and all calls. If there
// is none it returns the length of text, or if text is not final the place where one may begin.
func scan(text string, names map[string]bool, final bool) (int, []llm.Call) {
	p := parser{names: names, final: final}
	for i := 0; ; {
		j := strings.IndexAny(text[i:], "{[<`")
		if j < 0 {
			return len(text), nil
		}
		i += j
		skip, calls, open := p.at(text[i:])
		if open || calls != nil {
			return i, calls
		}
		i += skip
	}
}

type parser struct {
	names map[string]bool
	final bool
	tried int
}

// at looks whether calls begin at the start of text. If not it returns how many bytes to go on by, or
// that more of the text is needed to tell.
func (p *parser) at(text string) (skip int, calls []llm.Call, open bool) {
	m, whole := markup(text)
	if !whole {
		return max(m, 1), nil, !p.final
	}
	if m == len(text) || text[m] != '{' {
		return max(skipped(text), 1), nil, false
	}
	end, calls, open := p.object(text[m:])
	if calls == nil {
		if m > 0 {
			return 1, nil, open
		}
		return end, nil, open
	}
	for rest := text[m+end:]; ; rest = rest[end:] {
		m, _ := markup(rest)
		if m >= len(rest) || rest[m] != '{' {
			return 0, calls, false
		}
		rest = rest[m:]
		var more []llm.Call
		if end, more, _ = p.object(rest); more == nil {
			return 0, calls, false
		}
		calls = append(calls, more...)
	}
}

// tags stand around calls, as models have learned them elsewhere.
var tags = []string{
	"<tool_call>", "</tool_call>", "<tool_calls>", "</tool_calls>", "<function_call>", "</function_call>",
	"<tools>", "</tools>", "<|tool_call|>", "<|python_tag|>", "[TOOL_CALLS]", "[/TOOL_CALLS]",
}

// markup returns the length of what may stand before a call: fences, tags, brackets, commas. It is not
// whole if more of the text is needed to tell where it ends.
func markup(text string) (n int, whole bool) {
	for n < len(text) {
		rest := text[n:]
		k, partial := 0, false
		for _, tag := range tags {
			if strings.HasPrefix(rest, tag) {
				k = len(tag)
			}
			partial = partial || strings.HasPrefix(tag, rest)
		}
		switch {
		case k > 0:
		case partial:
			return n, false
		case strings.HasPrefix(rest, "```"):
			line, _, ended := strings.Cut(rest, "\n")
			info := strings.Trim(line, "`"+space)
			if brace := strings.IndexByte(line, '{'); brace > 0 { // on the same line
				line, info, ended = line[:brace], strings.Trim(line[:brace], "`"+space), true
			}
			if strings.ContainsAny(info, space) || len(info) > 20 {
				return n, true
			}
			if !ended {
				return n, false
			}
			k = len(line)
		case strings.HasPrefix("```", rest):
			return n, false
		case strings.IndexByte("[],;"+space, rest[0]) >= 0:
			k = 1
		default:
			return n, true
		}
		n += k
	}
	return n, false
}

// skipped returns the length of a run of backticks, which is one thing.
func skipped(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// begins reports whether text, a brace and what follows, may be a call: its first key is quoted, or is
// the one that we ask for, or has not come yet.
func begins(text string) bool {
	key := strings.TrimLeft(text[1:], space)
	return strings.HasPrefix(key, `"`) || strings.HasPrefix(key, "'") ||
		strings.HasPrefix(key, "tool") || strings.HasPrefix("tool", key)
}

// named matches the beginning of what was meant as a call, whether or not it can be read.
var named = regexp.MustCompile(`^\{\s*["']?tool(?:_name)?["']?\s*:\s*["']?([\w.-]+)`)

// object reads the object at the start of text: its calls, or nil if it is none, and its length, or how
// far to go on.
func (p *parser) object(text string) (end int, calls []llm.Call, open bool) {
	if !begins(text) || p.tried >= maxCandidates {
		return 1, nil, false
	}
	p.tried++
	end, missing := balanced(text)
	if end < 0 {
		if !p.final {
			return 1, nil, true
		}
		text += missing // a brace too few at the end is easily forgiven
		end = len(text) - len(missing)
	} else {
		text = text[:end]
	}
	data, ok := repaired(text)
	if ok {
		if calls = p.calls(data); calls != nil || missing == "" {
			return end, calls, false
		}
	}
	if m := named.FindStringSubmatch(text); m != nil && !ok {
		name, _ := p.known(m[1])
		return end, []llm.Call{{Name: name, Args: quote(strings.TrimSuffix(text, missing))}}, false
	}
	return 1, nil, false
}

// balanced returns the length of the object at the start of text, or -1 and what would close it.
func balanced(text string) (n int, missing string) {
	quotes := `"`
	if strings.HasPrefix(strings.TrimLeft(text[1:], space), "'") {
		quotes = `"'`
	}
	var quote byte
	var stack []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case strings.IndexByte(quotes, c) >= 0:
			quote = c
		case c == '{':
			stack = append(stack, '}')
		case c == '[':
			stack = append(stack, ']')
		case c == '}' || c == ']':
			// A closing one of the wrong kind closes what lies open all the same.
			stack = stack[:len(stack)-1]
			if len(stack) == 0 {
				return i + 1, ""
			}
		}
	}
	if quote != 0 {
		missing = string(quote)
	}
	for i := len(stack) - 1; i >= 0; i-- {
		missing += string(stack[i])
	}
	return -1, missing
}

// repaired returns text as JSON: as it is, or with the mistakes put right that models make.
func repaired(text string) (json.RawMessage, bool) {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text), true
	}
	text = repair(text)
	return json.RawMessage(text), json.Valid([]byte(text))
}

// literals are Python's, and bareKey is a key without quotes; both outside of strings.
var (
	literals = strings.NewReplacer("True", "true", "False", "false", "None", "null")
	bareKey  = regexp.MustCompile(`([A-Za-z_]\w*)(\s*:)`)
)

// repair puts right what can be told apart with certainty: line breaks within strings, strings in
// single quotes, commas before a closing brace, Python's literals, keys without quotes.
func repair(text string) string {
	var out, plain strings.Builder // plain is what stands outside of strings
	flush := func(closing bool) {
		s := bareKey.ReplaceAllString(literals.Replace(plain.String()), `"$1"$2`)
		plain.Reset()
		if trimmed := strings.TrimRight(s, space); closing && strings.HasSuffix(trimmed, ",") {
			s = strings.TrimSuffix(trimmed, ",")
		}
		out.WriteString(s)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"', '\'':
			flush(false)
			s, n := stringAt(text[i:])
			out.WriteString(s)
			i += n - 1
		case '}', ']':
			flush(true)
			out.WriteByte(c)
		default:
			plain.WriteByte(c)
		}
	}
	flush(false)
	return out.String()
}

// stringAt returns the string at the start of text in JSON, and its length in text.
func stringAt(text string) (string, int) {
	quote := text[0]
	out := []byte{'"'}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			return string(append(out, '"')), i + 1
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != '\'' {
				out = append(out, '\\')
			}
			out = append(out, text[i])
		case c == '"':
			out = append(out, '\\', '"')
		case c == '\n':
			out = append(out, `\n`...)
		case c == '\t':
			out = append(out, `\t`...)
		case c != '\r':
			out = append(out, c)
		}
	}
	return string(out), len(text)
}
