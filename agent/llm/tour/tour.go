// Package tour is a model without any AI: a script that answers a handful of requests through the real
// loop, the real tools and the real approvals, and says what is happening at each step. It is for those who
// want to see how the service works before they have a model.
//
// What it does is a function of the request alone (Reply), as with every model. What it understands is in
// parse.go, what it says in say.go. It says of itself that it is no AI, and must go on to.
package tour

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/heddle-bot/heddle/agent/llm"
)

// Name is what the model calls itself.
const Name = "tour (a script, no AI)"

// A Tour is the model. The zero Tour writes as fast as it can.
type Tour struct {
	Pause time.Duration // between two words, so that people see the answer being written
}

var _ llm.Model = Tour{}

// Generate implements llm.Model.
func (t Tour) Generate(ctx context.Context, r *llm.Request, emit func(llm.Delta)) (*llm.Reply, error) {
	reply := Reply(r)
	for _, word := range pieces(reply.Text) {
		if t.Pause > 0 {
			timer := time.NewTimer(t.Pause)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if emit != nil {
			emit(llm.Delta{Text: word})
		}
	}
	return reply, nil
}

// pieces cuts text behind its spaces.
func pieces(text string) []string {
	var all []string
	for text != "" {
		n := strings.IndexFunc(text, unicode.IsSpace)
		for n >= 0 && n < len(text) && text[n] == ' ' {
			n++
		}
		if n <= 0 {
			n = max(1, strings.IndexFunc(text[1:], unicode.IsSpace)+1)
			if n == 1 && !unicode.IsSpace(rune(text[0])) {
				n = len(text)
			}
		}
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

// Reply returns what the tour says to a request.
func Reply(r *llm.Request) *llm.Reply {
	if r.NoCalls {
		return answer(r, "This is the tour, which is no AI: it cannot sum up a conversation. Nothing of it is lost; the log has all.")
	}
	t := look(r.Messages)
	if t.call != nil {
		return follow(r, t)
	}
	reply := begin(r, t.wish)
	if t.stopped {
		reply.Text = "The turn before was stopped; what had not run by then did not run.\n\n" + reply.Text
	}
	return reply
}

// A talk is the state of the conversation.
type talk struct {
	wish    wish
	said    string    // by whoever spoke last, without the name
	call    *llm.Call // the latest since then, or nil
	result  string    // of call
	calls   int       // since then
	stopped bool      // the turn before was

	before  string // what was said before that
	offered string // the tour's last words before it
	last    string // the tour's last words
}

// look reads a conversation.
func look(messages []*llm.Message) talk {
	var t talk
	stopped := false
	for _, m := range messages {
		switch m.Role {
		case llm.User:
			if strings.HasPrefix(m.Text, "(Heddle)") {
				stopped = stopped || strings.Contains(m.Text, "stopped this turn")
				continue
			}
			t = talk{said: words(m.Text), before: t.said, offered: t.last, last: t.last, stopped: stopped}
			stopped = false
		case llm.Assistant:
			t.last = m.Text
			if n := len(m.Calls); n > 0 {
				t.call, t.result = &m.Calls[n-1], ""
				t.calls += n
			}
		case llm.ToolRole:
			if t.call != nil && m.CallID == t.call.ID {
				t.result = m.Text
			}
		}
	}
	t.wish = parse(t.said)
	if m := again.FindStringSubmatch(t.offered); m != nil && t.wish.what == agreeing {
		t.wish = parse(t.before)
		t.wish.path = m[1]
	}
	return t
}

// words returns what a person said in a message: it stands behind a name, its further lines are indented,
// and what the program tells of files follows it.
func words(text string) string {
	text, _, _ = strings.Cut(text, "\n(Heddle)")
	if _, rest, ok := strings.Cut(text, ": "); ok {
		text = rest
	}
	return strings.TrimSpace(strings.ReplaceAll(text, "\n  ", "\n"))
}

// answer is a reply in words.
func answer(r *llm.Request, text string) *llm.Reply {
	return &llm.Reply{Text: text, Stop: llm.EndTurn, Model: Name, Usage: usage(r, text)}
}

// ask is a reply that wants a tool to run.
func ask(r *llm.Request, text, tool string, args any) *llm.Reply {
	data, err := json.Marshal(args)
	if err != nil {
		panic(fmt.Sprintf("tour: encoding arguments: %v", err)) // strings encode
	}
	call := llm.Call{ID: fmt.Sprintf("tour-%d", len(r.Messages)), Name: tool, Args: data}
	return &llm.Reply{Text: text, Calls: []llm.Call{call}, Stop: llm.ToolUse, Model: Name, Usage: usage(r, text)}
}

// usage is about what a model would have been paid for: four characters are a token.
func usage(r *llm.Request, text string) llm.Usage {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return llm.Usage{Input: n / 4, Output: len(text)/4 + 1}
}
