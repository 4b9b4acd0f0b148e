package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/store"
)

func inquiry(id string) Call { return Call{id, "p" + id, "ask", args(`{"question":"why?"}`)} }

// questioned is a turn whose one call has asked a question that waits until an hour after the beginning.
func questioned() []any {
	return []any{reply(1, 3, "", inquiry("1.1.1")), QuestionAsked{Call: "1.1.1", Question: "why?",
		Options: []Option{{Label: "so"}}, Free: true, Expires: began.Add(time.Hour)}}
}

func TestNextWithQuestions(t *testing.T) {
	left := 10*time.Minute - 2*time.Second
	for name, test := range map[string]struct {
		events []any
		want   Action
	}{
		"what asks is put to the people, alone": {[]any{reply(1, 3, "", inquiry("1.1.1"), inquiry("1.1.2"), read("1.1.3"))},
			PutQuestion{inquiry("1.1.1")}},
		"what reads before it runs first": {[]any{reply(1, 3, "", read("1.1.1"), inquiry("1.1.2"))},
			RunTools{Calls: []Call{read("1.1.1")}, Left: left}},
		"an open question waits": {questioned(), Wait{}},
		"an answer is its result": {append(questioned(), Answered{Call: "1.1.1", By: bob, Text: "because"}),
			Conclude{inquiry("1.1.1"), Answered{Call: "1.1.1", By: bob, Text: "because"}}},
		"the first answer to a question counts": {append(questioned(), Answered{Call: "1.1.1", By: bob, Option: 1, Text: "so"},
			Answered{Call: "1.1.1", By: alice, Text: "no"}), Conclude{inquiry("1.1.1"), Answered{Call: "1.1.1", By: bob, Option: 1, Text: "so"}}},
		"an answer to another question is none": {append(questioned(), Answered{Call: "1.1.2", By: bob, Text: "because"}), Wait{}},
		"a question is no approval":             {append(questioned(), Decided{Call: "1.1.1", Yes: true, By: bob}), Wait{}},
		"an approval is no question":            {append(asked(), Answered{Call: "1.1.1", By: bob, Text: "yes"}), Wait{}},
		"nobody answered the question": {append(questioned(), QuestionExpired{"1.1.1"}, Answered{Call: "1.1.1", By: bob, Text: "late"}),
			Refuse{inquiry("1.1.1"), Expired, ""}},
		"stop while a question waits": {append(questioned(), StopAsked{By: bob}), EndTurn{Reason: Cancelled}},
	} {
		t.Run(name, func(t *testing.T) {
			s := fold(t, append(opening[:len(opening):len(opening)], test.events...)...)
			require.Equal(t, test.want, s.Next(rules(s.Last.Time.Add(time.Second))))
		})
	}
}

func TestNextTimeOfQuestions(t *testing.T) {
	waiting := fold(t, append(opening[:3:3], questioned()...)...)
	p := rules(began.Add(59 * time.Minute))
	require.Equal(t, Wait{}, waiting.Next(p))
	p.Now = began.Add(time.Hour)
	require.Equal(t, Expire{inquiry("1.1.1")}, waiting.Next(p))
	require.Equal(t, began.Add(time.Hour), waiting.Due())

	for i, v := range []any{Answered{Call: "1.1.1", By: bob, Text: "so"}, done("1.1.1", OK)} {
		e, err := Encode(v)
		require.NoError(t, err)
		require.NoError(t, waiting.Apply(store.Pos(9+i), store.Frame{Time: began.Add(50 * time.Minute), Events: []store.Event{e}}))
		require.Zero(t, waiting.Due())
	}
	p.Now = began.Add(50 * time.Minute)
	require.Equal(t, AskModel{10*time.Minute - 2*time.Second}, waiting.Next(p), "the time in which people thought is no work")
}
