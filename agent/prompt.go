package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/prompts"
	"github.com/heddle-bot/heddle/tools"
)

// maxInstructions bounds what is taken of a workspace's AGENTS.md, in bytes: the prompt stays lean.
const maxInstructions = 32 << 10

// system returns the system prompt: who the agent is, how it works, which tool is for what, where it
// works, and what the project asks of it.
func system(s Settings, registered []tools.Tool, project string) string {
	model := s.ModelID
	if model == "" {
		model = s.ModelName
	}
	parts := []string{strings.NewReplacer(
		"{model}", model,
		"{dir}", s.Dir,
		"{platform}", platform(),
	).Replace(prompts.Text("system.md"))}
	var guidance []string
	for _, t := range registered {
		if t.Guidance != "" {
			guidance = append(guidance, "- "+t.Name+": "+t.Guidance)
		}
	}
	if len(guidance) > 0 {
		parts = append(parts, prompts.Text("guidance.md")+"\n"+strings.Join(guidance, "\n"))
	}
	if project != "" {
		parts = append(parts, prompts.Text("project.md")+"\n\n"+project)
	}
	return strings.Join(parts, "\n\n")
}

// instructions returns the workspace's AGENTS.md, or "" if it has none. It does not leave the
// workspace, and does not wait for a file that is none (a FIFO). The errors are errWorkspace, and others,
// with which a turn goes on without the file: a link that leads out must not keep a team from working.
func instructions(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errWorkspace, err)
	}
	defer root.Close()
	const name = "AGENTS.md"
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInstructions+1))
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return "", fmt.Errorf("%s is no text", name)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
	if len(data) > maxInstructions {
		text = strings.ToValidUTF8(string(data[:maxInstructions]), "") + "\n" + prompts.Text("project-cut.md")
	}
	return text, nil
}

var errWorkspace = errors.New("the workspace cannot be opened")

// equal reports whether the model is told the same by both.
func (p Prompted) equal(q Prompted) bool {
	return p.System == q.System && slices.EqualFunc(p.Tools, q.Tools, func(a, b llm.Tool) bool {
		return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Input, b.Input)
	})
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
