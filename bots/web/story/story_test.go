package story

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// A diary makes the entries of a log.
type diary struct {
	pos store.Pos
}

func (d *diary) entry(t require.TestingT, events ...any) store.Entry {
	d.pos++
	e := store.Entry{Pos: d.pos, Frame: store.Frame{Key: fmt.Sprint("m", d.pos), Time: time.Date(2026, 12, 1, 10, 0, int(d.pos), 0, time.UTC)}}
	for _, v := range events {
		ev, err := agent.Encode(v)
		require.NoError(t, err)
		e.Events = append(e.Events, ev)
	}
	return e
}

var ann = agent.User{ID: "web:ann", Name: "ann"}

func TestFold(t *testing.T) {
	var d diary
	var s Story
	apply := func(events ...any) { require.NoError(t, s.Apply(d.entry(t, events...))) }
	kinds := func() (all []string) {
		for _, i := range s.Items() {
			all = append(all, i.ID+" "+string(i.Kind))
		}
		return all
	}
	apply(agent.Opened{Format: agent.Format}, agent.UserSaid{By: ann, Text: "do it\nnow"})
	require.Equal(t, Summary{Title: "do it now"}, s.Summary())
	apply(agent.TurnStarted{Turn: 1, Saw: 1, Model: "m"})
	apply(agent.ModelSaid{Turn: 1, Step: 1, Saw: 1, Text: "I will.", Calls: []agent.Call{{ID: "1.1.1", Tool: "shell", Args: []byte(`{"command":"make"}`)}}})
	apply(agent.ApprovalAsked{Call: "1.1.1", Title: "run make", Kind: tools.Command, Preview: "make", Digest: "d", Approvers: []string{"web:bob"}})
	require.Equal(t, []string{"m1 said", "a3-0 answer", "c1-1-1 call"}, kinds())
	require.Equal(t, 1, s.Summary().Waiting)
	require.Equal(t, 1, s.Summary().Turn)
	apply(agent.Decided{Call: "1.1.1", Digest: "d", Yes: true, By: ann})
	require.Zero(t, s.Summary().Waiting)
	apply(agent.ToolStarted{Call: "1.1.1"})
	apply(agent.ToolFinished{Call: "1.1.1", Status: agent.OK, Text: "made"})
	require.Equal(t, store.Pos(7), s.Items()[2].Rev)
	apply(agent.Amended{Of: "m1", By: ann, Text: "do it later"}, agent.StopAsked{By: ann})
	apply(agent.TurnEnded{Turn: 1, Reason: agent.Cancelled, By: ann})
	require.Equal(t, "do it later", s.Items()[0].Text)
	require.True(t, s.Items()[0].Marks.Edited)
	require.Equal(t, []string{"m1 said", "a3-0 answer", "c1-1-1 call", "n8-1 note", "n9-0 note"}, kinds())
	require.Equal(t, "Stopped by ann.", s.Items()[4].Text)
	require.Zero(t, s.Summary().Turn)
	require.Error(t, s.Apply(store.Entry{Pos: 3}), "a frame comes twice")
	require.Error(t, s.Apply(store.Entry{Pos: 99, Frame: store.Frame{Events: []store.Event{{Kind: "agent.FromTheFuture"}}}}))
}

// A turn that ends closes the cards that nobody has answered.
func TestOpenCardsClose(t *testing.T) {
	var d diary
	var s Story
	for _, v := range []any{
		agent.UserSaid{By: ann, Text: "x"}, agent.TurnStarted{Turn: 1},
		agent.ModelSaid{Turn: 1, Calls: []agent.Call{{ID: "1.1.1", Tool: "ask"}, {ID: "1.1.2", Tool: "shell"}}},
		agent.QuestionAsked{Call: "1.1.1", Question: "Which?", Free: true},
		agent.ApprovalAsked{Call: "1.1.2", Digest: "d"},
	} {
		require.NoError(t, s.Apply(d.entry(t, v)))
	}
	require.Equal(t, 2, s.Summary().Waiting)
	require.NoError(t, s.Apply(d.entry(t, agent.TurnEnded{Turn: 1, Reason: agent.Cancelled, By: ann})))
	require.Zero(t, s.Summary().Waiting)
	require.Equal(t, d.pos, s.Items()[1].Rev)
	require.Equal(t, [2]string{"off", "did not run"}, state(s.Items()[2].Call))
}

// anyEvent draws an event of a turn or around it.
func anyEvent(t *rapid.T) any {
	text := rapid.SampledFrom([]string{"", "a <b>", "**x**", "| a |\n|---|\n| b |", "```\ncode", "\u202e"}).Draw(t, "text")
	call := rapid.SampledFrom([]string{"1.1.1", "1.1.2", "2.1.1"}).Draw(t, "call")
	switch rapid.IntRange(0, 16).Draw(t, "kind") {
	case 0, 1:
		return agent.UserSaid{By: ann, Text: text}
	case 2:
		return agent.TurnStarted{Turn: rapid.IntRange(1, 3).Draw(t, "turn")}
	case 3, 4:
		return agent.ModelSaid{Text: text, Calls: []agent.Call{{ID: call, Tool: "shell", Args: []byte(`{"a":1}`)}}}
	case 5:
		return agent.ApprovalAsked{Call: call, Title: text, Kind: tools.Diff, Preview: "-a\n+" + text, Digest: "d"}
	case 6:
		return agent.Decided{Call: call, Yes: true, By: ann, Reason: text}
	case 7:
		return agent.ApprovalExpired{Call: call}
	case 8:
		return agent.QuestionAsked{Call: call, Question: text, Options: []agent.Option{{Label: text}}, Free: true}
	case 9:
		return agent.Answered{Call: call, By: ann, Text: text}
	case 10:
		return agent.ToolStarted{Call: call, Title: text}
	case 11:
		return agent.ToolFinished{Call: call, Status: agent.OK, Text: text, Sent: &agent.Sent{Name: text, Artefact: "a"}}
	case 12:
		return agent.TurnEnded{Turn: 1, Reason: agent.MaxSteps, Detail: text}
	case 13:
		return agent.Amended{Of: "m1", By: ann, Text: text}
	case 14:
		return agent.Withdrawn{Of: "m1"}
	case 15:
		return agent.Attached{Said: 1, Files: []agent.Attachment{{Name: text, Size: 5}}}
	}
	return agent.Compacted{Turn: 1, Summary: text}
}

// again reports whether v is a model's reply with a call whose id was there before.
func again(called map[string]bool, v any) bool {
	m, ok := v.(agent.ModelSaid)
	if !ok {
		return false
	}
	was := called[m.Calls[0].ID]
	called[m.Calls[0].ID] = true
	return was
}

// Whatever is in a log, an item of which the HTML changes has the position of the entry that changed it: that
// is what viewers go by. What is not ours stays text.
func TestRevTellsOfEveryChange(t *testing.T) {
	r := NewRenderer("1")
	html := func(t *rapid.T, i *Item) string {
		var b bytes.Buffer
		require.NoError(t, r.Item(&b, i, Viewer{Person: bots.Person{ID: "web:ann"}, Thread: "x"}))
		return b.String()
	}
	rapid.Check(t, func(t *rapid.T) {
		var d diary
		var s Story
		shown := map[string]string{}
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			require.NoError(t, s.Apply(d.entry(t, anyEvent(t))))
			ids := map[string]bool{}
			for _, i := range s.Items() {
				require.False(t, ids[i.ID] && i.Kind != Call, "the id %s is there twice", i.ID)
				ids[i.ID] = true
				now := html(t, i)
				if shown[i.ID] != now && !(i.Kind == Call && ids[i.ID]) {
					require.Equal(t, d.pos, i.Rev, "%s", now)
				}
				shown[i.ID] = now
				require.NotContains(t, now, "<b>\n")
				require.NotContains(t, now, "a <b>")
			}
		}
	})
}

var variable = regexp.MustCompile(`--([\w-]+):\s*(#[0-9a-f]{6})`)

// Every pair of colours that text is shown in has the contrast of WCAG AA, in light and in dark.
func TestContrast(t *testing.T) {
	css, err := fs.ReadFile(Assets(), "app.css")
	require.NoError(t, err)
	light, dark, ok := strings.Cut(string(css), "prefers-color-scheme: dark")
	require.True(t, ok)
	for name, text := range map[string]string{"light": light, "dark": dark[:strings.Index(dark, "* {")]} {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch(text, -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range [][2]string{
			{"ink", "ground"}, {"ink", "sheet"}, {"ink", "wash"}, {"ink", "code"}, {"soft", "ground"}, {"soft", "sheet"}, {"soft", "wash"}, {"soft", "code"},
			{"accent", "ground"}, {"accent", "sheet"}, {"accent", "wash"}, {"on-accent", "accent"}, {"danger", "sheet"}, {"danger", "ground"}, {"on-danger", "danger"},
			{"add-ink", "add"}, {"del-ink", "del"}, {"wait-ink", "wait"}, {"wait-ink", "sheet"},
		} {
			require.NotEmpty(t, colours[pair[0]], pair)
			require.NotEmpty(t, colours[pair[1]], pair)
			require.GreaterOrEqual(t, contrast(t, colours[pair[0]], colours[pair[1]]), 4.5, "%s: %v", name, pair)
		}
	}
}

// contrast is that of WCAG 2.
func contrast(t *testing.T, a, b string) float64 {
	light := func(hex string) float64 {
		n, err := strconv.ParseUint(hex[1:], 16, 32)
		require.NoError(t, err)
		part := func(v uint64) float64 {
			c := float64(v&0xff) / 255
			if c <= 0.04045 {
				return c / 12.92
			}
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0.2126*part(n>>16) + 0.7152*part(n>>8) + 0.0722*part(n)
	}
	x, y := light(a), light(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// long is a log of so many events.
func long(t require.TestingT, n int) []store.Entry {
	var d diary
	all := []store.Entry{d.entry(t, agent.UserSaid{By: ann, Text: "begin"})}
	for i := 0; len(all) < n; i++ {
		id := fmt.Sprintf("1.%d.1", i)
		all = append(all,
			d.entry(t, agent.ModelSaid{Turn: 1, Step: i, Text: "I look at **it**.", Calls: []agent.Call{{ID: id, Tool: "read", Args: []byte(`{"path":"a.go"}`)}}}),
			d.entry(t, agent.ToolStarted{Call: id}),
			d.entry(t, agent.ToolFinished{Call: id, Status: agent.OK, Text: "package a\n"}))
	}
	return all
}

// The fold of a session of 10,000 events, and the HTML of what a page shows of it at first.
func BenchmarkOpen(b *testing.B) {
	log := long(b, 10_000)
	r := NewRenderer("1")
	for b.Loop() {
		var s Story
		for _, e := range log {
			if err := s.Apply(e); err != nil {
				b.Fatal(err)
			}
		}
		var out bytes.Buffer
		for _, i := range s.Items()[len(s.Items())-200:] {
			if err := r.Item(&out, i, Viewer{Thread: "x"}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
