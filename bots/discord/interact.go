package discord

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/heddle-bot/heddle/bots"
)

// Discord wants an answer to an interaction within three seconds. It gets one as soon as the bot has
// taken the event, and in any case after ackWithin: a person who sees “This interaction failed” presses
// again.
const (
	ackWithin  = 2 * time.Second
	answerable = 15 * time.Minute // is an interaction, after it was acknowledged
)

// interact takes in an interaction. It does not block but for room in the queue.
func (in *intake) interact(ctx context.Context, i interaction) {
	by := i.by()
	if by == nil || by.Bot || i.Channel == "" {
		return
	}
	if i.Where != nil && i.Where.ID == i.Channel {
		in.d.places.learn(i.Guild, *i.Where)
	}
	switch {
	case i.Kind == discordgo.InteractionMessageComponent && i.Data.Component == discordgo.ButtonComponent && i.Message != nil:
		if p := decodePress(i.Data.CustomID); p.ask != "" {
			in.wg.Go(func() { in.respond(ctx, i, discordgo.InteractionResponseModal, modal(i, p)) })
			return
		}
		in.click(ctx, i, "")
	case i.Kind == discordgo.InteractionModalSubmit && i.Message != nil:
		in.click(ctx, i, answer(i.Data.Components))
	case i.Kind == discordgo.InteractionApplicationCommand:
		in.command(ctx, i)
	case i.Kind == discordgo.InteractionApplicationCommandAutocomplete:
		choices := []map[string]string{}
		for _, m := range complete(in.d.cfg.Models, typed(i.Data.Options)) {
			choices = append(choices, map[string]string{"name": m, "value": m})
		}
		in.wg.Go(func() {
			in.respond(ctx, i, discordgo.InteractionApplicationCommandAutocompleteResult, map[string]any{"choices": choices})
		})
	}
}

// click has a press accepted, and acknowledged.
func (in *intake) click(ctx context.Context, i interaction, reason string) {
	p := decodePress(i.Data.CustomID)
	in.wg.Go(func() {
		in.take(ctx, i, discordgo.InteractionResponseDeferredMessageUpdate, nil, func(t bots.Thread) bots.Event {
			return bots.Clicked{
				ID:      "press/" + i.ID,
				Thread:  t,
				Message: bots.MessageID(i.Message.ID),
				By:      in.d.names.person(*i.by(), i.Member),
				Action:  p.action,
				Value:   p.value,
				Reason:  reason,
			}
		})
	})
}

// take has the event of an interaction accepted and answers the interaction.
func (in *intake) take(ctx context.Context, i interaction, kind discordgo.InteractionResponseType, data any, event func(bots.Thread) bots.Event) {
	late := time.NewTimer(ackWithin)
	defer late.Stop()
	done, acked, lost := make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(acked)
	in.wg.Go(func() {
		t, err := in.threadOf(ctx, i)
		if err != nil {
			in.log.Error("an interaction is lost: its channel is not known", "err", err)
			close(lost)
			return
		}
		in.d.tokens.add(t, i, acked)
		in.add(ctx, item{event: event(t), done: done})
	})
	select {
	case <-done:
	case <-late.C:
	case <-lost: // without an answer the person sees that it failed
		return
	case <-ctx.Done():
		return
	}
	in.respond(ctx, i, kind, data)
}

// threadOf returns the thread in which an interaction took place; without an ID in a channel.
func (in *intake) threadOf(ctx context.Context, i interaction) (t bots.Thread, err error) {
	err = persist(ctx, in.d, "an interaction", func() (err error) {
		t, _, err = in.d.places.address(ctx, i.Guild, i.Channel, "")
		return err
	})
	return t, err
}

// respond answers an interaction.
func (in *intake) respond(ctx context.Context, i interaction, kind discordgo.InteractionResponseType, data any) {
	body := map[string]any{"type": kind}
	if data != nil {
		body["data"] = data
	}
	c := call{method: "POST", path: path(discordgo.EndpointInteractionResponse(i.ID, i.Token)), body: body, free: true}
	if err := in.d.rest.do(ctx, c, nil); err != nil && ctx.Err() == nil {
		in.log.Warn("an interaction was not acknowledged", "type", i.Kind, "err", err)
	}
}

// modal returns the form of a button: one question, which may be left unanswered.
func modal(i interaction, p press) any {
	const maxTitle, maxLabel, maxAnswer = 45, 45, 1000
	required := false
	return map[string]any{
		"custom_id": i.Data.CustomID,
		"title":     clip(cmp.Or(labelOf(i.Message.Components, i.Data.CustomID), p.ask), maxTitle),
		"components": []any{map[string]any{"type": discordgo.ActionsRowComponent, "components": []any{map[string]any{
			"type": discordgo.TextInputComponent, "custom_id": "answer", "label": clip(p.ask, maxLabel),
			"style": discordgo.TextInputParagraph, "required": required, "max_length": maxAnswer,
		}}}},
	}
}

// command takes in a command.
func (in *intake) command(ctx context.Context, i interaction) {
	in.wg.Go(func() {
		switch {
		case i.Data.Kind == discordgo.MessageApplicationCommand:
			in.about(ctx, i)
		case i.Data.Name == askCommand:
			in.ask(ctx, i, words(i.Data.Options))
		default:
			in.take(ctx, i, discordgo.InteractionResponseDeferredChannelMessageWithSource, hidden(""), func(t bots.Thread) bots.Event {
				return bots.Commanded{ID: "command/" + i.ID, Thread: t, By: in.d.names.person(*i.by(), i.Member), Text: words(i.Data.Options)}
			})
		}
	})
}

// hidden is a message that only one person sees.
func hidden(text string) map[string]any {
	data := map[string]any{"flags": discordgo.MessageFlagsEphemeral}
	if text != "" {
		data["content"], data["allowed_mentions"] = text, nobody()
	}
	return data
}

// about takes in the command that is about a message: the message is what is said, by whoever asks. The
// thread is that of the message.
func (in *intake) about(ctx context.Context, i interaction) {
	m, ok := i.Data.Resolved.Messages[i.Data.Target]
	if !ok || m.ID == "" {
		return
	}
	m.Channel, m.Guild = cmp.Or(m.Channel, i.Channel), i.Guild
	in.take(ctx, i, discordgo.InteractionResponseChannelMessageWithSource, hidden("I answer in the thread of that message."), func(t bots.Thread) bots.Event {
		if t.ID == "" {
			t.ID = m.ID
		}
		text, _ := in.reader.text(m)
		in.d.titles.add(t.ID, text)
		in.d.seen.follow(t, m.ID)
		return bots.Said{
			ID:      i.ID,
			Thread:  t,
			By:      in.d.names.person(*i.by(), i.Member),
			Text:    quote(text),
			Files:   readFiles(m),
			Mention: true,
			Reply:   t.ID != m.ID,
			Time:    stamp(i.ID),
		}
	})
}

func quote(text string) string {
	return "> " + strings.ReplaceAll(text, "\n", "\n> ")
}

// ask takes in the command that asks something. Others see it as a message of ours, which becomes the
// root of the thread if it was asked in a channel. Only the message has an id, so it comes first.
func (in *intake) ask(ctx context.Context, i interaction, text string) {
	by := in.d.names.person(*i.by(), i.Member)
	c := call{
		method: "POST", path: path(discordgo.EndpointInteractionResponse(i.ID, i.Token)) + "?with_response=true", free: true,
		body: map[string]any{"type": discordgo.InteractionResponseChannelMessageWithSource, "data": map[string]any{
			"content": clip(mention(by.ID)+"\n"+quote(text), maxText), "allowed_mentions": nobody(),
		}},
	}
	var made struct {
		Resource struct {
			Message message `json:"message"`
		} `json:"resource"`
	}
	err := in.d.rest.do(ctx, c, &made)
	root := made.Resource.Message.ID
	if err == nil && root == "" {
		err = fmt.Errorf("discord does not tell the message")
	}
	if err != nil {
		in.log.Warn("a question was not taken in", "err", err)
		return
	}
	t, err := in.threadOf(ctx, i)
	if err != nil {
		in.log.Error("a question is lost: its channel is not known", "err", err)
		return
	}
	reply := t.ID != ""
	if !reply {
		t.ID = root
		in.d.titles.add(root, text)
	}
	acked := make(chan struct{})
	close(acked)
	in.d.tokens.add(t, i, acked)
	in.d.seen.follow(t, root)
	in.add(ctx, item{event: bots.Said{ID: root, Thread: t, By: by, Text: text, Mention: true, Reply: reply, Time: stamp(root)}})
}

// tokens are the interactions that can still be answered, by whom they are of: what is for one person
// only is shown to them in answer to one of these.
type tokens struct {
	mu  sync.Mutex
	all map[string][]token // by thread, or channel, and person; the oldest first
}

type token struct {
	app, token string
	until      time.Time
	waiting    bool            // it shows that we are thinking, until it is answered
	acked      <-chan struct{} // closed when Discord has its first answer; before, it takes no other
}

func newTokens() *tokens { return &tokens{all: map[string][]token{}} }

const maxTokens = 10_000 // threads and people; beyond it those that are too old are dropped

// add remembers an interaction in a thread.
func (k *tokens) add(t bots.Thread, i interaction, acked <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if len(k.all) >= maxTokens {
		for at, all := range k.all {
			if !now.Before(all[len(all)-1].until) {
				delete(k.all, at)
			}
		}
	}
	at := t.String() + " " + i.by().ID
	waiting := i.Kind == discordgo.InteractionApplicationCommand && i.Data.Kind != discordgo.MessageApplicationCommand && i.Data.Name != askCommand
	all := append(k.all[at], token{i.App, i.Token, now.Add(answerable - 10*time.Second), waiting, acked})
	k.all[at] = all[max(0, len(all)-10):]
}

// get returns the interaction by which a person can be told something in a thread: one that waits for
// an answer, which it then has, or the latest.
func (k *tokens) get(t bots.Thread, person string) (token, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := k.all[t.String()+" "+person]
	now := time.Now()
	for i, one := range all {
		if one.waiting && now.Before(one.until) {
			all[i].waiting = false
			return one, true
		}
	}
	if len(all) == 0 || !now.Before(all[len(all)-1].until) {
		return token{}, false
	}
	return all[len(all)-1], true
}
