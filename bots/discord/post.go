package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// Post implements bots.Platform. Every post has a nonce made of its key, by which Discord makes one
// message of it for some minutes. What is for one person is told in answer to their latest interaction
// in the thread, and if there is none in a direct message; it has no key, so it may show twice.
func (d *Discord) Post(ctx context.Context, t bots.Thread, m bots.Message) (bots.MessageID, error) {
	out, err := compose(m)
	if err != nil {
		return "", &bots.Error{Permanent: true, Err: fmt.Errorf("composing a message: %w", err)}
	}
	if m.For != "" {
		return d.whisper(ctx, t, m, out)
	}
	in, err := d.open(ctx, t, m.Class)
	if err != nil {
		return "", err
	}
	if m.Unsure {
		id, err := d.find(ctx, in, out)
		if id != "" || err != nil {
			return id, err
		}
	}
	out.Nonce, out.Enforce = nonce(t, m.Key), true
	id, err := d.send(ctx, in, m, out)
	if err == nil {
		d.seen.follow(t, string(id))
	}
	return id, err
}

// nonce returns what names a message to Discord: 22 characters, of 25.
func nonce(t bots.Thread, key string) string {
	sum := sha256.Sum256([]byte(t.String() + " " + key))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// send posts into a channel.
func (d *Discord) send(ctx context.Context, in string, m bots.Message, out outgoing) (bots.MessageID, error) {
	var made message
	c := call{method: "POST", path: path(discordgo.EndpointChannelMessages(in)), class: m.Class, body: out, file: m.Upload}
	err := d.rest.awake(ctx, in, func() error { return d.rest.do(ctx, c, &made) })
	if err == nil && made.ID == "" {
		err = &bots.Error{Unsure: true, Err: errors.New("discord does not tell the message")}
	}
	return bots.MessageID(made.ID), err
}

// awake does something in a thread; if the thread is archived it is taken out of the archive first.
func (r *rest) awake(ctx context.Context, thread string, do func() error) error {
	err := do()
	if codeOf(err) != discordgo.ErrCodePerformedOperationOnArchivedThread {
		return err
	}
	c := call{method: "PATCH", path: path(discordgo.EndpointChannel(thread)), class: bots.Notice, body: map[string]bool{"archived": false}}
	if err := r.do(ctx, c, nil); err != nil {
		return err
	}
	return do()
}

// open returns the channel into which a thread's messages go. It makes the thread if need be: that it
// exists already is no failure.
func (d *Discord) open(ctx context.Context, t bots.Thread, class bots.Class) (string, error) {
	switch _, known := d.places.get(t.ID); {
	case t.ID == "":
		return t.Channel, nil
	case known, t.Workspace == direct, t.ID == t.Channel:
		return t.ID, nil
	}
	err := d.rest.do(ctx, call{
		method: "POST", path: path(discordgo.EndpointChannelMessageThread(t.Channel, t.ID)), class: min(class, bots.Notice),
		body: map[string]any{"name": d.titles.get(t.ID), "auto_archive_duration": archiveAfter},
	}, nil)
	switch codeOf(err) {
	case discordgo.ErrCodeThreadAlreadyCreatedForThisMessage:
	case discordgo.ErrCodeUnknownMessage: // its root may be gone, or it may have begun without one
		_, err = d.places.find(ctx, t.ID)
		return t.ID, err
	default:
		if err != nil {
			return "", err
		}
	}
	d.places.learn(t.Workspace, channel{ID: t.ID, Parent: t.Channel, Kind: discordgo.ChannelTypeGuildPublicThread})
	return t.ID, nil
}

// archiveAfter is how long nothing is said in a thread before Discord puts it into the archive, in minutes.
const archiveAfter = 1440

// find returns the id of our message that looks like out, or "" if Discord has none. A message does not
// tell its nonce afterwards, so it is known by its words, its buttons and its file. Only those after the
// latest words of a person count: what we said before may well have been the same.
func (d *Discord) find(ctx context.Context, in string, out outgoing) (bots.MessageID, error) {
	me, err := d.rest.whoami(ctx)
	var page []message
	if err == nil {
		c := call{method: "GET", path: path(discordgo.EndpointChannelMessages(in)) + "?limit=100"}
		err = d.rest.do(ctx, c, &page)
	}
	if err != nil {
		if e, ok := errors.AsType[*bots.Error](err); ok {
			e.Unsure = true
		}
		return "", err
	}
	for _, m := range page { // the newest first
		switch {
		case m.Author == nil:
		case m.Author.ID == me.ID && out.same(m):
			return bots.MessageID(m.ID), nil
		case m.Author.ID != me.ID && !m.Author.Bot:
			return "", nil
		}
	}
	return "", nil
}

// Edit implements bots.Platform.
func (d *Discord) Edit(ctx context.Context, t bots.Thread, id bots.MessageID, m bots.Message) error {
	out, err := compose(m)
	if err == nil && (m.For != "" || m.Upload != nil) {
		err = errors.New("a private message cannot be edited, nor one with a file")
	}
	if err != nil {
		return &bots.Error{Permanent: true, Err: fmt.Errorf("composing an edit: %w", err)}
	}
	in := cmp.Or(t.ID, t.Channel)
	c := call{method: "PATCH", path: path(discordgo.EndpointChannelMessage(in, string(id))), class: m.Class, body: out}
	return d.rest.awake(ctx, in, func() error { return d.rest.do(ctx, c, nil) })
}

// whisper tells one person something.
func (d *Discord) whisper(ctx context.Context, t bots.Thread, m bots.Message, out outgoing) (bots.MessageID, error) {
	if m.Upload == nil {
		if k, ok := d.tokens.get(t, m.For); ok {
			id, err := d.answer(ctx, k, m, out)
			if codeOf(err) != discordgo.ErrCodeUnknownWebhook && codeOf(err) != discordgo.ErrCodeInvalidWebhookTokenProvided {
				return id, err
			}
			// Discord has not had the first answer in time, or the token is dead.
		}
	}
	var to channel
	c := call{method: "POST", path: path(discordgo.EndpointUserChannels("@me")), class: m.Class, body: map[string]string{"recipient_id": m.For}}
	if err := d.rest.do(ctx, c, &to); err != nil {
		return "", err
	}
	if about := link(t); len(out.Content)+len(about) <= maxContent {
		out.Content += about
	}
	return d.send(ctx, to.ID, m, out)
}

// messageLink implements bots.Info.Link.
func messageLink(t bots.Thread, id bots.MessageID) string {
	return "https://discord.com/channels/" + t.Workspace + "/" + cmp.Or(t.ID, t.Channel) + "/" + string(id)
}

// link is what tells, in a direct message, which thread it is about.
func link(t bots.Thread) string {
	if t.Workspace == direct {
		return ""
	}
	return "\n-# https://discord.com/channels/" + t.Workspace + "/" + cmp.Or(t.ID, t.Channel)
}

// answer answers an interaction: in place of the answer that it waits for, or beside it.
func (d *Discord) answer(ctx context.Context, k token, m bots.Message, out outgoing) (bots.MessageID, error) {
	select {
	case <-k.acked:
	case <-ctx.Done():
		return "", &bots.Error{Err: ctx.Err()}
	}
	var made message
	c := call{method: "POST", path: path(discordgo.EndpointWebhookToken(k.app, k.token)) + "?wait=true", class: m.Class}
	if k.waiting {
		c.method, c.path = "PATCH", path(discordgo.EndpointWebhookMessage(k.app, k.token, "@original"))
	} else {
		out.Flags |= int(discordgo.MessageFlagsEphemeral)
	}
	c.body = out
	err := d.rest.do(ctx, c, &made)
	return bots.MessageID(made.ID), err
}

// working implements bots.Info.Working. Discord shows that the bot types for typingFor, or until it posts.
func (d *Discord) working(ctx context.Context, t bots.Thread, working bool) {
	_, known := d.places.get(t.ID)
	if !working || !known && t.Workspace != direct {
		return
	}
	c := call{method: "POST", path: path(discordgo.EndpointChannelTyping(t.ID)), class: bots.Progress}
	if err := d.rest.do(ctx, c, nil); err != nil {
		d.cfg.Logger.Debug("typing not shown", "session", t.String(), "err", err)
	}
}

// titles are the names of threads that are still to be made, by the message at their root.
type titles struct {
	mu    sync.Mutex
	known map[string]string
}

const (
	maxTitle  = 80 // characters, of 100 that Discord allows
	maxTitles = 1000
	untitled  = "Heddle"
)

func newTitles() *titles { return &titles{known: map[string]string{}} }

// add makes a title of the first words of a message.
func (n *titles) add(root, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxTitles {
		clear(n.known)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	n.known[root] = clip(oneLine(line), maxTitle)
}

func (n *titles) get(root string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return cmp.Or(n.known[root], untitled)
}
