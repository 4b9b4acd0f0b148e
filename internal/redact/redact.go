// Package redact masks secrets in text that leaves the program.
//
// It matches the values of secrets, not their looks: a pattern misses the token of a vendor that it
// has never seen, and a value cannot be missed. What may be changed here is which encodings of a
// value are looked for (forms); what must hold is that no form of a known secret passes, whatever
// stands around it.
package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Mask stands where a secret was.
const Mask = "[redacted]"

// minSecret is the shortest value that is masked, in bytes. Shorter ones are words that occur by
// chance: masking "1234" would spoil text and protect nothing.
const minSecret = 6

// A Redactor masks a fixed set of secrets. Its methods may be called concurrently. The nil Redactor
// masks nothing.
type Redactor struct{ replacer *strings.Replacer }

// New returns a Redactor of the given values. Space around a value does not count, and values of
// fewer than six bytes are ignored. Of a value of several lines, as a private key, each line is a secret
// too: it may be shown with a number before each, or in a diff.
func New(secrets ...string) *Redactor {
	var all []string
	for _, secret := range secrets {
		for _, s := range append(strings.Split(secret, "\n"), secret) {
			if s = strings.TrimSpace(s); len(s) >= minSecret {
				all = append(all, forms(s)...)
			}
		}
	}
	// The longest first: where one form begins another, nothing of the longer one is left over.
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
	})
	var pairs []string
	for _, form := range slices.Compact(all) {
		pairs = append(pairs, form, Mask)
	}
	return &Redactor{strings.NewReplacer(pairs...)}
}

// String returns s with every secret in it masked.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	return r.replacer.Replace(s)
}

// Writer returns a writer that masks what passes through it to w. It looks at each Write by itself,
// so the caller writes whole records, as the handlers of log/slog do. It works on what is written
// rather than on attributes, so that no type of value and no handler is a way around it.
func (r *Redactor) Writer(w io.Writer) io.Writer { return &writer{r, w} }

type writer struct {
	r *Redactor
	w io.Writer
}

func (w *writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.String(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// forms returns the ways in which a value is written inside other text.
func forms(s string) []string {
	plain, _ := json.Marshal(s) // a string always encodes
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	all := []string{
		s,
		url.QueryEscape(s),
		url.PathEscape(s),
		unquote(string(plain)),
		unquote(strings.TrimSpace(b.String())),
		unquote(strconv.Quote(s)),
		hex.EncodeToString([]byte(s)),
		fmt.Sprintf("%X", s),
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			all = append(all, inBase64(e, s, before))
		}
	}
	return all
}

func unquote(s string) string { return s[1 : len(s)-1] }

// inBase64 returns those characters of an encoding that depend on nothing but s, when as many bytes
// stand before s in the encoded text, modulo 3: a password is rarely encoded alone ("user:password").
func inBase64(e *base64.Encoding, s string, before int) string {
	encoded := e.EncodeToString(append(make([]byte, before), s...))
	first := (before*8 + 5) / 6
	last := (before + len(s)) * 8 / 6
	return encoded[first:last]
}
