package files

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// This file finds places where a regular expression may match by looking for a text that every match
// must have, which is much faster than the expression itself.

// A needle is a text to look for. It looks for its rarest byte, which the processor finds in many
// bytes at once, and compares the rest only there.
type needle struct {
	text []byte // in lower case if fold
	fold bool   // ASCII letters match in either case
	sure bool   // where it is, the expression matches
	rare int    // index of the byte in text that is rarest in usual files
	lo   byte   // that byte
	up   byte   // the same in upper case if fold, else lo
}

func newNeedle(text string, fold bool) needle {
	n := needle{text: []byte(text)}
	if text == "" {
		return n
	}
	if fold {
		n.text = bytes.ToLower(n.text)
		n.fold = bytes.ContainsFunc(n.text, func(r rune) bool { return 'a' <= r && r <= 'z' })
	}
	for i, c := range n.text {
		if rarity(c) > rarity(n.text[n.rare]) {
			n.rare = i
		}
	}
	n.lo = n.text[n.rare]
	n.up = n.lo
	if n.fold && 'a' <= n.lo && n.lo <= 'z' {
		n.up -= 'a' - 'A'
	}
	return n
}

// common has the bytes that most text and source consists of, the commonest first.
const common = " etaoinsr\nlcdup\tmf.g()h,_b=v\"y:w-/k;{}x01*TSI>AECPRq'[]N&F<z2DLOjM#3B4865"

// rarity is larger for rarer bytes.
func rarity(c byte) int {
	if i := strings.IndexByte(common, c); i >= 0 {
		return i
	}
	return len(common)
}

// worth is larger for needles that are found less often by chance.
func (n *needle) worth() int { return rarity(n.lo) + 8*min(len(n.text), 8) }

// isAt reports whether b begins with the needle.
func (n *needle) isAt(b []byte) bool {
	if len(b) < len(n.text) {
		return false
	}
	b = b[:len(n.text)]
	if !n.fold {
		return bytes.Equal(b, n.text)
	}
	for i, want := range n.text {
		if have := b[i]; have != want && (have|0x20 != want || want < 'a' || want > 'z') {
			return false
		}
	}
	return true
}

// A scan looks for needles in one buffer, from its beginning to its end.
type scan struct {
	b       []byte
	needles []needle
	at      []sighting // one for each needle
}

// A sighting is where a needle is next, as far as that is known.
type sighting struct {
	lo, up int // the next place of needle.lo and of needle.up
	hit    int // the next place of the needle
}

// reset begins with another buffer.
func (s *scan) reset(b []byte) {
	s.b = b
	s.at = append(s.at[:0], make([]sighting, len(s.needles))...)
	for i := range s.at {
		s.at[i] = sighting{-1, -1, -1}
	}
}

// next returns the first place of any needle at from or after it, or -1, and whether the expression
// surely matches there. from must not decrease.
func (s *scan) next(from int) (at int, sure bool) {
	at = len(s.b)
	for i := range s.needles {
		if s.at[i].hit < from {
			s.at[i].hit = s.find(&s.needles[i], &s.at[i], from)
		}
		if hit := s.at[i].hit; hit < at {
			at, sure = hit, s.needles[i].sure
		}
	}
	if at == len(s.b) {
		return -1, false
	}
	return at, sure
}

// find returns the first place of a needle at from or after it, or the length of the buffer.
func (s *scan) find(n *needle, at *sighting, from int) int {
	for want := from + n.rare; ; want++ {
		if at.lo < want {
			at.lo = indexFrom(s.b, want, n.lo)
		}
		if n.up == n.lo {
			at.up = at.lo
		} else if at.up < want {
			at.up = indexFrom(s.b, want, n.up)
		}
		want = min(at.lo, at.up)
		if want == len(s.b) {
			return want
		}
		if n.isAt(s.b[want-n.rare:]) {
			return want - n.rare
		}
	}
}

// indexFrom returns the first index of c at from or after it, or the length of b.
func indexFrom(b []byte, from int, c byte) int {
	if from < len(b) {
		if i := bytes.IndexByte(b[from:], c); i >= 0 {
			return from + i
		}
	}
	return len(b)
}

// maxNeedles is how many needles are looked for at the same time at most.
const maxNeedles = 8

// needles returns texts one of which is in every match of an expression; none if there are no such
// texts.
func needles(re *syntax.Regexp) []needle {
	switch re.Op {
	case syntax.OpLiteral:
		return literal(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCapture:
		return needles(re.Sub[0])
	case syntax.OpPlus:
		return unsure(needles(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min > 0 {
			return unsure(needles(re.Sub[0]))
		}
	case syntax.OpConcat:
		var best []needle
		for _, sub := range re.Sub {
			if list := needles(sub); worth(list) > worth(best) {
				best = list
			}
		}
		return unsure(best)
	case syntax.OpAlternate:
		var all []needle
		for _, sub := range re.Sub {
			list := needles(sub)
			if len(list) == 0 || len(all)+len(list) > maxNeedles {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

// unsure returns needles of a part of an expression.
func unsure(list []needle) []needle {
	for i := range list {
		list[i].sure = false
	}
	return list
}

// worth is that of the needle that is found most often.
func worth(list []needle) int {
	if len(list) == 0 {
		return 0
	}
	least := list[0].worth()
	for _, n := range list[1:] {
		least = min(least, n.worth())
	}
	return least
}

// literal returns needles for a literal: the best piece of it that can be compared byte by byte, and
// what may stand for a letter of that. U+FFFD cannot be compared, as a regular expression takes for it
// all that is not UTF-8.
func literal(text []rune, fold bool) []needle {
	var best, n needle
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && bytewise(text[to], fold) {
			to++
		}
		if n = newNeedle(string(text[from:to]), fold); to > from && (best.text == nil || n.worth() > best.worth()) {
			best = n
			// A "\r" may be the line's ending, which the expression does not see.
			best.sure = to-from == len(text) && !bytes.Contains(n.text, []byte("\r"))
		}
		from = to + 1
	}
	if best.text == nil {
		return nil
	}
	list := []needle{best}
	for i, letter := range []byte{'s', 'k'} {
		if best.fold && bytes.IndexByte(best.text, letter) >= 0 {
			list = append(list, newNeedle([]string{longS, kelvin}[i], false))
		}
	}
	return list
}

// Letters beyond ASCII that are the same as s and k in another case.
const (
	longS  = "\u017F"
	kelvin = "\u212A"
)

func bytewise(r rune, fold bool) bool {
	return r < utf8.RuneSelf || !fold && r != utf8.RuneError
}
