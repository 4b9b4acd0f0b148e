package slacktest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// emoji is what names of emoji look like.
var emoji = regexp.MustCompile(`^[a-z0-9_+'-]+(::skin-tone-[2-6])?$`)

// An Assistant is what a person sees around a thread with the bot.
type Assistant struct {
	Status  string   // what the bot is doing; it goes with the next message, or after two minutes
	Loading []string // what is shown in turn beside it
	Title   string
	Prompts []string // the titles of what the person may ask next

	until time.Time // of the status
}

// statusFor is how long a status stays without a message.
const statusFor = 2 * time.Minute

// assistant returns what is shown around the thread that a call names.
func assistant(w *Workspace, c call) (*Assistant, *refused) {
	ch := w.channels[c.args.Get("channel_id")]
	switch {
	case ch == nil:
		return nil, refuse("channel_not_found")
	case ch.find(c.args.Get("thread_ts")) == nil:
		return nil, refuse("invalid_thread_ts")
	}
	key := ch.id + "/" + ch.thread(c.args.Get("thread_ts"))
	if w.assistants[key] == nil {
		w.assistants[key] = &Assistant{}
	}
	return w.assistants[key], nil
}

func setStatus(w *Workspace, c call) (map[string]any, *refused) {
	var loading []string
	var found checker
	if raw := c.args.Get("loading_messages"); raw != "" {
		loading = items(raw)
		if len(loading) > 10 {
			found.fail("/loading_messages", "no more than %d items allowed", 10)
		}
	}
	if !c.args.Has("status") { // an empty one takes the old one away
		found.fail("", "missing required field: status")
	}
	if found.problems != nil {
		return nil, refuse("invalid_arguments", found.problems...)
	}
	a, no := assistant(w, c)
	if no != nil {
		return nil, no
	}
	a.Status, a.Loading, a.until = c.args.Get("status"), loading, time.Now().Add(statusFor)
	return map[string]any{}, nil
}

func setTitle(w *Workspace, c call) (map[string]any, *refused) {
	a, no := assistant(w, c)
	if no != nil {
		return nil, no
	}
	a.Title = c.args.Get("title")
	return map[string]any{}, nil
}

func setPrompts(w *Workspace, c call) (map[string]any, *refused) {
	prompts, ok := decode(c.args.Get("prompts"))
	var found checker
	list(1, 4, object(fields{"title!": words(1, 2000), "message!": words(1, 4000)}))(&found, "/prompts", any(prompts))
	if !ok || found.problems != nil {
		return nil, refuse("invalid_arguments", found.problems...)
	}
	a, no := assistant(w, c)
	if no != nil {
		return nil, no
	}
	a.Prompts = nil
	for _, p := range prompts {
		a.Prompts = append(a.Prompts, str(p, "title"))
	}
	return map[string]any{}, nil
}

func addReaction(w *Workspace, c call) (map[string]any, *refused) {
	ch := w.channels[c.args.Get("channel")]
	if ch == nil {
		return nil, refuse("channel_not_found")
	}
	m, name := ch.find(c.args.Get("timestamp")), c.args.Get("name")
	switch {
	case ch.archived:
		return nil, refuse("is_archived")
	case m == nil || m.gone:
		return nil, refuse("message_not_found")
	case !emoji.MatchString(name):
		return nil, refuse("invalid_name")
	case slices.Contains(m.reactions, name):
		return nil, refuse("already_reacted")
	}
	m.reactions = append(slices.Clone(m.reactions), name)
	return map[string]any{}, nil
}

// items reads a list of strings, as JSON or with commas between.
func items(raw string) []string {
	var all []string
	if err := json.Unmarshal([]byte(raw), &all); err != nil {
		return strings.Split(raw, ",")
	}
	return all
}
