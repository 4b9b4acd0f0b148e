package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/internal/redact"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

const session = "slack/T1/C1/1.1"

// newStore makes a log with two sessions at path.
func newStore(t *testing.T, path string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path, bolt.Config{})
	require.NoError(t, err)
	add := func(id string, after store.Pos, free bool, key string, events ...any) {
		f := store.Frame{Key: key, Free: free, Time: time.Date(2026, 12, 1, 10, 0, int(after), 0, time.UTC)}
		for _, v := range events {
			e, err := agent.Encode(v)
			require.NoError(t, err)
			f.Events = append(f.Events, e)
		}
		_, err := s.Append(context.Background(), id, after, f)
		require.NoError(t, err)
	}
	alice := agent.User{ID: "U1", Name: "alice"}
	add("slack/T1/C2/1.1", 0, true, "m0", agent.Opened{Format: agent.Format, Workspace: "main", Dir: "/w"})
	add(session, 0, false, "m1", agent.Opened{Format: agent.Format, Workspace: "main", Dir: "/w"},
		agent.UserSaid{By: alice, Text: "run it with hunter-22, <please>\nnow"})
	add(session, 1, false, "", agent.TurnStarted{Turn: 1, Model: "big"},
		agent.ModelSaid{Turn: 1, Step: 1, Text: "Well.", Calls: []agent.Call{{ID: "1.1.1", Tool: "shell", Args: json.RawMessage(`{"command":"x"}`)}}},
		agent.ApprovalAsked{Call: "1.1.1", Title: "run x", Preview: "$ x", Expires: time.Date(2026, 12, 2, 0, 0, 0, 0, time.UTC)})
	add(session, 2, false, "", agent.Decided{Call: "1.1.1", By: alice, Reason: "too early"},
		agent.ToolFinished{Call: "1.1.1", Status: agent.Denied, Text: "no", Took: time.Second, Artefact: "abc"})
	add(session, 3, true, "", agent.TurnEnded{Turn: 1, Reason: agent.Completed, Steps: 1, Detail: "fine"})
	return s
}

// serveDesk answers at the socket of the log at path until the function returned is called.
func serveDesk(t *testing.T, path string, h http.Handler) (stop func()) {
	t.Helper()
	l, err := listen(path)
	require.NoError(t, err)
	srv := &http.Server{Handler: h}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(l) }()
	return func() {
		require.NoError(t, srv.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	}
}

// hereAndThere runs f on a log that is not open, and on one that a heddle serves.
func hereAndThere(t *testing.T, f func(t *testing.T, path string)) {
	t.Run("here", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "heddle.db")
		require.NoError(t, newStore(t, path).Close())
		f(t, path)
	})
	t.Run("there", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "heddle.db")
		s := newStore(t, path)
		defer s.Close()
		defer serveDesk(t, path, desk{s, masking()})()
		f(t, path)
	})
}

func masking() *redact.Redactor { return redact.New("hunter-22") }

// answer is what ask writes.
func answer(t *testing.T, path string, q question) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, ask(context.Background(), path, masking(), q, &b))
	return b.String()
}

func TestSessions(t *testing.T) {
	hereAndThere(t, func(t *testing.T, path string) {
		require.Equal(t, ""+
			"2026-12-01 10:00:03  idle       8 events  slack/T1/C1/1.1\n"+
			"2026-12-01 10:00:00  idle       1 events  slack/T1/C2/1.1\n", answer(t, path, question{Ask: askList}))
		require.Equal(t, 1, strings.Count(answer(t, path, question{Ask: askList, Prefix: "slack/T1/C2"}), "\n"))
		require.Equal(t, 1, strings.Count(answer(t, path, question{Ask: askList, Limit: 1}), "\n"))
		require.Equal(t, `2026-12-01 10:00:00  session opened in workspace main (/w)
2026-12-01 10:00:00  alice: run it with [redacted], <please>
                     now
2026-12-01 10:00:01  turn 1 begins with model big
2026-12-01 10:00:01  model: Well.
                     asks for call 1.1.1: shell {"command":"x"}
2026-12-01 10:00:01  may call 1.1.1 run? run x (until 2026-12-02 00:00:00)
                     $ x
2026-12-01 10:00:02  alice denies call 1.1.1: too early
2026-12-01 10:00:02  call 1.1.1: denied after 1s, all of it is artefact abc
                     no
2026-12-01 10:00:03  turn 1 ends: completed, 1 steps, 0 tokens: fine
`, answer(t, path, question{Ask: askShow, Session: session}))

		lines := strings.Split(strings.TrimSpace(answer(t, path, question{Ask: askExport, Session: session})), "\n")
		require.Len(t, lines, 8)
		require.JSONEq(t, `{"session":"slack/T1/C1/1.1","pos":1,"time":"2026-12-01T10:00:00Z","key":"m1","kind":"agent.UserSaid",
			"data":{"by":{"id":"U1","name":"alice"},"text":"run it with [redacted], <please>\nnow"}}`, lines[1])
		require.Equal(t, 9, strings.Count(answer(t, path, question{Ask: askExport}), "\n"))
	})
}

func TestAskRefuses(t *testing.T) {
	hereAndThere(t, func(t *testing.T, path string) {
		var b bytes.Buffer
		for _, q := range []string{askShow, askExport} {
			err := ask(context.Background(), path, nil, question{Ask: q, Session: "slack/none"}, &b)
			require.EqualError(t, err, `there is no session "slack/none": "heddle sessions list" names them`)
		}
		err := ask(context.Background(), path, nil, question{Ask: "dance"}, &b)
		require.ErrorContains(t, err, `does not know "dance"`)
		require.Empty(t, b.String())
	})
}

func TestCheckAndBackup(t *testing.T) {
	hereAndThere(t, func(t *testing.T, path string) {
		require.Regexp(t, `^2 sessions, 5 frames, 9 events, 0 artefacts, \d+ bytes\n$`, answer(t, path, question{Ask: askCheck}))
		file := filepath.Join(t.TempDir(), "copy.db")
		p := program{stdout: io.Discard}
		require.NoError(t, p.backup(context.Background(), path, file))
		report, err := bolt.CheckFile(context.Background(), file)
		require.NoError(t, err)
		require.Empty(t, report.Problems)
		require.Equal(t, 2, report.Sessions)
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		require.ErrorIs(t, p.backup(context.Background(), path, file), os.ErrExist, "nothing is overwritten")
	})
}

func TestAskWithoutALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heddle.db")
	err := ask(context.Background(), path, nil, question{Ask: askList}, io.Discard)
	require.ErrorContains(t, err, `"heddle serve" makes it`)
	require.NoFileExists(t, path)
	file := filepath.Join(t.TempDir(), "backup")
	require.Error(t, program{stdout: io.Discard}.backup(context.Background(), path, file))
	require.NoFileExists(t, file, "no half backup stays")
}

func TestAskALogInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heddle.db")
	s := newStore(t, path)
	defer s.Close()
	for _, q := range []string{askList, askShow, askExport, askCheck, askBackup} {
		err := ask(context.Background(), path, nil, question{Ask: q}, io.Discard)
		require.EqualError(t, err, "the log "+path+" is in use by another heddle, but nothing answers at "+path+".sock: try again, and if it stays so, restart that heddle")
		require.ErrorIs(t, err, bolt.ErrInUse)
	}
}

// A person may look at a log that only can be read, and while others look; and a heddle may start while
// the answer waits in a pager.
func TestAskDoesNotHoldTheLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heddle.db")
	require.NoError(t, newStore(t, path).Close())
	other, err := bolt.Open(path, bolt.Config{ReadOnly: true})
	require.NoError(t, err)
	require.NoError(t, ask(context.Background(), path, nil, question{Ask: askExport}, io.Discard))
	require.NoError(t, other.Close())

	for _, q := range []string{askList, askShow, askExport} {
		begun := 0
		err = ask(context.Background(), path, nil, question{Ask: q, Session: session}, writerFunc(func(p []byte) (int, error) {
			begun++
			s, err := bolt.Open(path, bolt.Config{})
			if err != nil {
				return 0, err
			}
			return len(p), s.Close()
		}))
		require.NoError(t, err, q)
		require.NotZero(t, begun, q)
	}
	require.ErrorIs(t, ask(context.Background(), path, nil, question{Ask: askList}, failing{}), errFull)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestListenRemovesOnlySockets(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "heddle.db")
	require.NoError(t, os.WriteFile(path+".sock", []byte("precious"), 0o600))
	_, err := listen(path)
	require.EqualError(t, err, path+".sock is not a socket, and heddle needs that name for one: move it away")
	require.Equal(t, []string{"heddle.db.sock"}, names(t, dir))
	require.NoError(t, os.Remove(path+".sock"))

	l, err := listen(path)
	require.NoError(t, err)
	require.Equal(t, []string{"heddle.db.sock"}, names(t, dir))
	require.Equal(t, os.ModeSocket|0o600, modes(t, dir)["heddle.db.sock"])
	require.NoError(t, l.Close())
	require.Empty(t, names(t, dir))
	_, err = listen(filepath.Join(dir, "none/heddle.db"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestSocket(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, strings.Repeat("deep/", 30))
	require.NoError(t, os.MkdirAll(long, 0o700))
	for _, path := range []string{filepath.Join(dir, "heddle.db"), filepath.Join(long, "heddle.db")} {
		s := newStore(t, path)
		left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "x"), Net: "unix"})
		require.NoError(t, err)
		left.SetUnlinkOnClose(false)
		require.NoError(t, left.Close())
		require.NoError(t, os.Rename(filepath.Join(dir, "x"), path+".sock")) // as a killed heddle leaves it

		served, err := askServer(context.Background(), path, question{Ask: askList}, io.Discard)
		require.NoError(t, err)
		require.False(t, served, "nobody listens at a stale socket")

		stop := serveDesk(t, path, desk{s, nil})
		info, err := os.Stat(path + ".sock")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		served, err = askServer(context.Background(), path, question{Ask: askList}, io.Discard)
		require.NoError(t, err)
		require.True(t, served)
		stop()
		require.NoFileExists(t, path+".sock")
		require.NoError(t, s.Close())
	}
}

func TestAskServerSeesFailures(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "the answer broke off"},
		"refuses": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) }, "418 I'm a teapot: no"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "heddle.db")
			defer serveDesk(t, path, c.serve)()
			served, err := askServer(context.Background(), path, question{Ask: askList}, io.Discard)
			require.True(t, served)
			require.ErrorContains(t, err, c.want)
		})
	}
	rec := httptest.NewRecorder()
	desk{}.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{")))
	require.Equal(t, http.StatusBadRequest, rec.Code)
}

func TestAskStopsWhenTheReaderFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "heddle.db")
	s := newStore(t, path)
	defer s.Close()
	for _, q := range []string{askList, askShow, askExport, askCheck} {
		err := desk{s, nil}.answer(context.Background(), question{Ask: q, Session: session}, failing{})
		require.ErrorIs(t, err, errFull, q)
	}
}

var errFull = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
