package discordtest

import (
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A request is what a call carries.
type request struct {
	r     *http.Request
	token string
	body  object // a list is under ""
	query url.Values
	files map[int]File // by the number in files[n]
}

func (q *request) path(name string) string { return q.r.PathValue(name) }

// maxRequest is how large a request may be, in bytes.
const maxRequest = 25 << 20

// read returns what a call carries: JSON, or a form with the part payload_json and files.
func read(rw http.ResponseWriter, r *http.Request) (*request, *refused) {
	q := &request{r: r, query: r.URL.Query(), files: map[int]File{}}
	q.token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bot ")
	r.Body = http.MaxBytesReader(rw, r.Body, maxRequest)
	var raw []byte
	var err error
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		if err = r.ParseMultipartForm(maxRequest); err == nil {
			raw = []byte(r.FormValue("payload_json"))
			err = q.take(r.MultipartForm)
		}
	} else {
		raw, err = io.ReadAll(r.Body)
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "too large"):
		return q, refuse(40005)
	case err != nil:
		return q, refuse(50109)
	case len(raw) == 0:
		return q, nil
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return q, refuse(50109)
	}
	if list, ok := v.([]any); ok {
		q.body = object{"": list}
		return q, nil
	}
	q.body, _ = v.(object)
	return q, nil
}

// take reads the files of a form.
func (q *request) take(f *multipart.Form) error {
	for name, all := range f.File {
		number, _ := strings.CutPrefix(name, "files[")
		i, err := strconv.Atoi(strings.TrimSuffix(number, "]"))
		if err != nil {
			return err
		}
		for _, h := range all {
			in, err := h.Open()
			if err != nil {
				return err
			}
			data, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			q.files[i] = File{Name: h.Filename, Type: h.Header.Get("Content-Type"), Data: data}
		}
	}
	return nil
}

// check refuses a body or a query with what r does not take.
func (r route) check(q *request) *refused {
	var c checker
	for name := range q.query {
		if !slices.Contains(strings.Fields(r.query), name) {
			c.fail("/"+name, "DISCORDTEST_UNKNOWN_FIELD", "discordtest does not know this argument")
		}
	}
	switch {
	case r.list != nil:
		if l, ok := q.body[""]; ok {
			r.list(&c, "", l)
		} else {
			c.fail("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
		}
	case r.body != nil:
		c.members("", q.body, r.body())
	}
	return c.refused()
}
