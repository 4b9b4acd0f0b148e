package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heddle-bot/heddle/bots"
)

// This file is who is let in. A link carries a token, which is used up when somebody logs in with it; a cookie
// then says who they are, signed with a key that outlives the program. People whom the configuration names
// have tokens of their own, which are not used up. Of tokens only hashes are kept. The cookie of such a person holds
// as long as their token does, so that whoever is taken out of the configuration, or gets a new token, is out.

// A Login is somebody whom the configuration lets in.
type Login struct {
	Name     string
	Token    string
	Operator bool // may see the console
}

// Auth knows who is who. Its methods may be called concurrently.
type Auth struct {
	key    []byte
	people map[[sha256.Size]byte]Login // by hash of the token, which is not kept
	secure bool                        // cookies go over TLS only

	mu   sync.Mutex
	once map[[sha256.Size]byte]bool // hashes of tokens that are not used up
}

// NewAuth returns an Auth. key signs cookies and must have 32 bytes at least; secure says that browsers come
// over TLS.
func NewAuth(key []byte, secure bool, people ...Login) (*Auth, error) {
	if len(key) < 32 {
		return nil, errors.New("web: the key that signs cookies is too short")
	}
	a := &Auth{key: key, secure: secure, people: map[[sha256.Size]byte]Login{}, once: map[[sha256.Size]byte]bool{}}
	for _, p := range people {
		switch {
		case !validName(p.Name):
			return nil, fmt.Errorf("web: %q is no name: letters, digits, blanks and . _ - , at most %d", p.Name, maxName)
		case len(p.Token) < minToken:
			return nil, fmt.Errorf("web: the token of %s is too short to be safe: make one of %d characters or more, with openssl rand -hex 32, say", p.Name, minToken)
		}
		if _, taken := a.grant(p.Name); taken {
			return nil, fmt.Errorf("web: there are two people with the name of %s: give each one of their own", p.Name)
		}
		if other, taken := a.people[hash(p.Token)]; taken {
			return nil, fmt.Errorf("web: %s and %s have the same token: give each one of their own", other.Name, p.Name)
		}
		a.people[hash(p.Token)] = Login{Name: p.Name, Operator: p.Operator}
	}
	return a, nil
}

// operator reports whether somebody may see the console: whom the configuration says, or, if it names nobody,
// whoever has come by the link that is printed where the program runs.
func (a *Auth) operator(p bots.Person) bool {
	for _, l := range a.people {
		if l.Name == p.Name {
			return l.Operator
		}
	}
	return len(a.people) == 0
}

// Limits of what is configured.
const (
	minToken = 24 // characters
	maxName  = 40
)

var nameForm = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}._ -]*$`)

func validName(name string) bool {
	return len([]rune(name)) <= maxName && nameForm.MatchString(name) && strings.TrimSpace(name) == name
}

// grant returns what lets the bearer of a name in: the hash of the token that the configuration gives them, and
// for a name that is in no configuration zeros and false.
func (a *Auth) grant(name string) (h [sha256.Size]byte, configured bool) {
	for h, taken := range a.people {
		if strings.EqualFold(taken.Name, name) {
			return h, true
		}
	}
	return h, false
}

func hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Once returns a token with which one person may log in, once, under a name of their choice.
func (a *Auth) Once() string {
	token := rand.Text() + rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.once[hash(token)] = true
	return token
}

// known reports whether somebody may log in with the token, and under which name; "" is of their choice.
func (a *Auth) known(token string) (name string, ok bool) {
	h := hash(token)
	if l, ok := a.people[h]; ok {
		return l.Name, true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return "", a.once[h]
}

// login logs somebody in: it uses the token up and returns their cookie.
func (a *Auth) login(token, name string, now time.Time) (*http.Cookie, error) {
	h := hash(token)
	if fixed, ok := a.people[h]; ok {
		return a.cookie(fixed.Name, now.Add(sessionFor)), nil
	}
	if !validName(name) {
		return nil, errors.New("write a name of letters and digits")
	}
	if _, taken := a.grant(name); taken {
		return nil, errors.New("somebody else has this name here")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.once[h] {
		return nil, errors.New("this link was used before, or is of an earlier start: each works once")
	}
	delete(a.once, h)
	return a.cookie(name, now.Add(sessionFor)), nil
}

// sessionFor is how long somebody stays logged in.
const sessionFor = 30 * 24 * time.Hour

func (a *Auth) cookieName() string {
	if a.secure {
		return "__Host-heddle"
	}
	return "heddle"
}

// cookie returns what says who somebody is: the name, until when, and our signature.
func (a *Auth) cookie(name string, until time.Time) *http.Cookie {
	claim := base64.RawURLEncoding.EncodeToString([]byte(name)) + "." + strconv.FormatInt(until.Unix(), 10)
	return &http.Cookie{
		Name: a.cookieName(), Value: claim + "." + a.sign(claim, name), Path: "/", Expires: until,
		HttpOnly: true, Secure: a.secure, SameSite: http.SameSiteLaxMode,
	}
}

// sign binds a claim to what lets its name in, so that it ends with that: a name that somebody chose once is
// not that of the person to whom the configuration gives it later.
func (a *Auth) sign(claim, name string) string {
	grant, _ := a.grant(name)
	mac := hmac.New(sha256.New, a.key)
	mac.Write([]byte("heddle web 2 "))
	mac.Write(grant[:])
	mac.Write([]byte(claim))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// person returns who sent a request.
func (a *Auth) person(r *http.Request, now time.Time) (bots.Person, bool) {
	c, err := r.Cookie(a.cookieName())
	if err != nil {
		return bots.Person{}, false
	}
	end := max(0, strings.LastIndexByte(c.Value, '.'))
	claim, signature := c.Value[:end], strings.TrimPrefix(c.Value[end:], ".")
	encoded, until, _ := strings.Cut(claim, ".")
	name, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || subtle.ConstantTimeCompare([]byte(signature), []byte(a.sign(claim, string(name)))) != 1 {
		return bots.Person{}, false
	}
	at, err := strconv.ParseInt(until, 10, 64)
	if err != nil || now.Unix() >= at {
		return bots.Person{}, false
	}
	return bots.Person{ID: PersonPrefix + string(name), Name: string(name)}, true
}

// CheckAddr returns an error if the page must not be served at addr, which is host:port. Anywhere but on
// loopback everybody on the network could try to log in, so that needs people with tokens and a word in the
// configuration.
func CheckAddr(addr string, people int, public bool) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not host:port", addr)
	}
	ip := net.ParseIP(host)
	switch {
	case host == "localhost" || ip != nil && ip.IsLoopback():
		return nil
	case !public:
		return fmt.Errorf("%s can be reached from other machines: set public = true if that is meant, or serve at 127.0.0.1", addr)
	case people == 0:
		return fmt.Errorf("%s can be reached from other machines, and nobody is named who may log in: add [web.people]", addr)
	}
	return nil
}
