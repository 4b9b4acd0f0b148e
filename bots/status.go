package bots

import (
	"context"
	"fmt"
	"strings"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// This file answers what is going on. The answers are made from the log when they are asked for.

// An account is what a session's log says to those who ask for its status. The zero account is that
// of an empty log, and is not to be changed.
type account struct {
	state
	model         string          // that somebody chose; empty is the channel's
	input, output int             // tokens of all requests so far
	steps, spent  int             // requests and tokens of the latest turn
	people        map[string]bool // by id: who has said something, or answered
}

// newAccount reads the session's log.
func newAccount(ctx context.Context, log Log, session string) (*account, error) {
	a := &account{people: map[string]bool{}}
	for e, err := range log.Read(ctx, session, 0) {
		if err == nil {
			err = a.apply(e)
		}
		if err != nil {
			return nil, fmt.Errorf("reading session %s: %w", session, err)
		}
	}
	return a, nil
}

// apply folds the next entry.
func (a *account) apply(e store.Entry) error {
	for _, ev := range e.Events {
		v, err := agent.Decode(ev)
		if err != nil {
			return fmt.Errorf("frame %d: %w", e.Pos, err)
		}
		var used agent.TurnEnded // for its Usage
		switch v := v.(type) {
		case *agent.UserSaid:
			a.people[v.By.ID] = true
		case *agent.Decided:
			a.people[v.By.ID] = true
		case *agent.Answered:
			a.people[v.By.ID] = true
		case *agent.ModelChosen:
			a.model = v.Model
		case *agent.TurnStarted:
			a.steps, a.spent = 0, 0
		case *agent.ModelSaid:
			used.Usage = v.Usage
			a.steps++
		case *agent.Compacted:
			used.Usage = v.Usage
		case *agent.CompactFailed:
			used.Usage = v.Usage
		}
		a.input += used.Usage.Input
		a.output += used.Usage.Output
		a.spent += used.Usage.Total()
	}
	return a.state.apply(e)
}

// current returns what the turn is at that runs or is about to, or "".
func current(l look, a *account, live agent.Live) string {
	t := a.running()
	if t == nil {
		t = a.coming()
	}
	if t == nil {
		return ""
	}
	s := l.md(doing(t, live, l.now))
	if t.asked != nil {
		s += " " + l.who(t.asked.by) + " asked for " + l.md(l.code(t.asked.text))
	} else {
		s += " It began"
	}
	s += t.since.UTC().Format(" at 15:04 UTC on 2 January.")
	if k := t.asking(); k != nil {
		what, until := k.waits(l)
		s += fmt.Sprintf("\n%s waits for an answer since %s. %s", l.md(l.code(what)), took(l.now.Sub(k.at)), until)
	}
	return s
}

// statusOf returns what a thread is at, and what it has used.
func statusOf(l look, a *account, live agent.Live, model string) string {
	lines := []string{nothingRuns}
	if now := current(l, a, live); now != "" {
		lines[0] = now
	}
	if n := len(a.waiting); a.running() != nil && n > 0 {
		lines = append(lines, "In line: "+count(n, "message")+".")
	}
	if model != "" {
		lines = append(lines, l.md("Model: "+l.code(model)+"."))
	}
	return strings.Join(append(lines, usedSoFar(a)), "\n")
}

// budgetOf returns what a turn may use, and what has been used.
func budgetOf(a *account, most agent.Limits) string {
	most = most.WithDefaults()
	lines := []string{fmt.Sprintf("A turn here may ask the model %s, work for %s without the time that it waits for people, and use %s.",
		count(most.Steps, "time"), strings.TrimSuffix(took(most.Time), " 0 s"), count(most.Tokens, "token"))}
	if a.running() != nil {
		lines = append(lines, fmt.Sprintf("The turn that runs has asked %s, with %s.", count(a.steps, "time"), count(a.spent, "token")))
	}
	return strings.Join(append(lines, usedSoFar(a)), "\n")
}

func usedSoFar(a *account) string {
	return fmt.Sprintf("Used in this thread so far: %s in, %d out.", count(a.input, "token"), a.output)
}

// maxThreads bounds the threads that the status of a channel tells of.
const maxThreads = 10

// channelStatus returns what the threads of a channel are at that do something, or wait for somebody.
func (c clerk) channelStatus(ctx context.Context, l look, at Thread) (string, error) {
	var lines []string
	more := 0
	for sum, err := range c.Log.Sessions(ctx, store.Query{Prefix: at.ChannelID() + "/"}) {
		if err != nil {
			return "", fmt.Errorf("listing sessions: %w", err)
		}
		if sum.Free && sum.Due.IsZero() {
			continue // nothing is left to do there
		}
		if len(lines) == maxThreads {
			more++
			continue
		}
		a, err := newAccount(ctx, c.Log, sum.Session)
		if err != nil {
			return "", err
		}
		if now := current(l, a, c.Agent.Live(sum.Session)); now != "" {
			lines = append(lines, "• "+now)
		}
	}
	switch {
	case len(lines) == 0:
		return "Nothing is running in this channel.", nil
	case more > 0:
		lines = append(lines, fmt.Sprintf("There may be %d more.", more))
	}
	return strings.Join(lines, "\n"), nil
}
