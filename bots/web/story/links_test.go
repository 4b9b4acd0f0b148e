package story

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/tools"
)

func TestMarkdown(t *testing.T) {
	r := NewRenderer("1")
	for _, test := range []struct{ name, md, want string }{
		{"web", "[a](https://h/x?a=1&b=\"2\")", `<p><a href="https://h/x?a=1&amp;b=%222%22" rel="noopener noreferrer" target="_blank">a</a></p>`},
		{"mail", "[a](mailto:a@h)", `<p><a href="mailto:a@h" rel="noopener noreferrer" target="_blank">a</a></p>`},
		{"script", "[a](javascript:alert(1))", "<p>a</p>"},
		{"script in disguise", "[a](&#106;ava\nscript:alert(1)) [b](JAVASCRIPT:x) [c](\tjavascript:x)", "<p>[a](java\nscript:alert(1)) b c</p>"},
		{"data", "[a](data:text/html,x) [b](data:image/png;base64,x)", "<p>a b</p>"},
		{"programs", "[a](vscode://file/x) [b](file:///etc/passwd) [c](ms-msdt:x)", "<p>a b c</p>"},
		{"within this page", "[a](/t/x/export) [b](//h/x) [c](#x) [d]()", "<p>a b c d</p>"},
		{"bold link", "[**a**](vbscript:x)", "<p><strong>a</strong></p>"},
		{"image", "![a *b*](https://h/p.png) ![](http://h/q.png)", `<p><a href="https://h/p.png" rel="noopener noreferrer" target="_blank">a <em>b</em></a> <a href="http://h/q.png" rel="noopener noreferrer" target="_blank">image</a></p>`},
		{"image that runs", "![a](javascript:x)", "<p>a</p>"},
		{"bare", "https://h.example/x and a@h.example", `<p><a href="https://h.example/x" rel="noopener noreferrer" target="_blank">https://h.example/x</a> and <a href="mailto:a@h.example" rel="noopener noreferrer" target="_blank">a@h.example</a></p>`},
		{"headings", "# a\n###### b", "<h2>a</h2>\n<h6>b</h6>"},
		{"in angles", "<irc://h/x> <https://h/x>", `<p>irc://h/x <a href="https://h/x" rel="noopener noreferrer" target="_blank">https://h/x</a></p>`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := r.markdown(test.md)
			require.NoError(t, err)
			require.Equal(t, test.want, strings.TrimSpace(string(got)))
		})
	}
}

// hostile are words that would be a program if they came into a page as they are.
func hostile() []string {
	return []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</textarea></pre></p><svg onload=alert(1)>`,
		`[x](javascript:alert(1))`, `![x](javascript:alert(1))`, "```\"><script>alert(1)</script>\nx\n```", `<a href="javascript:alert(1)">x</a>`,
		`{{.}}`, `&lt;script&gt;alert(1)&lt;/script&gt;`, "a\x00<b onclick=1>", `<!--><script>alert(1)</script>-->`, `<style>@import "//h"</style>`,
	}
}

// everywhere is a log with these words wherever somebody else's can be.
func everywhere(t *testing.T, w string) *Story {
	var d diary
	var s Story
	by := agent.User{ID: w, Name: w}
	for _, v := range []any{
		agent.UserSaid{By: by, Text: w}, agent.UserSaid{By: ann, Text: w},
		agent.Attached{Said: 1, Files: []agent.Attachment{{Name: w, Path: w, Detail: w}, {Name: w, Path: w, Size: 1}}},
		agent.TurnStarted{Turn: 1},
		agent.ModelSaid{Turn: 1, Text: w, Model: w, Calls: []agent.Call{{ID: "1.1.1", Tool: w, Args: []byte(w)}, {ID: "1.1.2", Tool: w}, {ID: "1.1.3", Tool: w}}},
		agent.ApprovalAsked{Call: "1.1.1", Title: w, Kind: tools.Diff, Preview: "-" + w, Dir: w, Digest: "d", Approvers: []string{ann.ID}, Expires: time.Unix(0, 0)},
		agent.ApprovalAsked{Call: "1.1.2", Title: w, Kind: tools.Command, Preview: w, Dir: w, Digest: "d"},
		agent.QuestionAsked{Call: "1.1.3", Question: w, Options: []agent.Option{{Label: w, Description: w}}, Free: true},
		agent.StopAsked{By: by},
	} {
		if m, ok := v.(agent.ModelSaid); ok {
			m.Calls[0].Args = []byte(`"x"`) // arguments are JSON
			v = m
		}
		require.NoError(t, s.Apply(d.entry(t, v)))
	}
	return &s
}

// Whatever people, models and tools say, a page has no element and no attribute that is not ours.
func TestWordsStayWords(t *testing.T) {
	r := NewRenderer("1")
	want := shape(t, page(t, r, everywhere(t, "plain"), Viewer{Person: annPerson(), Thread: "x"}))
	for _, w := range hostile() {
		t.Run(w, func(t *testing.T) {
			for tag := range shape(t, page(t, r, everywhere(t, w), Viewer{Person: annPerson(), Thread: "x"})) {
				if markdownTags(tag) {
					continue
				}
				require.Contains(t, want, tag)
			}
		})
	}
}

// markdownTags reports whether Markdown may bring an element.
func markdownTags(tag string) bool {
	return tag == "pre" || tag == "code" || tag == "code class" || tag == "br"
}

var (
	tag       = regexp.MustCompile(`<([a-zA-Z][^\s>/]*)((?:[^>"']|"[^"]*"|'[^']*')*)>`)
	attribute = regexp.MustCompile(`([^\s="'/]+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"']+))?`)
)

// shape returns the elements of a page, each with the names of its attributes.
func shape(t *testing.T, page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		name := m[1]
		for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
			name += " " + a[1]
			if a[1] == "href" || a[1] == "src" || a[1] == "action" {
				require.Regexp(t, `^"(/|https?://|mailto:|#)`, html.UnescapeString(a[2]), name)
			}
		}
		all[name] = true
	}
	require.NotEmpty(t, all)
	return all
}

// Secrets are masked whatever becomes of their characters in HTML.
func TestSecretsAreMasked(t *testing.T) {
	const secret = `p"4<ss>&'word`
	s := everywhere(t, "before "+secret+" after")
	v := Viewer{Person: annPerson(), Thread: "x", Redact: func(s string) string { return strings.ReplaceAll(s, secret, "[masked]") }}
	got := html.UnescapeString(page(t, NewRenderer("1"), s, v))
	require.Contains(t, got, "[masked]")
	for _, i := range s.Items() {
		require.NotContains(t, i.Text, "[masked]", "the story itself is as it was")
	}
	var b bytes.Buffer
	for _, i := range s.Items() {
		require.NoError(t, NewRenderer("1").Item(&b, i, v))
	}
	require.NotContains(t, html.UnescapeString(b.String()), secret)
	require.NotContains(t, got, secret)
}

func annPerson() bots.Person { return bots.Person{ID: ann.ID, Name: "ann"} }

// page returns a thread's page.
func page(t *testing.T, r *Renderer, s *Story, v Viewer) string {
	var b bytes.Buffer
	require.NoError(t, r.Page(&b, Page{Title: "t", Viewer: v, Thread: &Thread{ID: v.Thread, Items: s.Items()}}))
	return b.String()
}

// Who writes why not and presses Enter must not have approved: Enter presses the first button of its form.
func TestEnterNeverApproves(t *testing.T) {
	html := page(t, NewRenderer("1"), everywhere(t, "plain"), Viewer{Person: annPerson(), Thread: "x"})
	forms := regexp.MustCompile(`(?s)<form.*?</form>`).FindAllString(html, -1)
	approve := 0
	for _, form := range forms {
		if strings.Contains(form, `value="approve"`) {
			approve++
			require.NotRegexp(t, `<textarea|<input (?:[^>]* )?name="reason"`, form)
			require.Equal(t, 1, strings.Count(form, "<button"))
		}
	}
	require.Equal(t, 2, approve)
}
