package files

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// This file helps with expressions that have no text to look for, like "[A-Z]{3}-?[0-9]+": every match
// has some bytes of certain kinds in a row, and most lines have not.

// A set says which bytes may be at a place.
type set [256]bool

// A run is sets for bytes in a row. A nil *run is found everywhere.
type run struct {
	sets []set
	// shift says how far a place can be moved on, given the byte at its last set.
	shift [256]int
}

// maxRun is the length of the longest run. A longer one would not be found much faster.
const maxRun = 16

// runOf returns the run in every match of an expression that is found least often by chance, or nil.
func runOf(re *syntax.Regexp) *run {
	var s sequences
	s.walk(re)
	s.cut()
	if len(s.best) == 0 {
		return nil
	}
	r := &run{sets: s.best}
	last := len(r.sets) - 1
	for c := range r.shift {
		r.shift[c] = last + 1
		for i := range last {
			if r.sets[i][c] {
				r.shift[c] = last - i
			}
		}
	}
	return r
}

// next returns the first place at from or after it where the run is, or -1.
func (r *run) next(b []byte, from int) int {
	if r == nil {
		return from
	}
	last := len(r.sets) - 1
next:
	for end := from + last; end < len(b); end += r.shift[b[end]] {
		for i := last; i >= 0; i-- {
			if !r.sets[i][b[end-last+i]] {
				continue next
			}
		}
		return end - last
	}
	return -1
}

// sequences collects the runs of an expression.
type sequences struct {
	now  []set // that what comes next would add to
	best []set
}

// cut ends a run: what comes next may be any bytes.
func (s *sequences) cut() {
	if rareness(s.now) > rareness(s.best) {
		s.best = s.now
	}
	s.now = nil
}

// rareness is larger for runs that are found less often by chance.
func rareness(sets []set) (sum float64) {
	for _, s := range sets {
		n := 0
		for _, in := range s {
			if in {
				n++
			}
		}
		sum += 1 / float64(max(n, 1))
	}
	return sum
}

func (s *sequences) walk(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			s.add(spellings(r, re.Flags&syntax.FoldCase != 0))
		}
	case syntax.OpCharClass:
		s.add(re.Rune)
	case syntax.OpCapture:
		s.walk(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			s.walk(sub)
		}
	case syntax.OpPlus:
		s.walk(re.Sub[0])
		s.cut()
	case syntax.OpRepeat:
		for range min(re.Min, maxRun) {
			s.walk(re.Sub[0])
		}
		if re.Max != re.Min || re.Min > maxRun {
			s.cut()
		}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	default:
		s.cut()
	}
}

// spellings returns the ranges of runes that match r.
func spellings(r rune, fold bool) []rune {
	ranges := []rune{r, r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			ranges = append(ranges, f, f)
		}
	}
	return ranges
}

// add adds a rune that is in one of the ranges. If it may be more than one byte, it ends the run.
func (s *sequences) add(ranges []rune) {
	var next set
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] >= utf8.RuneSelf {
			s.cut()
			return
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			next[r] = true
		}
	}
	if len(s.now) < maxRun {
		s.now = append(s.now, next)
	}
}
