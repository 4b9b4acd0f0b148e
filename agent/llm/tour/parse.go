package tour

import (
	"regexp"
	"strings"
)

// This file is what the tour understands. People write as they like, so a request is recognised by its
// first word, with or without courtesies before it, and by the little words between its parts.

// A what is a kind of request.
type what int

const (
	unknown what = iota
	greeting
	helping
	listing
	reading
	finding
	replacing
	writing
	running
)

// A wish is a request as it is understood.
type wish struct {
	what
	path string
	text string // to find, to replace, to write, or to run
	with string // of replacing
}

var (
	courtesy = regexp.MustCompile(`(?i)^(please|pls|hey|hi|hello|ok|okay|now|then|and|so|can you|could you|would you|will you|i want you to|i'd like you to|let'?s|heddle|tour|@\S+)[\s,:!.]+`)

	isGreeting = regexp.MustCompile(`(?i)^(hi|hello|hey|hallo|good (morning|day|evening)|moin|servus|yo)\b[\s!.,]*(there|heddle|tour|all|everybody)?[\s!.]*$`)
	isHelp     = regexp.MustCompile(`(?i)^(help|what can (you|i) (do|say|ask)|how does this work|what (is|are) (this|you)|who are you|tour|start)\b.*$`)
	isList     = regexp.MustCompile(`(?i)^(ls|dir|list|what(('s)| is| are)? (in )?(here|there|this (repo(sitory)?|directory|folder|project))|(show|list|see)( me)? (all )?(the )?(files|directory|folder|repo(sitory)?)|which files)\b.*$`)

	read    = regexp.MustCompile(`(?is)^(?:read|show(?: me)?|open|cat|print|display|view|look at|look into|what(?:'s| is) in)\s+(?:the\s+)?(?:file\s+)?(.+?)$`)
	find    = regexp.MustCompile(`(?is)^(?:find|search(?: for)?|grep(?: for)?|look for|where is|locate)\s+(.+?)(?:\s+(?:in|within|below|under)\s+(?:the\s+)?(?:file\s+|directory\s+|folder\s+)?(\S+))?$`)
	replace = regexp.MustCompile(`(?is)^(?:replace|change|substitute|swap|rename|fix)\s+(.+?)\s+(?:with|by|to|into|for|->|→)\s+(.+?)\s+(?:in|within)\s+(?:the\s+)?(?:file\s+)?(\S+)$`)
	in      = regexp.MustCompile(`(?is)^in\s+(\S+?),?\s+(?:replace|change|substitute|fix)\s+(.+?)\s+(?:with|by|to|into|->|→)\s+(.+?)$`)
	write   = regexp.MustCompile(`(?is)^(?:write|put|save|add|create)\s+(.+?)\s+(?:to|into|in|as)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?(\S+)$`)
	run     = regexp.MustCompile(`(?is)^(?:run|execute|exec|start|do|\$|shell)\s*:?\s+(.+?)$`)
)

// parse understands what somebody said, or not.
func parse(said string) wish {
	said = strings.TrimSpace(said)
	if strings.Trim(said, "? ") == "" && said != "" {
		return wish{what: helping}
	}
	if isGreeting.MatchString(said) {
		return wish{what: greeting}
	}
	for {
		rest := courtesy.ReplaceAllString(said, "")
		if rest == said || strings.TrimSpace(rest) == "" {
			break
		}
		said = strings.TrimSpace(rest)
	}
	bare := strings.TrimSpace(strings.TrimRight(said, "?!"))
	for _, kind := range []struct {
		form *regexp.Regexp
		what what
	}{{isHelp, helping}, {isList, listing}} {
		if kind.form.MatchString(bare) && !strings.Contains(bare, ".") {
			return wish{what: kind.what}
		}
	}
	if m := in.FindStringSubmatch(said); m != nil {
		return wish{replacing, name(m[1]), plain(m[2]), plain(m[3])}
	}
	if m := replace.FindStringSubmatch(said); m != nil {
		return wish{replacing, name(m[3]), plain(m[1]), plain(m[2])}
	}
	if m := run.FindStringSubmatch(said); m != nil {
		return wish{what: running, text: plain(m[1])}
	}
	if m := write.FindStringSubmatch(said); m != nil {
		return wish{what: writing, path: name(m[2]), text: plain(m[1])}
	}
	if m := find.FindStringSubmatch(bare); m != nil {
		return wish{what: finding, text: plain(m[1]), path: name(m[2])}
	}
	if m := read.FindStringSubmatch(bare); m != nil && !strings.ContainsAny(strings.TrimSpace(m[1]), "\n") {
		return wish{what: reading, path: name(m[1])}
	}
	return wish{}
}

// plain returns what somebody wrote in quotes or as code, without them.
func plain(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []struct{ open, shut string }{{"```", "```"}, {"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"„", "“"}, {"«", "»"}} {
		if len(s) > len(q.open)+len(q.shut) && strings.HasPrefix(s, q.open) && strings.HasSuffix(s, q.shut) {
			return strings.TrimSpace(s[len(q.open) : len(s)-len(q.shut)])
		}
	}
	return s
}

// name returns a path as somebody wrote it in a sentence.
func name(s string) string {
	s = plain(strings.TrimRight(strings.TrimSpace(s), "?!,;"))
	if !strings.HasSuffix(s, "..") {
		s = strings.TrimSuffix(s, ".")
	}
	return plain(s)
}
