package bots

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
)

// Limits of the progress message. It has to stay one glance.
const (
	callsRunning = 8   // finished calls that are listed while the turn runs
	callsEnded   = 12  // and in the end
	textTail     = 400 // runes of the text that is being written
	lineTail     = 120 // runes of the last line of a running call's output
)

// progress returns the message that shows a turn at work.
func (l look) progress(t *turn, live agent.Live) Message {
	lines := []string{doing(t, live, l.now)}
	lines = append(lines, l.finished(t, callsRunning)...)
	for _, c := range t.calls {
		if c.started == nil || c.result != nil {
			continue
		}
		lines = append(lines, "- ▸ "+l.code(title(c))+elapsed(l.now.Sub(c.since)))
		if out := l.output(live, c.ID); out != "" {
			lines = append(lines, "  "+l.code(out))
		}
	}
	text := l.md(strings.Join(lines, "\n"))
	if said := tail(settled(l.mask(live.Text)), textTail); said != "" {
		text += "\n" + l.md("> "+strings.ReplaceAll(said, "\n", "\n> "))
	}
	m := Message{Class: Progress, Text: text, Work: work(l, t, live)}
	if t.stopping == 0 {
		m.Buttons = []Button{{Label: "Stop", Action: Stop, Value: strconv.Itoa(t.n)}}
	}
	return m
}

// doing says what the turn is at.
func doing(t *turn, live agent.Live, now time.Time) string {
	switch {
	case t.stopping > 0:
		return "Stopping…"
	case live.Queued:
		return "Waiting in line: I am busy in other threads."
	case t.asking() != nil && t.asking().question != nil:
		return "Waiting for an answer."
	case t.asking() != nil:
		return "Waiting for approval."
	}
	return "Working…" + elapsed(t.worked(now))
}

// output returns the last whole line of what a running call has brought so far.
func (l look) output(live agent.Live, id string) string {
	for _, c := range live.Calls {
		if c.ID != id {
			continue
		}
		out := l.mask(c.Tail)
		out = strings.TrimSpace(out[:strings.LastIndex(out, "\n")+1])
		return clip(out[strings.LastIndex(out, "\n")+1:], lineTail)
	}
	return ""
}

// summary returns what becomes of the progress message in the end.
func (l look) summary(t *turn) Message {
	head := summed(t, l.now)
	text := l.md(strings.Join(append([]string{head}, l.finished(t, callsEnded)...), "\n"))
	w := work(l, t, agent.Live{})
	w.Ended = true
	w.Tasks[0] = Task{ID: turnTask, Title: head, State: TaskDone}
	if t.ended.Reason != agent.Completed && t.ended.Reason != agent.Cancelled {
		w.Tasks[0].State = TaskFailed
	}
	return Message{Class: Progress, Text: text, Work: w}
}

// summed says in one line how a turn went.
func summed(t *turn, now time.Time) string {
	head := "Ended after "
	switch t.ended.Reason {
	case agent.Completed:
		head = "Done in "
	case agent.Cancelled:
		head = "Stopped after "
	case agent.TakenBack:
		head = "Withdrawn after "
	}
	head += took(t.worked(now))
	if all := append(deeds(t.calls), failures(t.calls)...); len(all) > 0 {
		head += ": " + strings.Join(all, ", ")
	}
	return head + "."
}

// finished lists the calls that have ended, the last n of them, as Markdown.
func (l look) finished(t *turn, n int) []string {
	var lines []string
	for _, c := range t.calls {
		if c.result == nil {
			continue
		}
		sign, words := status(c.result.Status)
		if k := c.card(); k != nil && k.question != nil && c.result.Status == agent.NotStarted {
			words = "was answered by nobody"
		}
		s := "- " + sign + " " + l.code(title(c))
		if words != "" {
			s += " " + words
		}
		if c.result.Note != "" {
			s += " (" + l.code(c.result.Note) + ")"
		}
		lines = append(lines, s)
	}
	if more := len(lines) - n; more > 0 {
		lines = slices.Insert(lines[more:], 0, fmt.Sprintf("- … %d before these", more))
	}
	return lines
}

func title(c *call) string {
	switch {
	case c.result != nil && c.result.Title != "":
		return clip(c.result.Title, 80)
	case c.started != nil && c.started.Title != "":
		return clip(c.started.Title, 80)
	case c.card() != nil && c.card().asked != nil && c.card().asked.Title != "":
		return clip(c.card().asked.Title, 80)
	}
	return clip(c.Tool, 80)
}

// deeds counts what calls that succeeded have done: "read 3 files", "ran 1 command".
func deeds(calls []*call) []string {
	var order []string
	seen := map[string]map[string]bool{} // deed, then what it was done to
	for i, c := range calls {
		if c.result == nil || c.result.Status != agent.OK {
			continue
		}
		verb, noun := deed(c.Tool)
		what := title(c)
		if noun != "file" {
			what = strconv.Itoa(i) // only a file that is read twice is one file
		}
		k := verb + "\n" + noun
		if seen[k] == nil {
			seen[k] = map[string]bool{}
			order = append(order, k)
		}
		seen[k][what] = true
	}
	var all []string
	for _, k := range order {
		verb, noun, _ := strings.Cut(k, "\n")
		all = append(all, verb+" "+count(len(seen[k]), noun))
	}
	return all
}

// deed returns what a tool does, in the words of a summary. Tools that it does not know are named.
func deed(tool string) (verb, noun string) {
	switch tool {
	case "read":
		return "read", "file"
	case "write":
		return "wrote", "file"
	case "edit":
		return "edited", "file"
	case "glob", "grep", "ls", "list", "find":
		return "searched", "time"
	case "shell":
		return "ran", "command"
	case "send_file":
		return "sent", "file"
	case "ask":
		return "asked", "question"
	}
	return "used " + tool, "time"
}

// failures counts the calls that did not succeed, by how they ended.
func failures(calls []*call) []string {
	kinds := []struct {
		words string
		of    []agent.Status
	}{
		{"failed", []agent.Status{agent.Failed, agent.Invalid, agent.TimedOut}},
		{"not allowed", []agent.Status{agent.Refused}},
		{"denied", []agent.Status{agent.Denied}},
		{"answered by nobody", []agent.Status{agent.Expired}},
		{"stopped", []agent.Status{agent.Stopped}},
		{"not run", []agent.Status{agent.NotStarted}},
		{"interrupted (may or may not have run)", []agent.Status{agent.Interrupted}},
	}
	var all []string
	for _, k := range kinds {
		n := 0
		for _, c := range calls {
			if c.result != nil && slices.Contains(k.of, c.result.Status) {
				n++
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("%d %s", n, k.words))
		}
	}
	return all
}
