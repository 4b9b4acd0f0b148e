package files

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/tools"
)

func mustQuery(t require.TestingT, expr string) *query {
	q, err := parseQuery(expr, false, false)
	require.NoError(t, err)
	return q
}

func TestGrep(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{
		"a.go": "package a\n\nfunc One() {\n\treturn nil\n}\n\nfunc Two() {\n\tone.Two(x[0])\n}\n",
		"b.md": "one\r\nTWO\r\nthree", "sub/c.go": "// Two again\n", "ignored.go": "Two\n", ".gitignore": "ignored.go\n", "bin": "Two\x00",
		"latin": "caf\xe9 Two\n", "kelvin": "to 300 \u212A\nlong \u017F\n", ".git/x": "Two\n", "log/x": "Two\n", "empty": "",
	})
	b.call.Hidden = []string{b.path("log")}
	b.link("a.go", "linked.go")
	for _, c := range []struct {
		args args
		want string
	}{
		{args{"pattern": "Two"}, "a.go\n7:func Two() {\n8:\tone.Two(x[0])\n\nlatin\n1:caf\\xe9 Two\n\nsub/c.go\n1:// Two again\n"},
		{args{"pattern": `func \w+\(\)`}, "a.go\n3:func One() {\n7:func Two() {\n"},
		{args{"pattern": `^three$`}, "b.md\n3:three\n"},
		{args{"pattern": `one$`}, "b.md\n1:one\n"},
		{args{"pattern": `^$`, "path": "a.go"}, "a.go\n2:\n6:\n"},
		{args{"pattern": `x[0]`, "literal": true}, "a.go\n8:\tone.Two(x[0])\n"},
		{args{"pattern": `X[0]`, "literal": true, "ignore_case": true}, "a.go\n8:\tone.Two(x[0])\n"},
		{args{"pattern": `two`, "ignore_case": true, "glob": "*.md"}, "b.md\n2:TWO\n"},
		{args{"pattern": `Two`, "glob": "sub/*"}, "sub/c.go\n1:// Two again\n"},
		{args{"pattern": `Two`, "glob": "c.go", "path": "sub"}, "sub/c.go\n1:// Two again\n"},
		{args{"pattern": `Two`, "glob": "**/*.go"}, "a.go\n7:func Two() {\n8:\tone.Two(x[0])\n\nsub/c.go\n1:// Two again\n"},
		{args{"pattern": `k`, "ignore_case": true}, "a.go\n1:package a\n\nkelvin\n1:to 300 \u212A\n"},
		{args{"pattern": `S`, "ignore_case": true, "path": "kelvin"}, "kelvin\n2:long \u017F\n"},
		{args{"pattern": `return`, "context": 1}, "a.go\n3-func One() {\n4:\treturn nil\n5-}\n"},
		{args{"pattern": `One|return|\}`, "context": 1, "path": "a.go"}, "a.go\n2-\n3:func One() {\n4:\treturn nil\n5:}\n6-\n--\n8-\tone.Two(x[0])\n9:}\n"},
		{args{"pattern": `Two`, "path": "ignored.go"}, "ignored.go\n1:Two\n"},
		{args{"pattern": `Two`, "glob": "ignored.go", "include_ignored": true}, "ignored.go\n1:Two\n"},
		{args{"pattern": `Two`, "path": "linked.go", "limit": 1}, "a.go\n7:func Two() {\n[truncated: these are the first 1 match; there are more: make the pattern narrower, or give a path or a glob]\n"},
		{args{"pattern": `absent`}, "no matches\n[passed over as .gitignore says: 1 file or directory; include_ignored looks there, too]\n[not searched: 1 binary file]\n"},
		{args{"pattern": `Two`, "path": "bin"}, "no matches\n[not searched: 1 binary file]\n"},
		{args{"pattern": `x`, "path": "empty"}, "no matches\n"},
	} {
		require.Equal(t, c.want, b.do("grep", c.args), "%v", c.args)
	}
	require.Contains(t, b.fails("grep", args{"pattern": "x[0"}), "set literal to true")
	require.Contains(t, b.fails("grep", args{"pattern": `(?=x)`}), "no look-around")
	require.Contains(t, b.fails("grep", args{"pattern": "a\nb"}), "each line is searched by itself")
	require.Contains(t, b.fails("grep", args{"pattern": "a\nb", "literal": true}), "each line is searched by itself")
	require.Contains(t, b.fails("grep", args{"pattern": "a", "glob": "[a"}), "is not a glob")
}

func TestGrepLimits(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"long": strings.Repeat("x", 50_000) + "needle" + strings.Repeat("y", 50_000) + "\nneedle\n"})
	text := b.do("grep", args{"pattern": "needle", "path": "long"})
	require.Contains(t, text, "[clipped: the line has 100006 bytes]\n2:needle\n")
	require.Less(t, len(text), maxLine+200)

	for i := range 100 {
		b.put(fmt.Sprintf("d/%03d", i), strings.Repeat("needle in a line that is not so short, all told\n", 50))
	}
	text = b.do("grep", args{"pattern": "needle", "path": "d", "limit": 1000})
	require.LessOrEqual(t, len(text), 10_000)
	require.Regexp(t, `\[truncated: these are the first \d+ matches; there are more`, text)
	r, err := b.try("grep", args{"pattern": "needle", "path": "d", "limit": 70})
	require.NoError(t, err)
	require.Equal(t, 70, strings.Count(r.Text, ":needle"))
	require.Contains(t, r.Text, "d/000\n1:")
	require.Contains(t, r.Text, "d/001\n1:")
	require.Equal(t, "the first 70 matches", r.Note)
}

// Files that do not fit into memory at once are searched window by window.
func TestGrepLarge(t *testing.T) {
	b := newBox(t, Config{}, nil)
	f, err := os.Create(b.path("large"))
	require.NoError(t, err)
	line := strings.Repeat("-", 99) + "\n"
	var want []string
	for i := 1; i <= 3*maxWindow/len(line); i++ {
		text := line
		if i%50_000 == 0 {
			text = fmt.Sprintf("needle %d\n", i)
			want = append(want, fmt.Sprintf("%d:needle %d", i, i))
		}
		_, err := f.WriteString(text)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	text := b.do("grep", args{"pattern": "needle"})
	require.Equal(t, "large\n"+strings.Join(want, "\n")+"\n", text)
	require.Equal(t, strings.TrimSuffix(text, "\n"), strings.ReplaceAll(b.do("grep", args{"pattern": "^n.*$"}), "\n\n", "\n")[:len(text)-1])

	require.NoError(t, os.WriteFile(b.path("large"), []byte(strings.Repeat("x", maxWindow+10)+"\nneedle\n"+strings.Repeat("y", maxWindow)), 0o600))
	require.Contains(t, b.do("grep", args{"pattern": "needle"}), "\n2:needle\n")
}

// A search ends with its context, even within a file that takes minutes.
func TestGrepEnds(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"huge": strings.Repeat("text\n", binaryHead)})
	require.NoError(t, os.Truncate(b.path("huge"), 1<<40))
	tool, call := b.ready("grep", args{"pattern": "needle"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := tool.Run(ctx, call)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// naive is what grep is about, without any cleverness.
func naive(content string, re *regexp.Regexp, context, limit int) []hit {
	var lines []string
	for l := range strings.Lines(content) {
		lines = append(lines, l)
	}
	shown := map[int]bool{}
	matches := map[int]bool{}
	for i, l := range lines {
		l = strings.TrimSuffix(strings.TrimSuffix(l, "\n"), "\r")
		if len(matches) < limit && re.MatchString(l) {
			matches[i] = true
			for j := i - context; j <= i+context; j++ {
				shown[j] = true
			}
		}
	}
	var hits []hit
	for i, l := range lines {
		if shown[i] {
			hits = append(hits, hit{i + 1, matches[i], show(nil, []byte(l), 0)})
		}
	}
	return hits
}

// clever searches a file with a buffer of a given size, so that small files are large.
func clever(t require.TestingT, dir, content string, q *query, window int) []hit {
	path := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	w, err := openWorkspace(tools.Call{Dir: dir})
	require.NoError(t, err)
	defer w.Close()
	root, err := w.root.Open(".")
	require.NoError(t, err)
	defer root.Close()
	s := searcher{query: q, max: window, cursor: cursor{root: int(root.Fd())}}
	u := unit{folder: folder{".", []string{"f"}}}
	s.unit(context.Background(), &u)
	require.Zero(t, u.unreadable)
	if len(u.hits) == 0 {
		return nil
	}
	return u.hits[0].hits
}

// exprs draws regular expressions with and without texts that every match must have.
func exprs() *rapid.Generator[string] {
	atom := rapid.SampledFrom([]string{"a", "b", "ab", "sk", "ks", "K", "é", "É", ".", `\w`, `\s`, "[ab]", "[^a]", `\bab`, "^", "$", "(ab|ba)", "(a|ksa|b+)", "a{2}", "b{0,1}", "(?i:as)", `\x{FFFD}`, "\u212A", `\r`, "(k)+", "x*", `\d`, "s?", "[a-k]{2}", "(?i:[k-s])", "[ab]+0"})
	return rapid.Map(rapid.SliceOfN(atom, 1, 4), func(s []string) string { return strings.Join(s, "") })
}

func TestGrepLikeRegexp(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		content := text("a", "b", "ab", "ks", "SK", "é", "É", "\n", "\n", "\r\n", "\r", "\xff", "\xc3", "\u212A", "\u017F", "\uFFFD", " ", "0").Draw(t, "content")
		expr := exprs().Draw(t, "expr")
		fold, literal := rapid.Bool().Draw(t, "fold"), rapid.IntRange(0, 4).Draw(t, "literal") == 0
		q, err := parseQuery(expr, literal, fold)
		require.NoError(t, err)
		q.context = rapid.IntRange(0, 2).Draw(t, "context")
		q.limit = rapid.IntRange(1, 20).Draw(t, "limit")
		require.Equal(t, naive(content, q.re, q.context, q.limit), clever(t, dir, content, q, maxWindow), "needles %+v", q.needles)
	})
}

// In whatever windows a file is looked at, the result is the same.
func TestGrepWindows(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var content strings.Builder
		for range random.IntN(400) {
			content.WriteString(strings.Repeat("-", random.IntN(30)))
			if random.IntN(8) == 0 {
				content.WriteString("needle")
			}
			content.WriteString([]string{"\n", "\r\n"}[random.IntN(2)])
		}
		for _, expr := range []string{"needle", "^-*needle$", "n[e]+dle|absent"} {
			q := mustQuery(t, expr)
			q.context, q.limit = random.IntN(4), 1+random.IntN(60)
			require.Equal(t, naive(content.String(), q.re, q.context, q.limit), clever(t, dir, content.String(), q, 350+random.IntN(500)))
		}
	}
}

// Whatever the expression, where it matches there are its run and a needle, and a sure needle is only there.
func FuzzNeedles(f *testing.F) {
	f.Add("(?i)ReadString|write", "xreadſtring")
	f.Add(`a+(b|c)d{2,}\bx`, "aabdd x")
	f.Add("(?i)[k]s", "\u212A\u017F")
	f.Add("\\x{fffd}a", "\xffa")
	f.Add("[A-C]{2,}x+[0-9]", "ABCxx0")
	f.Fuzz(func(t *testing.T, expr, line string) {
		re, err := regexp.Compile(expr)
		if err != nil || strings.ContainsAny(line, "\r\n") {
			return
		}
		parsed, err := syntax.Parse(expr, syntax.Perl)
		require.NoError(t, err)
		if re.MatchString(line) {
			require.GreaterOrEqual(t, runOf(parsed).next([]byte(line), 0), 0, "%q in %q", expr, line)
		}
		list := needles(parsed)
		if len(list) == 0 {
			return
		}
		s := scan{needles: list}
		s.reset([]byte(line))
		at, sure := s.next(0)
		if re.MatchString(line) {
			require.GreaterOrEqual(t, at, 0, "%q in %q", expr, line)
		} else if at >= 0 {
			require.False(t, sure, "%q in %q", expr, line)
		}
	})
}
