package bots

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

func TestParseResponse(t *testing.T) {
	for text, want := range map[string]response{
		"approve":                             {Approve, 0, ""},
		" Approve! ":                          {Approve, 0, ""},
		"approve 3":                           {Approve, 3, ""},
		"APPROVE #3.":                         {Approve, 3, ""},
		"approve 3 because it is fine":        {Approve, 3, "it is fine"},
		"deny":                                {Deny, 0, ""},
		"deny 3":                              {Deny, 3, ""},
		"deny 12 because it is\nnot Friday":   {Deny, 12, "it is\nnot Friday"},
		"deny 3, because: no":                 {Deny, 3, "no"},
		"deny because of the price.":          {Deny, 0, "of the price"},
		"deny 3 because":                      {Deny, 3, ""},
		"answer 3 main":                       {Choose, 3, "main"},
		"Answer #3: the one\non the left.":    {Choose, 3, "the one\non the left."},
		"answer 3":                            {Choose, 3, ""},
		"answer 999999999 because I said so.": {Choose, 999999999, "because I said so."},
	} {
		got, ok := parseResponse(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "approved", "I approve 3", "approve 3 and 4", "approve it", "approve 0", "approve 03", "approve 3 please", "approve -1",
		"deny 3 becausewhat", "deny everything", "approve 1234567890", "disapprove", "stop", "answer", "answer me", "answer 3main", "answer: 3",
		"approve 3\ndeny 4", "approve/3", "3", "yes",
	} {
		_, ok := parseResponse(text)
		require.False(t, ok, text)
	}
}

func FuzzParseResponse(f *testing.F) {
	for _, s := range []string{"approve 3", "deny 3 because no", "answer 3 x", "deny, because\n:,", "answer #1:\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, ok := parseResponse(text)
		if !ok {
			require.Zero(t, o)
			return
		}
		require.Contains(t, []Action{Approve, Deny, Choose}, o.verb)
		require.GreaterOrEqual(t, o.number, 0)
		require.True(t, o.verb != Choose || o.number > 0)
		if utf8.ValidString(text) {
			require.Contains(t, text, o.text)
		}
		again, ok := parseResponse(" " + text + " ")
		require.True(t, ok)
		require.Equal(t, o, again)
	})
}

func TestChoice(t *testing.T) {
	q := &agent.QuestionAsked{Options: []agent.Option{{Label: "main"}, {Label: "v2"}, {Label: "1"}, {Label: "the  next one."}}}
	for text, want := range map[string]int{
		"main": 1, " MAIN! ": 1, "`v2`": 2, "2": 2, "1": 3, "4": 4, "the next\none": 4,
		"5": 0, "0": 0, "-1": 0, "main or v2": 0, "": 0,
	} {
		require.Equal(t, want, choice(q, text), text)
	}
	require.Zero(t, choice(&agent.QuestionAsked{}, "1"))
}

func TestAnswerIn(t *testing.T) {
	at := time.Date(2020, 1, 1, 12, 0, 0, 0, time.UTC)
	free := &agent.Question{QuestionAsked: agent.QuestionAsked{Call: "1.1.1", Options: []agent.Option{{Label: "main"}}, Free: true}, At: at}
	strict := *free
	strict.Free = false
	by := Person{ID: "UBOB", Name: "Bob"}
	answer := func(option int, text string) *agent.Answered {
		return &agent.Answered{Call: "1.1.1", By: agent.User{ID: "UBOB", Name: "Bob"}, Option: option, Text: text, Message: "m"}
	}
	for name, test := range map[string]struct {
		q    *agent.Question
		said Said
		want *agent.Answered
	}{
		"words":               {free, Said{Text: "v3"}, answer(0, "v3")},
		"an option":           {free, Said{Text: "Main"}, answer(1, "Main")},
		"a strict option":     {&strict, Said{Text: "main"}, answer(1, "main")},
		"not welcome":         {&strict, Said{Text: "v3"}, nil},
		"written before":      {free, Said{Text: "v3", Time: at.Add(-time.Second)}, nil},
		"written after":       {free, Said{Text: "v3", Time: at.Add(time.Second)}, answer(0, "v3")},
		"a file is no answer": {free, Said{Text: "v3", Files: []File{{Name: "a"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			test.said.ID, test.said.By = "m", by
			got, ok := answerIn(test.said, test.q)
			require.Equal(t, test.want != nil, ok)
			if ok {
				require.Equal(t, *test.want, got)
			}
		})
	}
}

// thread is a thread with three cards: an approval that is over, a question that is over, and an
// approval that waits.
const thread = `
0 agent.UserSaid {"by":{"id":"UANN"},"text":"go"}
0 agent.TurnStarted {"turn":1,"saw":1,"model":"m"}
1 agent.ModelSaid {"turn":1,"step":1,"saw":2,"calls":[{"id":"1.1.1","tool":"x"},{"id":"1.1.2","tool":"ask"}]}
1 agent.ApprovalAsked {"call":"1.1.1","tool":"x","digest":"d1","preview":"x"}
2 agent.Decided {"call":"1.1.1","digest":"d1","yes":true,"by":{"id":"UBOB"},"message":"m7"}
3 agent.ToolFinished {"call":"1.1.1","status":"ok"}
4 agent.QuestionAsked {"call":"1.1.2","question":"Which?","options":[{"label":"main"}]}
5 agent.Answered {"call":"1.1.2","by":{"id":"UBOB"},"option":1,"text":"main","message":"m8"}
6 agent.ToolFinished {"call":"1.1.2","status":"ok"}
7 agent.TurnEnded {"turn":1,"reason":"completed","text":"ok"}
8 bots.Painted {"turn":1}
9 agent.UserSaid {"by":{"id":"UANN"},"text":"go"}
9 agent.TurnStarted {"turn":2,"saw":12,"model":"m"}
9 agent.ModelSaid {"turn":2,"step":1,"saw":13,"calls":[{"id":"2.1.1","tool":"x"}]}
10 agent.ApprovalAsked {"call":"2.1.1","tool":"x","digest":"d2","preview":"x"}
11 bots.Posted {"key":"2/card/2.1.1/1","id":"p9"}
`

func TestMeant(t *testing.T) {
	now := noon.Add(time.Minute)
	card := func(call, digest string) ask { return ask{call: call, digest: digest} }
	for name, test := range map[string]struct {
		order  response
		at     time.Time
		then   string // more of the log
		card   ask
		refuse string
	}{
		"by number":            {response{Approve, 3, ""}, now, "", card("2.1.1", "d2"), ""},
		"the one that waits":   {response{Deny, 0, ""}, now, "", card("2.1.1", "d2"), ""},
		"one that is over":     {response{Approve, 1, ""}, now, "", card("1.1.1", "d1"), ""},
		"a question":           {response{Choose, 2, "main"}, now, "", card("1.1.2", ""), ""},
		"not there":            {response{Approve, 4, ""}, now, "", ask{}, unknownNumber(4)},
		"written too early":    {response{Approve, 3, ""}, noon.Add(9 * time.Second), "", ask{}, unknownNumber(3)},
		"and without a number": {response{Approve, 0, ""}, noon.Add(9 * time.Second), "", ask{}, nothingWaits},
		"nothing waits": {response{Approve, 0, ""}, now, `12 agent.Decided {"call":"2.1.1","digest":"d2","by":{"id":"U"}}`,
			ask{}, nothingWaits},
		"an approval is no question":        {response{Choose, 3, "x"}, now, "", ask{}, noQuestion(3)},
		"a question is no approval":         {response{Approve, 2, ""}, now, "", ask{}, noApproval(2)},
		"a question waits":                  {response{Approve, 0, ""}, now, asksNow, ask{}, noApproval(4)},
		"a replaced card has its own":       {response{Approve, 3, ""}, now, askedAgain, card("2.1.1", "d2"), ""},
		"what replaces it is another":       {response{Deny, 4, ""}, now, askedAgain, card("2.1.1", "d3"), ""},
		"it is not shown yet":               {response{Approve, 0, ""}, now, askedAgain, ask{}, justNow(4)},
		"but has been seen, if it is named": {response{Approve, 4, ""}, now, askedAgain, card("2.1.1", "d3"), ""},
		"it was shown just now":             {response{Approve, 0, ""}, noon.Add(12 * time.Second), "", ask{}, justNow(3)},
		"a no needs no look":                {response{Deny, 0, ""}, noon.Add(12 * time.Second), "", card("2.1.1", "d2"), ""},
		"the card is refused": {response{Approve, 4, ""}, now, askedAgain + "\n13 bots.PostFailed {\"key\":\"2/card/2.1.1/2\",\"detail\":\"no\"}",
			ask{}, notShown},
		"a part is not shown": {response{Approve, 0, ""}, now, `12 bots.PostFailed {"key":"2/card/2.1.1/1/part/1","detail":"no"}`,
			ask{}, notShown},
		"that can be denied": {response{Deny, 0, ""}, now, `12 bots.PostFailed {"key":"2/card/2.1.1/1/part/1","detail":"no"}`,
			card("2.1.1", "d2"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var s state
			for _, step := range steps(t, thread+test.then) {
				require.NoError(t, s.apply(step.Entry))
			}
			got, refuse := s.meant(test.order, test.at)
			require.Equal(t, test.refuse, refuse)
			if refuse == "" {
				require.Equal(t, test.card, ask{call: got.call, digest: got.digest})
			}
			require.Equal(t, map[string]bool{"m7": true, "m8": true}, s.obeyed)
			require.True(t, s.asksPeople())
		})
	}
	var none state
	_, refuse := none.meant(response{Approve, 0, ""}, now)
	require.Equal(t, nothingWaits, refuse)
	require.NoError(t, none.apply(store.Entry{Pos: 1}))
	require.False(t, none.asksPeople())
}

const (
	askedAgain = `12 agent.ApprovalAsked {"call":"2.1.1","tool":"x","digest":"d3","preview":"y","again":true}`
	asksNow    = `12 agent.ToolFinished {"call":"2.1.1","status":"ok"}
13 agent.ModelSaid {"turn":2,"step":2,"saw":16,"calls":[{"id":"2.2.1","tool":"ask"}]}
14 agent.QuestionAsked {"call":"2.2.1","question":"Which?","free":true}`
)
