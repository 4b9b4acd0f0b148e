package slacktest

import "time"

// A refused is why a call does not succeed.
type refused struct {
	code     string
	problems []string      // of the arguments or the blocks, one line each
	needed   string        // the scope that the token lacks
	provided string        // those that it has
	after    time.Duration // a call that comes too soon: when to come again
}

func refuse(code string, problems ...string) *refused {
	return &refused{code: code, problems: problems}
}

// answer is what Slack sends.
func (no *refused) answer() map[string]any {
	v := map[string]any{"ok": false, "error": no.code}
	if no.needed != "" {
		v["needed"], v["provided"] = no.needed, no.provided
	}
	if len(no.problems) > 0 {
		messages := []string{}
		for _, p := range no.problems {
			messages = append(messages, "[ERROR] "+p)
		}
		v["response_metadata"] = map[string]any{"messages": messages}
		if no.code == "invalid_blocks" {
			v["errors"] = no.problems
		}
	}
	return v
}
