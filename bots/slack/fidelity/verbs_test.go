//go:build fidelity

package fidelity

import (
	"strconv"

	"github.com/heddle-bot/heddle/bots/slack/slacktest"
	"github.com/heddle-bot/heddle/internal/nodetest"
)

// verbs is what a program may ask for.
func verbs(w *slacktest.Workspace) map[string]nodetest.Verb {
	nothing := nodetest.Nothing
	return map[string]nodetest.Verb{
		"addUser":     func(a []string) (any, error) { return w.AddUser(a[0]), nil },
		"addStranger": func(a []string) (any, error) { return w.People.AddStranger(a[0]), nil },
		"addChannel":  func(a []string) (any, error) { return w.AddChannel(a[0]), nil },
		"direct":      func(a []string) (any, error) { return w.Direct(a[0]), nil },
		"say":         func(a []string) (any, error) { return w.Say(a[0], a[1], a[2], a[3]), nil },
		"attach": func(a []string) (any, error) {
			return w.People.Attach(a[0], a[1], a[2], a[3], slacktest.Attachment{Name: a[4], Content: a[5]}), nil
		},
		"edit":   nothing(func(a []string) { w.People.Edit(a[0], a[1], a[2]) }),
		"delete": nothing(func(a []string) { w.People.Delete(a[0], a[1]) }),

		"click":   func(a []string) (any, error) { return nil, w.Click(a[0], a[1], a[2], a[3]) },
		"submit":  func(a []string) (any, error) { return nil, w.Submit(a[0], a[1]) },
		"command": func(a []string) (any, error) { return nil, w.People.Command(a[0], a[1], a[2]) },
		"stop":    func(a []string) (any, error) { return nil, w.People.Stop(a[0], a[1], a[2]) },
		"press":   func(a []string) (any, error) { return nil, w.People.Press(a[0], a[1]) },

		"openHome": nothing(func(a []string) { w.People.OpenHome(a[0]) }),
		"startAssistant": func(a []string) (any, error) {
			channel, thread := w.People.StartAssistant(a[0])
			return []string{channel, thread}, nil
		},

		"channel":   func(a []string) (any, error) { return w.Channel(a[0]), nil },
		"thread":    func(a []string) (any, error) { return w.Thread(a[0], a[1]), nil },
		"assistant": func(a []string) (any, error) { return w.People.Assistant(a[0], a[1]), nil },
		"home":      func(a []string) (any, error) { return view(w.People.Home(a[0])) },
		"view":      func(a []string) (any, error) { return view(w.View(a[0])) },
		"stats":     func([]string) (any, error) { return w.Socket.Stats(), nil },

		"sendTo": func(a []string) (any, error) { return nil, w.SendTo(a[0]) },
		"fail": func(a []string) (any, error) {
			status, err := strconv.Atoi(a[1])
			w.API.Fail(a[0], slacktest.Fault{Status: status, RetryAfter: a[2]})
			return nil, err
		},
		"disconnect": nothing(func(a []string) { w.Socket.Disconnect(a[0]) }),
		"kill":       nothing(func([]string) { w.Socket.Kill() }),
	}
}

// view returns a view, or null if there is none.
func view(v slacktest.View, ok bool) (any, error) {
	if !ok {
		return nil, nil
	}
	return v, nil
}
