package tools

// A Mask masks the secrets in a text. It knows them by their values, so half of one is left as it
// is: text is masked before it is cut. It must be safe for concurrent use. The nil Mask masks none.
type Mask func(text string) string

// Overlap is how many bytes more than it shows a tool must have of a text at each end where it cuts
// it. No secret is longer, in whatever form it is written.
const Overlap = 4 << 10

// All returns a text with its secrets masked.
func (m Mask) All(text string) string {
	if m == nil {
		return text
	}
	return m(text)
}

// Part returns a part of a text with its secrets masked. before and after say whether the text goes
// on there. As half a secret may be at such an end, Overlap bytes are cut off there after masking:
// what is left holds of a secret that was cut nothing, and the others are masked.
func (m Mask) Part(text string, before, after bool) string {
	text = m.All(text)
	if before {
		text = tail(text, len(text)-Overlap)
	}
	if after {
		text = head(text, len(text)-Overlap)
	}
	return text
}
