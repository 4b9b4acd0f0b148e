package bolt_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

// childEnv makes the test binary a child that appends to the log it names until it is killed.
const childEnv = "HEDDLE_TEST_LOG"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
	}
	goleak.VerifyTestMain(m)
}

const childSessions = 6

// child continues each session where it ends, and prints "session pos key" once that is durable.
func child(path string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s, err := bolt.Open(path, bolt.Config{})
	if err != nil {
		fail(err)
	}
	fmt.Println("open")
	var out sync.Mutex
	for i := range childSessions {
		go func() {
			session := fmt.Sprintf("s%d", i)
			var last store.Pos
			for e, err := range s.Read(context.Background(), session, 0) {
				if err != nil {
					fail(err)
				}
				last = e.Pos
			}
			for {
				key := fmt.Sprintf("key-%d", last+1)
				f := words(key, key, "and", "more")
				f.Free = last%2 == 0
				f.Time = time.Now()
				pos, err := s.Append(context.Background(), session, last, f)
				if err != nil {
					fail(err)
				}
				last = pos
				out.Lock()
				fmt.Println(session, last, key)
				out.Unlock()
			}
		}()
	}
	select {}
}

// runChild starts a child, waits for its first lines, lets it live for a while longer, kills it
// and returns all lines it has printed as a whole.
func runChild(t *testing.T, path string, lines int, more time.Duration) []string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	stderr, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	defer stderr.Close()
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(stdout)
	var got []string
	for {
		if len(got) == lines {
			kill := time.AfterFunc(more, func() { cmd.Process.Kill() })
			defer kill.Stop()
		}
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break // the rest of a line was not printed as a whole
		}
		require.NoError(t, err)
		got = append(got, line)
	}
	died := cmd.Wait()
	said, err := os.ReadFile(stderr.Name())
	require.NoError(t, err)
	require.Empty(t, string(said))
	require.ErrorContains(t, died, "killed")
	return got
}

// TestKill kills a process that appends, again and again: what it was told to be durable is there.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	rounds := 25
	if testing.Short() {
		rounds = 5
	}
	told := map[string]map[store.Pos]string{}
	for range rounds {
		more := time.Duration(rand.IntN(40_000)) * time.Microsecond
		for _, line := range runChild(t, path, 1+rand.IntN(5), more)[1:] {
			var session, key string
			var pos store.Pos
			_, err := fmt.Sscan(line, &session, &pos, &key)
			require.NoError(t, err)
			if told[session] == nil {
				told[session] = map[store.Pos]string{}
			}
			require.NotContains(t, told[session], pos)
			told[session][pos] = key
		}
		s, err := bolt.Open(path, bolt.Config{})
		require.NoError(t, err)
		requireClean(t, s)
		for i := range childSessions {
			session := fmt.Sprintf("s%d", i)
			entries := read(t, s, session)
			// At most one append of a session was under way in each round.
			require.GreaterOrEqual(t, len(entries), len(told[session]))
			require.LessOrEqual(t, len(entries), len(told[session])+rounds)
			for _, e := range entries {
				require.Equal(t, fmt.Sprintf("key-%d", e.Pos), e.Key)
				require.Equal(t, words("", e.Key, "and", "more").Events, e.Events)
				if key, ok := told[session][e.Pos]; ok {
					require.Equal(t, key, e.Key)
				}
			}
			for pos := range told[session] {
				require.LessOrEqual(t, int(pos), len(entries))
			}
		}
		require.NoError(t, s.Close())
	}
}

// TestKillWhileCreating kills a process that makes a log: the next one can work.
func TestKillWhileCreating(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		dir := t.TempDir()
		path := filepath.Join(dir, "log")
		runChild(t, path, 0, time.Duration(rand.IntN(30_000))*time.Microsecond)
		requireClean(t, open(t, path))
		names, err := filepath.Glob(path + ".*")
		require.NoError(t, err)
		require.Empty(t, names)
	}
}
