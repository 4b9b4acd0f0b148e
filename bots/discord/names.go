package discord

import (
	"cmp"
	"strings"
	"sync"
	"unicode"

	"github.com/heddle-bot/heddle/bots"
)

// A user is somebody, as Discord tells.
type user struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Global   string `json:"global_name"`
	Bot      bool   `json:"bot"`
}

// A member is a user in a guild.
type member struct {
	Nick  string   `json:"nick"`
	Roles []string `json:"roles"`
	User  *user    `json:"user"` // not told with messages
}

// names are those of people by id, as they came with their latest message.
type names struct {
	mu    sync.Mutex
	known map[string]string
}

// Limits of names.
const (
	maxNames = 20_000 // are kept in memory before all are forgotten
	maxName  = 80     // characters of one
)

func newNames() *names { return &names{known: map[string]string{}} }

// person returns who u is, and remembers the name. m is nil where the guild's name is not told.
func (n *names) person(u user, m *member) bots.Person {
	nick := ""
	if m != nil {
		nick = m.Nick
	}
	name := cmp.Or(oneLine(nick), n.get(u.ID), oneLine(u.Global), oneLine(u.Username), u.ID)
	if m != nil {
		name = cmp.Or(oneLine(nick), oneLine(u.Global), oneLine(u.Username), u.ID)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		clear(n.known)
	}
	n.known[u.ID] = name
	p := bots.Person{ID: u.ID, Name: name, Bot: u.Bot}
	if m != nil {
		for _, id := range m.Roles {
			p.Roles = append(p.Roles, rolePrefix+id)
		}
	}
	return p
}

func (n *names) get(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[id]
}

// rolePrefix begins the id of a role where one of a person may stand too.
const rolePrefix = "role:"

// mention writes the name of a person or a role: Discord shows it, and as no message of ours allows
// mentions it calls nobody.
func mention(id string) string {
	if role, ok := strings.CutPrefix(id, rolePrefix); ok && role != "" && strings.Trim(role, "0123456789") == "" {
		return "<@&" + role + ">"
	}
	if id == "" || strings.Trim(id, "0123456789") != "" {
		return id // no id of Discord's
	}
	return "<@" + id + ">"
}

// oneLine returns a name as one line of at most maxName characters, without those that cannot be
// seen: they turn the text around them, or hide more text from people than from models.
func oneLine(s string) string {
	const nonJoiner, joiner = '\u200c', '\u200d' // of letters and emoji
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner:
			return -1
		}
		return r
	}, s)
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > maxName {
		r = append(r[:maxName-1], '…')
	}
	return string(r)
}
