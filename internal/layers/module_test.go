package layers

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestModule applies every rule to this module.
func TestModule(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	tree := os.DirFS(root)
	text, err := fs.ReadFile(tree, "go.mod")
	require.NoError(t, err)
	mod := parseGoMod(string(text))
	sources, err := load(tree)
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	words, err := fs.Sub(tree, "prompts")
	require.NoError(t, err)
	files, err := promptFiles(words)
	require.NoError(t, err)
	require.NotEmpty(t, files)

	for name, bad := range map[string][]string{
		"layers":   checkLayers(mod.module, sources),
		"modules":  checkModules(mod, modules, sources),
		"sizes":    checkSizes(sources, exceptions),
		"comments": checkComments(sources),
		"calls":    checkCalls(sources),
		"prompts":  checkPrompts(files, sources),
	} {
		t.Run(name, func(t *testing.T) {
			slices.Sort(bad)
			require.Empty(t, strings.Join(bad, "\n"))
		})
	}
}

// promptFiles returns the names of the Markdown files below root.
func promptFiles(root fs.FS) ([]string, error) {
	var names []string
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
		return err
	})
	return names, err
}
