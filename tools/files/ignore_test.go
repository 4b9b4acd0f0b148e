package files

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/tools"
)

// listed returns what a walk of a workspace finds.
func listed(t require.TestingT, dir string, o walkOptions) []string {
	w, err := openWorkspace(tools.Call{Dir: dir})
	require.NoError(t, err)
	defer w.Close()
	o.start = "."
	f, err := w.find(context.Background(), o)
	require.NoError(t, err)
	return slices.Sorted(f.paths())
}

// git runs git in a directory, without any configuration from outside.
func git(t require.TestingT, dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	require.NoError(t, err, "git has to be installed: %s", out)
	return string(out)
}

// gitListed returns the files that git does not ignore.
func gitListed(t require.TestingT, dir string) []string {
	out := git(t, dir, "ls-files", "-z", "--others", "--exclude-standard")
	return slices.Sorted(slices.Values(strings.FieldsFunc(out, func(r rune) bool { return r == 0 })))
}

func TestIgnore(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{
		".gitignore":        "\uFEFF# comment\n\n*.log\r\n!keep.log\n/top\nbuild/\n\\#hash\n\\!bang\nspace\\ \ntrailing   \ndoc/*.txt\na/**/z\n**/any\nend/**\nmany/***/x/***\n[[:digit:]]x\n[!a-c]y\n[]]z\nq?\n[z-\n",
		"sub/.gitignore":    "!x.log\nlocal\n/here\n",
		".git/info/exclude": "excluded\n*.o\n",
		"x.log":             "", "keep.log": "", "top": "", "sub/top": "", "build/f": "", "sub/build/f": "", "sub/x.log": "", "sub/y.log": "",
		"file/build": "", "#hash": "", "!bang": "", "space ": "", "trailing": "", "doc/a.txt": "", "doc/b/a.txt": "", "a/z": "", "a/b/c/z": "",
		"p/q/any": "", "end/x/y": "", "1x": "", "ay": "", "dy": "", "]z": "", "q1": "", "qé": "", "sub/local": "", "sub/d/local": "", "local": "", "many/x/y": "", "many/v/w/x/y": "", "many/x.y": "",
		"sub/here": "", "sub/d/here": "", "excluded": "", "m.o": "", "sub/n.o": "", "[z-": "",
	})
	git(t, b.dir, "init", "-q")
	b.put(".git/info/exclude", "excluded\n*.o\n")
	want := gitListed(t, b.dir)
	require.Contains(t, want, "keep.log")
	require.NotContains(t, want, "excluded")
	require.Equal(t, want, listed(t, b.dir, walkOptions{skip: usuallySkipped(), ignore: true}))
}

// On random trees a walk finds what git finds.
func TestIgnoreLikeGit(t *testing.T) {
	name := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "a.o", "b.o", ".a", "#a", "!a", "a b", "A", "a[b", `a\b`})
	piece := rapid.SampledFrom([]string{"a", "b", "ab", "c", "*", "**", "?", "[ab]", "[!a]", "[^b-z]", "[[:upper:]]", "*.o", "a*", "*b", "a*c", `\a`, `\#`, "#", "!", "[", `\`, "[a", "[]-a]", ".a", "a ", `a\ `, "[[:x:]a]", "a**b"})
	line := rapid.Custom(func(t *rapid.T) string {
		n := rapid.IntRange(1, 4).Draw(t, "parts")
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.Join(rapid.SliceOfN(piece, 1, 2).Filter(func(s []string) bool {
				// git takes plain text at the beginning away first, and then sees "a**/b" as "**/b".
				part := strings.Join(s, "")
				// It also has its own idea of a backslash before a slash.
				return strings.HasSuffix(part, "**") == (strings.Trim(part, "*") == "" && len(part) > 1) && !strings.HasSuffix(part, `\`)
			}).Draw(t, "part"), "")
		}
		return rapid.SampledFrom([]string{"", "", "!", "/", "!/", "**/", "#"}).Draw(t, "before") + strings.Join(parts, "/") +
			rapid.SampledFrom([]string{"", "", "/", "/**", " ", "\r"}).Draw(t, "after")
	})
	content := rapid.Map(rapid.SliceOfN(line, 0, 5), func(lines []string) string { return strings.Join(lines, "\n") })
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	rapid.Check(t, func(t *rapid.T) {
		clean(t, dir)
		for range rapid.IntRange(1, 12).Draw(t, "files") {
			path := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(t, "path"), "/")
			if free(filepath.Join(dir, path), dir) {
				put(t, filepath.Join(dir, path), "")
			}
		}
		for _, at := range []string{".gitignore", "a/.gitignore", "a/b/.gitignore", ".git/info/exclude"} {
			if rules := content.Draw(t, at); free(filepath.Join(dir, at), dir) || strings.HasPrefix(at, ".git/") {
				put(t, filepath.Join(dir, at), rules)
			}
		}
		require.Equal(t, gitListed(t, dir), listed(t, dir, walkOptions{skip: usuallySkipped(), ignore: true}))
	})
}

func TestMatchName(t *testing.T) {
	for name, has := range map[string]string{
		"alnum": "aZ5", "alpha": "aZ", "blank": " \t", "cntrl": "\x01\x7f", "digit": "09", "graph": "a!~", "lower": "az",
		"print": "a ", "punct": "!_~", "space": " \v\n", "upper": "AZ", "xdigit": "09afAF",
	} {
		for c := range 256 {
			s := string([]byte{byte(c)})
			in := matchName("[[:"+name+":]]", s)
			require.NotEqual(t, in, matchName("[^[:"+name+":]]", s), "%s %q", name, s)
			require.True(t, in || !strings.Contains(has, s), "%s %q", name, s)
			require.False(t, in && c > 0x7F, "%s %q", name, s)
		}
	}
	// A long pattern of stars takes no exponential time.
	require.False(t, matchName(strings.Repeat("a*", 100)+"b", strings.Repeat("a", 10_000)))
	require.True(t, matchName(strings.Repeat("*a", 100)+"*", strings.Repeat("a", 10_000)))
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.o\n!a.o\n/b/**/c\n[a-z]\\ \n", "a/b/c.o")
	f.Add("[[:alpha:]-]]\n[!]\n\\\n**\n", "x")
	f.Fuzz(func(t *testing.T, rulesText, path string) {
		r := &rules{base: ".", list: parseRules([]byte(rulesText))}
		r.ignored(path, filepath.Base(path), false)
		for i := range r.list {
			require.False(t, r.list[i].dirOnly && r.list[i].fits(".", path, path, false), "a rule about directories fits no file")
		}
	})
}
