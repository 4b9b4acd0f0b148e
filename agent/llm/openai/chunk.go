package openai

import (
	"bytes"
	"encoding/json"

	"github.com/heddle-bot/heddle/agent/llm"
)

// A chunk is one event of Chat Completions, or the whole of an answer that is no stream.
type chunk struct {
	Object  string
	Type    string
	Model   string
	Choices []choice
	Usage   *usage
	Groq    struct{ Usage *usage } `json:"x_groq"`
	Error   json.RawMessage
	Detail  json.RawMessage
}

type choice struct {
	Index   int
	Delta   delta
	Message delta
	Finish  string          `json:"finish_reason"`
	Error   json.RawMessage // OpenRouter
}

type delta struct {
	Content          content
	Refusal          string
	Reasoning        string            // Groq, OpenRouter, vLLM
	ReasoningContent string            `json:"reasoning_content"` // DeepSeek and most others
	Details          []json.RawMessage `json:"reasoning_details"`
	Calls            []callDelta       `json:"tool_calls"`
}

// content is a text, or a list of parts of which some are thoughts (Mistral).
type content struct{ text, thinking string }

func (c *content) UnmarshalJSON(data []byte) error {
	var parts []struct {
		Type     string
		Text     string
		Thinking json.RawMessage
	}
	if json.Unmarshal(data, &c.text) == nil || json.Unmarshal(data, &parts) != nil {
		return nil // a text, null, or something unknown
	}
	for _, p := range parts {
		if p.Type != "thinking" {
			c.text += p.Text
			continue
		}
		var inner content
		if json.Unmarshal(p.Thinking, &inner) == nil {
			c.thinking += inner.text
		}
	}
	return nil
}

// usage is what servers say under various names.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	PromptPart struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	OutputPart struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit  int `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached    int `json:"cached_tokens"`           // Moonshot
	Reasoning int `json:"reasoning_tokens"`        // Azure's others
}

func (u *usage) sum() llm.Usage {
	sum := llm.Usage{
		Input:     u.Prompt,
		Output:    u.Completion,
		Cached:    max(u.PromptPart.Cached, u.CacheHit, u.Cached),
		Reasoning: max(u.OutputPart.Reasoning, u.Reasoning),
	}
	if sum.Reasoning > 0 && u.Total == sum.Total()+sum.Reasoning {
		sum.Output += sum.Reasoning // xAI counts it apart
	}
	return sum
}

// addDetails appends reasoning details to those that came before. They come in pieces, which have the
// same type and index.
func addDetails(all []map[string]any, pieces []json.RawMessage) []map[string]any {
	for _, data := range pieces {
		var piece map[string]any
		if json.Unmarshal(data, &piece) != nil || piece == nil {
			continue
		}
		if n := len(all); n == 0 || all[n-1]["type"] != piece["type"] || all[n-1]["index"] != piece["index"] {
			all = append(all, piece)
			continue
		}
		last := all[len(all)-1]
		for key, value := range piece {
			before, _ := last[key].(string)
			more, ok := value.(string)
			switch {
			case ok && (key == "text" || key == "summary" || key == "data"):
				last[key] = before + more
			case value != nil:
				last[key] = value
			}
		}
	}
	return all
}

// marshal encodes v without the escapes that are for HTML, which cost tokens with some servers.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// given reports whether a field is there and not null.
func given(data json.RawMessage) bool { return len(data) > 0 && string(data) != "null" }
