package bots

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
)

// This file is what people write instead of pressing a button: "approve 3", "deny 3 because …",
// "answer 3 …". Each card says how. Such a message has the effect and the refusals of a click, and is
// never a message to the model as well: package agent keeps it under the message's id, as it does
// with what is said.

// A response is an answer to a card, in words.
type response struct {
	verb   Action // Approve, Deny or Choose
	number int    // of the card; 0 is the one that waits
	text   string // the reason, or the answer
}

// The forms of a response. It is the whole message.
var (
	decision = regexp.MustCompile(`(?is)^(approve|deny)(?:\s+#?([1-9][0-9]{0,8}))?(?:[,:]?\s+because\b[\s:,]*(.*?))?[\s.!]*$`)
	reply    = regexp.MustCompile(`(?is)^answer\s+#?([1-9][0-9]{0,8})(?:[:,.]?\s+(.*?))?[\s]*$`)
)

// parseResponse returns the response that a message is, if it is one.
func parseResponse(text string) (o response, ok bool) {
	text = strings.TrimSpace(text)
	if m := decision.FindStringSubmatch(text); m != nil {
		o = response{verb: Approve, text: m[3]}
		if strings.EqualFold(m[1], string(Deny)) {
			o.verb = Deny
		}
		o.number, _ = strconv.Atoi(m[2]) // digits that fit, or none
		return o, true
	}
	if m := reply.FindStringSubmatch(text); m != nil {
		o = response{verb: Choose, text: m[2]}
		o.number, _ = strconv.Atoi(m[1])
		return o, true
	}
	return response{}, false
}

// A ledger is what is remembered of the cards of a thread beyond their turns.
type ledger struct {
	asks   []ask           // the number of a card is its place here, from 1
	obeyed map[string]bool // ids of messages that were answers to cards
}

// note notes that the message of that id, if any, was an answer to a card.
func (l *ledger) note(message string) {
	if message == "" {
		return
	}
	if l.obeyed == nil {
		l.obeyed = map[string]bool{}
	}
	l.obeyed[message] = true
}

// An ask is what is remembered of one card.
type ask struct {
	call, digest string
	question     *agent.QuestionAsked // nil for an approval
	at           time.Time
	shown        time.Time // when the card was in the thread; zero if it is not
}

// ask adds a card for a call, which replaces an earlier one.
func (s *state) ask(t *turn, id string, k *card) {
	c := t.call(id)
	if c == nil {
		return
	}
	a := ask{call: id, question: k.question, at: k.at}
	if k.asked != nil {
		a.digest = k.asked.Digest
	}
	s.asks = append(s.asks, a)
	k.call, k.nth, k.number = c, len(c.cards)+1, len(s.asks)
	t.close(c.card(), k.at)
	c.cards = append(c.cards, k)
	t.marks = append(t.marks, mark{card: k})
}

// name is the rest of the card's key.
func (k *card) name() string { return fmt.Sprintf("card/%s/%d", k.call.ID, k.nth) }

// expire notes that nobody answered about the call of that id.
func (t *turn) expire(id string, at time.Time) {
	if k := t.call(id).card(); k != nil && !k.closed {
		k.expired = true
		t.close(k, at)
	}
}

// glance is how long a card must have been in the thread for an “approve” without a number to mean it:
// who writes that while one card takes the place of another has seen the other.
const glance = 2 * time.Second

// meant returns the card that a response written at that time means, or what the person is told instead.
// A card that came up later is none that the person can have seen.
func (s *state) meant(o response, at time.Time) (ask, string) {
	n := o.number
	if n == 0 {
		if t := s.running(); t != nil && t.asking() != nil {
			n = t.asking().number
		}
	}
	switch {
	case n == 0, o.number == 0 && s.asks[n-1].at.After(at):
		return ask{}, nothingWaits
	case n > len(s.asks), s.asks[n-1].at.After(at):
		return ask{}, unknownNumber(n)
	}
	a := s.asks[n-1]
	switch {
	case o.verb == Choose && a.question == nil:
		return a, noQuestion(n)
	case o.verb != Choose && a.question != nil:
		return a, noApproval(n)
	case o.verb == Approve && lost(s, n):
		return a, notShown
	case o.verb == Approve && o.number == 0 && (a.shown.IsZero() || a.shown.Add(glance).After(at)):
		return a, justNow(n)
	}
	return a, ""
}

// lost reports whether the network refuses the card of that number, or a part of what would be approved
// with it, as far as the card still waits.
func lost(s *state, n int) bool {
	t := s.running()
	if t == nil || t.asking() == nil || t.asking().number != n {
		return false
	}
	name := key(t, t.asking().name())
	for failed := range s.failed {
		if failed == name || strings.HasPrefix(failed, name+"/part/") {
			return true
		}
	}
	return false
}

// posts notes that the message of that key has come into the thread.
func (s *state) posts(message string, at time.Time) {
	t := s.running()
	if t == nil {
		return
	}
	if k := t.asking(); k != nil && message == key(t, k.name()) {
		s.asks[k.number-1].shown = at
	}
}

// asksPeople reports whether the thread has had a question.
func (l *ledger) asksPeople() bool {
	return slices.ContainsFunc(l.asks, func(a ask) bool { return a.question != nil })
}

// choice returns the option that a text names by its label or its number, from 1, or 0.
func choice(q *agent.QuestionAsked, text string) int {
	bare := func(s string) string { return strings.Trim(strings.Join(strings.Fields(s), " "), " .!\"'`“”") }
	text = bare(text)
	for i, o := range q.Options {
		if strings.EqualFold(text, bare(o.Label)) {
			return i + 1
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(q.Options) {
		return n
	}
	return 0
}

// answerIn returns the answer to q that a message is, if it is one: an option, or words where they are
// welcome. What was written before the question came up is none.
func answerIn(m Said, q *agent.Question) (a agent.Answered, ok bool) {
	if len(m.Files) > 0 || q.At.After(m.written()) {
		return agent.Answered{}, false
	}
	a = agent.Answered{Call: q.Call, By: user(m.By), Option: choice(&q.QuestionAsked, m.Text), Text: m.Text, Message: m.ID}
	return a, a.Option > 0 || q.Free
}

// written returns when m was written, as far as the network tells.
func (m Said) written() time.Time {
	if m.Time.IsZero() {
		return time.Now()
	}
	return m.Time
}

// respond does what a response says. It reports whether it was one: “answer 2 of my questions” is none in a
// thread without questions.
func (b *Bot) respond(ctx context.Context, m Said, o response) (done bool, err error) {
	session := m.Thread.String()
	var s state
	if err := s.read(ctx, b.cfg.Log, session); err != nil {
		return false, err
	}
	if s.obeyed[m.ID] {
		return true, nil
	}
	if o.verb == Choose && !s.asksPeople() {
		return false, nil
	}
	a, refusal := s.meant(o, m.written())
	if refusal != "" {
		b.teller.tell(m.Thread, m.By, m.ID, b.cfg.look().md(refusal))
		return true, nil
	}
	if o.verb == Choose {
		err = b.cfg.Agent.Answer(ctx, session, agent.Answered{
			Call: a.call, By: user(m.By), Option: choice(a.question, o.text), Text: o.text, Message: m.ID,
		})
	} else {
		err = b.cfg.Agent.Decide(ctx, session, agent.Decided{
			Call: a.call, Digest: a.digest, Yes: o.verb == Approve, By: user(m.By), Reason: o.text, Message: m.ID, As: m.By.Roles,
		})
	}
	return true, b.teller.refuse(m.Thread, m.By, m.ID, isOver, err)
}

// answered takes m for the answer to the question that waits, if it is one. Whoever is too late with
// an answer has said something to the model.
func answered(ctx context.Context, a Agent, m Said) (bool, error) {
	session := m.Thread.String()
	q, err := a.Question(ctx, session)
	if err != nil || q == nil {
		return false, err
	}
	answer, ok := answerIn(m, q)
	if !ok {
		return false, nil
	}
	err = a.Answer(ctx, session, answer)
	if before := (*agent.AnsweredError)(nil); errors.As(err, &before) || errors.Is(err, agent.ErrOver) || errors.Is(err, agent.ErrNoOption) {
		return false, nil
	}
	return err == nil, err
}

// choose answers the question whose button was pressed.
func choose(ctx context.Context, a Agent, c Clicked) error {
	call, n, _ := strings.Cut(c.Value, " ")
	option, err := strconv.Atoi(n)
	if err != nil {
		return agent.ErrOver // no button of ours
	}
	return a.Answer(ctx, c.Thread.String(), agent.Answered{Call: call, By: user(c.By), Option: option, Text: c.Reason})
}

// answeredBefore tells a person who was first with an answer.
func answeredBefore(l look, a agent.Answered, by Person) string {
	who := "You have"
	if a.By.ID != by.ID {
		who = l.who(a.By) + " has"
	}
	return who + " answered this already: " + l.md(quote(a.Text))
}
