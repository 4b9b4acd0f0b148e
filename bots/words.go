package bots

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/heddle-bot/heddle/agent"
)

// This file is the words that people are told. What the model is told is in package prompts.

// help answers a mention that asks for nothing.
const help = "Tell me what to do in the same message as the mention, and I work on it in this thread. " +
	"I ask here before I change anything. Say “stop” to stop me."

// withheld is told in a thread in which people talk to the bot without its hearing them.
const withheld = "I can read only messages that mention me. To tell me something, mention me in it."

// What people are told privately.
const (
	notLetIn     = "You may not talk to me here. Whoever runs me decides who may."
	notOutside   = "I take nothing from people of other organisations here. Whoever runs me can allow it."
	enoughBots   = "I hear no more from bots here until a person says something."
	beingStopped = "This is being stopped, so no answer is needed any more."
	nothingWaits = "Nothing is waiting for an approval here."
	noOption     = "This is not one of the answers that can be given; the card shows them. The question still waits."
	notShown     = "Not all of what I would do is shown here, so it cannot be approved. It can be denied."
	mayNotDecide = "You may not approve or deny this. The card says who may."
	isOver       = "This is not waiting for an answer any more."
	turnIsOver   = "This has come to its end already."
	nothingRuns  = "Nothing is running here."
	nothingSaid  = "Nothing has been said here yet."
	noFile       = "I could not put a file here. Whoever runs me finds in the log why, and can make the file there."
	stopFirst    = "I am at work here. Say “stop” first, or wait for me."
	noCommand    = "That is no command of mine: “help” shows which there are. To have something done, mention me."
	inThread     = "I cannot see which thread you mean. Mention me there with this word."
	notTaken     = "I could not take this message in, because of a fault of mine. I am trying again; if nothing happens here, please say it again later."
	notDone      = "That did not work, because of a fault of mine. Please try again."
)

// sayStop tells how to stop a turn where there is no button for it.
const sayStop = "Say “stop” here to end this."

// What people read on the bot's page.
const (
	nothingForYou  = "Nothing waits for you."
	nothingOfYours = "Nothing runs in the threads that you take part in."
)

// summedUp is told when there was no room left for the model.
const summedUp = "This conversation had grown too long for the model, so I have summed up what came before and go on with the summary."

// What is told of orders that mean no card, as Markdown.
func unknownNumber(n int) string {
	return fmt.Sprintf("Nothing in this thread has the number %d.", n)
}

func justNow(n int) string {
	return fmt.Sprintf("What waits now came up as you wrote. Look at it, then say `approve %d`.", n)
}

func noQuestion(n int) string {
	return fmt.Sprintf("Number %d is an approval: say `approve %d` or `deny %d`.", n, n, n)
}

func noApproval(n int) string {
	return fmt.Sprintf("Number %d is a question: say `answer %d` and your answer.", n, n)
}

// quote returns what a person said, shortened to one line, as Markdown.
func quote(s string) string { return "“" + clip(strings.Join(strings.Fields(s), " "), 250) + "”" }

// ending returns why a turn ended, as Markdown, for all reasons but Completed and Cancelled.
func ending(l look, e *agent.TurnEnded) string {
	s := why(e)
	if e.Detail != "" {
		s += "\nDetails: " + l.code(e.Detail)
	}
	return s
}

func why(e *agent.TurnEnded) string {
	const goOn = " Tell me how to go on."
	switch e.Reason {
	case agent.Completed, agent.NoResponse:
		return "(No response) The model ended without an answer. Please ask again, perhaps in other words."
	case agent.MaxSteps:
		return fmt.Sprintf("I stopped at my limit of steps, after %d; this is not finished.", e.Steps) + goOn
	case agent.TimeUp:
		return "I stopped because the time for one request is up; this is not finished." + goOn
	case agent.BudgetExhausted:
		return "I stopped because the token budget of one request is used up; this is not finished." + goOn
	case agent.Repeated:
		return "I stopped because I was asking for the same thing again and again; this is not finished." + goOn
	case agent.NoProgress:
		return "I stopped because step after step brought nothing but errors; this is not finished." + goOn
	case agent.PolicyRefused:
		return "I stopped because what this needs is not allowed here."
	case agent.CutOff:
		return "The model's answer was cut off at its length limit. Please ask for less at once, or for it in parts."
	case agent.ContentFiltered:
		return "The model's provider withheld the answer (content filter). Please ask in another way."
	case agent.ModelFailed:
		return failed(e)
	case agent.TakenBack:
		return "Withdrawn: the message that asked for this was deleted."
	case agent.SummedUp:
		return "I have summed up what was said here. I go on with the summary and the newest messages."
	case agent.NotSummedUp:
		return "I could not sum up what was said here; nothing has changed."
	case agent.Broken:
		return "I stopped because of a fault of mine; this is not finished. Please tell whoever runs me."
	}
	return fmt.Sprintf("I stopped (%s).", e.Reason) // of a newer release
}

// failed returns what kept the model from answering and what to do about it.
func failed(e *agent.TurnEnded) string {
	s, do := "The model could not be asked.", "Please try again later."
	switch e.Kind { // of package agent/llm; the strings are for ever
	case "auth":
		s, do = "The model's provider does not accept the key of this service.", "Whoever runs me must correct it."
	case "quota":
		s, do = "The account at the model's provider has no money left.", "Whoever runs me must add some."
	case "rate_limit":
		s = "The model's provider limits the number of requests, also after several tries."
	case "context_size":
		s, do = "This thread has become too long for the model.", "Please go on in a new thread."
	case "bad_request":
		s, do = "The model's provider refused the request.", "Please tell whoever runs me."
	case "server":
		s = "The model's provider failed, also after several tries."
	case "timeout":
		s = "The model did not answer in time, also after several tries."
	case "truncated":
		s = "The model's answer broke off, also after several tries."
	case "content":
		s, do = "The model's provider refused this (content filter).", "Please ask in another way."
	case "endless":
		s, do = "The model's answer did not end, so I broke it off.", "Please ask for less at once."
	case "network":
		s = "The model's provider cannot be reached."
	}
	return s + " " + do
}

// noModel says that there is no model of that name.
func noModel(l look, e *agent.UnknownModelError) string {
	s := "There is no model " + l.code(e.Model) + " here."
	if len(e.Near) > 0 {
		s += " Did you mean `" + strings.Join(e.Near, "` or `") + "`?"
	}
	return l.md(s + " The word `model` alone shows which there are.")
}

// fateOf returns what becomes of what was said while a turn ran.
func fateOf(m mark) string {
	this, it := "this", "it"
	if n := len(m.row); n > 1 {
		this, it = fmt.Sprintf("these %d messages", n), fmt.Sprintf("these %d messages", n)
	}
	if len(m.row) == 0 {
		return "Withdrawn: the message was deleted."
	}
	switch said := m.newest(); {
	case said.fate == dropped:
		return "Stopped together with what was running."
	case said.fate == taken:
		return "Taken in."
	case said.late, said.busy == agent.Queue:
		return "In line: I begin with " + it + " when I am done with what is running."
	case said.busy == agent.Interrupt:
		return "I interrupt what I am writing and take " + this + " in."
	}
	return "I take " + this + " in at the next step."
}

// status returns how a call ended, in words that follow its title, and the sign before it.
func status(s agent.Status) (sign, words string) {
	switch s {
	case agent.OK:
		return "✓", ""
	case agent.Failed:
		return "✗", "failed"
	case agent.Invalid:
		return "✗", "was not a valid call"
	case agent.Refused:
		return "–", "is not allowed here"
	case agent.Denied:
		return "–", "was denied"
	case agent.Expired:
		return "–", "was answered by nobody"
	case agent.TimedOut:
		return "✗", "was ended at its time limit"
	case agent.Stopped:
		return "–", "was stopped"
	case agent.NotStarted:
		return "–", "did not run"
	case agent.Interrupted:
		return "?", "was interrupted: it may or may not have run"
	}
	return "?", string(s)
}

// clip cuts s to at most n runes, an ellipsis included.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// fit cuts s to at most n bytes, an ellipsis included, between two runes. 0 is no limit.
func fit(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	const more = "…"
	n = max(0, n-len(more))
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}

// settled returns s without a word at its end that may still be growing: half a secret looks like
// none and would not be masked.
func settled(s string) string {
	return strings.TrimRightFunc(s, func(r rune) bool { return r < utf8.RuneSelf && !unicode.IsSpace(r) })
}

// tail returns the end of s, from the beginning of a line or word if that is near.
func tail(s string, n int) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) <= n {
		return string(r)
	}
	s = string(r[len(r)-n:])
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 && i < len(s)/2 {
		s = s[i:]
	}
	return "… " + strings.TrimSpace(s)
}

// took returns a time span as people say it.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return "less than a second"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// elapsed returns how long something has been running, so coarsely that a message that says so needs few
// edits, or "".
func elapsed(d time.Duration) string {
	switch {
	case d < tick:
		return ""
	case d < time.Minute:
		return " " + took(d.Truncate(tick))
	}
	return fmt.Sprintf(" %d min", d/time.Minute)
}

// tick is the step of elapsed.
const tick = 15 * time.Second

// count returns "1 file", "3 files".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
