package slack

import "github.com/heddle-bot/heddle/bots"

// recent are the keys of the events that were accepted last. Each mention comes as two events, and
// after a lost acknowledgement again, for some six minutes: what is known here need not be offered
// twice. It only saves work; that a message is taken once for all is for whoever accepts.
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

// eventKey names an event, by whichever envelope it comes.
func eventKey(ev bots.Event) string {
	channel := threadOf(ev).Channel
	switch ev := ev.(type) {
	case bots.Said:
		return channel + "/" + ev.ID
	case bots.Edited:
		return channel + "/" + ev.ID
	case bots.Deleted:
		return channel + "/deleted/" + ev.ID // its ID is that of the message
	case bots.Clicked:
		return channel + "/" + ev.ID
	case bots.Commanded:
		return channel + "/" + ev.ID
	case bots.HomeOpened:
		return ev.ID
	}
	return ""
}

// threadOf returns the thread that an event is about.
func threadOf(ev bots.Event) bots.Thread {
	switch ev := ev.(type) {
	case bots.Said:
		return ev.Thread
	case bots.Edited:
		return ev.Said.Thread
	case bots.Deleted:
		return ev.Thread
	case bots.Clicked:
		return ev.Thread
	case bots.Commanded:
		return ev.Thread
	}
	return bots.Thread{}
}
