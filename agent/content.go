package agent

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file judges what people attach by its content alone: names and types are what others claim.

// Limits of images that are shown to models. What is beyond them is saved like any other file.
const (
	maxImage = 3_750_000 // bytes: 5 MB in base64, which is what Anthropic takes; others take more
	maxSide  = 8000      // pixels, likewise
)

// kindOf returns what the model gets of a file's content, and its MIME type without parameters.
func kindOf(data []byte) (FileKind, string) {
	typ, _, err := mime.ParseMediaType(http.DetectContentType(data))
	if err != nil {
		typ = "application/octet-stream"
	}
	switch {
	case strings.HasPrefix(typ, "image/") && showable(typ, data):
		return ImageFile, typ
	case strings.HasPrefix(typ, "text/") && isText(data):
		return TextFile, typ
	}
	return OtherFile, typ
}

// showable reports whether models take the image.
func showable(typ string, data []byte) bool {
	if len(data) > maxImage {
		return false
	}
	var c image.Config
	var err error
	switch r := bytes.NewReader(data); typ {
	case "image/png":
		c, err = png.DecodeConfig(r)
	case "image/jpeg":
		c, err = jpeg.DecodeConfig(r)
	case "image/gif":
		c, err = gif.DecodeConfig(r)
	case "image/webp":
		return true // the standard library does not look inside
	default:
		return false
	}
	return err == nil && c.Width > 0 && c.Height > 0 && c.Width <= maxSide && c.Height <= maxSide
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// isPage reports whether content is a web page though it should be something else: networks answer
// with one when they want somebody to sign in.
func isPage(f File, typ string) bool {
	if typ != "text/html" {
		return false
	}
	ext := strings.ToLower(path.Ext(f.Name))
	claims := strings.Contains(f.Type, "html") || ext == ".html" || ext == ".htm" || ext == ".xhtml"
	return !claims && (f.Type != "" || ext != "")
}

// maxName bounds the name of a file that is saved, in bytes, its ending included: file systems take
// 255, and a number may follow.
const maxName = 100

// safeName returns a name that is no path, no option of a command, hidden nowhere and one word in a
// shell.
func safeName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("._-+@=", r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(name, ".-_")
	ext := path.Ext(name)
	if len(ext) > 16 {
		ext = ""
	}
	base := strings.TrimSuffix(name, ext)
	for len(base)+len(ext) > maxName {
		_, n := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-n]
	}
	if base == "" {
		base = "file"
	}
	return base + ext
}
