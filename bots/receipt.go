package bots

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// The receipts are what a Bot writes into a session's log. Their JSON is for ever, as that of the
// events of package agent: fields may be added with a useful zero value, none may be renamed, removed
// or given another meaning. testdata/logs.txtar holds logs of the past that must still fold.
//
// Edits leave no receipt: after a crash a message of a turn that is not Painted is edited once more.

// Posted says that the message of that key is in the thread. A later one for the same key replaces
// it: the message was deleted and posted again.
type Posted struct {
	Key string    `json:"key"`
	ID  MessageID `json:"id"`
}

// PostFailed says that the network refuses the message of that key for good. It is not tried again.
type PostFailed struct {
	Key    string `json:"key"`
	Detail string `json:"detail"` // what the network said
}

// Painted says that a turn has ended and that all of it is shown in its last form. Nothing of the
// turn is looked at again.
type Painted struct {
	Turn int `json:"turn"`
}

// Left says that the bot is silent in this thread until a message mentions it, which is the next
// agent.UserSaid.
type Left struct {
	By agent.User `json:"by"`
}

// prefix begins the Kind of every event that this package owns.
const prefix = "bots."

// encode returns v, one of the receipts above, as a store.Event.
func encode(v any) store.Event {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("bots: encoding %T: %v", v, err)) // strings and numbers encode
	}
	return store.Event{Kind: fmt.Sprintf("%T", v), Data: data}
}

// decode returns a pointer to the receipt that e holds, nil for an event of another package, and an
// error for one of ours that this release does not know.
func decode(e store.Event) (any, error) {
	if !strings.HasPrefix(e.Kind, prefix) {
		return nil, nil
	}
	var v any
	switch strings.TrimPrefix(e.Kind, prefix) {
	case "Posted":
		v = new(Posted)
	case "PostFailed":
		v = new(PostFailed)
	case "Painted":
		v = new(Painted)
	case "Left":
		v = new(Left)
	default:
		return nil, fmt.Errorf("event %q was written by a newer release: update this one", e.Kind)
	}
	if err := json.Unmarshal(e.Data, v); err != nil {
		return nil, fmt.Errorf("event %s: %w", e.Kind, err)
	}
	return v, nil
}

// A message's key begins with the number of its turn: "3/progress", "3/card/3.1.2/1", "3/said/17",
// "3/unread/17", "3/file/3.1.2", "3/answer/0". Keys are in logs and in the networks' messages.
func key(t *turn, rest string) string { return strconv.Itoa(t.n) + "/" + rest }

func turnOf(key string) int {
	n, _, _ := strings.Cut(key, "/")
	i, _ := strconv.Atoi(n) // keys are ours
	return i
}
