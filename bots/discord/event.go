package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// A dispatch is an event as the Gateway sends it.
type dispatch struct {
	Type string
	Data json.RawMessage
}

// A message is one as Discord tells of it, by the Gateway or by REST.
type message struct {
	ID          string                `json:"id"`
	Channel     string                `json:"channel_id"`
	Guild       string                `json:"guild_id"` // not told by REST
	Kind        discordgo.MessageType `json:"type"`
	Author      *user                 `json:"author"`
	Member      *member               `json:"member"`
	Webhook     string                `json:"webhook_id"`
	Content     *string               `json:"content"`
	Edited      *time.Time            `json:"edited_timestamp"`
	Attachments json.RawMessage       `json:"attachments"`
	Components  json.RawMessage       `json:"components"`
	called
}

// called are whom a message mentions.
type called struct {
	Mentions []mentioned `json:"mentions"`
	Roles    []string    `json:"mention_roles"`
}

type mentioned struct {
	user
	Member *member `json:"member"`
}

// A reader turns what Discord sends into events.
type reader struct {
	*Discord
	me *user
}

// read decodes an event. Most are for nobody. Errors that wrap a *bots.Error which is not Permanent
// may pass.
func (r *reader) read(ctx context.Context, d dispatch) ([]bots.Event, error) {
	var m message
	switch d.Type {
	case "MESSAGE_CREATE":
		if err := json.Unmarshal(d.Data, &m); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", d.Type, err)
		}
		r.seen.note(m.Channel, m.ID)
		return r.spoken(ctx, m)
	case "MESSAGE_UPDATE":
		if err := json.Unmarshal(d.Data, &m); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", d.Type, err)
		}
		return r.changed(ctx, m)
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return r.deleted(ctx, d)
	}
	return nil, r.learn(d)
}

// spoken decodes what somebody wrote.
func (r *reader) spoken(ctx context.Context, m message) ([]bots.Event, error) {
	if !r.theirs(m) {
		return nil, nil
	}
	said, err := r.said(ctx, m)
	if err != nil {
		return nil, err
	}
	if said.Text == "" && len(said.Files) == 0 && !said.Mention {
		if !r.cfg.WithoutContent || !said.Reply {
			return nil, nil // a sticker, say; or without the intent Message Content words that are not for us
		}
		said.Withheld = true
		return []bots.Event{said}, nil
	}
	if said.Mention || said.Reply && r.seen.follows(said.Thread.ID) {
		r.seen.follow(said.Thread, m.ID)
	}
	if !said.Reply {
		r.titles.add(said.ID, said.Text)
	}
	return []bots.Event{said}, nil
}

// theirs reports whether m are words of somebody else, and no notice of the network's.
func (r *reader) theirs(m message) bool {
	switch {
	case m.ID == "", m.Channel == "", m.Author == nil, m.Author.ID == "", m.Author.ID == r.me.ID:
		return false
	}
	return m.Kind == discordgo.MessageTypeDefault || m.Kind == discordgo.MessageTypeReply
}

func (r *reader) said(ctx context.Context, m message) (bots.Said, error) {
	t, reply, err := r.places.address(ctx, m.Guild, m.Channel, m.ID)
	if err != nil {
		return bots.Said{}, err
	}
	if m, err = r.byRole(ctx, m); err != nil {
		return bots.Said{}, err
	}
	by := r.names.person(*m.Author, m.Member)
	by.Bot = by.Bot || m.Webhook != ""
	text, named := r.text(m)
	return bots.Said{
		ID:      m.ID,
		Thread:  t,
		By:      by,
		Text:    text,
		Files:   readFiles(m),
		Mention: named || t.Workspace == direct,
		Reply:   reply,
		Time:    stamp(m.ID),
	}, nil
}

// text returns the words of a message as people and models read them, and whether they name the bot.
// The bot's own mention is left out, other references become names. Who answers a message of the bot's
// names it too, if they have not switched that off.
func (r *reader) text(m message) (text string, named bool) {
	if m.Content != nil {
		text = *m.Content
	}
	known := map[string]string{}
	for _, u := range m.Mentions {
		if u.ID == r.me.ID {
			named = true
			continue
		}
		known[u.ID] = r.names.person(u.user, u.Member).Name
	}
	text, inText := readText(text, r.me.ID, func(kind byte, id string) string {
		switch c, ok := r.places.get(id); {
		case kind == '@' && known[id] != "":
			return "@" + known[id]
		case kind == '#' && ok && c.Name != "":
			return "#" + c.Name
		}
		return ""
	})
	return text, named || inText
}

// changed decodes MESSAGE_UPDATE, which Discord sends for new words, but also when a link gets a
// preview or a thread begins; and sometimes with only a part of the message.
func (r *reader) changed(ctx context.Context, m message) ([]bots.Event, error) {
	if m.Edited == nil || m.Content == nil || !r.theirs(m) {
		return nil, nil
	}
	said, err := r.said(ctx, m)
	if err != nil || said.Text == "" && !said.Mention {
		return nil, err
	}
	return []bots.Event{bots.Edited{ID: strings.Join([]string{"edit", m.ID, strconv.FormatInt(m.Edited.UnixMicro(), 10)}, "/"), Said: said}}, nil
}

func (r *reader) deleted(ctx context.Context, d dispatch) ([]bots.Event, error) {
	var gone struct {
		ID      string   `json:"id"`
		IDs     []string `json:"ids"`
		Channel string   `json:"channel_id"`
		Guild   string   `json:"guild_id"`
	}
	if err := json.Unmarshal(d.Data, &gone); err != nil {
		return nil, fmt.Errorf("decoding %s: %w", d.Type, err)
	}
	if gone.ID != "" {
		gone.IDs = append(gone.IDs, gone.ID)
	}
	var all []bots.Event
	for _, id := range gone.IDs {
		t, _, err := r.places.address(ctx, gone.Guild, gone.Channel, id)
		if err != nil {
			return nil, err
		}
		all = append(all, bots.Deleted{ID: id, Thread: t})
	}
	return all, nil
}

// learn takes in what Discord tells of channels and threads.
func (r *reader) learn(d dispatch) error {
	var one struct {
		channel
		Channels []channel `json:"channels"`
		Threads  []channel `json:"threads"`
	}
	switch d.Type {
	case "GUILD_CREATE", "THREAD_LIST_SYNC", "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE", "CHANNEL_DELETE", "THREAD_DELETE":
	default:
		return nil
	}
	if err := json.Unmarshal(d.Data, &one); err != nil {
		return fmt.Errorf("decoding %s: %w", d.Type, err)
	}
	switch d.Type {
	case "GUILD_CREATE":
		r.own.forget(one.ID)
		r.places.learn(one.ID, append(one.Channels, one.Threads...)...)
	case "THREAD_LIST_SYNC":
		r.places.learn(one.Guild, one.Threads...)
	case "CHANNEL_DELETE", "THREAD_DELETE":
		r.places.forget(one.ID)
	default:
		r.places.learn(one.Guild, one.channel)
	}
	return nil
}

// stamp returns the time at which an id was made.
func stamp(id string) time.Time {
	t, err := discordgo.SnowflakeTimestamp(id)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// snowflake returns the least id that something could have which was made at t.
func snowflake(t time.Time) string {
	const epoch = 1420070400000 // ms; Discord's first second of 2015
	return strconv.FormatInt((t.UnixMilli()-epoch)<<22, 10)
}

// later reports whether an id was made after another: they are numbers, and grow.
func later(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}
