package story

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/internal/markdown"
)

//go:embed pages/*.html
var pages embed.FS

//go:embed look/*
var look embed.FS

// Assets returns the files that pages refer to: app.css, app.js and the icon.
func Assets() fs.FS {
	sub, err := fs.Sub(look, "look")
	if err != nil {
		panic(err) // the name is right
	}
	return sub
}

// A Viewer is who looks.
type Viewer struct {
	Person bots.Person
	Thread string              // its ID, into which buttons lead; "": nothing can be pressed
	Redact func(string) string // masks what is secret in texts; nil masks nothing

	Operator bool // may see the console
}

// may reports whether the viewer is among the approvers; none are everybody.
func (v Viewer) may(approvers []string) bool {
	return len(approvers) == 0 || slices.Contains(approvers, v.Person.ID) ||
		slices.ContainsFunc(v.Person.Roles, func(r string) bool { return slices.Contains(approvers, r) })
}

// A ThreadRow is one thread in the list.
type ThreadRow struct {
	ID, Title string
	Updated   time.Time
	Running   bool
	Waiting   int
	Current   bool
}

// A Thread is what a thread's page shows.
type Thread struct {
	ID      string
	Title   string
	Items   []*Item
	Earlier int    // items before those
	All     bool   // all are shown because somebody asked for them
	Pos     string // of the log, up to which the items are
	Running int    // the turn that runs; 0 is none
	Live    template.HTML
}

// A Page is what is around it.
type Page struct {
	Title   string
	Banner  string
	Viewer  Viewer
	Threads []ThreadRow
	Thread  *Thread // nil: none is open
	Notice  string
}

// A Renderer writes HTML. It may be used concurrently.
type Renderer struct {
	t  *template.Template
	md goldmark.Markdown
}

// NewRenderer returns a Renderer. The version of each asset is put behind its address, so that browsers
// may keep it.
func NewRenderer(version string) *Renderer {
	r := &Renderer{md: goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(shownHTML{}, 1), util.Prioritized(safeLinks{}, 1), util.Prioritized(lowered{}, 1))))}
	r.t = template.Must(template.New("").Funcs(template.FuncMap{
		"asset":    func(name string) string { return "/assets/" + name + "?v=" + version },
		"markdown": r.markdown,
		"diff":     diffOf,
		"stamp":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"clock":    func(t time.Time) string { return t.UTC().Format("2 Jan 15:04") },
		"took":     took,
		"size":     size,
		"state":    state,
		"inputs":   func(i *Item, v Viewer) map[string]any { return map[string]any{"Item": i, "Viewer": v} },
		"masked":   func(i *Item, v Viewer) *Item { return masked(i, v.Redact) },
		"may":      func(v Viewer, approvers []string) bool { return v.may(approvers) },
		"join":     strings.Join,
		"add":      func(a, b int) int { return a + b },
	}).ParseFS(pages, "pages/*.html"))
	return r
}

// Page writes a whole page: the list of threads and, if one is open, the thread.
func (r *Renderer) Page(w io.Writer, p Page) error { return r.t.ExecuteTemplate(w, "page", p) }

// A Login is what the page for logging in shows.
type Login struct {
	Token, Name string
	Asks        bool // for a name
	Problem     string
	Providers   []string
}

// Login writes the page for logging in.
func (r *Renderer) Login(w io.Writer, l Login) error { return r.t.ExecuteTemplate(w, "login", l) }

// A Problem is what the page for what went wrong shows.
type Problem struct {
	Title, Text string
}

// Problem writes the page for what went wrong.
func (r *Renderer) Problem(w io.Writer, p Problem) error {
	return r.t.ExecuteTemplate(w, "problem", p)
}

// List writes the list of threads.
func (r *Renderer) List(w io.Writer, rows []ThreadRow) error {
	return r.t.ExecuteTemplate(w, "list", rows)
}

// Item writes one item as this viewer sees it.
func (r *Renderer) Item(w io.Writer, i *Item, v Viewer) error {
	return r.t.ExecuteTemplate(w, "item", map[string]any{"Item": masked(i, v.Redact), "Viewer": v})
}

// Live returns what a session is doing and is in no log yet.
func (r *Renderer) Live(l agent.Live) (template.HTML, error) {
	var b bytes.Buffer
	err := r.t.ExecuteTemplate(&b, "live", l)
	return template.HTML(b.String()), err // of our template
}

// markdown returns a model's Markdown as HTML. What of it is HTML is shown as text, see shownHTML, and links
// are those of safeLinks.
func (r *Renderer) markdown(text string) (template.HTML, error) {
	var b bytes.Buffer
	doc, src := markdown.Parse(text)
	if err := r.md.Renderer().Render(&b, src, doc); err != nil {
		return "", err
	}
	return template.HTML(b.String()), nil // goldmark escapes
}

// Note returns what somebody is told apart from the log, as HTML.
func (r *Renderer) Note(text string) (template.HTML, error) { return r.markdown(text) }

// state says how far a call is, as a class and in a word.
func state(c *CallState) [2]string {
	switch f := c.Finished; {
	case f != nil && f.Status == agent.OK:
		return [2]string{"ok", "done"}
	case f != nil:
		return [2]string{"bad", strings.ReplaceAll(string(f.Status), "_", " ")}
	case c.Open():
		return [2]string{"wait", "waits for approval"}
	case c.Asking():
		return [2]string{"wait", "waits for an answer"}
	case c.Over:
		return [2]string{"off", "did not run"}
	case !c.Started.IsZero():
		return [2]string{"run", "running"}
	}
	return [2]string{"off", "about to run"}
}

func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
