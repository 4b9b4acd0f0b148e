package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/prompts"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/tools"
)

// This file folds what messages bring along, files and the thread before them, and says how the model
// is told of it. Whatever people wrote stands behind a mark at the beginning of each of its lines, so
// that no text can end its quote, pass for another's words or for the program's.

// A load returns the content of an image by the name of its artefact.
type load func(name string) ([]byte, error)

func (k *talk) quote(e *Quoted) error {
	if k.first == nil || k.quoted || e.Before != k.first.at {
		return errPlace
	}
	k.quoted = true
	if i := slices.IndexFunc(k.waiting, message.waits); i >= 0 { // else it was taken back
		k.waiting[i].quoted = e
	}
	return nil
}

// attach folds what became of files. Their message may have been taken back meanwhile.
func (k *talk) attach(e *Attached) {
	for i := range k.waiting {
		if k.waiting[i].at == e.Said {
			k.waiting[i].files = e
		}
	}
}

// attach lets calls of this session read the texts.
func (m *memory) attach(e *Attached) {
	for _, a := range e.Files {
		if a.Kind == TextFile {
			m.own(a.Artefact)
		}
	}
}

// missing returns what has to be done before the messages are taken in that a request made now would
// take in, or nil.
func missing(k *talk, running bool) Action {
	next := k.next(running)
	if slices.ContainsFunc(next, message.waits) && k.first != nil && !k.quoted {
		return Recall{k.first.at, k.first.id}
	}
	for _, m := range next {
		if len(m.said.Files) > 0 && m.files == nil {
			return Fetch{m.at, m.said.Files}
		}
	}
	return nil
}

// told returns what a model reads of a message, with what it brings along, that sees the log up to saw,
// and the changes of which it has to be told later.
func (k *talk) told(m message, saw store.Pos) (all []*llm.Message, later []message) {
	if m.note != "" {
		return []*llm.Message{{Role: llm.User, Text: k.masked(m.note)}}, nil
	}
	said, there, later := m.seen(saw)
	if !there {
		return nil, nil
	}
	if text := quotation(m.quoted); text != "" {
		all = append(all, &llm.Message{Role: llm.User, Text: k.masked(text)})
	}
	text := line(said) + enclosed(said, m.files)
	out := &llm.Message{Role: llm.User, Text: k.masked(text)}
	if m.files != nil {
		for _, a := range m.files.Files {
			if a.Kind == ImageFile {
				out.Images = append(out.Images, k.load.image(a))
			}
		}
	}
	return append(all, out), later
}

func (load load) image(a Attachment) llm.Image {
	return llm.Image{Name: a.Artefact, Type: a.Type, Size: a.Size, Data: func() ([]byte, error) {
		if load == nil {
			return nil, fmt.Errorf("image %s: this session has no artefacts", a.Artefact)
		}
		return load(a.Artefact)
	}}
}

// quotation returns what was said before as the model reads it, or "". e may be nil.
func quotation(e *Quoted) string {
	switch {
	case e == nil:
		return ""
	case e.Detail != "":
		return note("earlier unknown")
	case len(e.Said) == 0:
		return ""
	}
	lines := []string{note("earlier")}
	for i, q := range e.Said {
		if i == 1 && e.Left {
			lines = append(lines, note("earlier left out"))
		}
		lines = append(lines, "> "+label(q.By.String())+": "+indented(q.Text, ">   "))
		if q.Cut {
			lines = append(lines, ">   "+note("quote cut"))
		}
		if len(q.Files) > 0 {
			lines = append(lines, ">   "+filled("quote files", "{names}", names(q.Files)))
		}
	}
	if len(e.Said) == 1 && e.Left {
		lines = append(lines, note("earlier left out"))
	}
	return strings.Join(append(lines, note("earlier ends")), "\n")
}

// enclosed returns what the model reads of a message's files behind its text, or "". e is nil if
// nobody has looked at them.
func enclosed(m UserSaid, e *Attached) string {
	if len(m.Files) == 0 {
		return ""
	}
	if e == nil {
		all := make([]string, len(m.Files))
		for i, f := range m.Files {
			all[i] = f.Name
		}
		return "\n" + filled("files unread", "{names}", names(all))
	}
	lines := []string{"", note("files")}
	for _, a := range e.Files {
		lines = append(lines, a.told())
	}
	return strings.Join(lines, "\n")
}

// told returns what the model reads of a file.
func (a Attachment) told() string {
	where := filled("file saved", "{path}", label(a.Path))
	if a.Path == "" {
		where = filled("file not saved", "{detail}", label(a.Detail))
	}
	text := filled("file "+string(a.Kind),
		"{name}", fileName(a.Name), "{type}", label(a.Type), "{size}", fmt.Sprint(a.Size),
		"{detail}", label(a.Detail), "{where}", where)
	if a.Kind == TextFile {
		text += "\n| " + indented(strings.TrimSuffix(a.Text, "\n"), "| ")
	}
	return text
}

// filled returns a note with what stands for its placeholders.
func filled(name string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(prompts.Section("notes.md", name))
}

// fileName returns a file's name as it may stand between quotation marks.
func fileName(name string) string {
	return strings.ReplaceAll(label(tools.Clip(name, maxName)), `"`, "'")
}

func names(all []string) string {
	quoted := make([]string, len(all))
	for i, name := range all {
		quoted[i] = `"` + fileName(name) + `"`
	}
	return strings.Join(quoted, ", ")
}

// What a request holds of images at most, in number and in bytes before their encoding: providers
// refuse requests of more than some 20 to 50 MB, and a request is sent anew at each step.
const (
	maxImages     = 20
	maxImageBytes = 12 << 20
)

// A tally counts images.
type tally struct {
	n     int
	bytes int64
}

func (t *tally) add(m *llm.Message) {
	t.n += len(m.Images)
	for _, image := range m.Images {
		t.bytes += image.Size
	}
}

func (t tally) over() bool { return t.n > maxImages || t.bytes > maxImageBytes }

// rewrite replaces the history.
func (k *talk) rewrite(history []*llm.Message) {
	k.history, k.size, k.shown = nil, 0, tally{}
	for _, m := range history {
		k.add(m)
	}
}

// bounded returns the messages without their oldest images, as far as there are too many.
func bounded(all []*llm.Message) []*llm.Message {
	var t tally
	for i, m := range slices.Backward(all) {
		if t.add(m); t.over() {
			return append(blind(all[:i+1]), all[i+1:]...)
		}
	}
	return all
}

// blind returns the messages without images.
func blind(all []*llm.Message) []*llm.Message {
	out := slices.Clone(all)
	for i, m := range out {
		if len(m.Images) > 0 {
			out[i] = &llm.Message{Role: m.Role, Text: m.Text}
		}
	}
	return out
}
