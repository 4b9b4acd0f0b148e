package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/bots/discord/discordtest"
	"github.com/heddle-bot/heddle/bots/slack/slacktest"
)

// A stage is the network that a story plays on, as far as the words of scripts need it. A thread goes by
// its root, the message that began it.
type stage struct {
	name   string // "slack"
	config string // that leads heddle there
	env    []string
	close  func()
	wait   func(context.Context, func() bool) error // returns when the condition holds

	wire
	audience
}

// A wire is the connection.
type wire struct {
	opened  func() int  // connections so far
	repeat  func(n int) // so many of the next events come twice
	settled func() bool // heddle has taken all events
}

// An audience is the people, and what they do in the one channel of the story.
type audience struct {
	add   func(name string, outside bool) string               // a person; returns the id
	say   func(user, root, text string, files []upload) string // returns the root: the message, if there was none
	edit  func(root, id, text string)
	erase func(root, id string)
	lines func(root string) []line // all messages of the thread
	press func(user, root, id, label string) error
	fill  func(user, text string) (open bool, err error) // the form that the person sees, if there is one
}

// An upload is a file that a person attaches.
type upload struct{ name, content string }

// A line is a message as people see it.
type line struct {
	id, key string // key is what the bot calls it, as far as the network tells
	by      string // empty if it is the bot’s
	text    string // all that is shown
	words   string // without what only frames them
	labels  []string
	only    string // only this person sees it
	answer  bool   // it can be the answer of a turn
	files   []upload
}

func (l line) String() string {
	s := fmt.Sprintf("%s %q", l.by, l.text)
	if len(l.labels) > 0 {
		s += fmt.Sprintf(" %q", l.labels)
	}
	if l.only != "" {
		s += " only for " + l.only
	}
	for _, f := range l.files {
		s += " file " + f.name
	}
	return s
}

// onSlack is a workspace with one channel.
func onSlack(w *world) stage {
	s := slacktest.New(slacktest.Config{})
	w.slack, w.channel = s, s.AddChannel("general")
	w.ids["CHANNEL"], w.ids["SLACK_URL"] = "slack/"+slacktest.TeamID+"/"+w.channel, s.URL
	return stage{
		name:   "slack",
		config: "[slack]\napi_url = \"$SLACK_URL\"\n$SLACK_MODE\n",
		env:    []string{"SLACK_BOT_TOKEN=" + slacktest.BotToken, "SLACK_APP_TOKEN=" + slacktest.AppToken, "SLACK_SIGNING_SECRET=" + slacktest.SigningSecret},
		close:  s.Close,
		wait:   s.Wait,
		wire: wire{
			opened:  func() int { return s.Socket.Stats().Opened },
			repeat:  func(n int) { s.Socket.Fail(slacktest.SocketFaults{Duplicate: n}) },
			settled: func() bool { return s.Socket.Stats().Unacked == 0 },
		},
		audience: audience{
			add: func(name string, outside bool) string {
				if outside {
					return s.People.AddStranger(name)
				}
				return s.AddUser(name)
			},
			say: func(user, root, text string, files []upload) string {
				var all []slacktest.Attachment
				for _, f := range files {
					a := slacktest.Attachment{Name: f.name, Content: f.content}
					if w.astray {
						a.Moved = "/signin"
					}
					all = append(all, a)
				}
				ts := s.People.Attach(user, w.channel, root, text, all...)
				if root != "" {
					return root
				}
				return ts
			},
			edit:  func(_, id, text string) { s.People.Edit(w.channel, id, text) },
			erase: func(_, id string) { s.People.Delete(w.channel, id) },
			lines: func(root string) []line { return slackLines(s.Thread(w.channel, root)) },
			press: func(user, _, id, label string) error { return s.Click(user, w.channel, id, label) },
			fill: func(user, text string) (bool, error) {
				if _, open := s.View(user); !open {
					return false, nil
				}
				return true, s.Submit(user, text)
			},
		},
	}
}

func slackLines(all []slacktest.Message) []line {
	var lines []line
	for _, m := range all {
		l := line{id: m.TS, key: m.Key, by: m.User, text: m.Text, words: m.Fallback, labels: m.Labels(), only: m.For, answer: strings.Contains(m.Key, "/answer/")}
		if m.User == slacktest.BotUser {
			l.by = ""
		}
		for _, f := range m.Files {
			l.files = append(l.files, upload{f.Title, string(f.Data)})
		}
		lines = append(lines, l)
	}
	return lines
}

// onDiscord is a guild with one channel. There are no strangers on Discord.
func onDiscord(w *world) stage {
	n := discordtest.New(discordtest.Config{})
	w.discord, w.channel = n, n.AddChannel(discordtest.GuildID, "general")
	w.ids["CHANNEL"], w.ids["DISCORD_URL"] = "discord/"+discordtest.GuildID+"/"+w.channel, n.URL
	d := hall{w, n}
	return stage{
		name:   "discord",
		config: "[discord]\napi_url = \"$DISCORD_URL\"\n$DISCORD_MODE\n",
		env:    []string{"DISCORD_BOT_TOKEN=" + discordtest.BotToken},
		close:  n.Close,
		wait:   n.Wait,
		wire: wire{
			opened:  func() int { s := n.Gateway.Stats(); return s.Identified + s.Resumed },
			repeat:  func(k int) { n.Gateway.Fail(discordtest.GatewayFaults{Duplicate: k}) },
			settled: settledOn(n),
		},
		audience: audience{
			add:   func(name string, _ bool) string { return n.AddUser(name) },
			say:   d.say,
			edit:  func(root, id, text string) { n.People.Edit(d.place(root, id), id, text) },
			erase: func(root, id string) { n.People.Delete(d.place(root, id), id) },
			lines: d.lines,
			press: func(user, root, id, label string) error {
				return n.Interactions.Press(user, d.place(root, id), id, label)
			},
			fill: func(user, text string) (bool, error) {
				f, open := n.Interactions.Form(user)
				if !open {
					return false, nil
				}
				return true, n.Interactions.Submit(user, map[string]string{f.Fields[0].CustomID: text})
			},
		},
	}
}

// settledOn reports whether heddle's heartbeats tell that it has all events. It asks for one when the one
// before has come: Discord disconnects who beats too often.
func settledOn(n *discordtest.Network) func() bool {
	asked := -1
	return func() bool {
		s := n.Gateway.Stats()
		if s.Behind > 0 && s.Heartbeats != asked {
			asked = s.Heartbeats
			n.Gateway.Beat()
		}
		return s.Behind == 0
	}
}

// A hall is where a story plays on Discord.
type hall struct {
	w *world
	n *discordtest.Network
}

// place returns the channel in which a message of a thread is: the root is outside of it.
func (h hall) place(root, id string) string {
	if id == root {
		return h.w.channel
	}
	return root
}

// say begins a thread, or goes on in it: if nobody has made one yet, by making it.
func (h hall) say(user, root, text string, files []upload) string {
	in := h.w.channel
	if root != "" {
		in = h.n.Places.Thread(user, in, root, "talk")
	}
	var all []discordtest.File
	for _, f := range files {
		all = append(all, discordtest.File{Name: f.name, Data: []byte(f.content)})
	}
	id := h.n.People.Attach(user, in, text, all...)
	if root != "" {
		return root
	}
	return id
}

var discordName = regexp.MustCompile(`<@(\d+)>`)

// lines has what people are told directly beside the thread.
func (h hall) lines(root string) []line {
	var lines []line
	add := func(m discordtest.Message, only string) {
		text := discordName.ReplaceAllStringFunc(m.Content, func(s string) string { return "@" + h.name(s[2:len(s)-1]) })
		l := line{id: m.ID, key: m.Nonce(), by: m.Author, text: text, words: text, labels: m.Labels(), only: m.For}
		if m.Author == discordtest.BotUser {
			l.by = ""
		}
		if only != "" {
			l.only = only
		}
		l.answer = l.by == "" && len(l.labels) == 0 // progress has a button as long as it could be one
		for _, f := range m.Files {
			l.files = append(l.files, upload{f.Name, string(f.Data)})
		}
		lines = append(lines, l)
	}
	for _, m := range h.n.Messages(h.w.channel) {
		if m.ID == root {
			add(m, "")
		}
	}
	if h.n.Places.Exists(root) {
		for _, m := range h.n.Messages(root) {
			add(m, "")
		}
	}
	for _, name := range people() {
		user := h.w.ids[strings.ToUpper(name)]
		if direct := h.n.Direct(user); direct != root {
			for _, m := range h.n.Messages(direct) {
				if m.Author == discordtest.BotUser {
					add(m, user)
				}
			}
		}
	}
	return lines
}

func (h hall) name(id string) string {
	for _, name := range people() {
		if h.w.ids[strings.ToUpper(name)] == id {
			return name
		}
	}
	return id
}

// networkVerbs let the network of the story misbehave, whichever it is.
func networkVerbs() map[string]verb {
	all := map[string]verb{
		// "network settles" waits until heddle has taken all events: none comes again after a halt.
		"settles": func(w *world, _ bool, _ []string) error { return w.eventually(w.stage.settled) },
		// "network repeats events N" lets so many of the next come twice.
		"repeats": func(w *world, _ bool, args []string) error {
			n, err := number(args)
			w.stage.repeat(n)
			return err
		},
		// "network has no streams": progress is edited, not streamed. Only Slack has them.
		"has": func(w *world, _ bool, _ []string) error {
			if w.slack != nil {
				w.slack.API.Fail("chat.startStream", slacktest.Fault{Error: "unknown_method"})
			}
			return nil
		},
	}
	maps.Copy(all, troubles())
	return all
}

// number reads the last word of a line.
func number(args []string) (n int, err error) {
	_, err = fmt.Sscan(args[len(args)-1], &n)
	return n, err
}

// stories returns the scripts of a network: all but those that only another one has.
func stories(network string) ([]string, error) {
	entries, err := os.ReadDir("testdata")
	own := ownStories()
	var all []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") && (own[e.Name()] == "" || own[e.Name()] == network) {
			all = append(all, "testdata/"+e.Name())
		}
	}
	return all, err
}

// patience is how long a script waits for something. Only failures take so long.
const patience = 30 * time.Second
