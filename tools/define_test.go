package tools

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchema(t *testing.T) {
	got, err := Schema[search](words())
	require.NoError(t, err)
	require.JSONEq(t, `{
		"type": "object", "additionalProperties": false, "required": ["pattern"],
		"properties": {
			"pattern": {"type": "string", "description": "What to look for.", "minLength": 1},
			"mode": {"type": "string", "description": "How.", "enum": ["text", "regexp"], "default": "text"},
			"limit": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 100, "default": 20},
			"ratio": {"type": "number", "description": "A ratio."},
			"hidden": {"type": "boolean", "description": "Hidden ones too."},
			"paths": {"type": "array", "description": "Where.", "items": {"type": "string"}, "maxItems": 3},
			"edits": {"type": "array", "description": "What to change.", "items": {
				"type": "object", "additionalProperties": false, "required": ["old"],
				"properties": {
					"old": {"type": "string", "description": "The old text."},
					"count": {"type": "integer", "description": "How often.", "minimum": 1, "default": 1}
				}
			}}
		}
	}`, string(got))
}

func TestSchemaSaysAllThatIsWrong(t *testing.T) {
	params := words()
	delete(params, "edits.old")
	params["colour"] = "Which."
	_, err := Schema[search](params)
	require.EqualError(t, err, "parameter edits.old: has no description\nparameter colour: is described, but there is no such parameter")

	one := map[string]string{"a": "A."}
	_, err = Schema[struct {
		A int `json:"a" schema:"default=1"`
	}](one)
	require.ErrorContains(t, err, "has a default, so it needs omitempty")
	_, err = Schema[struct {
		A int `json:"a" schema:"minLength=1"`
	}](one)
	require.ErrorContains(t, err, `schema tag "minLength=1" is only for type string`)
	_, err = Schema[struct {
		A int `json:"a" schema:"minimum=one"`
	}](one)
	require.ErrorContains(t, err, `schema tag "minimum=one"`)
	_, err = Schema[struct {
		A int `json:"a" schema:"least=1"`
	}](one)
	require.ErrorContains(t, err, "no such keyword")
	_, err = Schema[struct {
		A int `json:"a,omitempty" schema:"default=x"`
	}](one)
	require.ErrorContains(t, err, "not JSON")
	_, err = Schema[int](nil)
	require.EqualError(t, err, "int is not a struct")
	_, err = Schema[struct {
		A chan int `json:"a"`
	}](one)
	require.Error(t, err)
}

func TestDefineTakesItsWordsFromPrompts(t *testing.T) {
	got, err := Define[struct {
		Expression string `json:"expression"`
	}]("calc", Compute)
	require.NoError(t, err)
	require.Equal(t, "calc", got.Name)
	require.Equal(t, Compute, got.Effect)
	require.Contains(t, got.Description, "arithmetic")
	require.Contains(t, got.Guidance, "`calc`")
	require.Contains(t, string(got.Input), "(17.5 + 3)")

	_, err = Define[struct{}]("calc", Compute)
	require.EqualError(t, err, "tool calc: parameter expression: is described, but there is no such parameter")
}
