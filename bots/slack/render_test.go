package slack

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/internal/markdown"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

const divider = "\n======== next message\n"

// A golden is a file of pairs: NAME.md, and NAME.out, what Slack is sent of it.
type golden struct {
	path    string
	archive *txtar.Archive
}

func goldens(t testing.TB) []golden {
	t.Helper()
	paths, err := filepath.Glob("testdata/render*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var all []golden
	for _, p := range paths {
		archive, err := txtar.ParseFile(p)
		require.NoError(t, err)
		all = append(all, golden{p, archive})
	}
	return all
}

// inputs returns the Markdown of all goldens.
func inputs(t testing.TB) []string {
	var all []string
	for _, g := range goldens(t) {
		for _, f := range g.archive.Files {
			if strings.HasSuffix(f.Name, ".md") {
				all = append(all, string(f.Data))
			}
		}
	}
	return all
}

func TestRender(t *testing.T) {
	for _, g := range goldens(t) {
		files := g.archive.Files
		if *update {
			files = slices.DeleteFunc(files, func(f txtar.File) bool { return !strings.HasSuffix(f.Name, ".md") })
			for i := 0; i < len(files); i += 2 {
				out := txtar.File{Name: strings.TrimSuffix(files[i].Name, ".md") + ".out", Data: printed(render(string(files[i].Data), maxText))}
				files = slices.Insert(files, i+1, out)
			}
			g.archive.Files = files
			require.NoError(t, os.WriteFile(g.path, txtar.Format(g.archive), 0o644))
		}
		for i := 0; i < len(files); i += 2 {
			name, ok := strings.CutSuffix(files[i].Name, ".md")
			require.True(t, ok, files[i].Name)
			require.Less(t, i+1, len(files), name)
			require.Equal(t, name+".out", files[i+1].Name)
			t.Run(name, func(t *testing.T) {
				in := string(files[i].Data)
				require.Equal(t, string(files[i+1].Data), string(printed(render(in, maxText))))
				checkRender(t, in, maxText)
			})
		}
	}
	require.GreaterOrEqual(t, len(inputs(t)), 60)
}

func printed(pieces []string) []byte {
	if len(pieces) == 0 {
		return nil
	}
	return []byte(strings.Join(pieces, divider) + "\n")
}

func FuzzRender(f *testing.F) {
	for _, in := range inputs(f) {
		if len(in) < maxText { // what is longer makes the fuzzer slow
			f.Add(in, uint16(100))
		}
	}
	f.Add("[0000](mAilto:00@00000000000) HTTP://x.dev", uint16(0))
	f.Add("[a](https://x.dev 'b') **`c`**<br>|d|\n|-|\n|`e`|", uint16(0))
	f.Fuzz(func(t *testing.T, md string, size uint16) {
		checkRender(t, md, 100+int(size)%maxText)
	})
}

// What people write is read without panic, and only once.
func FuzzReadText(f *testing.F) {
	f.Add("<@U0> hi <@U1|ann> <#C1|general> <https://x.dev|x> &lt;b&gt; <!here> <!subteam^S1|@t> <")
	f.Add("<mailto:a@b.c|a@b.c> <> <|> <@> <!> <#> &amp;lt;")
	f.Fuzz(func(t *testing.T, in string) {
		out, mentioned := readText(in, "U0", func(id string) string { return id })
		require.Equal(t, strings.TrimSpace(out), out)
		if !strings.Contains(in, "<@U0") {
			require.False(t, mentioned)
		}
		again, _ := readText(escape(out), "U0", func(id string) string { return id })
		require.Equal(t, out, again, "escaped text is read as it is")
	})
}

// A link that somebody has written is the same link when the model repeats it.
func TestLinkThereAndBack(t *testing.T) {
	for _, link := range []string{
		"<https://x.dev/a?b=1&amp;c=2|label>",
		"<https://x.dev/a_(b)|label>",
		"<https://x.dev/a)b|a [b] (c)]>",
		"<https://x.dev/((|x&lt;y&gt;>",
		"<mailto:me@x.dev|write>",
		"<https://x.dev>",
		"<https://x.dev/%20|two words>",
	} {
		text, _ := readText(link, "U0", func(id string) string { return id })
		require.Equal(t, []string{link}, render(text, maxText), text)
	}
}

func BenchmarkRender(b *testing.B) {
	archive, err := txtar.ParseFile("testdata/render-50k.txtar")
	require.NoError(b, err)
	in := string(archive.Files[0].Data)
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		render(in, maxText)
	}
}

// The speed is the same for all sizes: what is cut is not looked at again.
func BenchmarkPack(b *testing.B) {
	for _, kb := range []int{50, 500, 5000} {
		n := kb << 10
		words := markdown.Block{Text: strings.Repeat("word &amp; <https://x.dev|link> ", n/32), Gap: "\n"}
		code := markdown.Block{Text: strings.Repeat("a line of code\n", n/15), Code: true, Gap: "\n"}
		many := slices.Repeat([]markdown.Block{{Text: "a short paragraph", Gap: "\n\n"}}, n/17)
		b.Run(fmt.Sprintf("%dKB", kb), func(b *testing.B) {
			b.SetBytes(int64(3 * n))
			for b.Loop() {
				mrkdwn(maxText).Pack(append(many, words, code))
			}
		})
	}
}
