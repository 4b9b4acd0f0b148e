package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
)

// A world plays the people, the model and the tools of one session at random, the way the worker
// would, and keeps the log.
type world struct {
	t      *rapid.T
	s      *Session
	log    []store.Entry
	now    time.Time
	said   []string       // the words of each message as they are now; empty if it was withdrawn
	summed []*llm.Message // that are in the history no more
}

func (w *world) append(events ...any) {
	f := store.Frame{Claim: "r1", Time: w.now}
	if _, ok := events[0].(UserSaid); ok {
		f.Key = fmt.Sprint("m", len(w.said))
	}
	for _, v := range events {
		e, err := Encode(v)
		require.NoError(w.t, err)
		f.Events = append(f.Events, e)
	}
	pos := w.s.Pos + store.Pos(rapid.IntRange(1, 3).Draw(w.t, "gap"))
	due := dueAfter(w.s, events)
	require.NoError(w.t, w.s.Apply(pos, f))
	require.Equal(w.t, w.s.Due(), due)
	w.log = append(w.log, store.Entry{Pos: pos, Frame: f})
	w.now = w.now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, time.Minute}).Draw(w.t, "pause"))
}

// people does something that people, or other packages, may do at any moment.
func (w *world) people() {
	switch rapid.IntRange(0, 8).Draw(w.t, "people") {
	case 0, 1:
		text := fmt.Sprintf("word %d.", len(w.said)+1)
		w.said = append(w.said, text)
		busy := rapid.SampledFrom([]Busy{"", Steer, Queue, Interrupt}).Draw(w.t, "busy")
		said := UserSaid{By: alice, Text: text, Busy: busy}
		said.Reply = rapid.Bool().Draw(w.t, "reply")
		said.Files = make([]File, rapid.IntRange(0, 1).Draw(w.t, "files"))
		w.append(said)
	case 2:
		w.append(StopAsked{By: bob})
	case 3:
		d := Decided{Call: "1.1.1", Digest: "d1", Yes: rapid.Bool().Draw(w.t, "yes"), By: bob}
		if c := w.s.turn.asking(); c != nil {
			d.Call = c.ID
		}
		w.append(d)
	case 4:
		w.append(Decided{Call: "9.9.9"})
	case 5:
		w.append(CompactAsked{By: bob})
	case 6, 7:
		w.revise()
	case 8:
		a := Answered{Call: "1.1.1", By: bob, Text: "so"}
		if c := w.s.turn.asking(); c != nil {
			a.Call = c.ID
		}
		w.append(a)
	}
}

// revise has somebody edit or delete one of the messages.
func (w *world) revise() {
	if len(w.said) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.said)-1).Draw(w.t, "message")
	of := fmt.Sprint("m", i+1)
	switch {
	case w.said[i] == "":
	case rapid.Bool().Draw(w.t, "deleted"):
		w.said[i] = ""
		w.append(Withdrawn{Of: of, Turn: turnWithout(w.s, of), Note: fmt.Sprintf("withdrawn %d.", i+1)})
	default:
		w.said[i] += "."
		w.append(Amended{Of: of, By: alice, Text: w.said[i], Note: "now " + w.said[i]})
	}
}

// worker does what Next says. It reports whether that was something.
func (w *world) worker() bool {
	switch do := w.s.Next(rules(w.now)).(type) {
	case Wait:
		return false
	case Recall:
		w.maybe()
		w.append(Quoted{Before: do.Before, Said: []Quote{{By: bob, Text: "before."}}})
	case Fetch:
		w.maybe()
		w.append(Attached{Said: do.Said, Files: []Attachment{{Kind: NoFile, Detail: "it is gone"}}})
	case StartTurn:
		w.append(TurnStarted{Turn: w.s.turns + 1, Saw: sight(w.s), Model: "m"})
	case AskModel:
		if n := len(w.s.history); n > 6 && rapid.IntRange(0, 9).Draw(w.t, "refused") == 0 && w.s.turn.sum.refused == 0 {
			w.append(Overflowed{Turn: w.s.turn.Turn})
		} else {
			w.model()
		}
	case Compact:
		w.compact(do)
	case AskPerson:
		w.append(ApprovalAsked{Call: do.Call.ID, Digest: "d1", Expires: w.now.Add(time.Hour)})
	case PutQuestion:
		w.append(QuestionAsked{Call: do.Call.ID, Free: true, Expires: w.now.Add(time.Hour)})
	case Expire:
		w.append(w.s.turn.call(do.Call.ID).expiry())
	case Conclude:
		w.append(ToolFinished{Call: do.Call.ID, Status: OK, Text: "result " + do.Call.ID})
	case RunTools:
		var started, finished []any
		for _, c := range do.Calls {
			status := rapid.SampledFrom([]Status{OK, Failed, TimedOut}).Draw(w.t, "status")
			started = append(started, ToolStarted{Call: c.ID})
			finished = append(finished, ToolFinished{Call: c.ID, Status: status, Text: "result " + c.ID})
		}
		w.append(started...)
		w.maybe()
		if rapid.IntRange(0, 9).Draw(w.t, "crash") > 0 {
			w.append(finished...)
		}
	case Refuse:
		w.append(ToolFinished{Call: do.Call.ID, Status: do.Status, Text: "result " + do.Call.ID})
	case Nudge:
		w.append(Nudged{w.s.turn.Turn, do.Kind, "nudge"})
	case EndTurn:
		var events []any
		for _, c := range w.s.turn.open() {
			events = append(events, ToolFinished{Call: c.ID, Status: NotStarted, Text: "result " + c.ID})
		}
		w.append(append(events, TurnEnded{Turn: w.s.turn.Turn, Reason: do.Reason})...)
	}
	return true
}

// compact sums up, or fails to, perhaps after more has been said.
func (w *world) compact(do Compact) {
	n := cut(w.s.history, 0, 0, do.Refused)
	turn := w.s.turn.Turn
	w.maybe()
	if _, still := w.s.Next(rules(w.now)).(Compact); !still {
		return // stopped
	}
	if n == 0 && !do.Refused || rapid.Bool().Draw(w.t, "no summary") {
		w.append(CompactFailed{Turn: turn})
		return
	}
	w.summed = append(w.summed, w.s.history[:n]...)
	w.append(Compacted{Turn: turn, Replaced: n, Summary: "a summary"})
}

// model answers what it has seen, perhaps after more has been said.
func (w *world) model() {
	saw, turn, step := w.s.Pos, w.s.turn.Turn, w.s.turn.step+1
	asked := w.s.Request().Messages
	w.maybe()
	m := ModelSaid{Turn: turn, Step: step, Saw: saw, Stop: llm.EndTurn, Text: rapid.SampledFrom([]string{"", "answer"}).Draw(w.t, "text")}
	m.Partial = rapid.IntRange(0, 9).Draw(w.t, "partial") == 0
	tools := rapid.SliceOfN(rapid.SampledFrom([]string{"read", "alone", "edit", "ask", "evil", "nope"}), 0, 3).Draw(w.t, "tools")
	for i, tool := range tools {
		path := rapid.IntRange(0, 2).Draw(w.t, "path")
		id := fmt.Sprintf("%d.%d.%d", turn, step, i+1)
		m.Calls = append(m.Calls, Call{id, "p" + id, tool, args(fmt.Sprintf(`{"path":"%d"}`, path))})
	}
	if m.Partial {
		m.Calls = nil
	}
	w.append(m)
	require.Equal(w.t, asked, w.s.history[:len(asked)], "what the model was asked is what it is remembered to have read")
}

func (w *world) maybe() {
	if rapid.IntRange(0, 3).Draw(w.t, "interfere") == 0 {
		w.people()
	}
}

// TestFold plays sessions at random: whatever people do at whatever moment, the log folds to the
// same state again, every turn comes to an end, every call has its one result behind its reply, and
// no word is lost, heard twice, or believed after it was edited or withdrawn.
func TestFold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, s: &Session{ID: "x"}, now: began}
		w.append(Opened{Format: Format})
		for range rapid.IntRange(1, 30).Draw(t, "moves") {
			w.maybe()
			w.worker()
		}
		w.drain()
		require.Nil(t, w.s.turn)

		again := &Session{ID: "x"}
		for _, e := range w.log {
			require.NoError(t, again.Apply(e.Pos, e.Frame))
		}
		require.Equal(t, w.s, again)
		whole := w.s.Request()
		whole.Messages = append(w.summed, whole.Messages...)
		wellFormed(t, w.s.Request(), nil)
		wellFormed(t, whole, w.said)
	})
}

// drain lets the people fall silent and the worker go on to the end.
func (w *world) drain() {
	for range 1000 {
		if w.worker() {
			continue
		}
		if w.s.turn == nil {
			return
		}
		w.now = w.now.Add(time.Hour) // an approval expires
	}
	require.Fail(w.t, "the session does not come to rest")
}

// wellFormed checks what providers demand of a conversation, and that each word is in it once.
func wellFormed(t *rapid.T, r *llm.Request, said []string) {
	heard := map[string]int{}
	last := map[string]string{} // by the number of the message
	var owed []llm.Call
	for _, m := range r.Messages {
		switch m.Role {
		case llm.User:
			require.Empty(t, owed, "a message between a reply and its results")
			first, _, _ := strings.Cut(m.Text, "\n") // files stand below
			heard[first]++
			if f := strings.Fields(first); len(f) > 1 {
				last[strings.TrimRight(f[len(f)-1], ".")] = first
			}
		case llm.Assistant:
			require.Empty(t, owed)
			require.True(t, m.Text != "" || len(m.Calls) > 0, "an empty reply is not replayed")
			owed = m.Calls
		case llm.ToolRole:
			require.NotEmpty(t, owed)
			require.Equal(t, owed[0].ID, m.CallID, "results stand in the model's order")
			owed = owed[1:]
		}
	}
	require.Empty(t, owed)
	require.LessOrEqual(t, heard[note("earlier")], 1)
	for i, text := range said {
		gone := fmt.Sprintf("withdrawn %d.", i+1)
		switch now := last[fmt.Sprint(i+1)]; {
		case text == "":
			require.Contains(t, []string{"", gone}, now, "it was withdrawn")
		default:
			require.Contains(t, []string{"Alice: " + text, "now " + text}, now)
			require.Equal(t, 1, heard[now])
		}
		require.LessOrEqual(t, heard[gone], 1)
	}
}
