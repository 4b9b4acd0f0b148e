package llmtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A wirePart is a part of a message, in the form of either API.
type wirePart struct {
	Type  string
	Text  string
	Image json.RawMessage `json:"image_url"` // an object with a url (chat), or the URL (responses)
}

// parts returns the content, which is a string or a list of parts.
func (m *wireMessage) parts() []wirePart {
	var s string
	var parts []wirePart
	if json.Unmarshal(m.Content, &s) == nil {
		return []wirePart{{Type: "text", Text: s}}
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return nil
	}
	return parts
}

// images returns the images of a message. As servers do, it refuses what is none.
func (m *wireMessage) images(api string) (all []llm.Image, err error) {
	for _, p := range m.parts() {
		var url string
		switch p.Type {
		case "image_url":
			var image struct{ URL string }
			err = json.Unmarshal(p.Image, &image)
			url = image.URL
		case "input_image":
			err = json.Unmarshal(p.Image, &url)
		default:
			continue
		}
		if err != nil || (p.Type == "image_url") != (api == "chat") {
			return nil, fmt.Errorf("a part of type %s is not in the form of %s", p.Type, api)
		}
		image, err := decodeImage(url)
		if err != nil {
			return nil, err
		}
		all = append(all, image)
	}
	if len(all) > 0 && m.Role != llm.User {
		return nil, fmt.Errorf("the message of the %s has images", m.Role)
	}
	return all, nil
}

func decodeImage(url string) (llm.Image, error) {
	typ, encoded, _ := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(data) == 0 || http.DetectContentType(data) != typ || !strings.HasPrefix(typ, "image/") {
		return llm.Image{}, fmt.Errorf("%.40q is no image", url)
	}
	sum := sha256.Sum256(data)
	return llm.Image{Name: hex.EncodeToString(sum[:]), Type: typ, Size: int64(len(data)), Data: func() ([]byte, error) { return data, nil }}, nil
}
