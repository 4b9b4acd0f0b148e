package discord

import "github.com/heddle-bot/heddle/bots"

// recent are the keys of the events that were accepted last: after a resume, and when missed messages
// are read, an event may come again. It only saves work; that a message is taken once for all is for
// whoever accepts.
type recent struct {
	known map[string]bool
	order [10_000]string // a ring
	next  int
}

func (r *recent) has(key string) bool { return r.known[key] }

func (r *recent) add(key string) {
	delete(r.known, r.order[r.next])
	r.known[key], r.order[r.next] = true, key
	r.next = (r.next + 1) % len(r.order)
}

// eventKey names an event. Ids are unique in all of Discord.
func eventKey(ev bots.Event) string {
	switch ev := ev.(type) {
	case bots.Said:
		return ev.ID
	case bots.Edited:
		return ev.ID
	case bots.Deleted:
		return "deleted/" + ev.ID // its ID is that of the message
	case bots.Clicked:
		return ev.ID
	case bots.Commanded:
		return ev.ID
	}
	return ""
}
