package story

import (
	"io"
	"time"
)

// A SessionRow is one session of any network in the console.
type SessionRow struct {
	ThreadRow
	Session string // its id
	Network string
	Tokens  int
	Steps   int
}

// A NetworkRow is the connection to one network.
type NetworkRow struct {
	Title      string
	Connected  bool
	Since      time.Time
	LastEvent  time.Time // zero: none yet
	Reconnects int
	LastError  string
}

// A Console is what an operator sees of all networks.
type Console struct {
	Viewer   Viewer
	Query    string
	Networks []NetworkRow
	Waiting  []SessionRow // in which somebody is waited for
	Sessions []SessionRow // that match
	More     bool         // there are more than are shown

	Session *SessionRow // that is looked at; nil: none is
	Items   []*Item
	Earlier int
}

// Console writes a page of the console.
func (r *Renderer) Console(w io.Writer, c Console) error {
	return r.t.ExecuteTemplate(w, "console", c)
}
