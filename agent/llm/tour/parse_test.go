package tour

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Small talk and what needs no more words.
func TestParseWords(t *testing.T) {
	for want, said := range map[what][]string{
		greeting: {"hello", "Hi there!", "good morning", "hey heddle", "Moin", "Good evening, everyone!"},
		thanking: {"thanks", "Thank you very much!", "great", "ok, thanks", "perfect."},
		helping: {
			"help", "what can you do?", "What can I ask", "Who are you?", "how does this work", "?", "???", "hepl", "please help", "help me", "what is this?",
		},
		agreeing: {"yes", "Yes!", "yes please", "sure", "do it", "ok"},
		listing: {
			"ls", "what is in here?", "What's in this repository?", "what is here", "list the files", "show me the files", "please list all files", "which files are there?",
			"lsit files", "could you list the files please?", "show files", "what files do you have?", "what files are in this folder?", "list", "show me all files here.",
		},
		vague:   {"run the tests", "please run it", "run my script", "execute a build", "run all the tests for me"},
		unknown: {"why is the build red", "", " ", "make me a sandwich", "do something", "read the whole book to me", "replace a", "write", "read", "find", "run", "head of state", "is it raining?", "open the door and go", "read ?", "write '' to x"},
	} {
		for _, s := range said {
			require.Equal(t, wish{what: want}, parse(s), "%q", s)
		}
	}
}

func TestParseFiles(t *testing.T) {
	for said, want := range map[string]wish{
		"read README.md":                          {what: reading, path: "README.md"},
		"Read README.md.":                         {what: reading, path: "README.md"},
		"please read `go.mod`":                    {what: reading, path: "go.mod"},
		"read Makefile":                           {what: reading, path: "Makefile"},
		"raed README.md":                          {what: reading, path: "README.md"},
		"reed README.md":                          {what: reading, path: "README.md"},
		"shwo me a.txt":                           {what: reading, path: "a.txt"},
		"show a.txt please":                       {what: reading, path: "a.txt"},
		"cat notes.txt":                           {what: reading, path: "notes.txt"},
		"open \"my notes.txt\"":                   {what: reading, path: "my notes.txt"},
		"What is in README.md?":                   {what: reading, path: "README.md"},
		"what does go.mod say?":                   {what: reading, path: "go.mod"},
		"look at ./a/b.go":                        {what: reading, path: "./a/b.go"},
		"hey heddle, read a.txt":                  {what: reading, path: "a.txt"},
		"help me to read a.txt":                   {what: reading, path: "a.txt"},
		"@heddle read a.txt, thanks":              {what: reading, path: "a.txt"},
		"could you show me the file cmd/main.go?": {what: reading, path: "cmd/main.go"},
		"show me the contents of the file a.txt":  {what: reading, path: "a.txt"},
		"i'd like to see a.txt":                   {what: reading, path: "a.txt"},
		"README.md":                               {what: reading, path: "README.md"},
		"cmd/a.go?":                               {what: reading, path: "cmd/a.go"},
		"find all TODOs":                          {what: finding, text: "TODOs"},
		"list cmd":                                {what: listing, path: "cmd"},
		"ls ./cmd/heddle":                         {what: listing, path: "./cmd/heddle"},
		"show me the files in cmd":                {what: listing, path: "cmd"},
		"list all files in the folder `my docs`":  {what: listing, path: "my docs"},
		"find TODO":                               {what: finding, text: "TODO"},
		"fnid TODO":                               {what: finding, text: "TODO"},
		"find TODO in cmd":                        {what: finding, text: "TODO", path: "cmd"},
		"search for 'func main' in cmd/":          {what: finding, text: "func main", path: "cmd/"},
		"serach for foo":                          {what: finding, text: "foo"},
		"grep foo":                                {what: finding, text: "foo"},
		"find `a in b`":                           {what: finding, text: "a in b"},
		"where is parseTag?":                      {what: finding, text: "parseTag"},
		"find the word moon in \"my notes.txt\"":  {what: finding, text: "moon", path: "my notes.txt"},
		"look for “two words” in the folder docs": {what: finding, text: "two words", path: "docs"},
	} {
		require.Equal(t, want, parse(said), said)
	}
}

func TestParseChanges(t *testing.T) {
	for said, want := range map[string]wish{
		"replace teh with the in notes.txt":           {replacing, "notes.txt", "teh", "the"},
		"repalce teh with the in notes.txt":           {replacing, "notes.txt", "teh", "the"},
		"replace all teh with the in notes.txt":       {replacing, "notes.txt", "teh", "the"},
		"Replace `a b` with `c d` in the file x.go":   {replacing, "x.go", "a b", "c d"},
		"replace `a with b` by `c in d` in x.go":      {replacing, "x.go", "a with b", "c in d"},
		"replace a with b in \"my notes.txt\"":        {replacing, "my notes.txt", "a", "b"},
		"replace \" a\" with \"b \" in x":             {replacing, "x", " a", "b "},
		"replace moon with '' in a.txt":               {replacing, "a.txt", "moon", ""},
		"replace moon in hello.txt with world":        {replacing, "hello.txt", "moon", "world"},
		"change the word moon to sun in hello.txt":    {replacing, "hello.txt", "moon", "sun"},
		"replace the text 'moon' with sun in a.txt":   {replacing, "a.txt", "moon", "sun"},
		"replace the with a in a.txt":                 {replacing, "a.txt", "the", "a"},
		"change moon to world in hello.txt":           {replacing, "hello.txt", "moon", "world"},
		"change moon to world in hello.txt please.":   {replacing, "hello.txt", "moon", "world"},
		"in hello.txt, replace moon with world":       {replacing, "hello.txt", "moon", "world"},
		"rename oldName to newName in a.go":           {replacing, "a.go", "oldName", "newName"},
		"fix teh -> the in a.md":                      {replacing, "a.md", "teh", "the"},
		"can you please change 1 to 2 in a/b.conf":    {replacing, "a/b.conf", "1", "2"},
		"write hello to hello.txt":                    {what: writing, path: "hello.txt", text: "hello"},
		"wirte hello to hello.txt":                    {what: writing, path: "hello.txt", text: "hello"},
		"put \"a line\" into a new file called x.txt": {what: writing, path: "x.txt", text: "a line"},
		"save two words as notes.md":                  {what: writing, path: "notes.md", text: "two words"},
		"create hello.txt with hello world":           {what: writing, path: "hello.txt", text: "hello world"},
		"create a new file called x.txt with 'a b'":   {what: writing, path: "x.txt", text: "a b"},
		"make a file x.txt containing the text hi":    {what: writing, path: "x.txt", text: "hi"},
		"write ```go\na\n\tb\n``` to x.go":            {what: writing, path: "x.go", text: "a\n\tb"},
	} {
		require.Equal(t, want, parse(said), said)
	}
}

// A command is taken as it is: its words are nobody's courtesies.
func TestParseCommands(t *testing.T) {
	for said, want := range map[string]string{
		"run date":                     "date",
		"run `go test ./...`":          "go test ./...",
		"run `go test ./...` for me":   "go test ./...",
		"run the command `ls`, please": "ls",
		"execute: ls -la | wc -l":      "ls -la | wc -l",
		"please run ls in /tmp":        "ls in /tmp",
		"exceute ls":                   "ls",
		"$ make test":                  "make test",
		"run echo 'a' > b.txt":         "echo 'a' > b.txt",
		"run 'a b' 'c'":                "'a b' 'c'",
		"run ls, please":               "ls",
		"git status":                   "git status",
		"ls -la":                       "ls -la",
		"grep -r foo .":                "grep -r foo .",
		"run echo please":              "echo please",
		"run ls?":                      "ls?",
		"run ```sh\nls\ndate\n```":     "ls\ndate",
	} {
		require.Equal(t, wish{what: running, text: want}, parse(said), said)
	}
}

// A slip is one letter, and never the first.
func TestCorrected(t *testing.T) {
	for said, want := range map[string]string{
		"raed x": "read x", "rea x": "read x", "readd x": "read x", "rexd x": "read x", "reads": "read", "READ x": "READ x",
		"head x": "head x", "red x": "read x", "radish x": "radish x", "": "", "r": "r", "Fnid x": "find x",
	} {
		require.Equal(t, want, corrected(said), said)
	}
}

// However somebody quotes, what stands between the quotes is meant.
func TestQuotedIsMeant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zäß .,:/>-]{1,20}[a-z]`).Draw(t, "text")
		q := rapid.SampledFrom(quotes).Draw(t, "quotes")
		require.Equal(t, wish{what: finding, text: text}, parse("find "+q.open+text+q.shut))
		require.Equal(t, wish{replacing, "x.txt", text, "b"}, parse("replace "+q.open+text+q.shut+" with b in x.txt"))
		require.Equal(t, wish{what: running, text: text}, parse("run "+q.open+text+q.shut))
	})
}
