package toolstest

import (
	"maps"
	"math"
	"slices"

	"pgregory.net/rapid"
)

// arguments makes values that a schema allows. It knows the keywords that tools.Schema writes.
func arguments(schema map[string]any) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		if enum, ok := schema["enum"].([]any); ok {
			return rapid.SampledFrom(enum).Draw(t, "enum")
		}
		switch schema["type"] {
		case "string":
			least, most := limit(schema, "minLength", 0), limit(schema, "maxLength", 200)
			return rapid.StringN(least, min(most, max(least, 200)), -1).Draw(t, "string")
		case "integer":
			return rapid.IntRange(limit(schema, "minimum", math.MinInt32), limit(schema, "maximum", math.MaxInt32)).Draw(t, "integer")
		case "number":
			return rapid.Float64Range(number(schema, "minimum", -1e9), number(schema, "maximum", 1e9)).Draw(t, "number")
		case "boolean":
			return rapid.Bool().Draw(t, "boolean")
		case "array":
			items, _ := schema["items"].(map[string]any)
			least := limit(schema, "minItems", 0)
			return rapid.SliceOfN(arguments(items), least, min(limit(schema, "maxItems", 4), least+4)).Draw(t, "array")
		}
		return fields(t, schema)
	})
}

func fields(t *rapid.T, schema map[string]any) map[string]any {
	v := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if slices.Contains(required, any(name)) || rapid.Bool().Draw(t, "give "+name) {
			p, _ := properties[name].(map[string]any)
			v[name] = arguments(p).Draw(t, name)
		}
	}
	return v
}

func limit(schema map[string]any, keyword string, otherwise int) int {
	return int(number(schema, keyword, float64(otherwise)))
}

func number(schema map[string]any, keyword string, otherwise float64) float64 {
	if n, ok := schema[keyword].(float64); ok {
		return n
	}
	return otherwise
}
