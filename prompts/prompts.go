// Package prompts holds every word that the model is told, as Markdown files.
//
// Change the words here and nowhere else; the golden tests of package agent show what the model then
// gets. A file in tools/ describes one tool: first its description, then sections headed "# guidance"
// (for the system prompt) and "# NAME" (one for each parameter). The package imports nothing of ours.
package prompts

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md tools/*.md
var files embed.FS

// Text returns the file of that name, without the space around it. It panics if there is none: names
// are constants of the program, and a test asks for each.
func Text(name string) string {
	data, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("prompts: %v", err))
	}
	return strings.TrimSpace(string(data))
}

// Section returns the text under the heading "# name" of a file. It panics if there is none.
func Section(file, name string) string {
	_, sections := split(Text(file))
	text, ok := sections[name]
	if !ok {
		panic(fmt.Sprintf("prompts: %s has no section %q", file, name))
	}
	return text
}

// split cuts a file at its headings "# name".
func split(text string) (before string, sections map[string]string) {
	parts := strings.Split("\n"+text, "\n# ")
	sections = map[string]string{}
	for _, part := range parts[1:] {
		name, body, _ := strings.Cut(part, "\n")
		sections[strings.TrimSpace(name)] = strings.TrimSpace(body)
	}
	return strings.TrimSpace(parts[0]), sections
}

// A Tool is what the model is told of a tool.
type Tool struct {
	Description string
	Guidance    string            // may be empty
	Params      map[string]string // by parameter name
}

// ForTool returns the words of the tool of that name. It panics if there are none, as Text does.
func ForTool(name string) Tool {
	var t Tool
	t.Description, t.Params = split(Text("tools/" + name + ".md"))
	t.Guidance = t.Params["guidance"]
	delete(t.Params, "guidance")
	return t
}
