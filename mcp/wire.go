package mcp

import (
	"bytes"
	"encoding/json"
)

// encode returns v as compact JSON without HTML escaping: with it, a string id
// "a<b" would come back as "a\u003cb". It panics if v cannot be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("mcp: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
