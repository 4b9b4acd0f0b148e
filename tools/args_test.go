package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCanonical(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{`{"b":1,"a":[ 2 , {"d":1,"c":2} ]}`, `{"a":[2,{"c":2,"d":1}],"b":1}`},
		{`[1, 1.0, 1e0, 10e-1, -0, -0.0, 0e7]`, `[1,1,1,1,0,0,0]`},
		{`[0.10, 1e-1, 1E21, 1.5e300, 1e400]`, `[0.1,0.1,1e+21,1.5e+300,1e400]`},
		{`[12345678901234567890, 9007199254740993]`, `[12345678901234567890,9007199254740993]`},
		{`"\u00e9 \u2713 <>&"`, `"é ✓ <>&"`},
		{` null `, `null`},
		{`not json`, `not json`},
		{`{} {}`, `{} {}`},
		{``, ``},
	} {
		require.Equal(t, test.want, Canonical(json.RawMessage(test.args)), test.args)
	}
}

// However the same arguments are written, the form is one.
func TestCanonicalDoesNotMindTheWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.MapOfN(rapid.StringMatching(`[a-zé]{1,6}`), rapid.IntRange(-1e9, 1e9), 1, 6).Draw(t, "fields")
		write := func(label string) string {
			keys := rapid.Permutation(slices.Sorted(maps.Keys(fields))).Draw(t, label)
			space := rapid.SampledFrom([]string{"", " ", "\n\t"})
			var parts []string
			for _, k := range keys {
				form := rapid.SampledFrom([]string{"%d", "%d.0", "%d.00e0", "%de0", "%d.0E+0"}).Draw(t, "form")
				parts = append(parts, fmt.Sprintf("%q%s:%s"+form, k, space.Draw(t, "space"), space.Draw(t, "space"), fields[k]))
			}
			return "{" + strings.Join(parts, ","+space.Draw(t, "space")) + "}"
		}
		require.Equal(t, Canonical(json.RawMessage(write("one"))), Canonical(json.RawMessage(write("other"))))
	})
}

// Defaults are the schema's and checks run side by side: nothing may be shared.
func TestCheckConcurrently(t *testing.T) {
	nested := tool(t, "nested")
	nested.Input = json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{"a":{"default":{"n":[1.0]}}}}`)
	r, err := NewRegistry(nested)
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				_, args, err := r.Check("nested", nil)
				if err != nil || string(args) != `{"a":{"n":[1]}}` {
					t.Errorf("%s, %v", args, err)
				}
			}
		})
	}
	wg.Wait()
}
