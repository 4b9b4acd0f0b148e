package slack

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/bots"
)

func TestGrowth(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"", "", ""},
		{"", "one", "\none"},
		{"one", "one", ""},
		{"one", "one two", " two"},
		{"ok a", "ok b", "\nok b"},
		{"one", "", ""},
		{"the first part of it", "… first part of it and more", " and more"},
		{"… first part of it and more", "… of it and more than that", " than that"},
		{"ends in a", "a new line", "\na new line"},
		{"汉字汉字汉字", "字汉字汉字, 更多", ", 更多"},
	} {
		require.Equal(t, c.want, growth(c.was, c.is), "%q, %q", c.was, c.is)
	}
}

// screen is what Slack shows after the chunks.
type screen map[string]slack.TaskUpdateChunk

func (s screen) take(chunks []slack.StreamChunk) {
	for _, c := range chunks {
		u := c.(slack.TaskUpdateChunk)
		u.Details = s[u.ID].Details + u.Details
		s[u.ID] = u
	}
}

// However tasks change, Slack shows them as they are, and is told nothing if nothing changes.
func TestDrawing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 400, 2000)
		s := screen{}
		var d drawing
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			w := &bots.Work{Tasks: []bots.Task{{ID: "turn", Title: "Working…", State: bots.TaskRunning}}}
			for i := range rapid.IntRange(0, maxTasks+5).Draw(t, "tasks") {
				state := bots.TaskState(rapid.IntRange(0, 3).Draw(t, "state"))
				w.Tasks = append(w.Tasks, bots.Task{ID: fmt.Sprint(i), Title: text.Draw(t, "title"), State: state, Detail: text.Draw(t, "detail")})
			}
			chunks, next := d.draw(w)
			data, err := json.Marshal(chunks)
			require.NoError(t, err)
			require.LessOrEqual(t, utf8.RuneCount(data), 16_000)
			for _, c := range chunks {
				u := c.(slack.TaskUpdateChunk)
				require.NotEmpty(t, u.Title)
				require.LessOrEqual(t, utf8.RuneCountInString(u.Title), maxTaskTitle)
				require.NotRegexp(t, "[<@][^"+hair+"]", u.Title+u.Details+hair)
			}
			s.take(chunks)
			d = next
			again, _ := d.draw(w)
			for _, c := range again { // only details that there was no room for
				require.Fail(t, "told again", "%v", c)
			}
			require.LessOrEqual(t, len(s), maxTasks)
			for i, o := range w.Tasks {
				if i < maxTasks && s[o.ID].ID != "" {
					require.Equal(t, taskStatus(o.State), s[o.ID].Status)
				}
			}
		}
		_, end := d.draw(&bots.Work{Tasks: []bots.Task{{ID: "turn", Title: "Done.", State: bots.TaskDone}}, Ended: true})
		for _, o := range end {
			require.GreaterOrEqual(t, o.state, bots.TaskDone)
		}
	})
}

func TestTasksCallNobody(t *testing.T) {
	_, d := drawing(nil).draw(&bots.Work{Tasks: []bots.Task{{ID: "1", Title: "echo <!channel> @here", Detail: "<@U1> @everyone"}}})
	require.NotContains(t, d[0].title, "<!channel>")
	require.NotContains(t, d[0].title, "@here")
	require.Equal(t, "echo <!channel> @here", strings.ReplaceAll(d[0].title, hair, ""))
	require.Equal(t, "<@U1>", strings.ReplaceAll(tame("<@U1>"), hair, ""))
	require.NotContains(t, tame("<@U1> @everyone"), "<@")
}
