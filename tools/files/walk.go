package files

import (
	"context"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// walkOptions says what find looks for.
type walkOptions struct {
	start  string   // resolved path of the directory to begin in
	skip   []string // names of directories to pass over
	ignore bool     // obey .gitignore and .git/info/exclude
	links  bool     // find symbolic links too; they are never followed
	want   *pattern // nil is every file
	from   string   // directory that want's paths are relative to; start is in it
	max    int      // files to find about at most; 0 is no limit
}

// found is the files of a tree, in the order of their directories' paths.
type found struct {
	folders    []folder
	passed     int // files and directories passed over because they are ignored
	unreadable int // directories
	lost       int // files that could not be read when they were searched
}

// A folder is a directory and those of its entries that were looked for, sorted.
type folder struct {
	rel   string
	names []string // with a slash at the end if directories were looked for
}

// paths returns all paths, each directory's files before those of its subdirectories.
func (f *found) paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, d := range f.folders {
			for _, name := range d.names {
				if !yield(join(d.rel, name)) {
					return
				}
			}
		}
	}
}

// join is path.Join for clean paths, but keeps a slash at the end.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}

// A walker is one run of find. Several goroutines take directories from its stack, the newest first,
// so that each stays near where it was and the stack stays short.
type walker struct {
	walkOptions
	w    *workspace
	skip map[string]bool

	mu    sync.Mutex
	more  sync.Cond // todo or busy has changed
	todo  []visit
	busy  int // goroutines that may add to todo
	over  bool
	found found
	files int
}

// A visit is a directory to be read, with the rules that hold above it.
type visit struct {
	rel   string
	rules *rules
}

// find lists the files of a tree. The order of its result does not depend on chance. The error is
// that of ctx, or says that start cannot be opened.
func (w *workspace) find(ctx context.Context, o walkOptions) (*found, error) {
	root, err := w.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer root.Close()
	k := &walker{walkOptions: o, w: w, skip: map[string]bool{}}
	k.more.L = &k.mu
	for _, name := range o.skip {
		k.skip[name] = true
	}
	first := cursor{root: int(root.Fd())}
	var above *rules
	if o.ignore {
		above = rulesAbove(&first, o.start)
	}
	_, err = first.dir(o.start)
	first.leave(0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: o.start, Err: err}
	}
	k.todo = []visit{{o.start, above}}
	stop := context.AfterFunc(ctx, k.end)
	defer stop()
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() { k.work(int(root.Fd())) })
	}
	wg.Wait()
	slices.SortFunc(k.found.folders, func(a, b folder) int { return strings.Compare(a.rel, b.rel) })
	return &k.found, context.Cause(ctx)
}

// end makes the goroutines return soon.
func (k *walker) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.more.Broadcast()
}

// work reads directories until there are no more.
func (k *walker) work(root int) {
	c := cursor{root: root}
	defer func() { c.leave(0) }()
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		for len(k.todo) == 0 && k.busy > 0 && !k.over {
			k.more.Wait()
		}
		if len(k.todo) == 0 || k.over {
			return
		}
		v := k.todo[len(k.todo)-1]
		k.todo = k.todo[:len(k.todo)-1]
		k.busy++
		k.mu.Unlock()
		seen := k.visit(&c, v)
		k.mu.Lock()
		k.busy--
		k.take(seen)
		k.more.Broadcast()
	}
}

// A sight is what one directory has to tell.
type sight struct {
	folder
	below      []visit
	passed     int
	unreadable bool
}

// take adds what was seen to the result. The mutex is held.
func (k *walker) take(s sight) {
	if s.unreadable {
		k.found.unreadable++
	}
	k.found.passed += s.passed
	if len(s.names) > 0 {
		k.found.folders = append(k.found.folders, s.folder)
	}
	k.todo = append(k.todo, s.below...)
	if k.files += len(s.names); k.max > 0 && k.files >= k.max {
		k.over = true
	}
}

// visit reads one directory.
func (k *walker) visit(c *cursor, v visit) sight {
	s := sight{folder: folder{rel: v.rel}}
	entries, err := list(c, v.rel, k.w.dir)
	if err != nil {
		s.unreadable = true
	}
	below := v.rules
	if k.ignore {
		below = rulesIn(c, v, entries)
	}
	for _, e := range entries {
		name, isDir := e.Name(), e.IsDir()
		if isDir && k.skip[name] {
			continue
		}
		kind := e.Type()
		if !isDir && !kind.IsRegular() && (!k.links || kind != os.ModeSymlink) {
			continue
		}
		rel := join(v.rel, name)
		if len(k.w.hidden) > 0 && k.w.isHidden(rel) {
			continue
		}
		if below.ignored(rel, name, isDir) {
			s.passed++
			continue
		}
		if isDir && k.want.below(k.from, rel) {
			s.below = append(s.below, visit{rel, below})
		}
		if k.want.match(k.from, rel, name, isDir) {
			if isDir {
				name += "/"
			}
			s.names = append(s.names, name)
		}
	}
	slices.Sort(s.names)
	return s
}

// list returns the entries of a directory. Where the file system does not tell their kinds, ReadDir
// asks by path, hence the name given to NewFile; what is then opened is judged again.
func list(c *cursor, rel, dir string) ([]os.DirEntry, error) {
	fd, err := c.dir(rel)
	if err != nil {
		return nil, err
	}
	if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir, rel))
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return f.ReadDir(-1)
}

// rulesIn returns the rules that hold in a directory with the given entries.
func rulesIn(c *cursor, v visit, entries []os.DirEntry) *rules {
	for _, e := range entries {
		if e.Name() == ignoreFile && e.Type().IsRegular() {
			return readRules(c, ignoreFile, v.rel, v.rules)
		}
	}
	return v.rules
}

// rulesAbove returns the rules that come from above a directory. That the directory itself may be
// ignored does not matter: it was asked for by name.
func rulesAbove(c *cursor, start string) *rules {
	var r *rules
	if _, err := c.dir(".git/info"); err == nil {
		r = readRules(c, "exclude", ".", nil)
	}
	if start == "." {
		return r
	}
	dir := "."
	for name := range strings.SplitSeq(start, "/") {
		if _, err := c.dir(dir); err != nil {
			return r
		}
		r = readRules(c, ignoreFile, dir, r)
		dir = path.Join(dir, name)
	}
	return r
}
