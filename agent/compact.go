package agent

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/heddle-bot/heddle/agent/llm"
)

// This file is how a conversation is summed up when it outgrows the model: when, where it is cut, and
// what becomes of it. All of it is decided from the session.

// Compaction, from the requirements.
const (
	bytesPerToken  = 3    // of what is sent: on the high side for all but a few languages
	summaryReserve = 8192 // tokens of the window that are left for a summary, or half of a small window
	keepMessages   = 4    // of the newest messages are never summed up
	trimTo         = 2000 // bytes of a tool result that stays, when the model has refused a request as too large
	messageFrame   = 40   // bytes of a message around its text, as it is sent
	imageSize      = 4500 // bytes that an image counts: providers ask some 1,500 tokens for a large one, whatever its file
)

// A Window is the size of a model's context, in tokens. Zero is unknown: then nothing is summed up
// unless a person asks for it or the model refuses a request as too large.
type Window int

// limit returns how many tokens a request may have before the conversation is summed up.
func (w Window) limit() int { return min(int(w)*8/10, int(w)-w.reserve()) }

func (w Window) reserve() int { return min(summaryReserve, int(w)/2) }

// tail returns how many tokens of the newest messages are to stay as they are.
func (w Window) tail() int { return int(w) * 16 / 100 }

// size returns the bytes of a message as it is sent, about.
func size(m *llm.Message) int {
	n := messageFrame + len(m.Text) + imageSize*len(m.Images)
	for _, c := range m.Calls {
		n += messageFrame + len(c.Name) + len(c.Args)
	}
	return n
}

func sizes(all []*llm.Message) (n int) {
	for _, m := range all {
		n += size(m)
	}
	return n
}

// fixed returns the bytes of a request beside its messages.
func (p Prompted) fixed() int {
	n := messageFrame + len(p.System)
	for _, t := range p.Tools {
		n += messageFrame + len(t.Name) + len(t.Description) + len(t.Input)
	}
	return n
}

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// estimate returns the tokens of a request, about.
func estimate(r *llm.Request) int {
	return tokens(Prompted{r.System, r.Tools}.fixed() + sizes(r.Messages))
}

// full reports whether the request that comes next is too large for the window.
func full(s *Session, p Policy) bool {
	if p.Window == 0 {
		return false
	}
	n, images := s.prompt.fixed()+s.size, s.shown
	for _, m := range s.next(s.turn != nil) {
		told, _ := s.told(m, s.Pos)
		for _, m := range told {
			n += size(m)
			images.add(m)
		}
	}
	if !p.Images { // they are not sent
		n -= imageSize * images.n
	}
	return tokens(n) >= p.Window.limit()
}

// cut returns how many of the oldest messages are to be summed up; 0 is none. The newest stay: at least
// keepMessages, and as many as fill the window's tail. The messages to be summed up have to fit into
// a request themselves, of which so many bytes are taken; after the model has refused a request it is not
// known what fits, and half of them are tried.
func cut(history []*llm.Message, w Window, taken int, refused bool) int {
	room := sizes(history)
	switch {
	case refused:
		room /= 2
	case w > 0:
		room = (int(w)-w.reserve())*bytesPerToken - taken
	}
	fits := len(history) // so many of the oldest
	for sum := sizes(history); fits > 0 && sum > room; fits-- {
		sum -= size(history[fits-1])
	}
	n, tail := len(history), 0
	for ; n > 0; n-- {
		if n <= fits && len(history)-n >= keepMessages && tokens(tail) >= w.tail() && border(history, n) {
			break
		}
		tail += size(history[n-1])
	}
	if n == 1 {
		return 0 // a summary of one message gains nothing, and of a summary loses
	}
	return n
}

// shrinks reports whether a history that the model has refused as too large can be made smaller.
func shrinks(history []*llm.Message) bool {
	return cut(history, 0, 0, true) > 0 ||
		slices.ContainsFunc(history, func(m *llm.Message) bool { return long(m, trimTo) || len(m.Images) > 0 })
}

// long reports whether m is a tool result of more than most bytes.
func long(m *llm.Message, most int) bool { return m.Role == llm.ToolRole && len(m.Text) > most }

// border reports whether the history may be cut before its n-th message: not between a call and its
// result.
func border(history []*llm.Message, n int) bool {
	return n < len(history) && history[n].Role != llm.ToolRole
}

// better reports whether a reply can stand for the messages: it is whole, says something, and is
// shorter.
func better(r *llm.Reply, than []*llm.Message) bool {
	return r.Stop == llm.EndTurn && len(r.Calls) == 0 && strings.TrimSpace(r.Text) != "" && len(r.Text) < sizes(than)
}

// compact folds a summary.
func (k *talk) compact(e *Compacted) error {
	if e.Replaced < 0 || e.Replaced > len(k.history) {
		return errPlace
	}
	rest := k.history[e.Replaced:]
	k.rewrite(nil)
	if e.Summary != "" {
		k.tell(e.Summary)
	}
	if e.Trim > 0 {
		rest = blind(rest)
	}
	for _, m := range rest {
		if e.Trim > 0 && long(m, e.Trim) {
			m = &llm.Message{Role: m.Role, CallID: m.CallID, Text: strings.ToValidUTF8(m.Text[:e.Trim], "") + "\n" + e.Note}
		}
		k.add(m)
	}
	k.wish = nil
	return nil
}

// Why a conversation stays as it is; people are told.
var (
	errNothing   = errors.New("there is not enough to sum up yet")
	errNoSummary = errors.New("the model wrote no summary that could be used")
)

// sumUp folds what has to do with summing up. t may be nil.
func (t *turn) sumUp(k *talk, v any) error {
	if t == nil {
		return errPlace
	}
	switch e := v.(type) {
	case *Overflowed:
		t.sum.refused++
	case *CompactFailed:
		t.usage = t.usage.Add(e.Usage)
		t.sum.tried, t.sum.failed = t.sum.refused, e.Detail
		k.wish = nil
	case *Compacted:
		t.usage = t.usage.Add(e.Usage)
		t.sum.tried, t.sum.failed = t.sum.refused, ""
		return k.compact(e)
	}
	return nil
}

// ask says what to do when the model is to be asked: first to get all that the request is to hold, and
// to make room if there is too little.
func (s *Session) ask(p Policy, left time.Duration) Action {
	if do := missing(&s.talk, true); do != nil {
		return do
	}
	t := s.turn
	refused := t.sum.refused > t.sum.tried
	if s.wish != nil || refused || t.sum.failed == "" && full(s, p) {
		return Compact{left, refused}
	}
	if t.sum.only && len(s.next(true)) == 0 {
		if t.sum.failed != "" {
			return EndTurn{Reason: NotSummedUp, Detail: t.sum.failed}
		}
		return EndTurn{Reason: SummedUp}
	}
	return AskModel{left}
}
