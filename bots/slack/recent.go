package slack

import "github.com/heddle-bot/heddle/bots"

// recent are the keys of the events that were accepted last. Each mention comes as two events, and
// after a lost acknowledgement again: what is known here need not be offered twice. It only saves
// work; that a message is taken once for all is for whoever accepts.
type recent struct {
	known map[string]bool
	order [1000]string // a ring
	next  int
}

func (r *recent) has(key string) bool { return r.known[key] }

func (r *recent) add(key string) {
	delete(r.known, r.order[r.next])
	r.known[key], r.order[r.next] = true, key
	r.next = (r.next + 1) % len(r.order)
}

// eventKey names an event, by whichever envelope it comes.
func eventKey(ev bots.Event) string {
	switch ev := ev.(type) {
	case bots.Said:
		return ev.Thread.Channel + "/" + ev.ID
	case bots.Clicked:
		return ev.Thread.Channel + "/" + ev.ID
	}
	return ""
}
