package openai_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heddle-bot/heddle/agent/llm/openai"
)

// spec is OpenAI's description of its API. It is not part of the repository.
const spec = "../../../../shared/specs/openai_openapi.json"

// TestRequestsFitTheSpecification holds what is sent against what OpenAI says it takes.
func TestRequestsFitTheSpecification(t *testing.T) {
	data, err := os.ReadFile(spec)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the specification is missing: there is no %s", spec)
	}
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	nullable(doc)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, c.AddResource("openai.json", doc))

	zero := 0.0
	for api, name := range map[string]string{"chat": "CreateChatCompletionRequest", "responses": "CreateResponse"} {
		schema, err := c.Compile("openai.json#/components/schemas/" + name)
		require.NoError(t, err)
		r := history()
		r.Tools = hello().Tools
		body := sent(t, openai.Config{Model: "gpt-4o", API: api, Temperature: &zero, MaxOutputTokens: 100}, r)
		require.NoError(t, schema.Validate(fit(t, body)), api)
		delete(body, "model")
		body["stream"] = "yes"
		require.Error(t, schema.Validate(fit(t, body)), "the specification finds nothing wrong with anything")
	}
}

// fit is v as the validator takes it.
func fit(t *testing.T, v any) any {
	t.Helper()
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(asJSON(t, v))))
	require.NoError(t, err)
	return out
}

// nullable turns keywords of older drafts, which the file still holds, into JSON Schema of today.
func nullable(v any) {
	switch v := v.(type) {
	case map[string]any:
		if kind, ok := v["type"].(string); ok && v["nullable"] == true {
			v["type"] = []any{kind, "null"}
		}
		delete(v, "$recursiveAnchor") // of a draft between
		delete(v, "$recursiveRef")
		for _, inner := range v {
			nullable(inner)
		}
	case []any:
		for _, inner := range v {
			nullable(inner)
		}
	}
}
