package web_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzStranger sends what somebody may send who is not logged in: they get the login, its files, or an error,
// under the headers that every answer has, and nothing falls over.
func FuzzStranger(f *testing.F) {
	f.Add("localhost:80", "/t/20261201-1", "Y2Fyb2w.9999999999.AAAA", "")
	f.Add("[::1]:80", "/threads", ".", "text=x")
	f.Add("127.0.0.1", "/t/20261201-1/press", "..", "action=approve&value=1.1.1+d")
	f.Add("evil.example", "/login", "", "token=%zz&name=x")
	f.Add("localhost", "/t/20261201-1/files/..%2f..%2fx", "A.B.C.D", "")
	f.Add("localhost", "/assets/../auth.go", "", "")
	page, _ := door(f)
	f.Fuzz(func(t *testing.T, host, path, cookie, body string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(path, "/") {
			return // the server takes in no such line
		}
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		r, err := http.NewRequest(method, "http://localhost/", strings.NewReader(body))
		require.NoError(t, err)
		r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.Host = u.Path, u.RawPath, u.RawQuery, host
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Cookie", "heddle="+cookie)
		rw := httptest.NewRecorder()
		page.ServeHTTP(rw, r)
		require.Less(t, rw.Code, 500)
		require.Contains(t, rw.Header().Get("Content-Security-Policy"), "default-src 'none'")
		require.Equal(t, "nosniff", rw.Header().Get("X-Content-Type-Options"))
		if rw.Code < 300 {
			open := u.Path == "/login" || strings.HasPrefix(u.Path, "/assets/")
			require.True(t, open, "%s %s is for those who are logged in", method, path)
		}
		for _, c := range rw.Result().Cookies() {
			require.Negative(t, c.MaxAge, "a cookie is only taken away")
		}
	})
}
