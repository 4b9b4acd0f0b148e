package botstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots"
)

// A Fixture is a network with one Platform on it, and its people.
type Fixture interface {
	// Person returns somebody of that name, the same each time; Name need not be known.
	Person(name string) bots.Person

	// Say makes s.By write s.Text on the network: in s.Thread, or, if that is zero, as a new message in a
	// channel where the bot is. With s.Mention the bot is mentioned before the text. It returns the
	// event that Listen is to deliver; its Time and By.Name need not be known.
	Say(s bots.Said) bots.Said

	// Click makes by press the button with that label of a message of the bot's. If the button asks
	// for a reason the person answers with reason. It fails if there is no such button.
	Click(by bots.Person, t bots.Thread, id bots.MessageID, label, reason string) error

	// Shown returns the bot's messages that person sees in the thread, oldest first.
	Shown(t bots.Thread, person string) []Shown
}

// A Shown is one message of the bot as a person sees it.
type Shown struct {
	ID      bots.MessageID
	Text    string   // in the network's form, what Message.Code holds included
	Buttons []string // labels
	Private bool     // only this person sees it
}

// patience is how long the suite waits for what must happen. It is long because networks may deliver
// again only after a while.
const patience = 30 * time.Second

// Run checks the platform that newFixture makes, connected to nothing until Listen; each check gets a
// fresh one. newFixture leaves cleaning up to t.Cleanup.
func Run(t *testing.T, newFixture func(t *testing.T) (bots.Platform, Fixture)) {
	checks := []struct {
		name  string
		check func(*testing.T, *suite)
	}{
		{"listen ends with its context", checkEnd},
		{"what is said is delivered", checkSaid},
		{"what accept refuses is delivered again", checkAgain},
		{"a thread keeps its order", checkOrder},
		{"posts appear in their thread", checkThread},
		{"an edit replaces", checkEdit},
		{"an unsure post is one message", checkUnsure},
		{"a private message has one reader", checkPrivate},
		{"buttons bring back what they carry", checkButtons},
		{"labels are shown whole", checkLabels},
		{"long texts fit", checkLong},
		{"an unknown message cannot be edited", checkUnknown},
	}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			p, f := newFixture(t)
			c.check(t, newSuite(t, p, f))
		})
	}
}

// A suite is one check at work: a platform that is listened to.
type suite struct {
	Fixture
	platform bots.Platform
	ann, bob bots.Person
	t        *testing.T
	events   chan bots.Event
	refuse   chan error // what accept answers next; empty: nil
	stop     context.CancelFunc
	stopped  chan error
}

func newSuite(t *testing.T, p bots.Platform, f Fixture) *suite {
	ctx, cancel := context.WithCancel(context.Background())
	s := &suite{
		Fixture: f, platform: p, ann: f.Person("ann"), bob: f.Person("bob"), t: t, stop: cancel,
		events:  make(chan bots.Event, 100),
		refuse:  make(chan error, 100),
		stopped: make(chan error, 1),
	}
	go func() { s.stopped <- p.Listen(ctx, s.accept) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-s.stopped:
		case <-time.After(patience):
			t.Error("Listen has not returned after its context ended")
		}
	})
	return s
}

func (s *suite) accept(_ context.Context, e bots.Event) error {
	select {
	case err := <-s.refuse:
		s.events <- e
		return err
	default:
		s.events <- e
		return nil
	}
}

// next returns the next event that was delivered.
func (s *suite) next() bots.Event {
	s.t.Helper()
	select {
	case e := <-s.events:
		return e
	case err := <-s.stopped:
		s.stopped <- err
		require.FailNow(s.t, "Listen returned", "%v", err)
	case <-time.After(patience):
		require.FailNow(s.t, "nothing was delivered")
	}
	return nil
}

// hears checks that the next event is what Say announced.
func (s *suite) hears(want bots.Said) {
	s.t.Helper()
	got, ok := s.next().(bots.Said)
	require.True(s.t, ok, "delivered is no Said")
	want.Time, want.By.Name = got.Time, got.By.Name
	require.Equal(s.t, want, got)
}

// begin starts a thread.
func (s *suite) begin() bots.Thread {
	s.t.Helper()
	said := s.Say(bots.Said{By: s.ann, Text: "hello", Mention: true})
	s.hears(said)
	return said.Thread
}

// shown waits until the person sees what ok accepts.
func (s *suite) shown(t bots.Thread, person string, ok func([]Shown) bool) []Shown {
	s.t.Helper()
	var got []Shown
	require.Eventually(s.t, func() bool {
		got = s.Shown(t, person)
		return ok(got)
	}, patience, 5*time.Millisecond, "not shown")
	return got
}

func (s *suite) post(t bots.Thread, m bots.Message) bots.MessageID {
	s.t.Helper()
	id, err := s.platform.Post(s.t.Context(), t, m)
	require.NoError(s.t, err)
	require.NotEmpty(s.t, id)
	return id
}

func checkEnd(t *testing.T, s *suite) {
	s.begin()
	s.stop()
	select {
	case err := <-s.stopped:
		s.stopped <- err
		require.NoError(t, err)
	case <-time.After(patience):
		require.FailNow(t, "Listen has not returned after its context ended")
	}
}

func checkSaid(t *testing.T, s *suite) {
	info := s.platform.Info()
	said := s.Say(bots.Said{By: s.ann, Text: "what time is it?", Mention: true})
	require.Equal(t, info.Name, said.Thread.Platform)
	require.NotEmpty(t, said.ID)
	s.hears(said)
	parsed, err := bots.ParseThread(said.Thread.String())
	require.NoError(t, err)
	require.Equal(t, said.Thread, parsed)

	reply := s.Say(bots.Said{By: s.bob, Text: "and the date?", Thread: said.Thread})
	require.True(t, reply.Reply)
	require.Equal(t, said.Thread, reply.Thread, "a reply has the address of its thread")
	require.NotEqual(t, said.ID, reply.ID)
	s.hears(reply)
	s.hears(s.Say(bots.Said{By: s.bob, Text: "please", Mention: true, Thread: said.Thread}))
	require.Empty(t, s.events, "each message is delivered once")
}

func checkAgain(t *testing.T, s *suite) {
	s.refuse <- errors.New("the disk is full")
	said := s.Say(bots.Said{By: s.ann, Text: "hello", Mention: true})
	s.hears(said)
	s.hears(said) // again, under the same ID
	s.hears(s.Say(bots.Said{By: s.ann, Text: "and hello", Thread: said.Thread}))
	require.Empty(t, s.events, "what was taken is not delivered again")
}

func checkOrder(_ *testing.T, s *suite) {
	thread := s.begin()
	var want []bots.Said
	for i := range 20 {
		want = append(want, s.Say(bots.Said{By: s.ann, Text: fmt.Sprintf("word %d", i), Thread: thread}))
	}
	for _, said := range want {
		s.hears(said)
	}
}

func checkThread(t *testing.T, s *suite) {
	one, two := s.begin(), s.begin()
	require.NotEqual(t, one, two)
	a := s.post(one, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "first"})
	b := s.post(two, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "other"})
	c := s.post(one, bots.Message{Key: "2/answer/0", Class: bots.Final, Text: "second"})
	for _, person := range []string{s.ann.ID, s.bob.ID} {
		got := s.shown(one, person, func(m []Shown) bool { return len(m) == 2 })
		require.Equal(t, a, got[0].ID)
		require.Contains(t, got[0].Text, "first")
		require.Equal(t, c, got[1].ID)
		require.Contains(t, got[1].Text, "second")
		require.False(t, got[0].Private)
	}
	got := s.shown(two, s.ann.ID, func(m []Shown) bool { return len(m) == 1 })
	require.Equal(t, b, got[0].ID)
	require.Empty(t, s.events, "the bot's own words are not delivered as somebody else's") // nor, if they are, before the next check
}

func checkEdit(t *testing.T, s *suite) {
	thread := s.begin()
	id := s.post(thread, bots.Message{Key: "1/progress", Class: bots.Progress, Text: "working", Buttons: []bots.Button{{Label: "Stop", Action: bots.Stop, Value: "1"}}})
	s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) == 1 && len(m[0].Buttons) == 1 })
	done := bots.Message{Key: "1/progress", Class: bots.Progress, Text: "finished", Code: "exit 0", Lang: "sh"}
	for range 2 { // it may be repeated
		require.NoError(t, s.platform.Edit(t.Context(), thread, id, done))
	}
	got := s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) == 1 && strings.Contains(m[0].Text, "finished") })
	require.Equal(t, id, got[0].ID)
	require.Contains(t, got[0].Text, "exit 0")
	require.NotContains(t, got[0].Text, "working")
	require.Empty(t, got[0].Buttons, "an edit takes away what it does not have")
}

func checkUnsure(t *testing.T, s *suite) {
	thread := s.begin()
	m := bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "forty-two"}
	id := s.post(thread, m) // and then the program dies before it has written the id down
	m.Unsure = true
	require.Equal(t, id, s.post(thread, m))
	fresh := s.post(thread, bots.Message{Key: "1/answer/1", Class: bots.Final, Text: "never posted", Unsure: true})
	require.NotEqual(t, id, fresh)
	got := s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) >= 2 })
	require.Len(t, got, 2)
}

func checkPrivate(t *testing.T, s *suite) {
	thread := s.begin()
	_, err := s.platform.Post(t.Context(), thread, bots.Message{Key: "told/1", Class: bots.Notice, Text: "you may not", For: s.bob.ID})
	require.NoError(t, err)
	s.post(thread, bots.Message{Key: "1/answer/0", Class: bots.Final, Text: "for all"})
	got := s.shown(thread, s.bob.ID, func(m []Shown) bool { return len(m) == 2 })
	var private []Shown
	for _, m := range got {
		if m.Private {
			private = append(private, m)
		}
	}
	require.Len(t, private, 1)
	require.Contains(t, private[0].Text, "you may not")
	require.Len(t, s.Shown(thread, s.ann.ID), 1)
}

func checkButtons(t *testing.T, s *suite) {
	thread := s.begin()
	value := "1.2.1 " + strings.Repeat("0123456789abcdef", 4) // as long as a call and a digest
	id := s.post(thread, bots.Message{
		Key: "1/card/1.2.1/1", Class: bots.Approval, Text: "May I?", Code: "rm -r build", Lang: "sh",
		Buttons: []bots.Button{
			{Label: "Approve", Action: bots.Approve, Value: value, Style: bots.Primary},
			{Label: "Deny", Action: bots.Deny, Value: value, Style: bots.Danger},
			{Label: "Deny with reason", Action: bots.Deny, Value: value, Ask: "Why not?"},
		},
	})
	got := s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) == 1 })
	require.Contains(t, got[0].Text, "rm -r build")
	require.Equal(t, []string{"Approve", "Deny", "Deny with reason"}, got[0].Buttons)
	seen := map[string]bool{}
	for _, c := range []struct {
		label  string
		action bots.Action
		reason string
	}{{"Approve", bots.Approve, ""}, {"Deny", bots.Deny, ""}, {"Deny with reason", bots.Deny, "not on a Friday"}} {
		require.NoError(t, s.Click(s.bob, thread, id, c.label, c.reason))
		e, ok := s.next().(bots.Clicked)
		require.True(t, ok, "delivered is no Clicked")
		require.False(t, seen[e.ID], "each click has an id of its own")
		seen[e.ID] = true
		require.Equal(t, s.bob.ID, e.By.ID)
		e.By = bots.Person{}
		require.Equal(t, bots.Clicked{ID: e.ID, Thread: thread, Message: id, Action: c.action, Value: value, Reason: c.reason}, e)
	}
	require.Error(t, s.Click(s.bob, thread, id, "Maybe", ""))
}

// checkLabels has the buttons of a question, of which a network may want more than it gets: labels as
// long as they may be and alike but for their ends, and nine of one action, the last with a form.
func checkLabels(t *testing.T, s *suite) {
	thread, most := s.begin(), s.platform.Info().MaxLabel
	if most == 0 {
		most = 200
	}
	m := bots.Message{Key: "1/card/1.1.1/1", Class: bots.Approval, Text: "Which?"}
	var labels []string
	for i := range 8 {
		label := strings.Repeat("ö", most-1) + fmt.Sprint(i)
		labels = append(labels, label)
		m.Buttons = append(m.Buttons, bots.Button{Label: label, Action: bots.Choose, Value: fmt.Sprintf("1.1.1 %d", i+1)})
	}
	labels = append(labels, "Other…")
	m.Buttons = append(m.Buttons, bots.Button{Label: "Other…", Action: bots.Choose, Value: "1.1.1 0", Ask: strings.Repeat("よ", 150)})
	id := s.post(thread, m)
	got := s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) == 1 })
	require.Equal(t, labels, got[0].Buttons)
	for _, i := range []int{6, 8} {
		reason := ""
		if m.Buttons[i].Ask != "" {
			reason = "none of these"
		}
		require.NoError(t, s.Click(s.bob, thread, id, labels[i], reason))
		e, ok := s.next().(bots.Clicked)
		require.True(t, ok, "delivered is no Clicked")
		require.Equal(t, bots.Choose, e.Action)
		require.Equal(t, m.Buttons[i].Value, e.Value)
		require.Equal(t, reason, e.Reason)
	}
}

func checkLong(t *testing.T, s *suite) {
	info, thread := s.platform.Info(), s.begin()
	require.Positive(t, info.MaxText)
	id := s.post(thread, bots.Message{Key: "1/progress", Class: bots.Progress, Text: strings.Repeat("x", info.MaxText)})
	got := s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) == 1 })
	require.Contains(t, got[0].Text, strings.Repeat("x", info.MaxText), "MaxText fits")
	require.NoError(t, s.platform.Edit(t.Context(), thread, id, bots.Message{
		Key: "1/progress", Class: bots.Progress, Text: strings.Repeat("y", info.MaxText),
	}))

	pieces := info.Render(strings.Repeat("All work & no play <makes> *Jack* a `dull` boy.\n\n```go\nfunc main() {}\n```\n\n", 10+2*info.MaxText/80))
	require.Greater(t, len(pieces), 1)
	for i, p := range pieces {
		require.LessOrEqual(t, len(p), info.MaxText)
		require.NotEmpty(t, p)
		if i < 3 {
			s.post(thread, bots.Message{Key: fmt.Sprintf("1/answer/%d", i), Class: bots.Final, Text: p})
		}
	}
	s.post(thread, bots.Message{
		Key: "1/card/1.1.1/1", Class: bots.Approval, Text: strings.Repeat("t", info.MaxText), Lang: "diff",
		Code:    "+first line\n" + strings.Repeat("+more and more\n", 20_000) + "+last line",
		Buttons: []bots.Button{{Label: "Approve", Action: bots.Approve, Value: "1.1.1 x"}},
	})
	got = s.shown(thread, s.ann.ID, func(m []Shown) bool { return len(m) == 2+min(3, len(pieces)) })
	card := got[len(got)-1]
	require.Contains(t, card.Text, "+first line", "what does not fit is cut, and the message is posted all the same")
	require.Equal(t, []string{"Approve"}, card.Buttons)
}

func checkUnknown(t *testing.T, s *suite) {
	thread := s.begin()
	id := s.post(thread, bots.Message{Key: "1/progress", Class: bots.Progress, Text: "working"})
	err := s.platform.Edit(t.Context(), thread, id+"9", bots.Message{Key: "1/progress", Text: "finished"})
	require.ErrorIs(t, err, bots.ErrUnknownMessage)
	var e *bots.Error
	require.ErrorAs(t, err, &e)
}
