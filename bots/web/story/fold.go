package story

import (
	"fmt"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// event folds the n-th event of an entry.
func (s *Story) event(e store.Entry, n int, v any) {
	switch v := v.(type) {
	case *agent.UserSaid:
		s.add(e, Item{ID: fmt.Sprintf("m%d", e.Pos), Kind: Said, By: v.By, Text: v.Text, Message: e.Key})
		if s.sum.Title == "" {
			s.sum.Title = tools.Clip(v.Text, maxTitle)
		}
	case *agent.Amended:
		if i := s.said(v.Of); i != nil {
			i.Text, i.Marks.Edited, i.Rev = v.Text, true, e.Pos
		}
	case *agent.Withdrawn:
		if i := s.said(v.Of); i != nil {
			i.Marks.Withdrawn, i.Rev = true, e.Pos
		}
	case *agent.Attached:
		if i := s.byID[fmt.Sprintf("m%d", v.Said)]; i != nil {
			i.Files, i.Rev = v.Files, e.Pos
		}
	case *agent.TurnStarted:
		s.sum.Turn, s.begun = v.Turn, len(s.items)
	case *agent.ModelSaid:
		s.modelSaid(e, n, v)
	case *agent.TurnEnded:
		s.turnEnded(e, n, v)
	default:
		if !s.called(e, v) {
			s.told(e, n, v)
		}
	}
}

func (s *Story) modelSaid(e store.Entry, n int, v *agent.ModelSaid) {
	s.sum.Tokens += v.Usage.Total()
	s.sum.Steps++
	if v.Model != "" {
		s.sum.Model = v.Model
	}
	if v.Text != "" {
		s.add(e, Item{ID: fmt.Sprintf("a%d-%d", e.Pos, n), Kind: Answer, Text: v.Text, Marks: Marks{Partial: v.Partial}})
	}
	for _, c := range v.Calls {
		s.add(e, Item{ID: "c" + callID(c.ID), Kind: Call, Call: &CallState{ID: c.ID, Tool: c.Tool, Title: c.Tool, Args: indented(c.Args)}})
	}
}

// called folds what happens to a call, and reports whether it was that.
func (s *Story) called(e store.Entry, v any) bool {
	switch v := v.(type) {
	case *agent.ApprovalAsked:
		if c := s.call(e, v.Call); c != nil {
			s.cards++
			c.Title = v.Title
			c.Card = &Card{Kind: v.Kind, Preview: v.Preview, Dir: v.Dir, Digest: v.Digest, Number: s.cards, Expires: v.Expires, Approvers: v.Approvers, Again: v.Again}
		}
	case *agent.Decided:
		if c := s.call(e, v.Call); c != nil && c.Card != nil {
			c.Card.Decided = v
		}
	case *agent.ApprovalExpired:
		if c := s.call(e, v.Call); c != nil && c.Card != nil {
			c.Card.Expired = true
		}
	case *agent.QuestionAsked:
		if c := s.call(e, v.Call); c != nil {
			s.cards++
			c.Question = &Question{Text: v.Question, Options: v.Options, Free: v.Free, Number: s.cards, Expires: v.Expires}
		}
	case *agent.Answered:
		if c := s.call(e, v.Call); c != nil && c.Question != nil {
			c.Question.Answered = v
		}
	case *agent.QuestionExpired:
		if c := s.call(e, v.Call); c != nil && c.Question != nil {
			c.Question.Expired = true
		}
	case *agent.ToolStarted:
		if c := s.call(e, v.Call); c != nil {
			c.Started = e.Time
			if v.Title != "" {
				c.Title = v.Title
			}
		}
	case *agent.ToolFinished:
		if c := s.call(e, v.Call); c != nil {
			c.Finished = v
			if v.Title != "" {
				c.Title = v.Title
			}
		}
	default:
		return false
	}
	return true
}

// told folds what people are told of as a note.
func (s *Story) told(e store.Entry, n int, v any) {
	switch v := v.(type) {
	case *agent.StopAsked:
		s.note(e, n, "%s stops this.", v.By)
	case *agent.CompactAsked:
		s.note(e, n, "%s wants the conversation summed up.", v.By)
	case *agent.Compacted:
		s.sum.Tokens += v.Usage.Total()
		s.note(e, n, "What came before was summed up for the model. The log has all of it.")
	case *agent.CompactFailed:
		s.sum.Tokens += v.Usage.Total()
		s.note(e, n, "The conversation could not be summed up: %s", v.Detail)
	case *agent.Forgotten:
		s.note(e, n, "%s has the conversation begin anew for the model. The log has all of it.", v.By)
	case *agent.ModelChosen:
		s.note(e, n, "%s chooses the model %s, from the next request on.", v.By, v.Model)
	}
}

// turnEnded closes what is open, and tells why the turn ended if it is not that it was done.
func (s *Story) turnEnded(e store.Entry, n int, v *agent.TurnEnded) {
	s.sum.Turn = 0
	for _, i := range s.items[min(s.begun, len(s.items)):] {
		if i.Call != nil && i.Call.Finished == nil && !i.Call.Over {
			i.Call.Over, i.Rev = true, e.Pos
		}
	}
	if text := ended(v); text != "" {
		s.note(e, n, "%s", text)
	}
}

// ended says why a turn ended, "" if it was done.
func ended(v *agent.TurnEnded) string {
	switch v.Reason {
	case agent.Completed, agent.SummedUp, agent.NotSummedUp:
		return ""
	case agent.Cancelled:
		return fmt.Sprintf("Stopped by %s.", v.By)
	case agent.TakenBack:
		return "Withdrawn: the message that asked for this was deleted."
	case agent.MaxSteps:
		return "I stopped at the limit of steps. Say how to go on."
	case agent.TimeUp:
		return "I stopped because the time for one turn was up. Say how to go on."
	case agent.BudgetExhausted:
		return "I stopped because the tokens for one turn were used up. Say how to go on."
	}
	reason := map[agent.Reason]string{
		agent.Repeated: "I stopped because I kept asking for the same", agent.NoProgress: "I stopped because step after step failed",
		agent.PolicyRefused: "I stopped because what I needed is not allowed here", agent.NoResponse: "The model gave no answer",
		agent.CutOff: "The model's answer was cut at its limit", agent.ContentFiltered: "The model's provider withheld the answer",
		agent.ModelFailed: "The model could not be asked", agent.Broken: "A fault of mine ended this",
	}[v.Reason]
	if reason == "" {
		reason = "This has ended: " + string(v.Reason)
	}
	if v.Detail != "" {
		return reason + ": " + v.Detail
	}
	return reason + "."
}
