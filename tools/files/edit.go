package files

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"
)

type editArgs struct {
	Path       string `json:"path" schema:"minLength=1"`
	Old        string `json:"old" schema:"minLength=1"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all,omitempty" schema:"default=false"`
}

func (a editArgs) change() change { return change{path: a.Path, exists: true, plan: a.plan} }

// maxPlaces is how many line numbers an error about several matches has.
const maxPlaces = 10

// plan replaces old by new in the content.
func (a editArgs) plan(now *current) ([]byte, string, error) {
	if a.Old == a.New {
		return nil, "", errors.New("old and new are the same: nothing would change")
	}
	text := flatten(now.data)
	old, new := asIn(a.Old, text), asIn(a.New, text)
	places := text.find(old, !a.ReplaceAll)
	switch {
	case len(places) == 0:
		return nil, "", fmt.Errorf("0 matches of old in %s: %s", now.rel, hint(now.mask, text, a.Old))
	case len(places) > 1 && !a.ReplaceAll:
		return nil, "", fmt.Errorf("%d matches of old in %s, at lines %s: add lines around it until it is unique, or set replace_all to change each",
			len(places), now.rel, text.lines(places))
	}
	times := "1 replacement at line "
	if len(places) > 1 {
		times = fmt.Sprintf("%d replacements at lines ", len(places))
	}
	return text.replace(places, len(old), new), "edited " + now.rel + ": " + times + text.lines(places), nil
}

// asIn returns what a model wrote in the form in which flat text is: if the file has lines that end
// in CRLF, their ends are just "\n".
func asIn(s string, text *flat) string {
	if len(text.returns) == 0 {
		return s
	}
	return strings.ReplaceAll(s, "\r\n", "\n")
}

// A flat is a text without the "\r" of its "\r\n", so that a model need not know how lines end. Where
// they were is kept, so that all that is not replaced stays as it was.
type flat struct {
	data    []byte // as it is in the file
	text    []byte // without
	returns []int  // places in text of the "\n" before which there was a "\r"
}

func flatten(data []byte) *flat {
	f := &flat{data: data, text: data}
	if !bytes.Contains(data, []byte("\r\n")) {
		return f
	}
	f.text = make([]byte, 0, len(data))
	for i, c := range data {
		if c == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			f.returns = append(f.returns, len(f.text))
			continue
		}
		f.text = append(f.text, c)
	}
	return f
}

// find returns the places of old in the text. If overlap is set, those count too that begin within
// another one: any of them could be meant.
func (f *flat) find(old string, overlap bool) []int {
	step := len(old)
	if overlap {
		step = 1
	}
	var places []int
	for from := 0; ; {
		i := bytes.Index(f.text[from:], []byte(old))
		if i < 0 {
			return places
		}
		places = append(places, from+i)
		from += i + step
	}
}

// before returns how many "\r" were taken out before a place in the text.
func (f *flat) before(at int) int { return sort.SearchInts(f.returns, at) }

// replace returns the content with each of the places, n bytes long, replaced.
func (f *flat) replace(places []int, n int, new string) []byte {
	out := make([]byte, 0, len(f.data)+len(places)*(len(new)-min(n, len(new))))
	done := 0 // in data
	for _, at := range places {
		out = append(out, f.data[done:at+f.before(at)]...)
		out = append(out, f.ended(new, at)...)
		done = at + n + f.before(at+n)
	}
	return append(out, f.data[done:]...)
}

// ended returns new with its lines ending like the line that it begins on. If nothing ends that line,
// the one before decides.
func (f *flat) ended(new string, at int) string {
	if len(f.returns) == 0 {
		return new
	}
	end := bytes.IndexByte(f.text[at:], '\n')
	if end < 0 {
		end = bytes.LastIndexByte(f.text[:at], '\n') - at
	}
	i := sort.SearchInts(f.returns, at+end)
	if i == len(f.returns) || f.returns[i] != at+end {
		return new
	}
	return strings.ReplaceAll(new, "\n", "\r\n")
}

// lines lists the numbers of the lines on which the places are.
func (f *flat) lines(places []int) string {
	var nos []string
	no, done := 1, 0
	for _, at := range places[:min(len(places), maxPlaces)] {
		no += bytes.Count(f.text[done:at], newline)
		done = at
		nos = append(nos, fmt.Sprint(no))
	}
	if n := len(places) - maxPlaces; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(nos, ", "), n)
	}
	return strings.Join(nos, ", ")
}
