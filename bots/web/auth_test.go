package web_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent"
	"github.com/heddle-bot/heddle/bots/web"
	"github.com/heddle-bot/heddle/store/bolt"
)

func TestLogin(t *testing.T) {
	o := newOffice(t, nil)
	nobody := o.browser("")
	code, _, to := nobody.get("/")
	require.Equal(t, http.StatusSeeOther, code)
	require.Equal(t, "/login", to)
	code, _, _ = nobody.say("/threads", "do it", nil)
	require.Equal(t, http.StatusUnauthorized, code)
	code, _, _ = nobody.get("/t/20261201-1/events")
	require.Equal(t, http.StatusUnauthorized, code)

	token := o.auth.Once()
	for range 3 { // programs look at links
		code, page, _ := nobody.get("/login?token=" + token)
		require.Equal(t, http.StatusOK, code)
		require.Contains(t, page, "Your name")
	}
	for name, want := range map[string]string{"": "write a name", "<b>": "write a name", "carol": "somebody else has this name", strings.Repeat("x", 41): "write a name"} {
		code, page, _ := nobody.post("/login", url.Values{"token": {token}, "name": {name}})
		require.Equal(t, http.StatusForbidden, code, name)
		require.Contains(t, page, want)
	}
	code, _, _ = nobody.post("/login", url.Values{"token": {token}, "name": {"zoë k."}})
	require.Equal(t, http.StatusSeeOther, code)
	require.Contains(t, nobody.shows("/", "zoë k."), "Log out")
	other := o.browser("")
	code, page, _ := other.post("/login", url.Values{"token": {token}, "name": {"mallory"}})
	require.Equal(t, http.StatusForbidden, code)
	require.Contains(t, page, "this link was used before")
	code, _, _ = nobody.post("/logout", nil)
	require.Equal(t, http.StatusSeeOther, code)
	_, _, to = nobody.get("/")
	require.Equal(t, "/login", to)
}

func TestCookiesCannotBeMadeUp(t *testing.T) {
	o := newOffice(t, nil)
	for _, cookie := range []string{"", "x", "YWxpY2U.9999999999.", "YWxpY2U.9999999999.AAAA", ".9999999999.x", "YWxpY2U"} {
		r, err := http.NewRequest(http.MethodGet, o.server.URL+"/", nil)
		require.NoError(t, err)
		r.AddCookie(&http.Cookie{Name: "heddle", Value: cookie})
		_, _, to := o.browser("").do(r)
		require.Equal(t, "/login", to, cookie)
	}
	_, err := web.NewAuth([]byte("short"), false)
	require.ErrorContains(t, err, "too short")
	_, err = web.NewAuth(bytes.Repeat([]byte("x"), 32), false, web.Login{Name: "a", Token: "short"})
	require.ErrorContains(t, err, "too short to be safe")
	_, err = web.NewAuth(bytes.Repeat([]byte("x"), 32), false, web.Login{Name: "<b>", Token: strings.Repeat("x", 30)})
	require.ErrorContains(t, err, "is no name")
	carol := web.Login{Name: "carol", Token: strings.Repeat("c", 30)}
	_, err = web.NewAuth(bytes.Repeat([]byte("x"), 32), false, carol, web.Login{Name: "Carol", Token: strings.Repeat("d", 30)})
	require.ErrorContains(t, err, "two people with the name of Carol")
	_, err = web.NewAuth(bytes.Repeat([]byte("x"), 32), false, carol, web.Login{Name: "dave", Token: carol.Token})
	require.ErrorContains(t, err, "the same token")
}

// A cookie is good after a restart of the program, and ends with the token that it came by.
func TestCookiesEndWithTheirToken(t *testing.T) {
	carol := web.Login{Name: "carol", Token: strings.Repeat("c", 30)}
	anew := web.Login{Name: "carol", Token: strings.Repeat("d", 30)}
	for name, c := range map[string]struct {
		before, after []web.Login
		want          int
	}{
		"nothing changed":                           {[]web.Login{carol}, []web.Login{carol}, http.StatusOK},
		"somebody else was added":                   {[]web.Login{carol}, []web.Login{carol, {Name: "bob", Token: anew.Token}}, http.StatusOK},
		"taken out":                                 {[]web.Login{carol}, nil, http.StatusSeeOther},
		"a new token":                               {[]web.Login{carol}, []web.Login{anew}, http.StatusSeeOther},
		"the chosen name stays free":                {nil, nil, http.StatusOK},
		"the chosen name is given to somebody else": {nil, []web.Login{carol}, http.StatusSeeOther},
		"likewise, in capitals":                     {nil, []web.Login{{Name: "CAROL", Token: carol.Token}}, http.StatusSeeOther},
	} {
		before, auth := door(t, c.before...)
		token := carol.Token
		if c.before == nil {
			token = auth.Once()
		}
		r := httptest.NewRequest(http.MethodPost, "http://localhost/login", strings.NewReader(url.Values{"token": {token}, "name": {"carol"}}.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		rw := httptest.NewRecorder()
		before.ServeHTTP(rw, r)
		require.Equal(t, http.StatusSeeOther, rw.Code, name)
		cookies := rw.Result().Cookies()
		require.Len(t, cookies, 1, name)

		after, _ := door(t, c.after...)
		r = httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.AddCookie(cookies[0])
		rw = httptest.NewRecorder()
		after.ServeHTTP(rw, r)
		require.Equal(t, c.want, rw.Code, name)
	}
}

// door returns a page with nobody behind it, as after a start with these people in the configuration.
func door(t testing.TB, people ...web.Login) (http.Handler, *web.Auth) {
	t.Helper()
	auth, err := web.NewAuth(bytes.Repeat([]byte("k"), 32), false, people...)
	require.NoError(t, err)
	log, err := bolt.Open(filepath.Join(t.TempDir(), "log.db"), bolt.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	p, err := web.New(web.Config{Agent: nobody{}, Log: log, Auth: auth})
	require.NoError(t, err)
	return p.Handler(), auth
}

// nobody is an agent that does nothing.
type nobody struct{}

func (nobody) Watch(func(string)) func() { return func() {} }
func (nobody) Live(string) agent.Live    { return agent.Live{} }

func TestCheckAddr(t *testing.T) {
	for _, c := range []struct {
		addr   string
		people int
		public bool
		want   string
	}{
		{"127.0.0.1:80", 0, false, ""},
		{"localhost:80", 0, false, ""},
		{"[::1]:80", 0, false, ""},
		{"127.9.9.9:80", 0, false, ""},
		{":80", 3, false, "set public = true"},
		{"0.0.0.0:80", 3, false, "set public = true"},
		{"192.0.2.1:80", 0, true, "nobody is named who may log in"},
		{"192.0.2.1:80", 1, true, ""},
		{"example.com:80", 1, false, "set public = true"},
		{"80", 1, true, "is not host:port"},
	} {
		err := web.CheckAddr(c.addr, c.people, c.public)
		if c.want == "" {
			require.NoError(t, err, c.addr)
			continue
		}
		require.ErrorContains(t, err, c.want, c.addr)
	}
}
