package agent

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/store"
)

var (
	began = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	alice = User{ID: "U1", Name: "Alice"}
	bob   = User{ID: "U2", Name: "Bob"}
)

// fold applies each event as a frame of its own, one second apart, taken by replica r1.
func fold(t *testing.T, events ...any) *Session {
	t.Helper()
	s := &Session{ID: "test/T/C/1"}
	for i, v := range events {
		e, err := Encode(v)
		require.NoError(t, err)
		f := store.Frame{Claim: "r1", Time: began.Add(time.Duration(i) * time.Second), Events: []store.Event{e}}
		require.NoError(t, s.Apply(store.Pos(i+1), f), "%T at %d", v, i+1)
	}
	return s
}

func args(s string) json.RawMessage { return json.RawMessage(s) }

func say(text string) UserSaid { return UserSaid{By: alice, Text: text} }

// reply is a reply of the model that saw everything before it. The calls are "tool args" pairs.
func reply(step int, saw store.Pos, text string, calls ...Call) ModelSaid {
	m := ModelSaid{Turn: 1, Step: step, Saw: saw, Text: text, Stop: llm.EndTurn, Calls: calls}
	if len(calls) > 0 {
		m.Stop = llm.ToolUse
	}
	return m
}

func read(id string) Call { return Call{id, "p" + id, "read", args(`{"path":"a"}`)} }
func edit(id string) Call { return Call{id, "p" + id, "edit", args(`{"path":"a"}`)} }

func done(id string, s Status) ToolFinished { return ToolFinished{Call: id, Status: s, Text: "x"} }

// rules is a policy in which read runs, alone runs alone, edit is asked, ask asks, evil is forbidden
// and all else is unknown.
func rules(now time.Time) Policy {
	return Policy{Now: now, Replica: "r1", Limits: Limits{}.WithDefaults(), Judge: func(c Call) Verdict {
		switch c.Tool {
		case "read":
			return Verdict{Ruling: Allow}
		case "alone":
			return Verdict{Ruling: Invite}
		case "edit":
			return Verdict{Ruling: Ask}
		case "ask":
			return Verdict{Ruling: Inquire}
		case "evil":
			return Verdict{Forbid, "never"}
		}
		return Verdict{Reject, "no such tool"}
	}}
}

var opening = []any{Opened{Format: Format, Dir: "/w"}, say("hi"), TurnStarted{Turn: 1, Saw: 2, Model: "m"}}

// asked is a turn whose one call waits for a person until an hour after the beginning.
func asked() []any {
	return []any{reply(1, 3, "", edit("1.1.1")), ApprovalAsked{Call: "1.1.1", Digest: "d1", Expires: began.Add(time.Hour)}}
}

func again(n int, step func(i int) []any) []any {
	var events []any
	for i := 1; i <= n; i++ {
		events = append(events, step(i)...)
	}
	return events
}

func failing(i int) []any {
	id := string(rune('0'+i)) + ".1"
	c := Call{"1." + id, id, "read", args(`{"path":"` + id + `"}`)}
	return []any{reply(i, 3, "", c), done(c.ID, Failed)}
}

func TestNext(t *testing.T) {
	left := func(events int) time.Duration { return 10*time.Minute - time.Duration(events)*time.Second }
	for name, test := range map[string]struct {
		events []any
		want   Action
	}{
		"a new turn asks the model": {nil, AskModel{left(1)}},
		"an answer ends it":         {[]any{reply(1, 3, "hello")}, EndTurn{Reason: Completed}},
		"no answer ends it too":     {[]any{reply(1, 3, "")}, EndTurn{Reason: NoResponse}},
		"a cut answer":              {[]any{ModelSaid{Turn: 1, Step: 1, Text: "he", Stop: llm.MaxTokens}}, EndTurn{Reason: CutOff}},
		"a withheld answer":         {[]any{ModelSaid{Turn: 1, Step: 1, Stop: llm.Filtered}}, EndTurn{Reason: ContentFiltered}},
		"a cut call does not run": {[]any{ModelSaid{Turn: 1, Step: 1, Stop: llm.MaxTokens, Calls: []Call{read("1.1.1")}}},
			EndTurn{Reason: CutOff}},
		"reads run together until something acts": {
			[]any{reply(1, 3, "", read("1.1.1"), read("1.1.2"), edit("1.1.3"), read("1.1.4"))},
			RunTools{Calls: []Call{read("1.1.1"), read("1.1.2")}, Left: left(2)}},
		"what acts is asked": {
			[]any{reply(1, 3, "", read("1.1.1"), edit("1.1.2")), ToolStarted{Call: "1.1.1"}, done("1.1.1", OK)},
			AskPerson{edit("1.1.2")}},
		"a call with a forbidden tool": {[]any{reply(1, 3, "", Call{"1.1.1", "p", "evil", args(`{}`)})},
			Refuse{Call{"1.1.1", "p", "evil", args(`{}`)}, Refused, "never"}},
		"a call of an unknown tool": {[]any{reply(1, 3, "", Call{"1.1.1", "p", "nope", args(`{}`)})},
			Refuse{Call{"1.1.1", "p", "nope", args(`{}`)}, Invalid, "no such tool"}},
		"a tool result never ends the turn": {
			[]any{reply(1, 3, "", read("1.1.1")), ToolStarted{Call: "1.1.1"}, done("1.1.1", OK)}, AskModel{left(4)}},
		"an open approval waits": {asked(), Wait{}},
		"a yes runs it": {append(asked(), Decided{Call: "1.1.1", Digest: "d1", Yes: true, By: bob}),
			RunTools{Calls: []Call{edit("1.1.1")}, Left: left(3),
				Asked: &ApprovalAsked{Call: "1.1.1", Digest: "d1", Expires: began.Add(time.Hour)}}},
		"a no is told": {append(asked(), Decided{Call: "1.1.1", Digest: "d1", By: bob, Reason: "later"}),
			Refuse{edit("1.1.1"), Denied, "later"}},
		"an answer to an older preview is none": {append(asked(), Decided{Call: "1.1.1", Digest: "d0", Yes: true}), Wait{}},
		"the first answer counts": {append(asked(), Decided{Call: "1.1.1", Digest: "d1", By: bob},
			Decided{Call: "1.1.1", Digest: "d1", Yes: true, By: alice}), Refuse{edit("1.1.1"), Denied, ""}},
		"asked again, it waits again": {append(asked(), Decided{Call: "1.1.1", Digest: "d1", Yes: true},
			ApprovalAsked{Call: "1.1.1", Digest: "d2", Expires: began.Add(time.Hour)}), Wait{}},
		"nobody answered": {append(asked(), ApprovalExpired{"1.1.1"}), Refuse{edit("1.1.1"), Expired, ""}},
		"a crash while it ran": {append(asked(), Decided{Call: "1.1.1", Digest: "d1", Yes: true}, ToolStarted{Call: "1.1.1"}),
			Refuse{edit("1.1.1"), Interrupted, ""}},
		"stop":                           {append(asked(), StopAsked{By: bob}), EndTurn{Reason: Cancelled}},
		"stop after an answer":           {[]any{reply(1, 3, "hello"), StopAsked{By: bob}}, EndTurn{Reason: Cancelled}},
		"a word said meanwhile is heard": {[]any{say("and this"), reply(1, 3, "hello")}, AskModel{left(3)}},
		"a word that the reply has seen": {[]any{say("and this"), reply(1, 4, "hello")}, EndTurn{Reason: Completed}},
		"a queued word waits": {[]any{UserSaid{By: bob, Text: "later", Busy: Queue}, reply(1, 4, "hello")},
			EndTurn{Reason: Completed}},
		"an interrupted reply goes on": {[]any{ModelSaid{Turn: 1, Step: 1, Text: "he", Partial: true}}, AskModel{left(2)}},
		"too many errors":              {again(5, failing), EndTurn{Reason: NoProgress, Detail: "5 steps in a row brought nothing but errors"}},
		"tokens used up": {[]any{ModelSaid{Turn: 1, Step: 1, Usage: llm.Usage{Input: 1_000_000}, Calls: []Call{read("1.1.1")}},
			done("1.1.1", OK)}, EndTurn{Reason: BudgetExhausted, Detail: "1000000 tokens used of 1000000"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fold(t, append(opening[:len(opening):len(opening)], test.events...)...)
			require.Equal(t, test.want, s.Next(rules(s.Last.Time.Add(time.Second))))
		})
	}
}

func TestNextOutsideTurns(t *testing.T) {
	now := began.Add(time.Minute)
	require.Equal(t, Wait{}, new(Session).Next(rules(now)))
	require.Equal(t, StartTurn{}, fold(t, opening[:2]...).Next(rules(now)))

	ended := append(opening[:3:3], reply(1, 3, "hello"), TurnEnded{Turn: 1, Reason: Completed})
	require.Equal(t, Wait{}, fold(t, ended...).Next(rules(now)))
	require.Equal(t, StartTurn{}, fold(t, append(ended, say("more"))...).Next(rules(now)))
	require.Equal(t, Wait{}, fold(t, append(ended, StopAsked{By: bob})...).Next(rules(now)), "a late stop stops nothing")

	early := fold(t, append(opening[:2:2], StopAsked{By: bob}, TurnStarted{Turn: 1, Saw: 2})...)
	require.Equal(t, EndTurn{Reason: Cancelled}, early.Next(rules(now)), "a stop may come before the turn has begun")
}

// What a message brings along is got before the request that takes the message in, and before no other.
func TestNextGathers(t *testing.T) {
	files := []File{{Ref: "f1"}}
	with := UserSaid{By: alice, Text: "look", Files: files}
	reading := UserSaid{By: alice, Text: "well?", Reply: true}
	queued := UserSaid{By: bob, Text: "later", Busy: Queue, Files: files}
	got := func(at store.Pos) Attached {
		return Attached{Said: at, Files: []Attachment{{Name: "a", Kind: OtherFile}}}
	}
	left := func(events int) time.Duration { return 10*time.Minute - time.Duration(events)*time.Second }
	open := func(events ...any) []any { return append([]any{Opened{Format: Format}}, events...) }
	turn := func(events ...any) []any { return append(opening[:3:3], events...) }
	for name, test := range map[string]struct {
		events []any
		want   Action
	}{
		"files before the turn":                 {open(with), Fetch{2, files}},
		"once":                                  {open(with, got(2)), StartTurn{}},
		"one message after the other":           {open(with, with, got(2)), Fetch{3, files}},
		"a stop comes first":                    {open(with, StopAsked{By: bob}), StartTurn{}},
		"the thread before, and before files":   {open(UserSaid{Reply: true, Files: files}), Recall{Before: 2}},
		"whatever came of it":                   {open(reading, Quoted{Before: 2, Detail: "no"}), StartTurn{}},
		"then the files":                        {open(reading, with, Quoted{Before: 2}), Fetch{3, files}},
		"not of a session that began elsewhere": {open(say("root"), reading), StartTurn{}},
		"while it runs, before the request": {turn(reply(1, 3, "", read("1.1.1")), with, ToolStarted{Call: "1.1.1"}, done("1.1.1", OK)),
			Fetch{5, files}},
		"and before the first":           {turn(with), Fetch{4, files}},
		"then it is asked":               {turn(with, got(4)), AskModel{left(3)}},
		"an answer is no end then":       {turn(with, reply(1, 3, "hello")), Fetch{4, files}},
		"not for what waits in line":     {turn(queued), AskModel{left(2)}},
		"but when its turn comes":        {turn(queued, reply(1, 4, "hello"), TurnEnded{Turn: 1, Reason: Completed}), Fetch{4, files}},
		"a limit needs no files":         {turn(append(again(5, failing), with)...), EndTurn{Reason: NoProgress, Detail: "5 steps in a row brought nothing but errors"}},
		"of a message that is not there": {open(with, got(2), got(9)), StartTurn{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fold(t, test.events...)
			require.Equal(t, test.want, s.Next(rules(s.Last.Time.Add(time.Second))))
		})
	}
}

func TestNextSteps(t *testing.T) {
	step := func(path string) func(int) []any {
		return func(i int) []any {
			c := Call{"1." + string(rune('0'+i)) + ".1", "p", "read", args(path)}
			return []any{reply(i, 3, "", c), done(c.ID, OK)}
		}
	}
	p := rules(began.Add(time.Minute))
	p.Limits.Steps = 4
	vary := func(i int) []any { return step(`{"path":"` + string(rune('a'+i)) + `"}`)(i) }
	require.Equal(t, EndTurn{Reason: MaxSteps, Detail: "the limit is 4"}, fold(t, append(opening[:3:3], again(4, vary)...)...).Next(p))

	same := func(i int) []any { // key order and space do not matter
		return step([]string{`{"path":"a","limit":1}`, `{ "limit": 1, "path": "a" }`}[i%2])(i)
	}
	two := append(opening[:3:3], again(2, same)...)
	require.Equal(t, Nudge{"repeat"}, fold(t, two...).Next(p))
	nudged := append(two, Nudged{Turn: 1, Kind: "repeat", Text: "again?"})
	require.IsType(t, AskModel{}, fold(t, nudged...).Next(p), "the model is told once")
	third := same(3)[0]
	require.Equal(t, EndTurn{Reason: Repeated, Detail: "the same request 3 times in a row"},
		fold(t, append(nudged, third)...).Next(p), "the third does not run")
	other := vary(3)
	require.IsType(t, AskModel{}, fold(t, append(nudged, other...)...).Next(p), "another request starts afresh")
}

func TestNextTime(t *testing.T) {
	p := rules(began.Add(2*time.Second + 10*time.Minute))
	s := fold(t, opening...)
	require.Equal(t, EndTurn{Reason: TimeUp, Detail: "the limit is 10m0s"}, s.Next(p))
	p.Replica = "r2"
	require.Equal(t, AskModel{10 * time.Minute}, s.Next(p), "the time in which nobody worked does not count")

	waiting := fold(t, append(opening[:3:3], asked()...)...)
	p = rules(began.Add(59 * time.Minute))
	require.Equal(t, Wait{}, waiting.Next(p))
	p.Now = began.Add(time.Hour)
	require.Equal(t, Expire{edit("1.1.1")}, waiting.Next(p))
	require.Equal(t, began.Add(time.Hour), waiting.Due())

	e, err := Encode(Decided{Call: "1.1.1", Digest: "d1", Yes: true})
	require.NoError(t, err)
	require.NoError(t, waiting.Apply(9, store.Frame{Time: began.Add(50 * time.Minute), Events: []store.Event{e}}))
	p.Now = began.Add(50 * time.Minute)
	run, ok := waiting.Next(p).(RunTools)
	require.True(t, ok)
	require.Equal(t, 10*time.Minute-2*time.Second, run.Left, "nor does the time in which a person thought")
	require.Zero(t, waiting.Due())
}

func TestApplyRefuses(t *testing.T) {
	apply := func(s *Session, v any) error {
		e, err := Encode(v)
		require.NoError(t, err)
		return s.Apply(s.Pos+1, store.Frame{Time: began, Events: []store.Event{e}})
	}
	for name, test := range map[string]struct {
		events []any
		last   any
	}{
		"opened twice":             {opening, Opened{Format: Format}},
		"another format":           {nil, Opened{Format: 2}},
		"a turn within a turn":     {opening, TurnStarted{Turn: 2}},
		"a turn out of order":      {opening[:2], TurnStarted{Turn: 2}},
		"a reply without a turn":   {opening[:2], reply(1, 2, "")},
		"a step out of order":      {opening, reply(2, 3, "")},
		"a reply before a result":  {append(opening[:3:3], reply(1, 3, "", read("1.1.1"))), reply(2, 3, "")},
		"a result of nothing":      {opening, done("1.1.1", OK)},
		"a question of no call":    {opening, QuestionAsked{Call: "1.1.1"}},
		"a question that is over":  {append(opening[:3:3], reply(1, 3, "", inquiry("1.1.1")), done("1.1.1", OK)), QuestionAsked{Call: "1.1.1"}},
		"two results":              {append(opening[:3:3], reply(1, 3, "", read("1.1.1")), done("1.1.1", OK)), done("1.1.1", OK)},
		"an end before the result": {append(opening[:3:3], reply(1, 3, "", read("1.1.1"))), TurnEnded{Turn: 1}},
		"an end of another turn":   {opening, TurnEnded{Turn: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, apply(fold(t, test.events...), test.last))
		})
	}
	s := fold(t, opening...)
	require.Error(t, s.Apply(s.Pos, store.Frame{}), "a place that is taken")
	unknown := store.Event{Kind: "agent.FromTheFuture", Data: []byte("{}")}
	require.ErrorContains(t, s.Apply(s.Pos+1, store.Frame{Events: []store.Event{unknown}}), "newer release")
	foreign := store.Event{Kind: "bots.Posted", Data: []byte("{}")}
	require.NoError(t, s.Apply(s.Pos+1, store.Frame{Events: []store.Event{foreign}}))
}
