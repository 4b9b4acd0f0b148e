package bots

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/store"
)

// TestOldLogs folds logs of the past: each must still fold, and to the same thread.
func TestOldLogs(t *testing.T) {
	ar, err := txtar.ParseFile("testdata/logs.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, ar.Files)
	for _, f := range ar.Files {
		name, isWant := strings.CutSuffix(f.Name, ".want")
		if isWant {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var s state
			for _, step := range steps(t, string(f.Data)) {
				require.NoError(t, s.apply(step.Entry))
			}
			require.Equal(t, section(ar, name+".want"), sketch(&s))
		})
	}
}

// sketch writes what a state holds, without the words for people, which may change.
func sketch(s *state) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pos %d, %d turns started, %d waiting\n", s.pos, s.started, len(s.waiting))
	for _, t := range s.turns {
		fmt.Fprintf(&b, "turn %d, ended %v, %v at work\n", t.n, t.ended != nil, t.worked(noon.Add(time.Hour)))
		for _, c := range t.calls {
			fmt.Fprintf(&b, "call %s, started %v, result %v\n", c.ID, c.started != nil, c.result != nil)
			for _, k := range c.cards {
				if k.question != nil {
					fmt.Fprintf(&b, "question %d, number %d, closed %v, answered %v, expired %v\n", k.nth, k.number, k.closed, k.answered != nil, k.expired)
					continue
				}
				fmt.Fprintf(&b, "card %d, closed %v, decided %v, expired %v\n", k.nth, k.closed, k.decided != nil, k.expired)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.posted)) {
		fmt.Fprintf(&b, "posted %s as %s\n", key, s.posted[key])
	}
	for _, key := range slices.Sorted(maps.Keys(s.failed)) {
		fmt.Fprintf(&b, "failed %s: %s\n", key, s.failed[key])
	}
	return b.String()
}

func TestReceipts(t *testing.T) {
	for _, v := range []any{&Posted{"1/progress", "17.1"}, &PostFailed{"1/answer/0", "no"}, &Painted{3}, &Left{agent.User{ID: "U1"}}} {
		e := encode(deref(v))
		got, err := decode(e)
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	v, err := decode(store.Event{Kind: "web.Seen"})
	require.NoError(t, err)
	require.Nil(t, v)
	_, err = decode(store.Event{Kind: "bots.Danced"})
	require.ErrorContains(t, err, "newer release")
	_, err = decode(store.Event{Kind: "bots.Posted", Data: json.RawMessage(`[]`)})
	require.Error(t, err)
}

func deref(v any) any {
	switch v := v.(type) {
	case *Posted:
		return *v
	case *PostFailed:
		return *v
	case *Painted:
		return *v
	case *Left:
		return *v
	}
	return v
}

// What this release cannot read is refused, not skipped.
func TestUnreadable(t *testing.T) {
	for _, e := range []store.Event{{Kind: "bots.Danced"}, {Kind: "agent.Danced"}, {Kind: "agent.UserSaid", Data: json.RawMessage(`[]`)}} {
		var s state
		require.Error(t, s.apply(store.Entry{Pos: 1, Frame: store.Frame{Events: []store.Event{e}}}))
	}
	var s state
	require.NoError(t, s.apply(store.Entry{Pos: 2, Frame: store.Frame{Events: []store.Event{{Kind: "web.Seen"}}}}))
	require.Error(t, s.apply(store.Entry{Pos: 2}))
}

// anyLog draws a log of events in any order, with ids that meet now and then.
func anyLog(rt *rapid.T) []store.Entry {
	calls := []string{"1.9.9"} // ids are unique, and events may come for calls that nobody knows
	call := rapid.Custom(func(rt *rapid.T) string { return rapid.SampledFrom(calls[max(0, len(calls)-3):]).Draw(rt, "call") })
	user := rapid.Custom(func(rt *rapid.T) agent.User {
		return agent.User{ID: rapid.SampledFrom([]string{"UANN", "UBOB"}).Draw(rt, "user")}
	})
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "ok", "`x` **y**", strings.Repeat("long ", 500)}), rapid.String())
	key := rapid.SampledFrom([]string{"1/progress", "1/answer/0", "1/card/1.1.1/1", "2/progress", "2/answer/1", "1/said/3", "odd", ""})
	turns := 0
	event := func(rt *rapid.T, pos store.Pos) store.Event {
		saw := store.Pos(rapid.Uint64Range(0, uint64(pos)).Draw(rt, "saw"))
		var v any
		switch rapid.IntRange(0, 12).Draw(rt, "kind") {
		case 0:
			v = agent.UserSaid{By: user.Draw(rt, "by"), Text: text.Draw(rt, "text"), Busy: rapid.SampledFrom([]agent.Busy{"", agent.Queue, agent.Interrupt}).Draw(rt, "busy")}
		case 1:
			turns++
			v = agent.TurnStarted{Turn: turns, Saw: saw}
		case 2:
			id := fmt.Sprintf("%d.%d.1", turns, len(calls))
			calls = append(calls, id)
			v = agent.ModelSaid{Saw: saw, Text: text.Draw(rt, "text"), Calls: []agent.Call{{ID: id, Tool: text.Draw(rt, "tool")}}}
		case 3:
			v = agent.ApprovalAsked{Call: call.Draw(rt, "id"), Title: text.Draw(rt, "title"), Preview: text.Draw(rt, "preview"), Digest: "d", Approvers: []string{"UBOB"}}
		case 4:
			v = agent.Decided{Call: call.Draw(rt, "id"), Digest: "d", Yes: rapid.Bool().Draw(rt, "yes"), By: user.Draw(rt, "by"), Reason: text.Draw(rt, "reason")}
		case 5:
			v = agent.ApprovalExpired{Call: call.Draw(rt, "id")}
		case 6:
			v = agent.ToolStarted{Call: call.Draw(rt, "id"), Title: text.Draw(rt, "title")}
		case 7:
			v = agent.ToolFinished{Call: call.Draw(rt, "id"), Status: agent.Status(text.Draw(rt, "status")), Note: text.Draw(rt, "note")}
		case 8:
			v = agent.StopAsked{By: user.Draw(rt, "by")}
		case 9:
			v = agent.TurnEnded{Turn: turns, Reason: rapid.SampledFrom([]agent.Reason{agent.Completed, agent.Cancelled, agent.MaxSteps, "new"}).Draw(rt, "reason"), Text: text.Draw(rt, "text"), Detail: text.Draw(rt, "detail")}
		case 10:
			return encode(Posted{key.Draw(rt, "key"), "m"})
		case 11:
			return encode(PostFailed{key.Draw(rt, "key"), text.Draw(rt, "detail")})
		case 12:
			return encode(Painted{rapid.IntRange(0, 3).Draw(rt, "turn")})
		}
		e, err := agent.Encode(v)
		require.NoError(rt, err)
		return e
	}
	var all []store.Entry
	for i := range rapid.IntRange(1, 25).Draw(rt, "frames") {
		f := store.Frame{Time: noon.Add(rapid.SampledFrom([]time.Duration{-1e9, 0, 1e9, 3e12}).Draw(rt, "time"))}
		for range rapid.IntRange(0, 3).Draw(rt, "events") {
			f.Events = append(f.Events, event(rt, store.Pos(i+1)))
		}
		all = append(all, store.Entry{Pos: store.Pos(i + 1), Frame: f})
	}
	return all
}

// Whatever is in a log, each beginning of it folds to a thread that can be shown: folded in one go or
// piece by piece, every text fits, no key comes twice, and a turn that has ended has an answer.
func TestFold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := anyLog(rt)
		anew := rapid.IntRange(0, len(log)).Draw(rt, "anew")
		var s state
		for i, e := range log {
			if i == anew { // a painter that starts again in the middle
				s = state{}
				for _, e := range log[:i] {
					require.NoError(rt, s.apply(e))
				}
			}
			require.NoError(rt, s.apply(e))
			l := plain(noon)
			want := view(&s, agent.Live{Text: "x"}, l)
			keys := map[string]bool{}
			for _, m := range want {
				require.False(rt, keys[m.Key], m.Key)
				keys[m.Key] = true
				require.LessOrEqual(rt, len(m.Text), l.info.MaxText)
				require.NotEmpty(rt, strings.TrimSpace(m.Text))
				require.Equal(rt, m.turn, turnOf(m.Key))
			}
			for _, turn := range s.turns {
				require.Equal(rt, turn.ended != nil, keys[key(turn, "answer/0")])
			}
		}
		var fresh state
		for _, e := range log {
			require.NoError(rt, fresh.apply(e))
		}
		require.Equal(rt, fresh, s)
	})
}

// A painted turn leaves nothing behind, however long the thread.
func TestPaintedIsForgotten(t *testing.T) {
	var s state
	for _, step := range steps(t, "0 agent.UserSaid {}\n+ agent.TurnStarted {\"turn\":1,\"saw\":1}\n"+
		"+ bots.Posted {\"key\":\"1/progress\",\"id\":\"m\"}\n+ bots.PostFailed {\"key\":\"1/answer/0\"}\n"+
		"+ agent.TurnEnded {\"turn\":1}\n+ bots.Painted {\"turn\":1}") {
		require.NoError(t, s.apply(step.Entry))
	}
	require.Empty(t, s.turns)
	require.Empty(t, s.posted)
	require.Empty(t, s.failed)
	require.Empty(t, s.waiting)
	require.False(t, s.busy())
}

func BenchmarkFold(b *testing.B) {
	var log bytes.Buffer
	for turn := range 100 {
		fmt.Fprintf(&log, "0 agent.UserSaid {\"text\":\"hello\"}\n0 agent.TurnStarted {\"turn\":%d,\"saw\":%d}\n", turn+1, turn*6+1)
		fmt.Fprintf(&log, "0 agent.ModelSaid {\"text\":%q,\"calls\":[{\"id\":\"%d.1.1\",\"tool\":\"read\",\"args\":{}}]}\n", strings.Repeat("word ", 200), turn+1)
		fmt.Fprintf(&log, "0 agent.ToolFinished {\"call\":\"%d.1.1\",\"status\":\"ok\",\"text\":%q}\n", turn+1, strings.Repeat("word ", 1000))
		fmt.Fprintf(&log, "0 agent.TurnEnded {\"turn\":%d,\"reason\":\"completed\"}\n0 bots.Painted {\"turn\":%d}\n", turn+1, turn+1)
	}
	all := steps(&testing.T{}, log.String())
	for b.Loop() {
		var s state
		for _, step := range all {
			if err := s.apply(step.Entry); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(all)), "frames/op")
}

func BenchmarkView(b *testing.B) {
	var s state
	log := "0 agent.UserSaid {}\n0 agent.TurnStarted {\"turn\":1,\"saw\":1}\n"
	for i := range 50 {
		log += fmt.Sprintf("1 agent.ModelSaid {\"calls\":[{\"id\":\"1.%d.1\",\"tool\":\"read\",\"args\":{}}]}\n1 agent.ToolFinished {\"call\":\"1.%d.1\",\"status\":\"ok\",\"title\":\"read a.go\"}\n", i+1, i+1)
	}
	for _, step := range steps(&testing.T{}, log) {
		if err := s.apply(step.Entry); err != nil {
			b.Fatal(err)
		}
	}
	live, l := agent.Live{Text: strings.Repeat("word ", 1000)}, plain(noon)
	for b.Loop() {
		if len(view(&s, live, l)) == 0 {
			b.Fatal("nothing is shown")
		}
	}
}

// Words for people hold in any text: they stay in one piece, and never end a code span early.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "x", "`", "a `` b", "日本語", "a\nb\tc", strings.Repeat("ab ", 500), "\xff\xfe", "👩‍👩‍👧‍👦"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 4 + (n%1000+1000)%1000
		require.LessOrEqual(t, len(fit(s, n)), max(n, 3))
		require.LessOrEqual(t, len([]rune(clip(s, n))), max(n, 1))
		require.LessOrEqual(t, len([]rune(tail(s, n))), n+2)
		require.True(t, strings.HasPrefix(s, settled(s)))
		code := plain(noon).code(s)
		require.NotContains(t, code, "\n")
		if strings.HasPrefix(code, "`") {
			ticks := code[:len(code)-len(strings.TrimLeft(code, "`"))]
			inner := strings.TrimSuffix(strings.TrimPrefix(code, ticks), ticks)
			require.False(t, slices.Contains(runs(inner), len(ticks)), code)
		}
	})
}

// runs returns the lengths of the runs of backticks in s.
func runs(s string) (all []int) {
	n := 0
	for _, r := range s + "\n" {
		switch {
		case r == '`':
			n++
		case n > 0:
			all, n = append(all, n), 0
		}
	}
	return all
}

func FuzzParseThread(f *testing.F) {
	for _, s := range []string{"slack/T1/C1/1700000000.000100", "discord//C/1", "", "a/b/c", "a/b/c/", "a/b/c/d/e"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, err := ParseThread(s)
		if err != nil {
			require.ErrorContains(t, err, "is not the address of a thread")
			return
		}
		require.Equal(t, s, at.String())
		require.True(t, strings.HasPrefix(s, at.ChannelID()+"/"))
	})
}
