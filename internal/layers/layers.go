// Package layers holds the rules of this module that prose does not hold: who imports whom, which
// module of others is used where and why, and how large things may get.
//
// The test of this package applies the rules to the module. A new dependency is a new row of modules
// with its reason; a thing that has to be larger than its budget is a row of exceptions with its
// reason. Rows that nothing needs are errors too. Nothing of the program imports this package.
package layers

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A source is one parsed Go file.
type source struct {
	path string // slash-separated, relative to the root of the module
	dir  string // of the package
	test bool   // it is compiled for tests only
	file *ast.File
	fset *token.FileSet
}

// load parses every Go file below root, but for testdata and hidden directories.
func load(root fs.FS) ([]*source, error) {
	var all []*source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		s, err := parse(name, string(data))
		all = append(all, s)
		return err
	})
	return all, err
}

func parse(name, text string) (*source, error) {
	s := &source{path: name, dir: path.Dir(name), fset: token.NewFileSet()}
	s.test = strings.HasSuffix(name, "_test.go") || testPackage(s.dir)
	var err error
	s.file, err = parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	return s, err
}

// at returns a complaint about the place of n.
func (s *source) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

// imports returns the imported paths and where they are imported.
func (s *source) imports() map[string]*ast.ImportSpec {
	all := map[string]*ast.ImportSpec{}
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			all[p] = spec
		}
	}
	return all
}

// testPackage reports whether dir holds a package that is made for tests: slacktest, storetest.
func testPackage(dir string) bool {
	return strings.HasSuffix(path.Base(dir), "test") && strings.Contains(dir, "/")
}

// layers says which packages of ours a package may import, the first row that matches. "x/*" is
// everything one level below x. Packages in internal are left out: everybody may import them.
var layers = []struct {
	from string
	to   []string
}{
	{"cmd/*", []string{"*"}},
	{"bots", []string{"agent", "store"}},
	{"bots/web", []string{"bots", "bots/web/story", "agent", "store"}}, // it shows sessions from their logs
	{"bots/web/story", []string{"bots", "agent", "store", "tools"}},
	{"bots/*", []string{"bots"}},
	{"bots/web/axe", nil},
	{"bots/slack/fidelity", nil},   // its test runs programs in another language against slacktest
	{"bots/discord/fidelity", nil}, // likewise
	{"agent", []string{"agent/llm", "tools", "store", "prompts"}},
	{"agent/meter", []string{"agent", "agent/llm", "store"}},
	{"agent/llm", nil},
	{"agent/llm/*", []string{"agent/llm"}},
	{"tools", []string{"prompts"}},
	{"tools/*", []string{"tools"}},
	{"store", nil},
	{"store/*", []string{"store"}},
	{"prompts", nil},
	{"internal/*", nil},
}

// inTests is what the tests of every package may import beside what they test: the one engine of
// the log that needs no server is better than an imitation of it.
var inTests = []string{"store/bolt"}

func matches(pattern, dir string) bool {
	if pattern == "*" {
		return true
	}
	if parent, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path.Dir(dir) == parent
	}
	return pattern == dir
}

// below returns what the package in dir may import of ours.
func below(dir string) (to []string, ok bool) {
	for _, row := range layers {
		if matches(row.from, dir) {
			return row.to, true
		}
	}
	return nil, false
}

// mayImport reports whether a file in the package from may import the package to, both directories
// of this module.
func mayImport(from, to string, test bool) bool {
	if from == to { // an external test of the package
		return test
	}
	if path.Dir(to) == "internal" {
		return path.Dir(from) != "internal"
	}
	if testPackage(from) {
		beside := path.Dir(from)
		return to == beside || allowed(beside, to)
	}
	if !test {
		return allowed(from, to) && !testPackage(to)
	}
	return testPackage(to) || slices.Contains(inTests, to) || reaches(from, to)
}

func allowed(from, to string) bool {
	patterns, _ := below(from)
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, to) })
}

// reaches reports whether from may import to, itself or through what it may import.
func reaches(from, to string) bool {
	if allowed(from, to) {
		return true
	}
	patterns, _ := below(from)
	return slices.ContainsFunc(patterns, func(p string) bool { return p != "*" && reaches(p, to) })
}

// checkLayers complains about imports of ours that the table does not allow, and about packages that
// it does not know.
func checkLayers(module string, sources []*source) []string {
	var bad []string
	for _, s := range sources {
		if _, ok := below(s.dir); !ok && !testPackage(s.dir) {
			bad = append(bad, s.at(s.file.Name, "%s has no row in layers: say what it may import", s.dir))
		}
		for p, spec := range s.imports() {
			to, ok := strings.CutPrefix(p, module+"/")
			if ok && !mayImport(s.dir, to, strings.HasSuffix(s.path, "_test.go")) {
				bad = append(bad, s.at(spec, "%s may not import %s", s.dir, to))
			}
		}
	}
	return bad
}
