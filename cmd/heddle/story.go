package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// story returns what an event means to a person, or "" for one that is only bookkeeping.
func story(e store.Event) (string, error) {
	v, err := agent.Decode(e)
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case *agent.Opened:
		return fmt.Sprintf("session opened in workspace %s (%s)", v.Workspace, v.Dir), nil
	case *agent.UserSaid:
		return userSaid(v), nil
	case *agent.Quoted:
		return quoted(v), nil
	case *agent.Attached:
		return attached(v), nil
	case *agent.Amended:
		return fmt.Sprintf("%s changes message %s: %s", v.By, v.Of, v.Text), nil
	case *agent.Withdrawn:
		return fmt.Sprintf("message %s was deleted", v.Of), nil
	case *agent.Forgotten:
		return fmt.Sprintf("%s has the conversation begin anew", v.By), nil
	case *agent.ModelChosen:
		return fmt.Sprintf("%s chooses model %s", v.By, v.Model), nil
	case *agent.TurnStarted:
		return fmt.Sprintf("turn %d begins with model %s", v.Turn, v.Model), nil
	case *agent.ModelSaid:
		return modelSaid(v), nil
	case *agent.Nudged:
		return "the model is told: " + v.Text, nil
	case *agent.ApprovalAsked:
		return fmt.Sprintf("may call %s run? %s (until %s)\n%s", v.Call, v.Title, v.Expires.UTC().Format(time.DateTime), v.Preview), nil
	case *agent.Decided:
		return decided(v), nil
	case *agent.ApprovalExpired:
		return fmt.Sprintf("nobody answered about call %s", v.Call), nil
	case *agent.QuestionAsked:
		return questionAsked(v), nil
	case *agent.Answered:
		return fmt.Sprintf("%s answers call %s: %s", v.By, v.Call, v.Text), nil
	case *agent.QuestionExpired:
		return fmt.Sprintf("nobody answered the question of call %s", v.Call), nil
	case *agent.ToolStarted:
		return fmt.Sprintf("call %s runs: %s", v.Call, v.Title), nil
	case *agent.ToolFinished:
		return finished(v), nil
	case *agent.StopAsked:
		return fmt.Sprintf("%s asks to stop", v.By), nil
	case *agent.TurnEnded:
		return turnEnded(v), nil
	}
	return "", nil
}

func userSaid(v *agent.UserSaid) string {
	s := fmt.Sprintf("%s: %s", v.By, v.Text)
	for _, f := range v.Files {
		s += fmt.Sprintf("\nwith the file %q", f.Name)
	}
	return s
}

func quoted(v *agent.Quoted) string {
	if v.Detail != "" {
		return "what was said in the thread before could not be read: " + v.Detail
	}
	lines := []string{fmt.Sprintf("the thread before, %d messages:", len(v.Said))}
	for i, q := range v.Said {
		if i == 1 && v.Left {
			lines = append(lines, "(some are left out)")
		}
		lines = append(lines, fmt.Sprintf("%s: %s", q.By, q.Text))
	}
	return strings.Join(lines, "\n")
}

func attached(v *agent.Attached) string {
	var lines []string
	for _, a := range v.Files {
		s := fmt.Sprintf("file %q: ", a.Name)
		if a.Kind == agent.NoFile {
			lines = append(lines, s+"not taken in, "+a.Detail)
			continue
		}
		s += fmt.Sprintf("%s, %d bytes", a.Type, a.Size)
		if a.Path != "" {
			s += ", saved as " + a.Path
		}
		if a.Artefact != "" {
			s += ", kept as artefact " + a.Artefact
		}
		lines = append(lines, s)
	}
	return strings.Join(lines, "\n")
}

func modelSaid(v *agent.ModelSaid) string {
	lines := []string{"model: " + v.Text}
	if v.Partial {
		lines[0] += " (cut off)"
	}
	for _, c := range v.Calls {
		lines = append(lines, fmt.Sprintf("asks for call %s: %s %s", c.ID, c.Tool, c.Args))
	}
	return strings.Join(lines, "\n")
}

func questionAsked(v *agent.QuestionAsked) string {
	lines := []string{fmt.Sprintf("call %s asks the people: %s (until %s)", v.Call, v.Question, v.Expires.UTC().Format(time.DateTime))}
	for i, o := range v.Options {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%d. %s %s", i+1, o.Label, o.Description), " "))
	}
	return strings.Join(lines, "\n")
}

func decided(v *agent.Decided) string {
	word := "denies"
	if v.Yes {
		word = "approves"
	}
	s := fmt.Sprintf("%s %s call %s", v.By, word, v.Call)
	if v.Reason != "" {
		s += ": " + v.Reason
	}
	return s
}

func finished(v *agent.ToolFinished) string {
	s := fmt.Sprintf("call %s: %s", v.Call, v.Status)
	if v.Took > 0 {
		s += " after " + v.Took.Round(time.Millisecond).String()
	}
	if v.Artefact != "" {
		s += ", all of it is artefact " + v.Artefact
	}
	if v.Sent != nil {
		s += fmt.Sprintf(", sends the file %q, artefact %s", v.Sent.Name, v.Sent.Artefact)
	}
	return s + "\n" + v.Text
}

func turnEnded(v *agent.TurnEnded) string {
	s := fmt.Sprintf("turn %d ends: %s, %d steps, %d tokens", v.Turn, v.Reason, v.Steps, v.Usage.Total())
	if v.Detail != "" {
		s += ": " + v.Detail
	}
	return s
}

// indent returns text with first before its first line and as much space before the others.
func indent(first, text string) string {
	text = strings.TrimRight(text, "\n")
	return first + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", len(first))) + "\n"
}

// plain returns text as a terminal may show it: control characters, and those that hide or turn round
// what is beside them, are written out. With them people, tools and models could operate the terminal,
// or make what happened look like something else. Line ends and tabs stay.
func plain(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case hostile(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// hostile reports whether a terminal must not get r. What joins letters and emoji is harmless.
func hostile(r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	switch r {
	case '\n', '\t', joiner, nonJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
