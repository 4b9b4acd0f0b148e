package bots

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// Cut returns code in parts that each are shown whole as the Code of one message. It cuts between
// lines, and a line that is too long itself between characters. Joined, the parts are the code; there
// is always one. Cut relies on CodeSize to add up line by line, and to be no less for more code and
// no less than len.
func (i Info) Cut(code string) []string {
	if i.MaxCode <= 0 {
		return []string{code}
	}
	var parts []string
	begin, end, size := 0, 0, 0 // of the part that is being filled
	flush := func() {
		parts = append(parts, code[begin:end])
		begin, size = end, 0
	}
	for line := range strings.Lines(code) {
		n := i.codeSize(line)
		if size > 0 && size+n > i.MaxCode {
			flush()
		}
		for n > i.MaxCode {
			head := i.head(line)
			end += head
			flush()
			line = line[head:]
			n = i.codeSize(line)
		}
		end += len(line)
		size += n
	}
	if begin < len(code) || len(parts) == 0 {
		flush()
	}
	return parts
}

// head returns how much of the beginning of a line that is too long one message shows: at least one
// character, or nothing would be.
func (i Info) head(line string) int {
	end := sort.Search(min(len(line)-1, i.MaxCode), func(n int) bool { return i.codeSize(line[:n+1]) > i.MaxCode })
	for back := range min(utf8.UTFMax, end) {
		if utf8.RuneStart(line[end-back]) {
			return end - back
		}
	}
	_, first := utf8.DecodeRuneInString(line)
	return max(end, first)
}

func (i Info) codeSize(code string) int {
	if i.CodeSize == nil {
		return len(code)
	}
	return i.CodeSize(code)
}
