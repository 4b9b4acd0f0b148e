package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/heddle-bot/heddle/agent/llm"
)

// This file encodes messages with images. An image goes along in the request, as a data URL: what a
// server would have to fetch lies behind the network's sign-in.

// A chatPart is a part of a message of Chat Completions.
type chatPart struct {
	Type  string   `json:"type"` // "text" or "image_url"
	Text  string   `json:"text,omitempty"`
	Image *chatURL `json:"image_url,omitempty"`
}

type chatURL struct {
	URL string `json:"url"`
}

func chatParts(m *llm.Message) ([]chatPart, error) {
	parts := []chatPart{{Type: "text", Text: m.Text}}
	for _, image := range m.Images {
		url, err := dataURL(image)
		if err != nil {
			return nil, err
		}
		parts = append(parts, chatPart{Type: "image_url", Image: &chatURL{url}})
	}
	return parts, nil
}

// A responsesPart is a part of an item of the Responses API.
type responsesPart struct {
	Type  string `json:"type"` // "input_text" or "input_image"
	Text  string `json:"text,omitempty"`
	Image string `json:"image_url,omitempty"`
}

func responsesParts(m *llm.Message) (json.RawMessage, error) {
	parts := []responsesPart{{Type: "input_text", Text: m.Text}}
	for _, image := range m.Images {
		url, err := dataURL(image)
		if err != nil {
			return nil, err
		}
		parts = append(parts, responsesPart{Type: "input_image", Image: url})
	}
	return marshal(parts)
}

func dataURL(image llm.Image) (string, error) {
	data, err := image.Data()
	if err != nil {
		return "", fmt.Errorf("an image: %w", err)
	}
	return "data:" + image.Type + ";base64," + base64.StdEncoding.EncodeToString(data), nil
}
