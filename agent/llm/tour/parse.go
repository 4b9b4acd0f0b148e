package tour

import (
	"regexp"
	"strings"
)

// This file is what the tour understands. People write as they like, so a request is recognised by its
// first word, with or without courtesies around it and with a slip of the fingers in it, and by the little
// words between its parts. What stands in quotes or as code is taken as it is.

// A what is a kind of request.
type what int

const (
	unknown what = iota
	greeting
	thanking
	helping
	agreeing // to what the tour has offered
	listing
	reading
	finding
	replacing
	writing
	running
	vague // a command in prose, "run the tests": the tour cannot guess it
)

// A wish is a request as it is understood. Its path and its text are not empty where its kind needs them,
// but for listing and finding, where no path means everywhere.
type wish struct {
	what what
	path string
	text string // to find, to replace, to write, or to run
	with string // of replacing
}

// Parts of requests. What is quoted comes first, so that it may hold the little words.
const (
	part = "(```.+?```|`[^`]+`|\"[^\"]+\"|“[^”]+”|„[^“]+“|«[^»]+»|'[^']+'|‘[^’]+’|.+?)"
	file = "(?:the\\s+)?(?:file\\s+|directory\\s+|folder\\s+)?(`[^`]+`|\"[^\"]+\"|“[^”]+”|'[^']+'|‘[^’]+’|\\S+)"
	with = `\s+(?:with|by|to|into|for|->|=>|→)\s+`
	all  = `(?:all\s+)?(?:the (?:word|words|text|string)\s+)?`
	in   = `\s+(?:in|inside|within)\s+`
)

var (
	courtesy = regexp.MustCompile(`(?i)^(please|pls|plz|hey|hi|hello|ok|okay|now|then|and|so|just|also|can you|could you|would you|will you|can we|i want you to|i want to|i would like to|i'd like (you )?to|help me( to)?|try to|let'?s|let us|heddle|tour|@\S+)[\s,:!.]+`)
	aside    = regexp.MustCompile(`(?i),\s+(please|pls|plz|thanks|thank you)[\s.!]*$`)
	after    = regexp.MustCompile(`(?i)[\s,]+(please|pls|plz|for me|for us|thanks|thank you|now)[\s.!?]*$`)

	isGreeting = regexp.MustCompile(`(?i)^(hi|hello|hey|hallo|good (morning|day|afternoon|evening)|moin|servus|yo)\b[\s!.,]*(there|heddle|tour|all|everybody|everyone)?[\s!.]*$`)
	isThanks   = regexp.MustCompile(`(?i)^(thanks|thank you|thx|cheers|great|nice|cool|perfect|well done)\b[\s!.,]*(a lot|very much|so much|heddle|tour|that works|it works)?[\s!.]*$`)
	isYes      = regexp.MustCompile(`(?i)^(yes|yep|yeah|sure|y|ok|okay|right|exactly|do( it| that)?)\b[\s!.,]*(please|do( it| that)?)?[\s!.]*$`)
	isHelp     = regexp.MustCompile(`(?i)^(help( me| please)?|what (can|could) (you|i) (do|say|ask).*|how does this work|what (is|are) (this|you)|who are you|tour|start|commands|usage)$`)
	isList     = regexp.MustCompile(`(?i)^(ls|dir|list|what(('s)| is| are)? (in )?(here|there|this (repo(sitory)?|directory|folder|project))|(show|list|see|display)( me)?( all)?( the)? (files|directory|folder|repo(sitory)?)|(which|what) files( are| do)?( there| here| you have| we have)*( in (here|there|this (repo(sitory)?|directory|folder|project)))?)( are)?( there| here)?$`)
	isCommand  = regexp.MustCompile(`(?i)^(git|npm|cargo|python3?|(ls|grep|cat|find) -\S+)(\s|$)`) // typed without "run"
	isName     = regexp.MustCompile(`^[^\s?!]+\.\w+$`)
	isVague    = regexp.MustCompile(`(?i)^(the|a|an|my|all|our|some|it|this|that)\b`)

	list      = regexp.MustCompile(`(?is)^(?:ls|dir|(?:list|show)(?: me)?(?: all)?(?: the)?(?: files)?(?: in| of| below| under)?)\s+` + file + `$`)
	read      = regexp.MustCompile(`(?is)^(?:(?:read|show(?: me)?|open|cat|print|display|view|see|look at|look into)\s+(?:the contents? of\s+)?|what(?:'s| is)\s+in\s+|what does\s+)(?:the\s+)?(?:file\s+)?(.+?)(?:\s+(?:say|contain|look like))?$`)
	find      = regexp.MustCompile(`(?is)^(?:find|search(?: for)?|grep(?: for)?|look for|where is|where are|locate)\s+` + all + part + `(?:\s+(?:in|inside|within|below|under)\s+` + file + `)?$`)
	replace   = regexp.MustCompile(`(?is)^(?:replace|change|substitute|swap|rename|fix)\s+` + all + part + with + part + in + file + `$`)
	replaceIn = regexp.MustCompile(`(?is)^(?:replace|change|substitute|swap|rename|fix)\s+` + all + part + in + file + with + part + `$`)
	inReplace = regexp.MustCompile(`(?is)^in\s+` + file + `\s+(?:replace|change|substitute|swap|rename|fix)\s+` + all + part + with + part + `$`)
	write     = regexp.MustCompile(`(?is)^(?:write|put|save)\s+` + part + `\s+(?:to|into|in|as)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?` + file + `$`)
	create    = regexp.MustCompile(`(?is)^(?:create|make|write)\s+(?:a\s+|the\s+)?(?:new\s+)?(?:file\s+)?(?:called\s+|named\s+)?` + file + `\s+(?:with|containing|that says|saying)\s+(?:the (?:text|words?|contents?)\s+)?` + part + `$`)
	run       = regexp.MustCompile(`(?is)^(?:run|execute|exec|\$|shell)\s*:?\s+(?:the command:?\s+|command:?\s+)?(.+?)$`)
)

// verbs are what a request may begin with, for slips of the fingers.
var verbs = []string{
	"change", "create", "display", "execute", "find", "grep", "help", "list", "locate", "open", "print",
	"read", "rename", "replace", "save", "search", "show", "substitute", "write",
}

// parse understands what somebody said, or not.
func parse(said string) wish {
	said = strings.TrimSpace(said)
	if strings.Trim(said, "? ") == "" && said != "" {
		return wish{what: helping}
	}
	if w := small(said, isGreeting, greeting); w.what != unknown {
		return w
	}
	said = corrected(bared(said))
	bare := strings.TrimSpace(strings.TrimRight(after.ReplaceAllString(said, ""), "?!. "))
	for _, s := range []struct {
		form *regexp.Regexp
		what what
	}{{isHelp, helping}, {isList, listing}, {isThanks, thanking}, {isYes, agreeing}} {
		if w := small(bare, s.form, s.what); w.what != unknown {
			return w
		}
	}
	if m := run.FindStringSubmatch(said); m != nil {
		return ordered(m[1])
	}
	if isCommand.MatchString(said) {
		return ordered(said)
	}
	if isName.MatchString(bare) {
		return wish{what: reading, path: name(bare)}
	}
	return about(after.ReplaceAllString(said, ""))
}

// small is a wish without parts, if the words have its form.
func small(said string, form *regexp.Regexp, what what) wish {
	if form.MatchString(said) {
		return wish{what: what}
	}
	return wish{}
}

// about understands a request about a file.
func about(said string) wish {
	asked := strings.TrimSpace(strings.TrimRight(said, "?!"))
	var w wish
	if m := inReplace.FindStringSubmatch(said); m != nil {
		w = wish{replacing, name(m[1]), plain(m[2]), plain(m[3])}
	} else if m := replace.FindStringSubmatch(said); m != nil {
		w = wish{replacing, name(m[3]), plain(m[1]), plain(m[2])}
	} else if m := replaceIn.FindStringSubmatch(said); m != nil {
		w = wish{replacing, name(m[2]), plain(m[1]), plain(m[3])}
	} else if m := write.FindStringSubmatch(said); m != nil {
		w = wish{what: writing, path: name(m[2]), text: plain(m[1])}
	} else if m := create.FindStringSubmatch(said); m != nil {
		w = wish{what: writing, path: name(m[1]), text: plain(m[2])}
	} else if m := find.FindStringSubmatch(asked); m != nil {
		w = wish{what: finding, text: plain(m[1]), path: name(m[2])}
	} else if m := list.FindStringSubmatch(asked); m != nil && isDir(said, m[1]) {
		w = wish{what: listing, path: name(m[1])}
	} else if m := read.FindStringSubmatch(asked); m != nil && isFile(m[1]) {
		w = wish{what: reading, path: name(m[1])}
	}
	if w.path == "" && w.what != finding || w.text == "" && w.what != reading && w.what != listing {
		return wish{}
	}
	return w
}

// isDir reports whether what is to be listed or shown is a directory, as far as its words tell.
func isDir(said, of string) bool {
	verb, _, _ := strings.Cut(strings.ToLower(said), " ")
	return verb == "ls" || verb == "dir" || verb == "list" || strings.HasSuffix(name(of), "/") || strings.Contains(strings.ToLower(said), " files ")
}

// isFile reports whether words can name a file: they are one, or quoted, or look like a path.
func isFile(words string) bool {
	words = strings.TrimSpace(words)
	return !strings.Contains(words, "\n") && (len(strings.Fields(words)) == 1 || plain(words) != words)
}

// bared returns what was said without the courtesies in front of it.
func bared(said string) string {
	for {
		rest := strings.TrimSpace(courtesy.ReplaceAllString(said, ""))
		if rest == said || rest == "" {
			return said
		}
		said = rest
	}
}

// corrected returns what was said with its first word as it was probably meant. A word that begins with
// another letter is another word.
func corrected(said string) string {
	first, rest, _ := strings.Cut(said, " ")
	low := strings.ToLower(first)
	for _, v := range verbs {
		if low != "" && low[0] == v[0] && slipped(low, v) {
			return strings.TrimSpace(v + " " + rest)
		}
	}
	return said
}

// slipped reports whether one letter of a too many, too few, wrong, or swapped with its neighbour makes it b.
func slipped(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	a, b = a[i:], b[i:]
	switch {
	case a == "" && b == "":
		return false // it is the word
	case len(a) == len(b):
		return a[1:] == b[1:] || len(a) > 1 && a[0] == b[1] && a[1] == b[0] && a[2:] == b[2:]
	case len(a) == len(b)+1:
		return a[1:] == b
	case len(b) == len(a)+1:
		return b[1:] == a
	}
	return false
}

// ordered is a command as somebody wrote it. Courtesies behind it are only taken away behind a comma or quotes:
// otherwise they may be its own.
func ordered(said string) wish {
	said = aside.ReplaceAllString(said, "")
	text := plain(said)
	if bare := strings.TrimSpace(after.ReplaceAllString(said, "")); plain(bare) != bare {
		text = plain(bare)
	}
	switch {
	case strings.TrimSpace(text) == "":
		return wish{}
	case text == strings.TrimSpace(said) && isVague.MatchString(text):
		return wish{what: vague}
	}
	return wish{what: running, text: text}
}

// quotes are the pairs that people write.
var quotes = []struct{ open, shut string }{{"`", "`"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"„", "“"}, {"«", "»"}}

// plain returns what somebody wrote in quotes or as code, without them.
func plain(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := within(s, "```", "```"); ok {
		if info, lines, cut := strings.Cut(inner, "\n"); cut && len(strings.Fields(info)) <= 1 {
			inner = lines // the word behind the opening fence names a language
		}
		return strings.TrimRight(inner, "\n ")
	}
	for _, q := range quotes {
		if inner, ok := within(s, q.open, q.shut); ok {
			return inner
		}
	}
	return s
}

// within returns what is between one pair of quotes, if that is all of s.
func within(s, open, shut string) (string, bool) {
	inner, begins := strings.CutPrefix(s, open)
	inner, ends := strings.CutSuffix(inner, shut)
	return inner, begins && ends && !strings.Contains(inner, open) && !strings.Contains(inner, shut)
}

// name returns a path as somebody wrote it in a sentence.
func name(s string) string {
	s = plain(strings.TrimRight(strings.TrimSpace(s), "?!,;:"))
	if !strings.HasSuffix(s, "..") && s != "." {
		s = strings.TrimSuffix(s, ".")
	}
	return strings.TrimSpace(plain(s))
}
