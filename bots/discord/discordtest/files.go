package discordtest

import (
	"cmp"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
)

// A File is one in a message.
type File struct {
	Name        string
	Type        string // MIME
	Description string
	Data        []byte
	id, channel string
}

// maxFile is how large a file may be, in bytes.
const maxFile = 10 << 20

// keep makes files of a message known, so that they can be downloaded.
func (s *state) keep(channel string, files []File) []File {
	var kept []File
	for _, f := range files {
		if f.id == "" {
			f.id, f.channel = s.next(), channel
			f.Type = cmp.Or(mime.TypeByExtension(path.Ext(f.Name)), f.Type, http.DetectContentType(f.Data))
		}
		s.files[f.id] = &f
		kept = append(kept, f)
	}
	return kept
}

func (l looks) attachments(m *Message) []object {
	all := []object{}
	for _, f := range m.Files {
		link := l.n.base + "/attachments/" + f.channel + "/" + f.id + "/" + f.Name
		v := object{"id": f.id, "filename": f.Name, "size": len(f.Data), "content_type": f.Type,
			"url": link + "?ex=6a&is=6a&hm=00", "proxy_url": link}
		if f.Description != "" {
			v["description"] = f.Description
		}
		all = append(all, v)
	}
	return all
}

// download answers a call for a file. It needs no token: the address is the secret.
func download(n *Network, rw http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	f := n.files[r.PathValue("file")]
	n.mu.Unlock()
	if f == nil || f.channel != r.PathValue("channel") || f.Name != r.PathValue("name") {
		http.Error(rw, "This content is no longer available.", http.StatusNotFound)
		return
	}
	rw.Header().Set("Content-Type", f.Type)
	rw.Header().Set("Content-Length", strconv.Itoa(len(f.Data)))
	_, _ = rw.Write(f.Data) // the client may have gone
}

// uploads returns the files of a call in their order, described by its attachments, or what is wrong
// with them. Old is the files that a message has: an edit keeps those that it names.
func (q *request) uploads(old []File) ([]File, *refused) {
	var c checker
	size := 0
	for _, f := range q.files {
		size = max(size, len(f.Data))
	}
	if size > maxFile {
		return nil, refuse(40005)
	}
	list, named := q.body["attachments"].([]any)
	if !named {
		files := slices.Clone(old)
		for _, i := range slices.Sorted(maps.Keys(q.files)) {
			files = append(files, q.files[i])
		}
		return files, nil
	}
	var files []File
	for i, one := range list {
		a, _ := one.(object)
		ref := str(a, "id")
		if n, ok := a["id"].(float64); ok {
			ref = strconv.Itoa(int(n))
		}
		number, _ := strconv.Atoi(ref)
		f, sent := q.files[number]
		at := slices.IndexFunc(old, func(f File) bool { return f.id == ref })
		switch {
		case at >= 0:
			f = old[at]
		case !sent:
			c.fail("/attachments/"+strconv.Itoa(i)+"/id", "MESSAGE_ATTACHMENT_NOT_FOUND", "Attachment not found.")
			continue
		}
		f.Name, f.Description = cmp.Or(str(a, "filename"), f.Name), cmp.Or(str(a, "description"), f.Description)
		files = append(files, f)
	}
	return files, c.refused()
}
