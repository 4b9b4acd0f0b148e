package story

import (
	"slices"

	"github.com/heddle-bot/heddle/agent"
)

// masked returns an item with every text passed through mask. Texts are masked before they become HTML: a
// secret with a quotation mark in it is another string there, and would not be found.
func masked(i *Item, mask func(string) string) *Item {
	if mask == nil {
		return i
	}
	c := *i
	c.By.Name, c.Text = mask(c.By.Name), mask(c.Text)
	c.Files = slices.Clone(c.Files)
	for n := range c.Files {
		f := &c.Files[n]
		f.Name, f.Path, f.Detail = mask(f.Name), mask(f.Path), mask(f.Detail)
	}
	c.Call = maskedCall(c.Call, mask)
	return &c
}

func maskedCall(call *CallState, mask func(string) string) *CallState {
	if call == nil {
		return nil
	}
	c := *call
	c.Tool, c.Title, c.Args = mask(c.Tool), mask(c.Title), mask(c.Args)
	if c.Card != nil {
		card := *c.Card
		card.Preview, card.Dir = mask(card.Preview), mask(card.Dir)
		if card.Decided != nil {
			d := *card.Decided
			d.Reason = mask(d.Reason)
			card.Decided = &d
		}
		c.Card = &card
	}
	c.Question = maskedQuestion(c.Question, mask)
	if c.Finished != nil {
		f := *c.Finished
		f.Text, f.Note = mask(f.Text), mask(f.Note)
		if f.Sent != nil {
			sent := *f.Sent
			sent.Name = mask(sent.Name)
			f.Sent = &sent
		}
		c.Finished = &f
	}
	return &c
}

func maskedQuestion(question *Question, mask func(string) string) *Question {
	if question == nil {
		return nil
	}
	q := *question
	q.Text = mask(q.Text)
	q.Options = make([]agent.Option, len(question.Options))
	for n, o := range question.Options {
		q.Options[n] = agent.Option{Label: mask(o.Label), Description: mask(o.Description)}
	}
	if q.Answered != nil {
		a := *q.Answered
		a.Text = mask(a.Text)
		q.Answered = &a
	}
	return &q
}
