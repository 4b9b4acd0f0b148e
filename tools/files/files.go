// Package files is the tools that look at and change the files of a workspace, glob, grep, read, write
// and edit, and send_file, which puts one into the thread.
//
// Paths are relative to Call.Dir and never lead out of it. A path is first resolved to one without
// symbolic links (workspace.resolve) and judged as that; what is opened then must still be what was
// resolved. Walks follow no links at all. Nothing within Call.Hidden is read, written or listed.
//
// A file is changed only if the session has read it as it is now (Call.Seen), and it is replaced in
// one step, so that whoever looks finds the old content or the new one.
//
// How fast glob and grep are is part of their contract: the benchmarks compare them with fd and
// ripgrep. The package needs a Unix system.
//
// BUG(files): Between the last look at a file and its replacement lie two system calls; what another program
// writes just then is lost. Our own calls wait for each other.
//
// BUG(files): Replacing a file gives it a new inode: hard links to it keep the old content, and access lists
// and extended attributes are not taken over. A kill in the middle of a write can leave a file named
// .heddle-*.tmp behind.
//
// BUG(files): send_file finds a secret only where it is written out or in the usual encodings: not in a
// compressed file.
//
// BUG(files): A hard link or a bind mount to something within Call.Hidden is not recognised.
package files

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/heddle-bot/heddle/tools"
)

// Config says what the tools are made of. The zero Config is useful.
type Config struct {
	// Output is how many bytes the text of a result has at most. It should not be more than what
	// the gate lets pass, so that what is left out can be asked for. 0 is 10,000.
	Output int

	// MaxChange is the size in bytes of the largest file that write and edit work on, as they hold
	// it in memory several times. 0 is 16 MiB.
	MaxChange int64

	// MaxSend is the size in bytes of the largest file that send_file sends: it is held in memory.
	// 0 is 10 MiB, as some networks take no more.
	MaxSend int64

	// Skip has the names of directories that glob and grep pass over unless they are asked for by
	// path. nil is the usual ones, see usuallySkipped.
	Skip []string
}

// Limits that need no configuration.
const (
	walkTimeout = 60 * time.Second // of glob and grep
	readTimeout = 60 * time.Second // of read: enough to hash maxHash bytes on a slow disk
	maxTitle    = 80               // runes
)

// usuallySkipped returns the directories whose files hardly anybody wants to see in a search.
func usuallySkipped() []string {
	return []string{
		".git", ".hg", ".svn", ".jj", ".venv", "venv", "node_modules", "__pycache__",
		".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".idea", ".gradle", ".terraform",
	}
}

// New returns the tools glob, grep, read, write, edit and send_file. Files that two calls change at the same time
// are safe only if both tools come from the same New.
func New(c Config) ([]tools.Tool, error) {
	if c.Output < 0 || c.MaxChange < 0 || c.MaxSend < 0 {
		return nil, fmt.Errorf("files: Output, MaxChange and MaxSend must not be negative")
	}
	c.Output = cmp.Or(c.Output, 10_000)
	if c.Output < minOutput {
		return nil, fmt.Errorf("files: Output is %d, but no result fits into less than %d bytes", c.Output, minOutput)
	}
	c.MaxChange = cmp.Or(c.MaxChange, 16<<20)
	c.MaxSend = cmp.Or(c.MaxSend, 10<<20)
	if c.Skip == nil {
		c.Skip = usuallySkipped()
	}
	ch := &changer{max: c.MaxChange, skip: c.Skip, locks: locks{held: map[string]*lock{}}}
	var all []tools.Tool
	for _, make := range []func() (tools.Tool, error){
		func() (tools.Tool, error) { return globTool(c) },
		func() (tools.Tool, error) { return grepTool(c) },
		func() (tools.Tool, error) { return readTool(c) },
		func() (tools.Tool, error) { return changeTool[writeArgs](ch, "write") },
		func() (tools.Tool, error) { return changeTool[editArgs](ch, "edit") },
		func() (tools.Tool, error) { return sendTool(c) },
	} {
		t, err := make()
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// minOutput is the least Config.Output: room for a header, one clipped line and a note.
const minOutput = maxLine + 1000

// title returns a Tool.Title that says what f makes of the arguments.
func title[T any](f func(T) string) func(json.RawMessage) string {
	return func(raw json.RawMessage) string {
		args, err := tools.Decode[T](raw)
		if err != nil {
			return "" // cannot happen: the arguments are validated
		}
		return tools.Clip(f(args), maxTitle)
	}
}
