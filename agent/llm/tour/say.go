package tour

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// This file is what the tour says: at the beginning of a request what it is about to do, and behind each
// result what that meant.

const offer = `You can say, in about these words:

- **what is in here?** – I list the files
- **read** README.md
- **find** TODO, or **find** TODO **in** cmd
- **replace** teh **with** the **in** notes.txt – you will see the diff and decide
- **write** hello **to** hello.txt
- **run** date

For real work, give Heddle a model: set ` + "`OPENAI_API_KEY`, `OPENROUTER_API_KEY` or `DEEPSEEK_API_KEY`" + ` in the environment, or start Ollama, and start Heddle again.`

// Limits of the tools' arguments, and of what the tour does by itself for one request.
const (
	maxText  = 2000 // characters of a text to find or a command
	maxCalls = 5
)

// begin answers what somebody has just said.
func begin(r *llm.Request, w wish) *llm.Reply {
	switch w.what {
	case greeting:
		return answer(r, "Hello! I am the tour of Heddle: a script, no AI. I answer a handful of requests, but with the real tools, the real approvals and the real log.\n\n"+offer)
	case thanking:
		return answer(r, "You are welcome. I am a script and no AI, but I am glad all the same.\n\n"+offer)
	case helping:
		return answer(r, "I am the tour of Heddle: a script, no AI.\n\n"+offer)
	case agreeing:
		return answer(r, "I am a script and no AI, and do not remember what that could be about. Approvals are given on the card itself, so that everybody sees for what.\n\n"+offer)
	case vague:
		return answer(r, "I am a script and no AI, so I cannot guess the command. Give it as you would type it, e.g. **run** `git status`. It runs only when somebody has approved it.")
	case finding, running:
		if len([]rune(w.text)) > maxText {
			return answer(r, fmt.Sprintf("That is more than the tour, which is no AI, takes: at most %d characters.", maxText))
		}
	}
	if reply := act(r, w); reply != nil {
		return reply
	}
	return answer(r, "I am only the tour, a script and no AI, so I did not understand that.\n\n"+offer)
}

// act asks for the tool that begins what is wished, or returns nil.
func act(r *llm.Request, w wish) *llm.Reply {
	switch w.what {
	case listing:
		args := map[string]any{"pattern": "**/*", "limit": 100}
		if w.path != "" {
			args["path"] = w.path
		}
		return ask(r, "I look at the files. The tool `glob` only reads, so it runs without asking anybody.", "glob", args)
	case reading:
		return ask(r, fmt.Sprintf("I read %s. Reading needs no approval.", code(w.path)), "read", map[string]any{"path": w.path})
	case finding:
		return ask(r, fmt.Sprintf("I search for %s with `grep`. Searching needs no approval.", code(w.text)), "grep",
			map[string]any{"pattern": w.text, "literal": true, "ignore_case": true, "path": or(w.path, ".")})
	case replacing:
		return ask(r, fmt.Sprintf("First I read %s: a file has to be read before it may be changed, so that nothing is overwritten that nobody has seen.", code(w.path)), "read", map[string]any{"path": w.path})
	case writing:
		return ask(r, fmt.Sprintf("I propose to write %s. The card shows exactly what would be in it; nothing happens until somebody approves.", code(w.path)), "write", written(w))
	case running:
		return ask(r, "I propose a command. The card shows exactly what would run, and in which directory; nothing happens until somebody approves.", "shell", map[string]any{"command": w.text})
	}
	return nil
}

func written(w wish) any { return map[string]any{"path": w.path, "content": w.text + "\n"} }

// follow answers the result of a call.
func follow(r *llm.Request, t talk) *llm.Reply {
	head, body, _ := strings.Cut(t.result, "\n")
	_, status, _ := strings.Cut(head, ": ")
	if text := undone(status, body); text != "" {
		return answer(r, text)
	}
	if status == "ok" {
		return done(r, t, body)
	}
	if t.call.Name == "shell" {
		return answer(r, "It ran, and failed. What it said:\n\n"+fenced(body)+"\n\nA real model would read that and look for the reason.")
	}
	return failed(r, t, body)
}

// undone tells why a call did not run as it was shown, or returns "" if it ran.
func undone(status, body string) string {
	switch status {
	case "denied":
		if _, why, ok := strings.Cut(body, "The reason:"); ok {
			return "It was denied, so it did not run. The reason given: “" + strings.TrimSpace(why) + "”. A real model would read it and try another way."
		}
		return "It was denied, so it did not run and nothing has changed. The denial is in the log, with who said it and when."
	case "expired":
		return "Nobody answered in time, so it did not run. That is not the same as a no, and the log says so too. Ask again when somebody is there to decide."
	case "refused":
		return "The rules of this place forbid it, so it did not run, and nobody was asked. What is forbidden nobody can approve."
	case "interrupted":
		return "The program was interrupted while this ran, so it may or may not have done its work. It is never run again by itself: look first, then ask again if it is needed."
	case "timed out":
		return "It took longer than it may, and was ended. It may have done a part of its work."
	}
	return ""
}

// failed tells what went wrong, and does what helps where that is plain.
func failed(r *llm.Request, t talk, body string) *llm.Reply {
	changed := strings.Contains(body, "has changed since")
	unread := strings.Contains(body, "has not been read in this session")
	switch {
	case (t.call.Name == "edit" || t.call.Name == "write") && (changed || unread):
		why := "There is a file of that name, and it has to be read before it may be overwritten."
		if changed {
			why = "The file changed after the diff was shown, so nothing was done: what is approved is exactly what runs."
		}
		if t.calls >= maxCalls {
			return answer(r, why+" Ask me again when it is at rest.")
		}
		return ask(r, why+" I read it, and propose the change anew.", "read", map[string]any{"path": t.wish.path})
	case t.call.Name == "edit" && strings.Contains(body, "0 matches"):
		return answer(r, fmt.Sprintf("%s is not in %s, so there is nothing to replace. The tool says:\n\n%s", code(t.wish.text), code(t.wish.path), quoted(body)))
	}
	text := "That did not work. The tool says:\n\n" + quoted(body)
	if m := meant.FindStringSubmatch(body); m != nil {
		text += "\n\nSay **yes**, and I try again with `" + m[1] + "`."
	}
	return answer(r, text)
}

var (
	meant = regexp.MustCompile("did you mean ([^\\s`?]+)")
	again = regexp.MustCompile("I try again with `([^`]+)`")
)

// done tells what came of a call, or goes on.
func done(r *llm.Request, t talk, body string) *llm.Reply {
	w := t.wish
	switch t.call.Name {
	case "read":
		switch w.what {
		case replacing:
			return ask(r, "Now I propose the change. The card shows the exact diff. It is bound to what the file holds now: should the file change before you approve, I ask again.",
				"edit", map[string]any{"path": w.path, "old": w.text, "new": w.with, "replace_all": true})
		case writing:
			return ask(r, "Now I propose to write it. The card shows what of the file would go, and what would come.", "write", written(w))
		}
		return answer(r, fmt.Sprintf("That is %s:\n\n%s\n\nUnfold the step above to see what the tool was asked and what it answered.", code(w.path), fenced(body)))
	case "glob":
		if strings.HasPrefix(body, "no files") {
			return answer(r, "There are no files here yet. Say **write** hello **to** hello.txt, and there will be one.")
		}
		return answer(r, "That is what is here:\n\n"+fenced(body)+"\n\nTry **read** and one of these names.")
	case "grep":
		if strings.HasPrefix(body, "no matches") {
			return answer(r, fmt.Sprintf("I looked, and %s is nowhere in there. Upper and lower case are the same to me; what git ignores and what is no text I leave out.", code(w.text)))
		}
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
