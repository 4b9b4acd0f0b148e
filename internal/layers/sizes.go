package layers

import (
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// The budgets. Test files are held to them too: a test that cannot be read proves little.
const (
	maxFile      = 400 // lines
	maxFunc      = 60  // lines, from "func" to the closing brace
	maxFields    = 12  // of a struct
	maxInterface = 4   // methods
	maxMethods   = 15  // on a type, over all files of its package
	maxParams    = 5   // the context counts, the receiver does not
)

// An exception lets one thing be larger than its budget.
type exception struct {
	what string // as the complaint names it: "agent/next.go", "func agent.Next", "struct agent.Call"
	why  string
}

// exceptions to the budgets.
var exceptions = []exception{}

// A size is one thing that was measured.
type size struct {
	what  string // see exception
	where string
	unit  string
	n     int
	max   int
}

// checkSizes complains about what is over its budget, and about exceptions without need or reason.
func checkSizes(sources []*source, exceptions []exception) []string {
	var bad []string
	excused := map[string]bool{}
	for _, e := range exceptions {
		excused[e.what] = false
		if e.why == "" {
			bad = append(bad, fmt.Sprintf("exceptions: %s has no reason", e.what))
		}
	}
	for _, m := range measure(sources) {
		if m.n <= m.max {
			continue
		}
		if _, ok := excused[m.what]; ok {
			excused[m.what] = true
			continue
		}
		bad = append(bad, fmt.Sprintf("%s: %s has %d %s, the budget is %d", m.where, m.what, m.n, m.unit, m.max))
	}
	for _, e := range exceptions {
		if !excused[e.what] {
			bad = append(bad, fmt.Sprintf("exceptions: %s is within its budget: delete the row", e.what))
		}
	}
	return bad
}

func measure(sources []*source) []size {
	var all []size
	methods := map[string]*size{}
	for _, s := range sources {
		all = append(all, size{s.path, s.path, "lines", s.fset.File(s.file.Pos()).LineCount(), maxFile})
		for _, d := range s.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			name := s.dir + "." + fn.Name.Name
			if recv := receiver(fn); recv != "" {
				name = s.dir + "." + recv + "." + fn.Name.Name
				typ := s.dir + "." + recv
				if methods[typ] == nil {
					methods[typ] = &size{"methods of " + typ, s.dir, "methods", 0, maxMethods}
				}
				methods[typ].n++
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			all = append(all, size{"func " + name, s.path, "lines", lines, maxFunc})
		}
		all = append(all, s.shapes()...)
	}
	for _, m := range methods {
		all = append(all, *m)
	}
	return all
}

// shapes measures structs, interfaces and parameter lists, named or not.
func (s *source) shapes() []size {
	var all []size
	name := s.path // of the declaration that the walk is in
	ast.Inspect(s.file, func(n ast.Node) bool {
		add := func(kind, unit string, n, max int) {
			all = append(all, size{kind + " " + name, s.path, unit, n, max})
		}
		switch n := n.(type) {
		case *ast.TypeSpec:
			name = s.dir + "." + n.Name.Name
		case *ast.FuncDecl:
			name = s.dir + "." + n.Name.Name
		case *ast.StructType:
			add("struct", "fields", count(n.Fields), maxFields)
		case *ast.InterfaceType:
			add("interface", "methods", count(n.Methods), maxInterface)
		case *ast.FuncType:
			add("parameters of", "parameters", count(n.Params), maxParams)
		}
		return true
	})
	return all
}

// count returns the number of names in list; what has none, an embedded field, counts as one.
func count(list *ast.FieldList) int {
	n := 0
	for _, f := range list.List {
		n += max(1, len(f.Names))
	}
	return n
}

// receiver returns the name of the type that fn is a method of, or "".
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// checkComments complains about packages without a package comment.
func checkComments(sources []*source) []string {
	said, seen := map[string]bool{}, map[string]*source{}
	for _, s := range sources {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		seen[s.dir] = s
		said[s.dir] = said[s.dir] || s.file.Doc != nil && len(s.file.Doc.Text()) > len("Package ")
	}
	var bad []string
	for dir, s := range seen {
		if !said[dir] {
			bad = append(bad, s.at(s.file.Name, "package %s has no package comment", dir))
		}
	}
	return bad
}

// checkCalls complains about tests that skip themselves without saying why, and about init
// functions, which run before anybody can say how.
func checkCalls(sources []*source) []string {
	var bad []string
	for _, s := range sources {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					bad = append(bad, s.at(n, "init functions are not used here"))
				}
			case *ast.CallExpr:
				if s.test && silentSkip(n) {
					bad = append(bad, s.at(n, "this skips a test without saying why and what to do"))
				}
			}
			return true
		})
	}
	return bad
}

func silentSkip(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch fn.Sel.Name {
	case "SkipNow":
		return true
	case "Skip", "Skipf":
		return len(call.Args) == 0 || literal(call.Args[0]) == ""
	}
	return false
}

// literal returns the text of a string literal, "?" of another expression.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return "?"
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(s)
}

// checkPrompts complains about files of package prompts that the program never asks for: of
// "system.md" by that name, of "tools/clock.md" by the name of the tool.
func checkPrompts(files []string, sources []*source) []string {
	named := map[string]bool{}
	for _, s := range sources {
		if s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				named[literal(lit)] = true
				if tool := literal(lit); strings.HasPrefix(s.dir, "tools") {
					named["tools/"+tool+".md"] = true
				}
			}
			return true
		})
	}
	var bad []string
	for _, f := range files {
		if !named[f] {
			bad = append(bad, fmt.Sprintf("prompts/%s: nothing asks for this file", f))
		}
	}
	return bad
}
