package discordtest

import (
	"net/http"
	"slices"
	"time"
)

// newThread is what a thread that is made of a message takes.
func newThread() fields {
	return fields{"name!": words(1, 100), "auto_archive_duration": oneOf(60.0, 1440.0, 4320.0, 10080.0), "rate_limit_per_user": whole(0, 21600),
		"type": oneOf(11.0), "invitable": yesNo} // clients send them though a message leaves no choice
}

// threadEdit is what an edit of a thread takes.
func threadEdit() fields {
	return fields{"name": words(1, 100), "archived": yesNo, "locked": yesNo, "auto_archive_duration": oneOf(60.0, 1440.0, 4320.0, 10080.0)}
}

func startThread(n *Network, q *request) (any, *refused) {
	c, m, no := messageOf(n, q, CreatePublicThreads)
	switch {
	case no != nil:
		return nil, no
	case c.kind != guildText:
		return nil, refuse(50024)
	case m.thread != "":
		return nil, refuse(160004)
	}
	t := n.addThread(c, m, BotUser, str(q.body, "name"))
	if d := count(q.body, "auto_archive_duration"); d > 0 {
		t.minutes = d
	}
	return n.channelJSON(t), nil
}

// addThread makes a thread of a message. Its id is the message's.
func (a acts) addThread(c *channel, m *Message, by, name string) *channel {
	t := &channel{id: m.ID, guild: c.guild, name: name, kind: publicThread}
	t.thread = thread{parent: c.id, owner: by, minutes: 1440, since: time.Now()}
	a.n.channels[t.id] = t
	m.thread = t.id
	m.flags |= flagHasThread
	v := a.n.channelJSON(t)
	v["newly_created"] = true
	a.n.Gateway.event("THREAD_CREATE", t.place(), v)
	a.n.Gateway.event("MESSAGE_UPDATE", c.place(), a.n.eventJSON(m))
	return t
}

func editThread(n *Network, q *request) (any, *refused) {
	c, no := permit(n, q, 0)
	if no != nil {
		return nil, no
	}
	manage := n.may(BotUser, c)&ManageThreads != 0
	_, locks := q.body["locked"]
	_, names := q.body["name"]
	archived, archives := q.body["archived"].(bool)
	switch {
	case !c.isThread() && n.may(BotUser, c)&ManageChannels == 0:
		return nil, refuse(50013)
	case !c.isThread() && len(q.body) > 0 && !(names && len(q.body) == 1):
		return nil, refuse(50024)
	case c.isThread() && !manage && (locks || c.locked || names && c.owner != BotUser):
		return nil, refuse(50013)
	case c.isThread() && !manage && archives && archived && c.owner != BotUser:
		return nil, refuse(50013)
	case c.archived && !(archives && !archived):
		return nil, refuse(50083)
	}
	if names && str(q.body, "name") != c.name {
		if no := c.rename(str(q.body, "name"), time.Now()); no != nil {
			return nil, no
		}
	}
	n.setThread(c, func() {
		if archives {
			c.archived, c.since = archived, time.Now()
		}
		if locks {
			c.locked = whether(q.body, "locked")
		}
		if d := count(q.body, "auto_archive_duration"); d > 0 {
			c.minutes = d
		}
	})
	return n.channelJSON(c), nil
}

// Renames that Discord lets through, as is commonly seen.
const (
	maxRenames   = 2
	renameWindow = 10 * time.Minute
)

// rename gives a channel another name, or refuses it if that comes too often.
func (c *channel) rename(name string, now time.Time) *refused {
	c.renames = slices.DeleteFunc(c.renames, func(t time.Time) bool { return now.Sub(t) >= renameWindow })
	if len(c.renames) >= maxRenames {
		no := soon(c.renames[0].Add(renameWindow).Sub(now), "shared")
		no.status = http.StatusTooManyRequests
		return no
	}
	c.renames = append(c.renames, now)
	c.name = name
	return nil
}

// setThread changes a thread, or a channel, and tells the Gateway.
func (a acts) setThread(c *channel, do func()) {
	do()
	a.n.wake()
	name := "CHANNEL_UPDATE"
	if c.isThread() {
		name = "THREAD_UPDATE"
	}
	a.n.Gateway.event(name, c.place(), a.n.channelJSON(c))
}

func joinThread(n *Network, q *request) (any, *refused) {
	c, no := permit(n, q, 0)
	switch {
	case no != nil:
		return nil, no
	case !c.isThread():
		return nil, refuse(50024)
	case c.archived:
		return nil, refuse(50083)
	}
	return nil, nil
}

func activeThreads(n *Network, q *request) (any, *refused) {
	g, no := guildOf(n, q)
	if no != nil {
		return nil, no
	}
	threads := []object{}
	for _, c := range sorted(n.channels) {
		if c.guild == g.id && c.isThread() && !c.archived && n.may(BotUser, c)&ViewChannel != 0 {
			threads = append(threads, n.channelJSON(c))
		}
	}
	return object{"threads": threads, "members": []any{}, "has_more": false}, nil
}
