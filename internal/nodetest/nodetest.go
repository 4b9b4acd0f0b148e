// Package nodetest runs programs for Node in tests: other people's clients of a network against the twin of
// it that our tests use. What people do on the network such a program asks of the test, by verbs.
package nodetest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Verb is something that a program asks for: arguments in, of which those left out are empty; a value of
// JSON out.
type Verb func(args []string) (any, error)

// Programs returns the programs *.test.mjs of the directory. It fails if there are none, or if the package
// is not installed: "make fidelity" does that.
func Programs(t *testing.T, needs string) []string {
	t.Helper()
	_, err := os.Stat(filepath.Join("node_modules", needs))
	require.NoError(t, err, "%s is missing: run make fidelity", needs)
	programs, err := filepath.Glob("*.test.mjs")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	return programs
}

// Run runs one program, which finds the verbs at $PEOPLE_URL.
func Run(t *testing.T, program string, verbs map[string]Verb, env ...string) {
	t.Helper()
	node, err := exec.LookPath("node")
	require.NoError(t, err, "install Node 20 or newer, or run make fidelity")
	people := httptest.NewServer(serve(verbs))
	defer people.Close()
	cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=spec", "--test-timeout=60000", program)
	cmd.Env = append(append(os.Environ(), "PEOPLE_URL="+people.URL), env...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
}

// maxArgs is how many arguments a verb may read.
const maxArgs = 6

// serve answers POST /verb with a list of arguments in the body.
func serve(all map[string]Verb) http.Handler {
	mux := http.NewServeMux()
	for name, do := range all {
		mux.HandleFunc("POST /"+name, func(rw http.ResponseWriter, r *http.Request) {
			var args []string
			var v any
			err := json.NewDecoder(r.Body).Decode(&args)
			if err == nil {
				v, err = do(append(args, make([]string, maxArgs)...))
			}
			if err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
				return
			}
			_ = json.NewEncoder(rw).Encode(v) // the program may have gone
		})
	}
	return mux
}

// Nothing is a Verb that only does something.
func Nothing(f func(args []string)) Verb {
	return func(args []string) (any, error) {
		f(args)
		return nil, nil
	}
}
