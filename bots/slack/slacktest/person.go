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

// A Person is somebody who does things in the workspace, beside saying something.
type Person struct {
	w  *Workspace
	id string
}

// As returns the person of that id.
func (w *Workspace) As(user string) Person { return Person{w, user} }

// ComeFrom makes the person one of another team: the channels where they write are shared with it
// from then on, by Slack Connect.
func (p Person) ComeFrom(team string) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.users[p.id].team = team
}

// Upload lets the person write a message with files. Name and Data of each are needed; Type is found
// if it is empty. It returns the ts of the message. Of a file from another team the event tells the id
// only; files.info tells the rest.
func (p Person) Upload(channel, thread, text string, files ...File) string {
	text = p.w.typed(text)
	p.w.mu.Lock()
	m := &Message{Thread: thread, User: p.id, Text: text, Fallback: text}
	for _, f := range files {
		f.User, f.length, f.veiled, f.in = p.id, -1, p.w.users[p.id].team != "", []string{channel}
		if f.Title == "" {
			f.Title = f.Name
		}
		if f.Type == "" {
			f.Type = http.DetectContentType(f.Data)
		}
		m.Files = append(m.Files, *keep(p.w, f))
	}
	p.w.mu.Unlock()
	return write(p.w, m, channel)
}

// change does something to a message of the person, which returns the event that tells of it.
func (p Person) change(in, ts string, do func(*channel, *Message) map[string]any) error {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c := p.w.channel(in)
	m := c.find(ts)
	if m == nil || m.User != p.id {
		return fmt.Errorf("%s has no message %s in %s", p.id, ts, in)
	}
	event := do(c, m)
	p.w.wake()
	if !c.absent {
		p.w.Socket.Event(event)
	}
	return nil
}

// Edit changes the text of a message of the person, as typed.
func (p Person) Edit(in, ts, text string) error {
	text = p.w.typed(text)
	return p.change(in, ts, func(c *channel, m *Message) map[string]any {
		before := m.json()
		m.Text, m.Fallback = text, text
		m.Edits++
		return changedEvent(c, m, before, p.w.next())
	})
}

// Unfurl lets Slack show what is behind a link in a message of the person. The app hears of it as of
// an edit.
func (p Person) Unfurl(in, ts string) error {
	return p.change(in, ts, func(c *channel, m *Message) map[string]any {
		before := m.json()
		m.unfurled = true
		return changedEvent(c, m, before, p.w.next())
	})
}

// Delete takes a message of the person away.
func (p Person) Delete(in, ts string) error {
	return p.change(in, ts, func(c *channel, m *Message) map[string]any { return c.remove(m, p.w.next()) })
}

// Command gives a slash command, such as "/heddle", in a channel: there are none in threads. It
// returns when the app has acknowledged, and shows what came with that. It fails as Slack shows it to
// the person if the app does not answer.
func (p Person) Command(channel, command, text string) error {
	w := p.w
	w.mu.Lock()
	c := w.channel(channel)
	name := c.name
	if c.kind == "im" {
		name = "directmessage"
	}
	payload := map[string]any{"token": "verification", "api_app_id": appID, "team_id": TeamID, "team_domain": "heddle",
		"channel_id": c.id, "channel_name": name, "user_id": p.id, "user_name": w.users[p.id].name, "command": command, "text": text,
		"is_enterprise_install": "false", "trigger_id": newTrigger(w, p.id), "response_url": newHook(w, c, p.id, "")}
	w.mu.Unlock()
	raw, err := w.Socket.interact(payload)
	if err != nil || len(raw) == 0 {
		return err
	}
	var in response
	if err := json.Unmarshal(raw, &in); err != nil {
		return fmt.Errorf("slack shows that the app failed: %w", err)
	}
	if in.Text == nil && in.Blocks == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.wake()
	if no := (&hook{channel: c, user: p.id}).take(w, in); no != nil {
		return fmt.Errorf("slack shows that the app failed: %s %q", no.code, no.problems)
	}
	return nil
}

// OpenHome opens the app's home.
func (p Person) OpenHome() {
	direct := p.w.Direct(p.id)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	event := map[string]any{"type": "app_home_opened", "user": p.id, "channel": direct, "tab": "home", "event_ts": p.w.next()}
	if v := p.w.homes[p.id]; v != nil {
		event["view"] = v.json(map[string]any{})
	}
	p.w.Socket.Event(event)
}

// Home returns the app's home as the person sees it.
func (p Person) Home() (View, bool) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return seen(p.w.homes, p.id)
}

// Press presses a button of the app's home, named by its label or action_id.
func (p Person) Press(button string) error {
	w := p.w
	w.mu.Lock()
	v := w.homes[p.id]
	if v == nil {
		w.mu.Unlock()
		return errors.New("there is nothing in the app's home")
	}
	action := pressed(v.blocks, button, w.next())
	payload := interaction(w, "block_actions", p.id)
	maps.Copy(payload, map[string]any{"container": map[string]any{"type": "view", "view_id": v.ID},
		"view": v.json(map[string]any{}), "actions": []any{action}})
	w.mu.Unlock()
	if action == nil {
		return fmt.Errorf("the app's home has no button %q", button)
	}
	_, err := w.Socket.interact(payload)
	return err
}

// Close closes the form that the person sees. If the form asks for it, the app is told, and Close
// returns when it has acknowledged.
func (p Person) Close() error {
	w := p.w
	w.mu.Lock()
	v := w.views[p.id]
	if v == nil {
		w.mu.Unlock()
		return fmt.Errorf("%s sees no form", p.id)
	}
	delete(w.views, p.id)
	w.wake()
	payload := interaction(w, "view_closed", p.id)
	delete(payload, "trigger_id")
	payload["view"], payload["is_cleared"] = v.json(map[string]any{}), false
	w.mu.Unlock()
	if v.def["notify_on_close"] != true {
		return nil
	}
	_, err := w.Socket.interact(payload)
	return err
}

// Stop presses Stop in a thread: all messages that are streamed into it end, and the app is told.
func (p Person) Stop(channel, thread string) error {
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
	w.Socket.Event(map[string]any{"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": p.id,
		"streaming_message_ts": stopped, "event_ts": w.next()})
	return nil
}

// StartAssistant opens a new thread with the bot in the assistant's container and returns its address.
func (p Person) StartAssistant() (channel, thread string) {
	channel = p.w.Direct(p.id)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	c := p.w.channel(channel)
	root := &Message{TS: p.w.next(), User: BotUser, Text: "New Assistant Thread", Fallback: "New Assistant Thread"}
	c.messages = append(c.messages, root)
	p.w.wake()
	p.w.Socket.Event(map[string]any{"type": "assistant_thread_started", "event_ts": root.TS, "assistant_thread": map[string]any{
		"user_id": p.id, "channel_id": channel, "thread_ts": root.TS, "context": map[string]any{}}})
	return channel, root.TS
}

// Assistant returns what people see around a thread with the bot.
func (w *Workspace) Assistant(channel, thread string) Assistant {
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
