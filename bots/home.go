package bots

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// This file is the bot's page, which shows a person what the bot can do, what waits for them, and what
// runs. It is made from the log each time that somebody looks.
//
// The network does not tell who is in a channel, and a page must not tell of a conversation to people
// who cannot read it. So a thread is on the page of those who have said something in it, and of those
// whom its card names as the ones who may answer; see sees.

// home has the page shown to who looks at it.
func (t *teller) home(e HomeOpened) {
	show := t.cfg.Platform.Info().Home
	if e.By.Bot || show == nil {
		return
	}
	t.put(words{m: Message{Key: "home/" + e.ID}, show: func(ctx context.Context) error {
		pieces, err := clerk{&t.cfg}.home(ctx, t.cfg.look(), e)
		if err != nil {
			return err
		}
		return show(ctx, e.By.ID, pieces)
	}})
}

// A page is what is on somebody's page beside what is the same for all.
type page struct {
	waits []string // for this person
	runs  []string // and does not wait for this person
}

// home returns the pieces of a person's page.
func (c clerk) home(ctx context.Context, l look, e HomeOpened) ([]string, error) {
	var p page
	for sum, err := range c.Log.Sessions(ctx, store.Query{Prefix: l.info.Name + "/" + e.Workspace + "/"}) {
		if err != nil {
			return nil, fmt.Errorf("listing sessions: %w", err)
		}
		at, err := ParseThread(sum.Session)
		switch {
		case err != nil: // a session of something else
			continue
		case sum.Free && sum.Due.IsZero(): // nothing is left to do there
			continue
		case c.Channel(at).refuses(e.By) != "":
			continue
		}
		a, err := newAccount(ctx, c.Log, sum.Session)
		if err != nil {
			return nil, err
		}
		p.add(l, at, entrant{e.By.ID, a, c.Agent.Live(sum.Session)})
	}
	return p.pieces(l, toolWords(c.Tools)), nil
}

// An entrant is a person who was let in, and the thread that they may look at.
type entrant struct {
	id   string
	in   *account
	live agent.Live
}

// add adds a thread if it is one for the person's page.
func (p *page) add(l look, at Thread, who entrant) {
	a := who.in
	if !who.sees(l, at) {
		return
	}
	if k := who.card(); k != nil {
		p.waits = append(p.waits, waiting(l, k)+link(l, at, a.posted[key(a.running(), k.name())]))
	} else if now := current(l, a, who.live); now != "" {
		p.runs = append(p.runs, now+link(l, at, ""))
	}
}

// sees reports whether the thread is one for the person's page.
func (w entrant) sees(l look, at Thread) bool {
	if w.in.people[w.id] {
		return true
	}
	if l.info.Direct != nil && l.info.Direct(at.Channel) {
		return false
	}
	k := w.card()
	return k != nil && k.asked != nil && slices.Contains(k.asked.Approvers, w.id)
}

// card returns the card that waits for the person, who may answer it, or nil.
func (w entrant) card() *card {
	t := w.in.running()
	if t == nil || t.stopping != 0 {
		return nil
	}
	k := t.asking()
	if k != nil && k.asked != nil && len(k.asked.Approvers) > 0 && !slices.Contains(k.asked.Approvers, w.id) {
		return nil
	}
	return k
}

// waiting says what a card asks.
func waiting(l look, k *card) string {
	what, until := k.waits(l)
	s := l.md("**May I do this?** " + l.code(what))
	if k.question != nil {
		s = l.md("**Question:** " + l.code(what))
	}
	return fmt.Sprintf("%s\nAsked %s ago. %s", s, took(l.now.Sub(k.at).Truncate(time.Second)), until)
}

// link leads to a message of the thread, or to its root.
func link(l look, at Thread, id MessageID) string {
	if l.info.Link == nil {
		return ""
	}
	if id == "" {
		id = MessageID(at.ID)
	}
	url := l.info.Link(at, id)
	if url == "" {
		return ""
	}
	return " " + l.md("[Open the thread]("+url+")")
}

// What stands on a page above its parts.
const (
	waitsHead = "**Waiting for you**"
	runsHead  = "**At work**"
	canHead   = "**What I can do**"
)

// pieces returns the page. What waits comes first, and when there is too much some of what runs is left
// out before.
func (p page) pieces(l look, tools string) []string {
	can := []string{l.md(canHead), l.md(help + helpCommands()), l.md(tools)}
	room := l.info.MaxHome - len(can) - 4 // two heads, and a note under each
	waits := part(l, l.md(waitsHead), p.waits, max(0, room), nothingForYou)
	runs := part(l, l.md(runsHead), p.runs, max(0, room-len(p.waits)), nothingOfYours)
	all := slices.Concat(waits, runs, can)
	for i, s := range all {
		all[i] = fit(l.mask(s), l.info.MaxText)
	}
	return all
}

// part returns a head, at most so many of all, and a note: that there are more, or that there is nothing.
func part(l look, head string, all []string, most int, none string) []string {
	shown := append([]string{head}, all[:min(most, len(all))]...)
	switch n := len(all) - most; {
	case len(all) == 0:
		return append(shown, none)
	case n > 0:
		return append(shown, l.md(fmt.Sprintf("There are %d more.", n)))
	}
	return shown
}
