package files

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/tools"
)

// killDir names the environment variable that makes the test binary write for ever, until killed.
const killDir = "HEDDLE_FILES_KILL_DIR"

// content is one of the contents that writeForEver writes: large, and all of one letter.
func content(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1<<20) }

func writeForEver() {
	all, err := New(Config{})
	if err != nil {
		panic(err)
	}
	call := tools.Call{Dir: os.Getenv(killDir), Seen: map[string]string{"f": digest([]byte(content(0)))}}
	for i := 1; ; i++ {
		for _, t := range all {
			if t.Name != "write" {
				continue
			}
			call.Args, _ = json.Marshal(writeArgs{"f", content(i)})
			r, err := t.Run(context.Background(), call)
			if err != nil {
				panic(err)
			}
			call.Seen = r.Seen
			os.Stdout.WriteString(".")
		}
	}
}

// A process that is killed in the middle of writes leaves the old content or the new one.
func TestKilled(t *testing.T) {
	for round := range 12 {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(content(0)), 0o600))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killDir+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		_, err = out.Read(make([]byte, 1)) // it writes
		require.NoError(t, err)
		time.Sleep(time.Duration(round) * 700 * time.Microsecond) // any moment will do
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())

		data, err := os.ReadFile(filepath.Join(dir, "f"))
		require.NoError(t, err)
		require.Len(t, data, 1<<20)
		require.Equal(t, len(data), bytes.Count(data, data[:1]), "all of one write")
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.LessOrEqual(t, len(entries), 2, "at most the one that was being written is left behind")
	}
}
