package story

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// written returns a diff as the page shows it, its parts told apart.
func written(parts []DiffPart) string {
	var b strings.Builder
	for _, p := range parts {
		for _, l := range p.Stay {
			b.WriteString("[" + l.Class + "]" + l.Mark + l.Text + "\n")
		}
		for _, l := range append(p.Was[:len(p.Was):len(p.Was)], p.Is...) {
			b.WriteString(l.Class + " " + l.Mark + l.Text + "\n")
		}
	}
	return b.String()
}

func TestDiff(t *testing.T) {
	for _, test := range []struct{ name, diff, want string }{
		{"a change", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "[file]--- a/f\n[file]+++ b/f\n[at]@@ -1,2 +1,2 @@\n[] a\ndel -b\nadd +c\n"},
		{"what goes and comes looks like a header", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- drop\n-b\n+++ plus\n+@@ -1 +1 @@\n",
			"[file]--- a/f\n[file]+++ b/f\n[at]@@ -1,2 +1,2 @@\ndel --- drop\ndel -b\nadd +++ plus\nadd +@@ -1 +1 @@\n"},
		{"a pair of them", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n--- x\n+++ y\n", "[file]--- a/f\n[file]+++ b/f\n[at]@@ -1 +1 @@\ndel --- x\nadd +++ y\n"},
		{"two files", "--- a\n+++ a\n@@ -1 +0,0 @@\n-x\n--- b\n+++ b\n@@ -0,0 +1 @@\n+y\n", "[file]--- a\n[file]+++ a\n[at]@@ -1 +0,0 @@\ndel -x\n[file]--- b\n[file]+++ b\n[at]@@ -0,0 +1 @@\nadd +y\n"},
		{"no hunk", "-teh\n+the\n", "del -teh\nadd +the\n"},
		{"a lone header is a change", "--- teh\n a\n+++ the\n", "del --- teh\n[] a\nadd +++ the\n"},
		{"no line end", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
			"[at]@@ -1 +1 @@\ndel -a\n[]\\ No newline at end of file\nadd +b\n[]\\ No newline at end of file\n"},
		{"an empty file", "--- /dev/null\n+++ b/f\n", "[file]--- /dev/null\n[file]+++ b/f\n"},
		{"counts beyond all bounds", "@@ -1,99999999999999999999 +1 @@\n-a\n+b", "[at]@@ -1,99999999999999999999 +1 @@\ndel -a\nadd +b\n"},
		{"nothing", "", "[]\n"},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, written(diffOf(test.diff))) })
	}
}

// Nothing of what is to be approved is left out or moved, whatever is in it; and no line that begins with a
// sign within a hunk is anything but a change.
func FuzzDiff(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n\\ No newline at end of file\n")
	f.Add("@@ -1 +1 @@\n\n\r\n+")
	f.Add("+a\n-b\n+c\n--- \n")
	f.Fuzz(func(t *testing.T, diff string) {
		var all []string
		for _, p := range diffOf(diff) {
			require.True(t, len(p.Stay) == 0 || len(p.Was)+len(p.Is) == 0)
			for _, l := range p.Stay {
				require.NotContains(t, []string{"add", "del"}, l.Class)
				all = append(all, l.Mark+l.Text)
			}
			for _, l := range p.Was {
				require.Equal(t, "del", l.Class)
				all = append(all, l.Mark+l.Text)
			}
			for _, l := range p.Is {
				require.Equal(t, "add", l.Class)
				all = append(all, l.Mark+l.Text)
			}
		}
		require.Equal(t, strings.TrimSuffix(diff, "\n"), strings.Join(all, "\n"))
	})
}
