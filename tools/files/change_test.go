package files

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

func TestWrite(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"old.txt": "one\ntwo\n", "empty": "", "crlf": "a\r\n"})

	require.Equal(t, "created new/deep/x.txt: 1 line, LF", b.do("write", args{"path": "new/deep/x.txt", "content": "x\n"}))
	require.Equal(t, "x\n", b.get("new/deep/x.txt"))
	b.do("write", args{"path": "new/deep/x.txt", "content": "y"}) // what it wrote, it has seen
	require.Equal(t, "y", b.get("new/deep/x.txt"))

	require.Contains(t, b.fails("write", args{"path": "old.txt", "content": "new\n"}), "has not been read in this session: read it first")
	require.Contains(t, b.fails("write", args{"path": "empty", "content": "new\n"}), "read it first")
	b.do("read", args{"path": "old.txt", "limit": 1})
	b.put("old.txt", "changed\n")
	require.Contains(t, b.fails("write", args{"path": "old.txt", "content": "new\n"}), "read it again")
	b.do("read", args{"path": "old.txt"})
	require.Equal(t, "replaced old.txt: 1 line, LF", b.do("write", args{"path": "old.txt", "content": "new\n"}))
	require.Contains(t, b.fails("write", args{"path": "old.txt", "content": "new\n"}), "has exactly this content already")
	require.Contains(t, b.fails("write", args{"path": "old.txt", "content": "a\x00b"}), "NUL character")

	b.do("read", args{"path": "crlf"})
	require.Contains(t, b.do("write", args{"path": "crlf", "content": "b\n"}), "; the line endings were CRLF before")
	require.Equal(t, map[string]string{"old.txt": "new\n", "empty": "", "crlf": "b\n", "new/deep/x.txt": "y"}, b.tree(), "nothing else is left")
}

func TestWriteLimits(t *testing.T) {
	b := newBox(t, Config{MaxChange: 10}, map[string]string{"large": "0123456789\n", "bin": "a\x00b", "ro": "x\n"})
	require.Contains(t, b.fails("write", args{"path": "x", "content": "0123456789\n"}), "would have 11 bytes, and files of more than 10 bytes are not written")
	require.Contains(t, b.fails("write", args{"path": "large", "content": "x"}), "are not changed")
	require.Contains(t, b.fails("edit", args{"path": "large", "old": "0", "new": "x"}), "are not changed")
	require.Contains(t, b.fails("write", args{"path": "bin", "content": "x"}), "binary file")
	require.NoError(t, os.Chmod(b.path("ro"), 0o444))
	b.do("read", args{"path": "ro"})
	require.Contains(t, b.fails("edit", args{"path": "ro", "old": "x", "new": "y"}), "write-protected")
}

func TestWriteKeeps(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"run.sh": "echo\n", "real": "a\n"})
	require.NoError(t, os.Chmod(b.path("run.sh"), 0o751))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(b.path("run.sh"), 1234, 2345))
	}
	before, err := os.Stat(b.path("run.sh"))
	require.NoError(t, err)
	b.do("read", args{"path": "run.sh"})
	b.do("edit", args{"path": "run.sh", "old": "echo", "new": "echo hi"})
	after, err := os.Stat(b.path("run.sh"))
	require.NoError(t, err)
	require.Equal(t, before.Mode(), after.Mode())
	require.Equal(t, before.Sys().(*syscall.Stat_t).Uid, after.Sys().(*syscall.Stat_t).Uid)
	require.Equal(t, before.Sys().(*syscall.Stat_t).Gid, after.Sys().(*syscall.Stat_t).Gid)

	b.link("real", "link")
	b.do("read", args{"path": "link"})
	b.do("write", args{"path": "link", "content": "b\n"})
	require.Equal(t, "b\n", b.get("real"), "a link within the workspace is written through")
	info, err := os.Lstat(b.path("link"))
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	b.link("missing", "dangling")
	b.do("write", args{"path": "dangling", "content": "c\n"})
	require.Equal(t, "c\n", b.get("missing"))
}

func TestPreview(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"f": "one\ntwo\nthree", "latin": "caf\xe9\nx\n", "crlf": "a\r\nb\r\n"})
	for _, path := range []string{"f", "latin", "crlf"} {
		b.do("read", args{"path": path})
	}
	for _, c := range []struct {
		tool string
		args args
		want string
	}{
		{"write", args{"path": "d/new", "content": "x\ny"}, "--- /dev/null\n+++ b/d/new\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n"},
		{"write", args{"path": "d/empty", "content": ""}, "--- /dev/null\n+++ b/d/empty\n"},
		{"write", args{"path": "f", "content": "one\n2\nthree\n"}, "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n\\ No newline at end of file\n+2\n+three\n"},
		{"edit", args{"path": "f", "old": "two\n", "new": ""}, "--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@\n one\n-two\n three\n\\ No newline at end of file\n"},
		{"edit", args{"path": "latin", "old": "x", "new": "y"}, "--- a/latin\n+++ b/latin\n@@ -1,2 +1,2 @@\n caf\\xe9\n-x\n+y\n"},
		{"edit", args{"path": "crlf", "old": "b", "new": "c\nd"}, "--- a/crlf\n+++ b/crlf\n@@ -1,2 +1,3 @@\n a\r\n-b\r\n+c\r\n+d\r\n"},
	} {
		before := b.tree()
		p, err := b.preview(c.tool, c.args)
		require.NoError(t, err)
		require.Equal(t, tools.Diff, p.Kind)
		require.Equal(t, c.want, p.Text)
		require.Equal(t, before, b.tree(), "a preview changes nothing")
	}
}

// The digest is that of what a person saw: anything else does not run under it.
func TestDigest(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"f": "one\n", "g": "one\n"})
	b.do("read", args{"path": "f"})
	b.do("read", args{"path": "g"})
	digests := map[string]bool{}
	for _, c := range []struct {
		tool string
		args args
	}{
		{"write", args{"path": "f", "content": "two\n"}}, {"write", args{"path": "f", "content": "2\n"}},
		{"write", args{"path": "g", "content": "two\n"}}, {"write", args{"path": "h", "content": "two\n"}},
		{"edit", args{"path": "f", "old": "one", "new": "two"}}, {"edit", args{"path": "f", "old": "one\n", "new": "two\n"}},
	} {
		p, err := b.preview(c.tool, c.args)
		require.NoError(t, err)
		digests[p.Digest] = true
		again, err := b.preview(c.tool, c.args)
		require.NoError(t, err)
		require.Equal(t, p, again)
	}
	require.Len(t, digests, 6)

	for _, change := range []func(){
		func() { b.put("f", "other\n") },
		func() { require.NoError(t, os.Remove(b.path("f"))) },
		func() { b.call.Dir = t.TempDir() },
	} {
		b.call.Dir = b.dir
		b.put("f", "one\n")
		p, err := b.preview("write", args{"path": "f", "content": "two\n"})
		require.NoError(t, err)
		tool, call := b.ready("write", args{"path": "f", "content": "two\n"})
		call.Digest = p.Digest
		change()
		call.Dir = b.call.Dir
		_, err = tool.Run(context.Background(), call)
		require.ErrorIs(t, err, tools.ErrChanged)
	}
	b.call.Dir = b.dir
	b.put("new", "appeared\n")
	tool, call := b.ready("write", args{"path": "new", "content": "x"})
	call.Digest = "made when new did not exist"
	_, err := tool.Run(context.Background(), call)
	require.ErrorIs(t, err, tools.ErrChanged)
	require.Equal(t, "appeared\n", b.get("new"))
}

// What changes between the look at a file and its replacement is noticed.
func TestReplaceLooksAgain(t *testing.T) {
	for name, between := range map[string]func(b *box){
		"changed": func(b *box) { b.put("f", "other\n") },
		"removed": func(b *box) { require.NoError(b.t, os.Remove(b.path("f"))) },
		"link":    func(b *box) { require.NoError(b.t, os.Remove(b.path("f"))); b.link("g", "f") },
		"made a pipe": func(b *box) {
			require.NoError(b.t, os.Remove(b.path("f")))
			require.NoError(b.t, syscall.Mkfifo(b.path("f"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBox(t, Config{}, map[string]string{"f": "one\n", "g": "one\n"})
			w, err := openWorkspace(b.call)
			require.NoError(t, err)
			defer w.Close()
			ch := &changer{max: 100}
			now, err := ch.load(t.Context(), w, change{path: "f"})
			require.NoError(t, err)
			between(b)
			require.ErrorIs(t, ch.replace(w, now, []byte("new\n")), tools.ErrChanged)
			entries, err := os.ReadDir(b.dir)
			require.NoError(t, err)
			require.LessOrEqual(t, len(entries), 2, "the temporary file is gone")
		})
	}
}

// Edits of one file by many sessions at once: each either happens or is refused, and none is lost.
func TestConcurrentEdits(t *testing.T) {
	b := newBox(t, Config{}, map[string]string{"f": "\n"})
	b.link("f", "same")
	tool, _ := b.ready("write", args{"path": "f", "content": ""})
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				data, err := os.ReadFile(b.path("f"))
				if err != nil {
					t.Error(err)
					return
				}
				call := b.call
				call.Seen = map[string]string{"f": digest(data)}
				call.Args, _ = json.Marshal(writeArgs{[]string{"f", "same"}[i%2], string(data) + fmt.Sprintf("%d.%d\n", i, j)})
				if _, err := tool.Run(context.Background(), call); err == nil {
					mu.Lock()
					done++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, done, strings.Count(b.get("f"), "\n")-1)
	require.Positive(t, done)
}

func TestLocks(t *testing.T) {
	l := locks{held: map[string]*lock{}}
	unlock, err := l.lock(t.Context(), "a")
	require.NoError(t, err)
	other, err := l.lock(t.Context(), "b")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.lock(ctx, "a")
	require.ErrorIs(t, err, context.Canceled)
	other()
	unlock()
	require.Empty(t, l.held)
}

func TestLines(t *testing.T) {
	for diff, want := range map[string]string{
		"": "+0 −0",
		"--- a\n+++ b\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n":       "+2 −1",
		"--- a\n+++ b\n@@ -1 +1 @@\n---- a\n++++ b\n":               "+1 −1", // the content looks like a header
		"--- a\n+++ b\n@@ -1 +1 @@\n-a\n\\ No newline at end\n+b\n": "+1 −1",
	} {
		require.Equal(t, want, lines(diff), diff)
	}
}
