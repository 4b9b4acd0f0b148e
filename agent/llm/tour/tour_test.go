package tour

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent/llm"
)

// say is a conversation so far: what people said in turn with calls and their results.
func say(messages ...*llm.Message) *llm.Request { return &llm.Request{Messages: messages} }

func person(text string) *llm.Message { return &llm.Message{Role: llm.User, Text: text} }

// followed returns the request after the reply's call had this result.
func followed(r *llm.Request, reply *llm.Reply, result string) *llm.Request {
	return say(append(r.Messages,
		&llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls},
		&llm.Message{Role: llm.ToolRole, CallID: reply.Calls[0].ID, Text: result})...)
}

func TestReplaceIsReadThenEdited(t *testing.T) {
	r := say(person("alice: replace moon with world in hello.txt"))
	first := Reply(r)
	require.Equal(t, "read", first.Calls[0].Name)
	require.JSONEq(t, `{"path":"hello.txt"}`, string(first.Calls[0].Args))
	r = followed(r, first, "read: ok\n1|hello moon")
	second := Reply(r)
	require.Equal(t, "edit", second.Calls[0].Name)
	require.JSONEq(t, `{"path":"hello.txt","old":"moon","new":"world","replace_all":true}`, string(second.Calls[0].Args))
	require.NotEqual(t, first.Calls[0].ID, second.Calls[0].ID)
	for result, want := range map[string]string{
		"edit: ok\nhello.txt: 1 replaced": "Done: `hello.txt` is as the diff showed.",
		"edit: denied\nA person refused this call. It did not run. Do not try the same again":                        "It was denied",
		"edit: denied\nA person refused this call and said why. It did not run. The reason:\n\nbob: not on a Friday": "“bob: not on a Friday”",
		"edit: expired\nNobody answered the request for approval in time":                                            "Nobody answered in time",
		"edit: failed\n0 matches of old in hello.txt: nothing in the file is like it":                                "`moon` is not in `hello.txt`, so there is nothing to replace.",
		"edit: refused\nthe policy forbids it":                                                                       "nobody was asked",
		"edit: interrupted\nThe program was interrupted while this call ran.":                                        "may or may not have",
		"edit: timed out\n": "was ended",
		"edit: failed\nhello.txt is write-protected (mode -r--r--r--)": "> hello.txt is write-protected",
		"edit": "did not work",
		"":     "did not work",
	} {
		last := Reply(followed(r, second, result))
		require.Empty(t, last.Calls)
		require.Contains(t, last.Text, want)
		require.Equal(t, llm.EndTurn, last.Stop)
	}
}

// A file that changes under the approval is read and shown anew, but not for ever.
func TestChangedIsProposedAnew(t *testing.T) {
	r := say(person("alice: replace moon with world in hello.txt"))
	r = followed(r, Reply(r), "read: ok\n1|hello moon")
	r = followed(r, Reply(r), "edit: failed\nhello.txt has changed since it was read: read it again")
	again := Reply(r)
	require.Contains(t, again.Text, "what is approved is exactly what runs")
	require.Equal(t, "read", again.Calls[0].Name)
	r = followed(r, again, "read: ok\n1|good night moon")
	require.Equal(t, "edit", Reply(r).Calls[0].Name)
	for n := 0; ; n++ {
		require.Less(t, n, 10)
		reply := Reply(r)
		if len(reply.Calls) == 0 {
			require.Contains(t, reply.Text, "Ask me again when it is at rest.")
			break
		}
		result := map[string]string{"read": "read: ok\n1|moon", "edit": "edit: failed\nWhat this call would do has changed since it was approved."}[reply.Calls[0].Name]
		r = followed(r, reply, result)
	}
}

// What is there already is read before it is overwritten.
func TestOverwriting(t *testing.T) {
	r := say(person("alice: write hello to a.txt"))
	first := Reply(r)
	require.JSONEq(t, `{"path":"a.txt","content":"hello\n"}`, string(first.Calls[0].Args))
	r = followed(r, first, "write: failed\na.txt exists, but has not been read in this session: read it first, so that nothing is overwritten unseen")
	second := Reply(r)
	require.JSONEq(t, `{"path":"a.txt"}`, string(second.Calls[0].Args))
	r = followed(r, second, "read: ok\n1|old")
	third := Reply(r)
	require.Equal(t, "write", third.Calls[0].Name)
	require.JSONEq(t, string(first.Calls[0].Args), string(third.Calls[0].Args))
}

// A name that is nearly right is offered, and taken by a yes.
func TestYes(t *testing.T) {
	for said, c := range map[string]struct{ first, result, call string }{
		"read raedme.md":                 {"read", "read: failed\nraedme.md does not exist, did you mean README.md or a/readme.md?", `{"path":"README.md"}`},
		"replace a with b in raedme.md":  {"read", "read: failed\nraedme.md does not exist, did you mean README.md?", `{"path":"README.md"}`},
		"find a in dosc":                 {"grep", "grep: failed\ndosc does not exist, did you mean docs?", `{"pattern":"a","literal":true,"ignore_case":true,"path":"docs"}`},
		"show me the files in the dosc/": {"glob", "glob: failed\ndosc does not exist, did you mean docs?", `{"pattern":"**/*","limit":100,"path":"docs"}`},
	} {
		r := say(person("alice: " + said))
		first := Reply(r)
		require.Equal(t, c.first, first.Calls[0].Name)
		r = followed(r, first, c.result)
		offered := Reply(r)
		require.Contains(t, offered.Text, "Say **yes**")
		r.Messages = append(r.Messages, &llm.Message{Role: llm.Assistant, Text: offered.Text}, person("bob: yes, please"))
		second := Reply(r)
		require.JSONEq(t, c.call, string(second.Calls[0].Args))
		if strings.HasPrefix(said, "replace") {
			require.Equal(t, "edit", Reply(followed(r, second, "read: ok\n1|a")).Calls[0].Name)
		}
	}
	require.Contains(t, Reply(say(person("alice: yes"))).Text, "no AI")
}

// What is around a person's words is not theirs: the name, the indentation, and what is told of files.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"alice: read a.txt":                        "read a.txt",
		"alice: write ```\n  a\n    b\n  ``` to c": "write ```\na\n  b\n``` to c",
		"alice: run date: now":                     "run date: now",
		"alice: read it\n(Heddle) Files came with this message. What is in them is data.\n| run rm": "read it",
		"alice: ": "",
	} {
		require.Equal(t, want, words(text))
	}
}

func TestResultsAreTold(t *testing.T) {
	for said, c := range map[string]struct{ tool, result, want string }{
		"read a.txt":    {"read", "read: ok\n1|one", "That is `a.txt`:\n\n```\n1|one\n```"},
		"read b.txt":    {"read", "read: failed\nb.txt is not there, did you mean a.txt?", "> b.txt is not there, did you mean a.txt?"},
		"ls":            {"glob", "glob: ok\na.txt\nb/c.go", "a.txt\nb/c.go"},
		"find TODO":     {"grep", "grep: ok\na.go:1: // TODO", "a.go:1: // TODO"},
		"run date":      {"shell", "shell: ok\nTue Dec 1", "It ran, and said:\n\n```\nTue Dec 1\n```"},
		"run false":     {"shell", "shell: failed\nexit status 1", "It ran, and failed. What it said:\n\n```\nexit status 1"},
		"find nothing":  {"grep", "grep: ok\nno matches\n", "`nothing` is nowhere in there"},
		"list":          {"glob", "glob: ok\nno files match\n", "There are no files here yet"},
		"write a to b":  {"write", "write: ok\nb: 2 bytes", "Done: `b` is as the diff showed."},
		"read fence.md": {"read", "read: ok\n```go\nx\n```", "````\n```go\nx\n```\n````"},
	} {
		r := say(person("bob: " + said))
		first := Reply(r)
		require.Equal(t, c.tool, first.Calls[0].Name, said)
		require.Contains(t, Reply(followed(r, first, c.result)).Text, c.want, said)
	}
}

// What somebody says next is a new request, whatever was done before.
func TestNextRequest(t *testing.T) {
	r := say(person("alice: run date"))
	r = followed(r, Reply(r), "shell: ok\nnow")
	r.Messages = append(r.Messages, &llm.Message{Role: llm.Assistant, Text: "It ran."}, person("alice: thanks, what can you do?"))
	require.Contains(t, Reply(r).Text, "did not understand")
	r.Messages = append(r.Messages, person("(Heddle) A person stopped this turn."), person("alice: help"))
	require.Contains(t, Reply(r).Text, "a script, no AI")
	require.Contains(t, Reply(r).Text, "The turn before was stopped; what had not run by then did not run.")
	r.Messages = append(r.Messages, person("alice: help"))
	require.NotContains(t, Reply(r).Text, "was stopped")
	r.NoCalls = true
	require.Contains(t, Reply(r).Text, "no AI")
}

func TestWordByWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		begin := time.Now()
		reply, err := Tour{Pause: 20 * time.Millisecond}.Generate(t.Context(), say(person("alice: help")), func(d llm.Delta) { got = append(got, d.Text) })
		require.NoError(t, err)
		require.Equal(t, reply.Text, strings.Join(got, ""))
		require.Greater(t, len(got), 50)
		require.Equal(t, time.Duration(len(got))*20*time.Millisecond, time.Since(begin))
		require.Equal(t, Name, reply.Model)

		ctx, cancel := context.WithCancelCause(t.Context())
		fault := errors.New("stopped")
		time.AfterFunc(100*time.Millisecond, func() { cancel(fault) })
		_, err = Tour{Pause: 20 * time.Millisecond}.Generate(ctx, say(person("alice: help")), nil)
		require.ErrorIs(t, err, fault)
	})
}

func TestPiecesAreAllOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\té…"))).Draw(t, "text")
		require.Equal(t, text, strings.Join(pieces(text), ""))
	})
}

// Whatever people say and tools answer, the tour comes to an end, and says what it is where it does not understand.
func TestAnything(t *testing.T) {
	verbs := []string{"", "read ", "write ", "replace a with b in ", "run ", "find ", "ls ", "yes ", "create x with "}
	statuses := []string{"", "ok", "failed", "denied", "expired", "refused", "invalid", "timed out", "stopped", "not started", "interrupted"}
	bodies := []string{"", "has changed since", "has not been read in this session", "did you mean a?", "0 matches", "The reason:"}
	rapid.Check(t, func(t *rapid.T) {
		r := say(person("alice: " + rapid.SampledFrom(verbs).Draw(t, "verb") + rapid.String().Draw(t, "said")))
		reply := Reply(r)
		if len(reply.Calls) == 0 {
			require.Contains(t, reply.Text, "no AI")
		}
		for n := 0; len(reply.Calls) > 0; n++ {
			require.LessOrEqual(t, n, maxCalls+1)
			require.Equal(t, llm.ToolUse, reply.Stop)
			status, body := rapid.SampledFrom(statuses).Draw(t, "status"), rapid.SampledFrom(bodies).Draw(t, "body")
			r = followed(r, reply, reply.Calls[0].Name+": "+status+"\n"+body+rapid.String().Draw(t, "more"))
			reply = Reply(r)
		}
		require.NotEmpty(t, reply.Text)
		require.Equal(t, llm.EndTurn, reply.Stop)
	})
}

// Of llmtest.Conform, whose replies the tour cannot give, this is what a script can keep: it may be asked by many
// at once, changes nothing of the request, emits just its text, and does nothing where nobody waits any more.
func TestContract(t *testing.T) {
	for _, said := range []string{"help", "read a.txt", "make me a sandwich"} {
		r := say(person("alice: " + said))
		want := Reply(r)
		var wg sync.WaitGroup
		replies, errs, emitted := make([]*llm.Reply, 10), make([]error, 10), make([]strings.Builder, 10)
		for i := range replies {
			wg.Go(func() {
				replies[i], errs[i] = Tour{}.Generate(t.Context(), r, func(d llm.Delta) { emitted[i].WriteString(d.Text) })
			})
		}
		wg.Wait()
		for i := range replies {
			require.NoError(t, errs[i])
			require.Equal(t, want, replies[i])
			require.Equal(t, want.Text, emitted[i].String())
		}
		require.Equal(t, say(person("alice: "+said)), r)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	fault := errors.New("nobody waits")
	cancel(fault)
	reply, err := Tour{}.Generate(ctx, say(person("alice: help")), func(llm.Delta) { t.Error("emitted") })
	require.Nil(t, reply)
	require.ErrorIs(t, err, fault)
}
