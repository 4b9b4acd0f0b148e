package web_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/bots/web"
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
}

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
