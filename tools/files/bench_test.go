package files

import (
	"bytes"
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

// The benchmarks run ours and the yardstick in turn over the same tree, Go's own source, and report
// how many times the yardstick's time ours takes. Both produce all of their output: limits are off.

// goSource is the tree.
func goSource(b *testing.B) *workspace {
	b.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(b, err)
	w, err := openWorkspace(tools.Call{Dir: filepath.Join(string(bytes.TrimSpace(out)), "src")})
	require.NoError(b, err)
	b.Cleanup(func() { w.Close() })
	return w
}

// against compares ours with a command. The shortest time of each counts, as all else is noise of the
// machine.
func against(b *testing.B, ours func() int, command ...string) {
	b.Helper()
	_, err := exec.LookPath(command[0])
	require.NoError(b, err, "install the yardsticks: apt-get install ripgrep fd-find")
	w := goSource(b)
	theirs := func() int {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = w.dir
		var out bytes.Buffer // a pipe: ripgrep takes a short cut if its output is /dev/null
		cmd.Stdout = &out
		require.NoError(b, cmd.Run())
		return bytes.Count(out.Bytes(), newline)
	}
	require.Equal(b, theirs(), ours(), "both find the same lines")
	least := func(least time.Duration, f func() int) time.Duration {
		start := time.Now()
		f()
		return min(least, time.Since(start))
	}
	mine, other := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for b.Loop() {
		other = least(other, theirs)
		mine = least(mine, ours)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(mine)/1e6, "ours-ms")
	b.ReportMetric(float64(other)/1e6, "theirs-ms")
	b.ReportMetric(float64(mine)/float64(other), "ratio")
}

func BenchmarkGrep(b *testing.B) {
	for _, q := range []struct {
		name    string
		expr    string
		literal bool
		fold    bool
	}{
		{"literal", "ReadString", true, false},
		{"literalCommon", "return nil", true, false},
		{"literalRare", "bytealg.MaxLen", true, false},
		{"fold", "readstring", true, true},
		{"foldCommon", "error", true, true},
		{"simple", `func \w+Read\(`, false, false},
		{"anchored", `^type \w+ struct`, false, false},
		{"words", `\bWaitGroup\b`, false, false},
		{"alternatives", `ReadString|WriteString|ReadByte`, false, false},
		{"noLiteral", `[A-Z]{9,}[0-9]`, false, false},
		{"noLiteralWide", `^\s*[A-Z]\w+\s+[a-z]+\s*$`, false, false},
		{"foldSimple", `todo\(\w+\)`, false, true},
	} {
		b.Run(q.name, func(b *testing.B) {
			w := goSource(b)
			ours := func() int {
				query, err := parseQuery(q.expr, q.literal, q.fold)
				require.NoError(b, err)
				query.limit = math.MaxInt
				f, err := w.find(context.Background(), walkOptions{start: ".", skip: usuallySkipped(), ignore: true})
				require.NoError(b, err)
				units, err := w.search(context.Background(), f, query)
				require.NoError(b, err)
				page := grepPage{limit: math.MaxInt, room: math.MaxInt}
				for _, u := range units {
					for _, h := range u.hits {
						if !h.binary {
							page.file(h)
						}
					}
				}
				return page.matches
			}
			args := []string{"rg", "--line-number", "--no-require-git"}
			if q.literal {
				args = append(args, "--fixed-strings")
			}
			if q.fold {
				args = append(args, "--ignore-case")
			}
			against(b, ours, append(args, "-e", q.expr)...)
		})
	}
}

func BenchmarkGlob(b *testing.B) {
	for _, q := range []struct{ name, pattern, fd string }{
		{"names", "*_test.go", "*_test.go"},
		{"all", "*", "*"},
		{"deep", "cmd/**/*.go", "**/src/cmd/**/*.go"},
	} {
		b.Run(q.name, func(b *testing.B) {
			w := goSource(b)
			ours := func() int {
				f, err := globArgs{Pattern: q.pattern, Path: "."}.find(context.Background(), w, Config{Skip: usuallySkipped()})
				require.NoError(b, err)
				n := 0
				for range f.paths() {
					n++
				}
				return n
			}
			args := []string{"fdfind", "--type", "file", "--no-ignore-vcs", "--hidden", "--glob", q.fd}
			if q.name == "deep" {
				args = append(args, "--full-path")
			}
			against(b, ours, args...)
		})
	}
}
