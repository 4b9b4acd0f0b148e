// Package story is what the page shows of a session: the fold of its log to items (Story), and their
// rendering as HTML (Renderer).
//
// A Story is a pure function of the log, as everything that is shown elsewhere. Each Item is one thing that
// people see: a message, an answer, a tool call with its card, a note. It has the position of the entry that
// changed it last, so that a viewer who has seen the log up to some position needs the items beyond it, and
// no others. The words are in this file and in pages/, the look in look/: there is no build step, and nothing
// in a page that the strict policy of bots/web does not allow, so no style and no script within HTML.
package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// A Kind says what an Item is.
type Kind string

// The kinds.
const (
	Said   Kind = "said"   // by a person
	Answer Kind = "answer" // of the model
	Call   Kind = "call"   // of a tool
	Note   Kind = "note"   // of the program
)

// An Item is one thing in a thread. The zero values of most fields are what is not there.
type Item struct {
	ID   string    // of the element in the page
	Rev  store.Pos // of the entry that changed it last
	Kind Kind
	Time time.Time
	By   agent.User // of Said
	Text string     // Markdown of Answer, else plain

	Message string // of Said: the id of the message
	Marks   Marks
	Files   []agent.Attachment
	Call    *CallState
}

// Marks are what became of a message.
type Marks struct {
	Edited, Withdrawn, Partial bool
}

// A CallState is how far a tool call is.
type CallState struct {
	ID, Tool, Title string
	Args            string // JSON, indented
	Card            *Card  // the newest; nil: it was not asked for
	Question        *Question
	Started         time.Time // zero: it has not
	Finished        *agent.ToolFinished
	Over            bool // the turn has ended: nothing becomes of it any more
}

// A Card is what a person is asked to approve.
type Card struct {
	Kind      tools.PreviewKind
	Preview   string
	Dir       string
	Digest    string
	Number    int // in the thread
	Expires   time.Time
	Approvers []string
	Again     bool
	Decided   *agent.Decided
	Expired   bool
}

// Open reports whether the card waits for somebody.
func (c *CallState) Open() bool {
	return c.Card != nil && c.Card.Decided == nil && !c.Card.Expired && c.Finished == nil && !c.Over
}

// A Question is what people are asked.
type Question struct {
	Text     string // Markdown
	Options  []agent.Option
	Free     bool
	Number   int // in the thread, as of a Card
	Expires  time.Time
	Answered *agent.Answered
	Expired  bool
}

// Asking reports whether the question waits for somebody.
func (c *CallState) Asking() bool {
	return c.Question != nil && c.Question.Answered == nil && !c.Question.Expired && c.Finished == nil && !c.Over
}

// A Summary is a session in a few words.
type Summary struct {
	Title   string // the beginning of the first request
	Turn    int    // that runs; 0 is none
	Waiting int    // cards and questions that wait for somebody
	Tokens  int    // of all requests so far
	Steps   int    // replies of the model so far
	Model   string // that answered last
}

// A Story is the fold of a session's log. The zero Story is that of an empty log.
type Story struct {
	pos   store.Pos
	items []*Item
	byID  map[string]*Item
	sum   Summary
	cards int
	begun int // items before the turn that runs
}

// Pos returns the position of the last entry.
func (s *Story) Pos() store.Pos { return s.pos }

// Items returns the items in order. They must not be changed.
func (s *Story) Items() []*Item { return s.items }

// Summary returns the session in a few words.
func (s *Story) Summary() Summary {
	sum := s.sum
	for _, i := range s.items[min(s.begun, len(s.items)):] {
		if i.Call != nil && (i.Call.Open() || i.Call.Asking()) {
			sum.Waiting++
		}
	}
	return sum
}

// Apply folds the next entry. After an error the Story must not be used any more.
func (s *Story) Apply(e store.Entry) error {
	if e.Pos <= s.pos {
		return fmt.Errorf("frame %d after frame %d", e.Pos, s.pos)
	}
	for n, ev := range e.Events {
		v, err := agent.Decode(ev)
		if err != nil {
			return fmt.Errorf("frame %d: %w", e.Pos, err)
		}
		if v != nil {
			s.event(e, n, v)
		}
	}
	s.pos = e.Pos
	return nil
}

// add adds an item.
func (s *Story) add(e store.Entry, i Item) *Item {
	i.Rev, i.Time = e.Pos, e.Time
	if s.byID == nil {
		s.byID = map[string]*Item{}
	}
	s.items = append(s.items, &i)
	s.byID[i.ID] = &i
	return &i
}

// note adds a word of the program's.
func (s *Story) note(e store.Entry, n int, format string, args ...any) {
	s.add(e, Item{ID: fmt.Sprintf("n%d-%d", e.Pos, n), Kind: Note, Text: fmt.Sprintf(format, args...)})
}

// said returns the message of that id, or nil.
func (s *Story) said(id string) *Item {
	for _, i := range s.items {
		if i.Kind == Said && i.Message == id {
			return i
		}
	}
	return nil
}

// call returns a tool call, changed by e, or nil.
func (s *Story) call(e store.Entry, id string) *CallState {
	i := s.byID["c"+callID(id)]
	if i == nil {
		return nil
	}
	i.Rev = e.Pos
	return i.Call
}

// callID returns a call's id as it may stand in the id of an element.
func callID(id string) string { return strings.ReplaceAll(id, ".", "-") }

// indented returns arguments to be read.
func indented(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(v) != nil {
		return string(args)
	}
	return strings.TrimRight(b.String(), "\n")
}

// maxTitle is the characters of a Summary's title.
const maxTitle = 80
