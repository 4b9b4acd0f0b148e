package slack

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/heddle-bot/heddle/bots"
)

// What a stream shows is changed by chunks. A chunk names a task by its id; its title and status take
// the place of those before, but its details are put behind those before, and nothing can be taken
// back. So a stream is given only what has changed, and of the details only what has come to them.

// Limits of the tasks in one stream, in characters. Slack takes 50 tasks in a plan and tells no other
// limits; these keep all that one call may have to tell within what the blocks of a message may hold.
const (
	maxTasks      = 30
	maxTaskTitle  = 150
	maxTaskDetail = 250  // in one chunk: of more only the end is shown
	maxTaskTold   = 2000 // of one task while it runs
	minOverlap    = 12   // characters that two details must share to be two views of one text
)

// A drawing is what a stream shows, in the order in which the tasks came. It is never changed.
type drawing []drawn

// A drawn is a task as it is shown.
type drawn struct {
	id, title string
	state     bots.TaskState
	detail    string // as it was when it was last told
	told      int    // characters of all details so far
}

// draw returns the chunks that make of d what w tells, and what is shown then. A task beyond maxTasks
// is not shown: the first one tells how it stands with all of them.
func (d drawing) draw(w *bots.Work) (chunks []slack.StreamChunk, next drawing) {
	next = slices.Clone(d)
	for _, t := range w.Tasks {
		i := slices.IndexFunc(next, func(o drawn) bool { return o.id == t.ID })
		if i < 0 {
			if len(next) == maxTasks {
				continue
			}
			i = len(next)
			next = append(next, drawn{id: t.ID, state: -1})
		}
		if c, changed := next[i].tell(t); changed {
			chunks = append(chunks, c)
		}
	}
	for i := range next {
		o := &next[i]
		gone := !slices.ContainsFunc(w.Tasks, func(t bots.Task) bool { return t.ID == o.id })
		if gone && o.state < bots.TaskDone {
			o.state = bots.TaskDone
			chunks = append(chunks, slack.TaskUpdateChunk{Type: slack.StreamChunkTaskUpdate, ID: o.id, Title: o.title, Status: taskStatus(o.state)})
		}
	}
	return chunks, next
}

// tell makes t of o and returns the chunk that says so.
func (o *drawn) tell(t bots.Task) (c slack.TaskUpdateChunk, changed bool) {
	title := plainTask(t.Title, maxTaskTitle)
	more := growth(o.detail, t.Detail)
	if o.detail == "" {
		more = strings.TrimPrefix(more, "\n")
	}
	if n := utf8.RuneCountInString(more); n > maxTaskDetail {
		r := []rune(more)
		more = "\n…" + string(r[n-maxTaskDetail+2:])
	}
	if t.State < bots.TaskDone && o.told+utf8.RuneCountInString(more) > maxTaskTold {
		more = ""
	}
	if title == o.title && t.State == o.state && more == "" {
		return c, false
	}
	*o = drawn{t.ID, title, t.State, t.Detail, o.told + utf8.RuneCountInString(more)}
	return slack.TaskUpdateChunk{
		Type: slack.StreamChunkTaskUpdate, ID: t.ID, Title: title, Status: taskStatus(t.State), Details: tame(more),
	}, true
}

// doubted returns d as it is after a call that may or may not have been made: titles and states are to
// be told again, which does no harm. Details count as told, or they would show twice.
func (d drawing) doubted() drawing {
	d = slices.Clone(d)
	for i := range d {
		d[i].title = ""
	}
	return d
}

// growth returns what has come to a text, of which was and is show the end: what is to stand behind was.
func growth(was, is string) string {
	is = strings.TrimPrefix(is, "… ")
	was = strings.TrimPrefix(was, "… ")
	if is == "" || is == was {
		return ""
	}
	for i := range was {
		if len(was)-i < minOverlap && i > 0 {
			break
		}
		if more, ok := strings.CutPrefix(is, was[i:]); ok && was != "" {
			return more
		}
	}
	return "\n" + is
}

func taskStatus(s bots.TaskState) slack.TaskCardStatus {
	switch s {
	case bots.TaskRunning:
		return slack.TaskCardStatusInProgress
	case bots.TaskDone:
		return slack.TaskCardStatusComplete
	case bots.TaskFailed:
		return slack.TaskCardStatusError
	}
	return slack.TaskCardStatusPending
}

// plainTask returns a title that Slack takes.
func plainTask(s string, most int) string { return plainText(tame(s), most).Text }

// tame keeps s from calling anybody, also together with what comes before and behind it. What is in a
// task is neither mrkdwn nor plain text, and Slack does not tell how to escape in it; so what might
// begin a reference is broken off by a space that nobody sees.
func tame(s string) string { return tamer.Replace(s) }

var tamer = strings.NewReplacer("<", "<"+hair, "@", "@"+hair)
