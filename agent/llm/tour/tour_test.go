package tour

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heddle-bot/heddle/agent/llm"
)

func TestParse(t *testing.T) {
	for said, want := range map[string]wish{
		"hello":                      {what: greeting},
		"Hi there!":                  {what: greeting},
		"good morning":               {what: greeting},
		"help":                       {what: helping},
		"what can you do?":           {what: helping},
		"Who are you?":               {what: helping},
		"how does this work":         {what: helping},
		"?":                          {what: helping},
		"ls":                         {what: listing},
		"what is in here?":           {what: listing},
		"What's in this repository?": {what: listing},
		"list the files":             {what: listing},
		"show me the files":          {what: listing},
		"please list all files":      {what: listing},
		"which files are there?":     {what: listing},
		"read README.md":             {what: reading, path: "README.md"},
		"Read README.md.":            {what: reading, path: "README.md"},
		"please read `go.mod`":       {what: reading, path: "go.mod"},
		"could you show me the file cmd/main.go?": {what: reading, path: "cmd/main.go"},
		"cat notes.txt":                               {what: reading, path: "notes.txt"},
		"open \"my notes.txt\"":                       {what: reading, path: "my notes.txt"},
		"What is in README.md?":                       {what: reading, path: "README.md"},
		"look at ./a/b.go":                            {what: reading, path: "./a/b.go"},
		"hey heddle, read a.txt":                      {what: reading, path: "a.txt"},
		"find TODO":                                   {what: finding, text: "TODO"},
		"find TODO in cmd":                            {what: finding, text: "TODO", path: "cmd"},
		"search for 'func main' in cmd/":              {what: finding, text: "func main", path: "cmd/"},
		"grep foo":                                    {what: finding, text: "foo"},
		"where is parseTag?":                          {what: finding, text: "parseTag"},
		"look for “two words” in the folder docs":     {what: finding, text: "two words", path: "docs"},
		"replace teh with the in notes.txt":           {replacing, "notes.txt", "teh", "the"},
		"Replace `a b` with `c d` in the file x.go":   {replacing, "x.go", "a b", "c d"},
		"change moon to world in hello.txt":           {replacing, "hello.txt", "moon", "world"},
		"in hello.txt, replace moon with world":       {replacing, "hello.txt", "moon", "world"},
		"fix teh -> the in a.md":                      {replacing, "a.md", "teh", "the"},
		"can you please change 1 to 2 in a/b.conf":    {replacing, "a/b.conf", "1", "2"},
		"write hello to hello.txt":                    {what: writing, path: "hello.txt", text: "hello"},
		"put \"a line\" into a new file called x.txt": {what: writing, path: "x.txt", text: "a line"},
		"save two words as notes.md":                  {what: writing, path: "notes.md", text: "two words"},
		"run date":                                    {what: running, text: "date"},
		"run `go test ./...`":                         {what: running, text: "go test ./..."},
		"execute: ls -la | wc -l":                     {what: running, text: "ls -la | wc -l"},
		"please run ls in /tmp":                       {what: running, text: "ls in /tmp"},
		"$ make test":                                 {what: running, text: "make test"},
		"run echo 'a' > b.txt":                        {what: running, text: "echo 'a' > b.txt"},
		"why is the build red":                        {},
		"":                                            {},
		"make me a sandwich":                          {},
	} {
		require.Equal(t, want, parse(said), said)
	}
}

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
		"edit: denied\nA person refused this call. It did not run. Do not try the same again":                               "It was denied",
		"edit: denied\nA person refused this call and said why. It did not run. The reason:\n\nbob: not on a Friday":        "“bob: not on a Friday”",
		"edit: expired\nNobody answered the request for approval in time":                                                   "Nobody answered in time",
		"edit: failed\nWhat this call would do has changed since it was approved. It did nothing. Look at the files again.": "The file changed after the diff was shown",
		"edit: failed\nthe text \"moon\" is not in hello.txt":                                                               "> the text \"moon\" is not in hello.txt",
	} {
		last := Reply(followed(r, second, result))
		require.Empty(t, last.Calls)
		require.Contains(t, last.Text, want)
		require.Equal(t, llm.EndTurn, last.Stop)
	}
}

func TestResultsAreTold(t *testing.T) {
	for said, c := range map[string]struct{ tool, result, want string }{
		"read a.txt":    {"read", "read: ok\n1|one", "That is `a.txt`:\n\n```\n1|one\n```"},
		"read b.txt":    {"read", "read: failed\nb.txt is not there, did you mean a.txt?", "> b.txt is not there, did you mean a.txt?"},
		"ls":            {"glob", "glob: ok\na.txt\nb/c.go", "a.txt\nb/c.go"},
		"find TODO":     {"grep", "grep: ok\na.go:1: // TODO", "a.go:1: // TODO"},
		"run date":      {"shell", "shell: ok\nTue Dec 1", "It ran, and said:\n\n```\nTue Dec 1\n```"},
		"run false":     {"shell", "shell: failed\nexit status 1", "exit status 1"},
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

func TestWordsAreAllOfTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab \n\té…"))).Draw(t, "text")
		require.Equal(t, text, strings.Join(words(text), ""))
	})
}

// Whatever people say, the tour answers, and says what it is where it does not understand.
func TestAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reply := Reply(say(person(rapid.String().Draw(t, "said"))))
		require.NotEmpty(t, reply.Text)
		if len(reply.Calls) == 0 {
			require.Contains(t, reply.Text, "no AI")
		}
	})
}
