// Package tour is a model without any AI: a script that answers a handful of requests through the real
// loop, the real tools and the real approvals, and says what is happening at each step. It is for those who
// want to see how the service works before they have a model.
//
// What it does is a function of the request alone (Reply), as with every model. What it understands is in
// parse.go, what it says in this file. It says of itself that it is no AI, and must go on to.
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
	for _, word := range words(reply.Text) {
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

// words cuts text behind its spaces.
func words(text string) []string {
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
	said, call, results := latest(r.Messages)
	if r.NoCalls {
		return answer(r, "This is the tour, which is no AI: it cannot sum up a conversation. Nothing of it is lost; the log has all.")
	}
	if call != nil {
		return after(r, said, *call, results)
	}
	w := parse(said)
	return begin(r, w)
}

// latest returns the words of whoever spoke last, without their name, and the latest call since with its
// result, if there is one.
func latest(messages []*llm.Message) (said string, call *llm.Call, result string) {
	for _, m := range messages {
		switch m.Role {
		case llm.User:
			if !strings.HasPrefix(m.Text, "(Heddle)") {
				said, call, result = unnamed(m.Text), nil, ""
			}
		case llm.Assistant:
			if n := len(m.Calls); n > 0 {
				call, result = &m.Calls[n-1], ""
			}
		case llm.ToolRole:
			if call != nil && m.CallID == call.ID {
				result = m.Text
			}
		}
	}
	return said, call, result
}

// unnamed returns a message without the name in front, as "alice: read the file" has one.
func unnamed(text string) string {
	name, rest, ok := strings.Cut(text, ": ")
	if ok && len(name) <= 100 && !strings.Contains(name, "\n") {
		return strings.TrimSpace(rest)
	}
	return strings.TrimSpace(text)
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

// begin answers what somebody has just said.
func begin(r *llm.Request, w wish) *llm.Reply {
	switch w.what {
	case greeting:
		return answer(r, "Hello! I am the tour of Heddle: a script, no AI. I answer a handful of requests, but with the real tools, the real approvals and the real log.\n\n"+offer)
	case helping:
		return answer(r, "I am the tour of Heddle: a script, no AI.\n\n"+offer)
	case listing:
		return ask(r, "I look at the files. The tool `glob` only reads, so it runs without asking anybody.", "glob", map[string]any{"pattern": "**/*", "limit": 100})
	case reading:
		return ask(r, fmt.Sprintf("I read %s. Reading needs no approval.", code(w.path)), "read", map[string]any{"path": w.path})
	case finding:
		return ask(r, fmt.Sprintf("I search for %s with `grep`. Searching needs no approval.", code(w.text)), "grep",
			map[string]any{"pattern": w.text, "literal": true, "ignore_case": true, "path": or(w.path, ".")})
	case replacing:
		return ask(r, fmt.Sprintf("First I read %s: a file has to be read before it may be changed, so that nothing is overwritten that nobody has seen.", code(w.path)), "read", map[string]any{"path": w.path})
	case writing:
		return ask(r, fmt.Sprintf("I propose to write %s. Below is exactly what would be in it; nothing happens until somebody approves.", code(w.path)), "write",
			map[string]any{"path": w.path, "content": w.text + "\n"})
	case running:
		return ask(r, "I propose a command. You see exactly what would run, and in which directory; nothing happens until somebody approves.", "shell", map[string]any{"command": w.text})
	}
	return answer(r, "I am only the tour, a script and no AI, so I did not understand that.\n\n"+offer)
}

const offer = `You can say, in about these words:

- **what is in here?** – I list the files
- **read** README.md
- **find** TODO, or **find** TODO **in** cmd
- **replace** teh **with** the **in** notes.txt – you will see the diff and decide
- **write** hello **to** hello.txt
- **run** date

For real work, give Heddle a model: set ` + "`OPENAI_API_KEY`, `OPENROUTER_API_KEY` or `DEEPSEEK_API_KEY`" + ` in the environment, or start Ollama, and start Heddle again.`

// after answers the result of a call.
func after(r *llm.Request, said string, call llm.Call, result string) *llm.Reply {
	w := parse(said)
	head, body, _ := strings.Cut(result, "\n")
	status := head[strings.LastIndex(head, ": ")+len(": "):]
	switch {
	case strings.HasPrefix(body, "A person refused this call and said why"):
		_, why, _ := strings.Cut(body, "The reason:")
		return answer(r, "It was denied, so it did not run. The reason given: “"+strings.TrimSpace(why)+"”. A real model would read it and try another way.")
	case status == "denied":
		return answer(r, "It was denied, so it did not run and nothing has changed. The denial is in the log, with who said it and when.")
	case status == "expired":
		return answer(r, "Nobody answered in time, so it did not run. That is not the same as a no, and the log says so too.")
	case strings.Contains(body, "has changed since it was approved"):
		return answer(r, "The file changed after the diff was shown, so I did nothing: what is approved is exactly what runs. Ask me again and you see the new diff.")
	case status != "ok" && call.Name != "shell":
		return answer(r, "That did not work. The tool says:\n\n"+quoted(body))
	}
	switch call.Name {
	case "read":
		if w.what == replacing {
			return ask(r, "Now I propose the change. The card shows the exact diff. It is bound to what the file holds now: should the file change before you approve, I ask again.",
				"edit", map[string]any{"path": w.path, "old": w.text, "new": w.with, "replace_all": true})
		}
		return answer(r, fmt.Sprintf("That is %s:\n\n%s\n\nUnfold the step above to see what the tool was asked and what it answered.", code(w.path), fenced(body)))
	case "glob":
		return answer(r, "That is what is here:\n\n"+fenced(body)+"\n\nTry **read** and one of these names.")
	case "grep":
		return answer(r, "I found:\n\n"+fenced(body))
	case "edit", "write":
		return answer(r, fmt.Sprintf("Done: %s is as the diff showed. The log has the diff, who approved it and when.", code(w.path)))
	case "shell":
		return answer(r, "It ran, and said:\n\n"+fenced(body))
	}
	return answer(r, "Done.")
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// code returns text as inline code.
func code(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "'")), " ")
	if text == "" {
		return "it"
	}
	return "`" + text + "`"
}

// maxShown is how much of a result the tour repeats, in bytes.
const maxShown = 1500

// fenced returns a result as code, of a long one the beginning.
func fenced(text string) string {
	text = strings.TrimRight(text, "\n")
	more := ""
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "")
		more = "\n\n…and more, which is in the step above."
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence + more
}

func quoted(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}
