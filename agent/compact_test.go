package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent/llm"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 1, "abc": 1, "abcd": 2, "你好": 2, "你好吗": 3} {
		require.Equal(t, want, tokens(len(text)), text)
	}
}

// TestWindowLimit is R-090: the smaller of 80 % and what a summary leaves.
func TestWindowLimit(t *testing.T) {
	for w, want := range map[Window]int{400_000: 320_000, 40_960: 32_768, 20_000: 11_808, 16_384: 8192, 1000: 500} {
		require.Equal(t, want, w.limit(), w)
	}
}

func TestFull(t *testing.T) {
	const w = 1000 // 500 tokens, which are 1,500 bytes
	s := fold(t, Opened{Format: Format}, say("x"), TurnStarted{Turn: 1, Saw: 2}, Prompted{System: "Be brief."})
	used := s.prompt.fixed() + s.size + len("Alice: ")
	for more, want := range map[int]bool{1498 - messageFrame - used - 1: false, 1498 - messageFrame - used: true} {
		s.waiting = []message{{at: 9, said: say(strings.Repeat("x", more))}}
		require.Equal(t, want, full(s, Policy{Window: w}), more)
	}
	require.False(t, full(s, Policy{}), "the size is not known")

	s.waiting[0].files = &Attached{Files: []Attachment{{Kind: ImageFile}}}
	require.False(t, full(s, Policy{Window: 2 * w}), "an image that is not sent does not count")
	require.True(t, full(s, Policy{Window: 2 * w, Images: true}))
}

// anyHistory draws a history as the fold makes it: results stand behind their calls.
func anyHistory(t *rapid.T) []*llm.Message {
	var all []*llm.Message
	text := func() string { return strings.Repeat("x", rapid.IntRange(0, 3000).Draw(t, "size")) }
	for range rapid.IntRange(0, 20).Draw(t, "moves") {
		switch calls := rapid.IntRange(-1, 3).Draw(t, "calls"); calls {
		case -1:
			all = append(all, &llm.Message{Role: llm.User, Text: text()})
		default:
			m := &llm.Message{Role: llm.Assistant, Text: text()}
			all = append(all, m)
			for i := range calls {
				m.Calls = append(m.Calls, llm.Call{ID: fmt.Sprint(i), Name: "x"})
				all = append(all, &llm.Message{Role: llm.ToolRole, CallID: fmt.Sprint(i), Text: text()})
			}
		}
	}
	return all
}

// TestCut is: whatever the history, a cut parts no call from its result, leaves the
// newest messages and the tail, and what is to be summed up fits into a request; and it is made if one
// such cut is there at all.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHistory(t)
		w := Window(rapid.SampledFrom([]int{0, 500, 2000, 10_000, 50_000}).Draw(t, "window"))
		refused := rapid.Bool().Draw(t, "refused")
		fits := func(n int) bool {
			tail := h[n:]
			if n < 2 || len(tail) < keepMessages || tail[0].Role == llm.ToolRole || tokens(sizes(tail)) < w.tail() {
				return false
			}
			switch {
			case refused:
				return sizes(h[:n]) <= sizes(h)/2
			case w == 0:
				return true
			}
			return tokens(sizes(h[:n])+100)+w.reserve() <= int(w)
		}
		want := 0
		for n := range len(h) {
			if fits(n) {
				want = n
			}
		}
		require.Equal(t, want, cut(h, w, 100, refused))
	})
}

func TestBetter(t *testing.T) {
	old := []*llm.Message{{Role: llm.User, Text: strings.Repeat("x", 100)}}
	for name, c := range map[string]struct {
		reply llm.Reply
		want  bool
	}{
		"good":        {llm.Reply{Text: "short", Stop: llm.EndTurn}, true},
		"cut off":     {llm.Reply{Text: "short", Stop: llm.MaxTokens}, false},
		"empty":       {llm.Reply{Text: " \n", Stop: llm.EndTurn}, false},
		"no shorter":  {llm.Reply{Text: strings.Repeat("y", 140), Stop: llm.EndTurn}, false},
		"with a call": {llm.Reply{Text: "short", Stop: llm.EndTurn, Calls: []llm.Call{{}}}, false},
	} {
		require.Equal(t, c.want, better(&c.reply, old), name)
	}
}

// TestCompacted is: one summary, and behind it what was kept, the same as before.
func TestCompacted(t *testing.T) {
	var k talk
	for i := range 8 {
		k.tell(fmt.Sprint(i))
	}
	kept := k.history[5:]
	require.NoError(t, k.compact(&Compacted{Replaced: 5, Summary: "first summary"}))
	require.Equal(t, "first summary", k.history[0].Text)
	require.Equal(t, llm.User, k.history[0].Role)
	require.Len(t, k.history, 4)
	for i, m := range kept {
		require.Same(t, m, k.history[i+1])
	}
	require.NoError(t, k.compact(&Compacted{Replaced: 2, Summary: "second"}))
	require.Equal(t, []string{"second", "6", "7"}, []string{k.history[0].Text, k.history[1].Text, k.history[2].Text})
	require.Equal(t, sizes(k.history), k.size)
	require.Error(t, k.compact(&Compacted{Replaced: 4}))

	k.add(&llm.Message{Role: llm.ToolRole, CallID: "c", Text: strings.Repeat("é", 100)})
	require.NoError(t, k.compact(&Compacted{Trim: 11, Note: "(cut)"}))
	last := k.history[len(k.history)-1]
	require.Equal(t, "ééééé\n(cut)", last.Text)
	require.Equal(t, "c", last.CallID)
	require.Len(t, k.history, 4)
}
