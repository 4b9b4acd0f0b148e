package files

import "fmt"

type writeArgs struct {
	Path    string `json:"path" schema:"minLength=1"`
	Content string `json:"content"`
}

func (a writeArgs) change() change { return change{path: a.Path, plan: a.plan} }

// plan is the content as it is given: nothing is made of its line endings.
func (a writeArgs) plan(now *current) ([]byte, string, error) {
	var is survey
	is.add([]byte(a.Content))
	verb := "created"
	if now.exists {
		verb = "replaced"
	}
	said := fmt.Sprintf("%s %s: %s", verb, now.rel, &is)
	var was survey
	was.add(now.data)
	if was.crlf > 0 && is.crlf == 0 && is.newlines > 0 {
		said += "; the line endings were CRLF before"
	}
	return []byte(a.Content), said, nil
}
