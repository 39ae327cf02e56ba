package tools

import (
	"encoding/json"
	"strings"
)

// Schemas stay within what all model vendors accept: an object at the top, no
// combinators there, no arrays of types, enums of strings.

// property is one argument in a schema: its name and its JSON Schema.
type property struct {
	name   string
	schema string
}

// object returns the schema of a tool's arguments.
func object(required []string, properties ...property) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range properties {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(p.name))
		b.WriteByte(':')
		b.WriteString(p.schema)
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		b.WriteString(encode(required))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

// text is a string argument; more is further schema members, such as a default.
func text(name, description, more string) property {
	return property{name, `{"type":"string","description":` + encode(description) + members(more) + `}`}
}

// whole is a whole-number argument with bounds and a default.
func whole(name, description string, def, lo, hi int) property {
	return property{name, `{"type":"integer","description":` + encode(description) + `,"default":` + encode(def) +
		`,"minimum":` + encode(lo) + `,"maximum":` + encode(hi) + `}`}
}

// oneOf is a string argument that is one of words; def may be empty.
func oneOf(name, description, def string, words ...string) property {
	more := `"enum":` + encode(words)
	if def != "" {
		more += `,"default":` + encode(def)
	}
	return text(name, description, more)
}

// flag is a true-or-false argument that is false by default.
func flag(name, description string) property {
	return property{name, `{"type":"boolean","description":` + encode(description) + `,"default":false}`}
}

func members(more string) string {
	if more == "" {
		return ""
	}
	return "," + more
}

// encode writes a value of ours as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("tools: " + err.Error())
	}
	return string(b)
}
