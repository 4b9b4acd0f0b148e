// Package toolstest is what every tool must pass, and what all their words must.
//
// Add a check here when a promise of package tools is found that nothing checks. It is used in tests
// only.
package toolstest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/tools"
)

// A Case is a call that works.
type Case struct {
	Name string
	Args string
	// Prepare makes the call's surroundings, beginning with an empty directory c.Dir. It is called
	// anew for each check, and may be nil.
	Prepare func(t testing.TB, c *tools.Call)
	// Waits is set for a call that goes on until its context ends. It reports whether the call is
	// under way.
	Waits func(c tools.Call) bool
}

// patience bounds every wait: it is long, as only a broken tool meets it.
const patience = time.Minute

// Run checks that the tool keeps the promises of package tools, by itself and in each of the cases.
// No call gets arguments that are not those of a case.
func Run(t *testing.T, tool tools.Tool, cases ...Case) {
	require.NotEmpty(t, cases, "a tool is checked with at least one call that works")
	r, err := tools.NewRegistry(tool)
	require.NoError(t, err)
	s := &suite{tool, r}
	t.Run("schema", s.schema)
	t.Run("title", s.title)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Run("arguments", func(t *testing.T) { s.arguments(t, c) })
			if tool.Question != nil {
				t.Run("question", func(t *testing.T) { s.question(t, c) })
				return
			}
			if tool.Preview != nil {
				t.Run("preview", func(t *testing.T) { s.preview(t, c) })
				t.Run("changed", func(t *testing.T) { s.changed(t, c) })
			}
			t.Run("cancelled before", func(t *testing.T) { s.cancelled(t, c) })
			if c.Waits != nil {
				t.Run("cancelled within", func(t *testing.T) { s.waits(t, c) })
				return
			}
			t.Run("run", func(t *testing.T) { s.run(t, c) })
		})
	}
}

type suite struct {
	tool     tools.Tool
	registry *tools.Registry
}

// check returns the arguments as the gate makes them.
func (s *suite) check(t testing.TB, args string) json.RawMessage {
	t.Helper()
	_, checked, err := s.registry.Check(s.tool.Name, json.RawMessage(args))
	require.NoError(t, err)
	return checked
}

func (s *suite) call(t testing.TB, c Case) tools.Call {
	t.Helper()
	call := tools.Call{
		ID:       "1.1.1",
		Session:  "toolstest",
		Args:     s.check(t, c.Args),
		Dir:      t.TempDir(),
		Seen:     map[string]string{},
		Artefact: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
	}
	if c.Prepare != nil {
		c.Prepare(t, &call)
	}
	return call
}

// schema checks that objects are closed, all is described, and little is nested.
func (s *suite) schema(t *testing.T) {
	var walk func(where string, schema map[string]any, depth int)
	walk = func(where string, schema map[string]any, depth int) {
		require.LessOrEqual(t, depth, 3, "%s is nested too deeply for a model", where)
		if items, ok := schema["items"].(map[string]any); ok {
			walk(where+"[]", items, depth)
		}
		properties, ok := schema["properties"].(map[string]any)
		if !ok {
			return
		}
		require.Equal(t, false, schema["additionalProperties"], "%s lets unknown keys pass", where)
		for name, p := range properties {
			p, ok := p.(map[string]any)
			require.True(t, ok)
			require.NotEmpty(t, p["description"], "%s.%s has no description", where, name)
			require.IsType(t, "", p["type"], "%s.%s has no single type", where, name)
			walk(where+"."+name, p, depth+1)
		}
	}
	walk(s.tool.Name, object(t, s.tool.Input), 1)
}

// title checks that the title of any call is a line that fits.
func (s *suite) title(t *testing.T) {
	args := arguments(object(t, s.tool.Input))
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(args.Draw(t, "args"))
		require.NoError(t, err)
		_, checked, err := s.registry.Check(s.tool.Name, raw)
		require.NoError(t, err)
		title := s.tool.Title(checked)
		require.NotEmpty(t, strings.TrimSpace(title))
		require.True(t, utf8.ValidString(title))
		require.LessOrEqual(t, utf8.RuneCountInString(title), 80)
		require.Equal(t, -1, strings.IndexFunc(title, unicode.IsControl), "%q is not one line", title)
		require.Equal(t, title, s.tool.Title(checked))
	})
}

// arguments checks that what is unknown or missing is refused by its name, and nothing else is.
func (s *suite) arguments(t *testing.T, c Case) {
	checked := s.check(t, c.Args)
	require.Equal(t, string(checked), string(s.check(t, string(checked))))

	given := object(t, checked)
	refused := func(args map[string]any, name string) {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		_, _, err = s.registry.Check(s.tool.Name, raw)
		require.ErrorContains(t, err, name)
	}
	extra := maps.Clone(given)
	extra["no_such_argument"] = 1
	refused(extra, "no_such_argument")
	required, _ := object(t, s.tool.Input)["required"].([]any)
	for _, name := range required {
		less := maps.Clone(given)
		delete(less, name.(string))
		refused(less, name.(string))
	}
}

// question checks that there is something to ask, and a way to answer it.
func (s *suite) question(t *testing.T, c Case) {
	args := s.check(t, c.Args)
	first, err := s.tool.Question(args)
	require.NoError(t, err)
	second, err := s.tool.Question(args)
	require.NoError(t, err)
	require.Equal(t, first, second, "a call always asks the same")
	require.NotEmpty(t, strings.TrimSpace(first.Text))
	require.True(t, first.Free || len(first.Options) > 0, "nobody can answer it")
	for _, o := range first.Options {
		require.NotEmpty(t, strings.TrimSpace(o.Label))
		require.NotContains(t, o.Label+o.Description, "\n")
	}
}

func (s *suite) preview(t *testing.T, c Case) {
	call := s.call(t, c)
	before := tree(t, call.Dir)
	first, err := s.tool.Preview(t.Context(), call)
	require.NoError(t, err)
	second, err := s.tool.Preview(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, first, second, "a preview is the same as long as nothing changes")
	require.Equal(t, before, tree(t, call.Dir), "a preview changes nothing")
	require.Contains(t, []tools.PreviewKind{tools.Diff, tools.Command, tools.Text}, first.Kind)
	require.NotEmpty(t, first.Text)
	require.NotEmpty(t, first.Digest)
}

func (s *suite) changed(t *testing.T, c Case) {
	call := s.call(t, c)
	before := tree(t, call.Dir)
	call.Digest = tools.Digest("what was approved is something else")
	_, err := s.do(t, t.Context(), call)
	require.ErrorIs(t, err, tools.ErrChanged)
	require.Equal(t, before, tree(t, call.Dir), "it acted though it was not what was approved")
}

func (s *suite) run(t *testing.T, c Case) {
	call := s.call(t, c)
	before := tree(t, call.Dir)
	if s.tool.Preview != nil {
		p, err := s.tool.Preview(t.Context(), call)
		require.NoError(t, err)
		call.Digest = p.Digest
	}
	result, err := s.do(t, t.Context(), call)
	require.NoError(t, err)
	require.True(t, utf8.ValidString(result.Text))
	require.NotContains(t, result.Note, "\n")
	if s.tool.Effect != tools.Action {
		require.Equal(t, before, tree(t, call.Dir), "a tool with effect %s changes nothing", s.tool.Effect)
	}
	for name := range result.Seen {
		require.True(t, fs.ValidPath(name), "Seen has %q, which is no path relative to the workspace", name)
	}
}

var errCancelled = errors.New("cancelled by toolstest")

// cancelled checks that a call whose context has ended ends, too, and did nothing if it says so.
func (s *suite) cancelled(t *testing.T, c Case) {
	call := s.call(t, c)
	before := tree(t, call.Dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	_, err := s.do(t, ctx, call)
	if err != nil {
		require.True(t, errors.Is(err, errCancelled) || errors.Is(err, context.Canceled), "%v", err)
		require.Equal(t, before, tree(t, call.Dir))
	}
}

func (s *suite) waits(t *testing.T, c Case) {
	call := s.call(t, c)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() {
		for begin := time.Now(); !c.Waits(call) && time.Since(begin) < patience; {
			time.Sleep(time.Millisecond)
		}
		cancel(errCancelled)
	}()
	_, err := s.do(t, ctx, call)
	require.True(t, c.Waits(call), "the call was not under way: %v", err)
	require.True(t, errors.Is(err, errCancelled) || errors.Is(err, context.Canceled), "%v", err)
}

// do is Tool.Run, which must end.
func (s *suite) do(t *testing.T, ctx context.Context, c tools.Call) (tools.Result, error) {
	t.Helper()
	var result tools.Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, err = s.tool.Run(ctx, c)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		require.FailNow(t, "the call does not end")
	}
	return result, err
}

// tree returns what is below dir: names, modes and contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := fs.ReadFile(root, name)
			all[name] += string(data)
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return all
}

func object(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(raw, &v))
	return v
}
