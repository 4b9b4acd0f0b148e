package openai_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm"
	"github.com/heddle-bot/heddle/agent/llm/llmtest"
	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// pixel is the smallest image.
func pixel(t *testing.T) llm.Image {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	data := b.Bytes()
	return llm.Image{Name: "a", Type: "image/png", Size: int64(len(data)), Data: func() ([]byte, error) { return data, nil }}
}

func TestImagesAsSent(t *testing.T) {
	dot := llm.Image{Type: "image/gif", Data: func() ([]byte, error) { return []byte("GIF89a"), nil }}
	request := func() *llm.Request {
		return &llm.Request{Messages: []*llm.Message{{Role: llm.User, Text: "look", Images: []llm.Image{dot, dot}}}}
	}
	for _, test := range []struct {
		api, list string
		images    bool
		want      string
	}{
		{"chat", "messages", true, `[{"content":[{"text":"look","type":"text"},
			{"image_url":{"url":"data:image/gif;base64,R0lGODlh"},"type":"image_url"},
			{"image_url":{"url":"data:image/gif;base64,R0lGODlh"},"type":"image_url"}],"role":"user"}]`},
		{"responses", "input", true, `[{"content":[{"text":"look","type":"input_text"},
			{"image_url":"data:image/gif;base64,R0lGODlh","type":"input_image"},
			{"image_url":"data:image/gif;base64,R0lGODlh","type":"input_image"}],"role":"user"}]`},
		{"chat", "messages", false, `[{"content":"look","role":"user"}]`},
		{"responses", "input", false, `[{"content":"look","role":"user"}]`},
	} {
		body := sent(t, openai.Config{Model: "m", API: test.api, Images: test.images}, request())
		require.JSONEq(t, test.want, asJSON(t, body[test.list]))
	}
}

// One message may be asked of two models of which one takes images: what was encoded for one is not
// sent to the other.
func TestImagesOfTheSameMessage(t *testing.T) {
	r := &llm.Request{Messages: []*llm.Message{{Role: llm.User, Text: "look", Images: []llm.Image{pixel(t)}}}}
	without := openai.Config{Model: "m"}
	with := openai.Config{Model: "m", Images: true}
	require.NotContains(t, asJSON(t, sent(t, without, r)), "image_url")
	require.Contains(t, asJSON(t, sent(t, with, r)), "image_url")
	require.NotContains(t, asJSON(t, sent(t, without, r)), "image_url")
}

func TestImagesArrive(t *testing.T) {
	for _, api := range []string{"chat", "responses"} {
		var got *llm.Message
		s, err := llmtest.NewServer(llmtest.Reply{From: func(r *llm.Request) llmtest.Reply {
			got = r.Messages[len(r.Messages)-1]
			return llmtest.Say("A dot.")
		}})
		require.NoError(t, err)
		defer s.Close()
		m, err := openai.New(openai.Config{BaseURL: s.URL, Model: "m", API: api, Images: true})
		require.NoError(t, err)
		dot := pixel(t)
		_, err = m.Generate(t.Context(), &llm.Request{Messages: []*llm.Message{{Role: llm.User, Text: "look", Images: []llm.Image{dot}}}}, nil)
		require.NoError(t, err)
		require.Equal(t, "look", got.Text)
		require.Len(t, got.Images, 1)
		require.Equal(t, dot.Type, got.Images[0].Type)
		want, _ := dot.Data()
		data, err := got.Images[0].Data()
		require.NoError(t, err)
		require.Equal(t, want, data)
	}
}

// An image whose content is lost is no reason to ask again and again.
func TestLostImage(t *testing.T) {
	m, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Images: true})
	require.NoError(t, err)
	lost := llm.Image{Type: "image/png", Data: func() ([]byte, error) { return nil, errors.New("lost") }}
	_, err = m.Generate(t.Context(), &llm.Request{Messages: []*llm.Message{{Role: llm.User, Images: []llm.Image{lost}}}}, nil)
	var e *llm.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, llm.BadRequest, e.Kind)
}
