package web_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots"
	"github.com/heddle-bot/heddle/bots/web"
	"github.com/heddle-bot/heddle/store"
	"github.com/heddle-bot/heddle/store/bolt"
)

// A shelf is a page over a log with one thread of 10,000 events, and nobody behind it.
type shelf struct {
	log   *bolt.Store
	page  http.Handler
	woken *wakers
	pos   store.Pos
	auth  *web.Auth
}

// wakers is an agent that only tells of changes.
type wakers struct {
	nobody
	all []func(string)
}

func (w *wakers) Watch(f func(string)) func() {
	w.all = append(w.all, f)
	return func() {}
}

const long = "20261201-100000.000-aaaaaa"

var longSession = bots.Thread{Platform: web.Name, Workspace: "local", Channel: "page", ID: long}.String()

func newShelf(b *testing.B) *shelf {
	s := &shelf{woken: &wakers{}}
	var err error
	s.log, err = bolt.Open(filepath.Join(b.TempDir(), "log.db"), bolt.Config{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = s.log.Close() })
	s.auth, err = web.NewAuth(bytes.Repeat([]byte("k"), 32), false, web.Login{Name: "carol", Token: strings.Repeat("c", 30)})
	require.NoError(b, err)
	p, err := web.New(web.Config{Agent: s.woken, Log: s.log, Auth: s.auth})
	require.NoError(b, err)
	s.page = p.Handler()
	ann := agent.User{ID: "web:ann", Name: "ann"}
	s.append(b, agent.Opened{Format: agent.Format})
	for range 100 { // many events in a frame: what is measured is not the disk
		var events []any
		for range 100 {
			events = append(events, agent.UserSaid{By: ann, Text: "The *tests* of `bots/web` fail: what is wrong there?"})
		}
		s.append(b, events...)
	}
	return s
}

func (s *shelf) append(t require.TestingT, events ...any) {
	f := store.Frame{Key: fmt.Sprint("m", s.pos), Free: true, Time: time.Date(2026, 12, 1, 10, 0, 0, int(s.pos), time.UTC)}
	for _, v := range events {
		e, err := agent.Encode(v)
		require.NoError(t, err)
		f.Events = append(f.Events, e)
	}
	var err error
	s.pos, err = s.log.Append(context.Background(), longSession, s.pos, f)
	require.NoError(t, err)
	for _, wake := range s.woken.all {
		wake(longSession)
	}
}

// cookie is carol's.
func (s *shelf) cookie(b *testing.B) *http.Cookie {
	r := httptest.NewRequest(http.MethodPost, "http://localhost/login", strings.NewReader(url.Values{"token": {strings.Repeat("c", 30)}}.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rw := httptest.NewRecorder()
	s.page.ServeHTTP(rw, r)
	require.Len(b, rw.Result().Cookies(), 1)
	return rw.Result().Cookies()[0]
}

// BenchmarkOpen is the page of a thread of 10,000 events that nobody has open.
func BenchmarkOpen(b *testing.B) {
	s := newShelf(b)
	cookie := s.cookie(b)
	for b.Loop() {
		r := httptest.NewRequest(http.MethodGet, "http://localhost/t/"+long, nil)
		r.AddCookie(cookie)
		rw := httptest.NewRecorder()
		s.page.ServeHTTP(rw, r)
		require.Contains(b, rw.Body.String(), "Show the 9800 earlier items")
	}
}

// BenchmarkFollow is the time from an event in a thread of 10,000 until 200 browsers that follow it have it.
func BenchmarkFollow(b *testing.B) {
	s := newShelf(b)
	server := httptest.NewServer(s.page)
	defer server.Close()
	cookie := s.cookie(b)
	ctx, cancel := context.WithCancel(context.Background())
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	seen := make(chan string, 1000)
	for range 200 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprint(server.URL, "/t/", long, "/events?after=", s.pos), nil)
		require.NoError(b, err)
		r.AddCookie(cookie)
		resp, err := server.Client().Do(r)
		require.NoError(b, err)
		readers.Go(func() {
			defer resp.Body.Close()
			ids(resp.Body, seen)
		})
	}
	for b.Loop() {
		s.append(b, agent.UserSaid{By: agent.User{ID: "web:ann", Name: "ann"}, Text: "More."})
		for range 200 {
			require.Equal(b, fmt.Sprint(s.pos), <-seen)
		}
	}
}

// ids sends the positions of a stream.
func ids(stream io.Reader, to chan<- string) {
	lines := bufio.NewScanner(stream)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			to <- id
		}
	}
}
