package bots

import (
	"fmt"
	"strings"

	"github.com/heddle-bot/heddle/agent"
)

// turnTask is the ID of the task that stands for the turn.
const turnTask = "turn"

// work returns what the progress message tells of a turn, as tasks: the turn, its calls, and the text
// that is being written.
func work(l look, t *turn, live agent.Live) *Work {
	head := Task{ID: turnTask, Title: doing(t, live, l.now), State: TaskRunning}
	if t.stopping == 0 {
		head.Detail = sayStop // a stream has no button
	}
	if live.Queued {
		head.State = TaskPending
	}
	w := &Work{Tasks: []Task{head}}
	if t.asked != nil {
		w.Asker = t.asked.by.ID
	}
	for _, c := range t.calls {
		if task, ok := taskOf(l, c, live); ok {
			w.Tasks = append(w.Tasks, task)
		}
	}
	if said := tail(settled(l.mask(live.Text)), textTail); said != "" {
		id := fmt.Sprintf("text/%d", len(t.calls)) // what is written after more calls is another text
		w.Tasks = append(w.Tasks, Task{ID: id, Title: "Writing", State: TaskRunning, Detail: said})
	}
	return w
}

// taskOf returns a call as a task. One that has not come up yet, or may run at any moment, is none.
func taskOf(l look, c *call, live agent.Live) (t Task, ok bool) {
	t = Task{ID: c.ID, Title: oneLine(l.mask(title(c)))}
	switch {
	case c.result != nil:
		t.State = TaskFailed
		if c.result.Status == agent.OK {
			t.State = TaskDone
		}
		_, words := status(c.result.Status)
		t.Detail = words
		if c.result.Note != "" {
			t.Detail = strings.TrimSpace(t.Detail + " (" + oneLine(l.mask(c.result.Note)) + ")")
		}
	case c.started != nil:
		t.State, t.Detail = TaskRunning, l.output(live, c.ID)
	case c.card() == nil:
		return t, false
	}
	return t, true
}

// oneLine returns s in one line that is not too long.
func oneLine(s string) string { return clip(strings.Join(strings.Fields(s), " "), 200) }
