package slacktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// OtherTeam is the workspace of strangers.
const OtherTeam = "T0STRANGE"

// People do what is rarer than writing and pressing. Its methods may be called concurrently.
type People struct{ w *Workspace }

// AddStranger adds a person of another organisation and returns the id. The channels where they write
// are shared with it from then on, by Slack Connect.
func (p People) AddStranger(name string) string {
	id := p.w.AddUser(name)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.users[id].team = OtherTeam
	return id
}

// An Attachment is a file that somebody adds to a message.
type Attachment struct {
	Name    string
	Type    string // MIME; it is found by the content if it is empty
	Content string
	Unknown bool   // the event tells its id only, as it may of files from other teams: files.info tells the rest
	URL     string // where Slack says it is; empty is the workspace itself
	Moved   string // where the workspace says it is, if not empty
}

// Attach is Say with files.
func (p People) Attach(user, channel, thread, text string, files ...Attachment) string {
	text = p.w.typed(text)
	m := &Message{Thread: thread, User: user, Text: text, Fallback: text}
	p.w.mu.Lock()
	for _, a := range files {
		f := File{Name: a.Name, Title: a.Name, Type: a.Type, Data: []byte(a.Content), User: user}
		f.length, f.veiled, f.link, f.moved, f.in = -1, a.Unknown, a.URL, a.Moved, []string{channel}
		if f.Type == "" {
			f.Type = http.DetectContentType(f.Data)
		}
		m.Files = append(m.Files, *keep(p.w, f))
	}
	p.w.mu.Unlock()
	return write(p.w, m, channel)
}

// alter does something to a message and sends the event that it returns.
func alter(w *Workspace, in, ts string, do func(*channel, *Message) map[string]any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.channel(in)
	m := c.find(ts)
	if m == nil || m.gone {
		panic(fmt.Sprintf("slacktest: there is no message %s in %s", ts, in))
	}
	event := do(c, m)
	w.wake()
	if !c.absent {
		w.Socket.Event(event)
	}
}

// Edit changes the words of a message of a person's, as typed.
func (p People) Edit(in, ts, text string) {
	text = p.w.typed(text)
	alter(p.w, in, ts, func(c *channel, m *Message) map[string]any {
		before, now := m.json(), p.w.next()
		m.Text, m.Fallback, m.edited = text, text, now
		m.Edits++
		return changedEvent(c, m, before, now)
	})
}

// Unfurl shows what is behind a link in a message. The app hears of it as of an edit.
func (p People) Unfurl(in, ts string) {
	alter(p.w, in, ts, func(c *channel, m *Message) map[string]any {
		before := m.json()
		m.unfurled = true
		return changedEvent(c, m, before, p.w.next())
	})
}

// Delete takes a message away.
func (p People) Delete(in, ts string) {
	alter(p.w, in, ts, func(c *channel, m *Message) map[string]any { return c.remove(m, p.w.next()) })
}

// Command types the app's slash command in a channel: there are none in threads. It returns when the
// app has acknowledged, and shows what came with that. It fails as Slack shows it to the person if
// the app does not answer.
func (p People) Command(user, channel, text string) error {
	w := p.w
	w.mu.Lock()
	c := w.channel(channel)
	name := c.name
	if c.kind == "im" {
		name = "directmessage"
	}
	payload := map[string]any{"token": "verification", "api_app_id": appID, "team_id": TeamID, "team_domain": "heddle",
		"channel_id": c.id, "channel_name": name, "user_id": user, "user_name": w.users[user].name, "command": "/" + BotName, "text": text,
		"is_enterprise_install": "false", "trigger_id": newTrigger(w, user), "response_url": newResponseURL(w, c, user, "")}
	w.mu.Unlock()
	raw, err := interact(w.Socket, "slash_commands", payload)
	if err != nil || len(raw) == 0 {
		return err
	}
	var in response
	if json.Unmarshal(raw, &in) != nil { // over HTTP it may be plain text
		plain := string(raw)
		in = response{Text: &plain}
	}
	if in.Text == nil && in.Blocks == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.wake()
	if no := (&responseURL{channel: c, user: user}).take(w, in); no != nil {
		return fmt.Errorf("slack shows that the app failed: %s %q", no.code, no.problems)
	}
	return nil
}

// OpenHome opens the app's home.
func (p People) OpenHome(user string) {
	direct := p.w.Direct(user)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	event := map[string]any{"type": "app_home_opened", "user": user, "channel": direct, "tab": "home", "event_ts": p.w.next()}
	if v := p.w.homes[user]; v != nil {
		event["view"] = v.json(map[string]any{})
	}
	p.w.Socket.Event(event)
}

// Home returns the app's home as the person sees it.
func (p People) Home(user string) (View, bool) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return seen(p.w.homes, user)
}

// Press presses a button of the app's home, named by its label or action_id.
func (p People) Press(user, button string) error {
	w := p.w
	w.mu.Lock()
	v := w.homes[user]
	if v == nil {
		w.mu.Unlock()
		return errors.New("there is nothing in the app's home")
	}
	action := pressed(v.blocks, button, w.next())
	payload := interaction(w, "block_actions", user)
	maps.Copy(payload, map[string]any{"container": map[string]any{"type": "view", "view_id": v.ID},
		"view": v.json(map[string]any{}), "actions": []any{action}})
	w.mu.Unlock()
	if action == nil {
		return fmt.Errorf("the app's home has no button %q", button)
	}
	_, err := interact(w.Socket, "interactive", payload)
	return err
}

// Close closes the form that the person sees. If the form asks for it, the app is told, and Close
// returns when it has acknowledged.
func (p People) Close(user string) error {
	w := p.w
	w.mu.Lock()
	v := w.views[user]
	if v == nil {
		w.mu.Unlock()
		return fmt.Errorf("%s sees no form", user)
	}
	delete(w.views, user)
	w.wake()
	payload := interaction(w, "view_closed", user)
	delete(payload, "trigger_id")
	payload["view"], payload["is_cleared"] = v.json(map[string]any{}), false
	w.mu.Unlock()
	if v.def["notify_on_close"] != true {
		return nil
	}
	_, err := interact(w.Socket, "interactive", payload)
	return err
}

// Stop presses Stop in a thread: all messages that are streamed into it end, and the app is told.
func (p People) Stop(user, channel, thread string) error {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	var stopped []string
	for _, m := range w.channel(channel).messages {
		if m.Thread == thread && m.Stream.open(time.Now()) {
			m.Stream.State = "stopped"
			stopped = append(stopped, m.TS)
		}
	}
	if stopped == nil {
		return fmt.Errorf("nothing is streamed into %s", thread)
	}
	w.wake()
	w.Socket.Event(map[string]any{"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user,
		"streaming_message_ts": stopped, "event_ts": w.next()})
	return nil
}

// StartAssistant opens a new thread with the bot in the assistant's container and returns its address.
func (p People) StartAssistant(user string) (channel, thread string) {
	channel = p.w.Direct(user)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c := p.w.channel(channel)
	root := &Message{TS: p.w.next(), User: BotUser, Text: "New Assistant Thread", Fallback: "New Assistant Thread"}
	c.messages = append(c.messages, root)
	p.w.wake()
	p.w.Socket.Event(map[string]any{"type": "assistant_thread_started", "event_ts": root.TS, "assistant_thread": map[string]any{
		"user_id": user, "channel_id": channel, "thread_ts": root.TS, "context": map[string]any{}}})
	return channel, root.TS
}

// Assistant returns what people see around a thread with the bot.
func (p People) Assistant(channel, thread string) Assistant {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	a := w.assistants[channel+"/"+thread]
	if a == nil {
		return Assistant{}
	}
	seen := *a
	seen.Prompts = slices.Clone(a.Prompts)
	if time.Now().After(a.until) {
		seen.Status, seen.Loading = "", nil
	}
	return seen
}
