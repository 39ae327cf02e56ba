package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"wick/internal/strictjson"
	"wick/limit"
	"wick/mcp"
)

// The readers below accept what models often send: a number may be a string, null means
// absent, and one string stands for an array. Each takes the name of the argument for its
// errors.

// maxArguments bounds the names of a call and of an object inside it. No tool has half as
// many, and each that a tool does not know is compared with all that it knows.
const maxArguments = 64

// readObject returns the members of an object that are not null. An empty text or null
// counts as an empty object.
func readObject(raw json.RawMessage) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if len(raw) == 0 {
		return members, nil
	}
	if err := once(raw); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: send {} or an object with named arguments")
	}
	maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	return members, nil
}

// once returns an error if an object in raw, which must be valid JSON, has the same name
// twice, since an order must not depend on which of the two counts, or more than
// maxArguments names.
func once(raw json.RawMessage) error {
	switch e, _ := errors.AsType[*strictjson.Error](strictjson.Check(raw, nil, maxArguments)); {
	case e == nil:
		return nil
	case e.Kind == strictjson.Many:
		return fmt.Errorf("an object has more than %d names: fewer are read", maxArguments)
	default:
		return fmt.Errorf("%q is given twice in one object: send it once, nobody can know which one was meant", limit.Clip(e.Name))
	}
}

// spelled returns v or, if v is a string, the text in it: models put the JSON of objects
// and arrays into strings.
func spelled(name string, v json.RawMessage) (json.RawMessage, error) {
	if v[0] != '"' {
		return v, nil
	}
	s, err := readText(name, v)
	if err == nil && json.Valid([]byte(s)) {
		err = once(json.RawMessage(s))
	}
	return json.RawMessage(s), err
}

// readText returns a string without the blanks around it. A number, true or false is
// returned as it is written.
func readText(name string, v json.RawMessage) (string, error) {
	switch v[0] {
	case '"':
		var s string
		_ = json.Unmarshal(v, &s) // v is a JSON string, and can be decoded
		return strings.TrimSpace(s), nil
	case '{', '[':
		return "", fmt.Errorf("%s must be a single value, not %s", name, limit.Clip(string(v)))
	}
	return string(v), nil
}

// readWord returns the one of words that v names, in upper or lower case.
func readWord[T ~string](name string, v json.RawMessage, words []T) (T, error) {
	s, err := readText(name, v)
	if err != nil {
		return "", err
	}
	var known []string
	for _, w := range words {
		if strings.EqualFold(s, string(w)) {
			return w, nil
		}
		known = append(known, string(w))
	}
	return "", fmt.Errorf("%s %q is not one of %s", name, limit.Clip(s), strings.Join(known, ", "))
}

// readList returns the items of an array. A string may contain the JSON of an array or
// object, or items separated by commas. An object counts as an array of one item.
func readList(name string, v json.RawMessage) (items []json.RawMessage, err error) {
	text, err := spelled(name, v)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(text, []byte("{")) && json.Valid(text):
		return []json.RawMessage{text}, nil
	case v[0] == '"' && !bytes.HasPrefix(text, []byte("[")):
		return split(string(text)), nil
	}
	v = text
	if err := json.Unmarshal(v, &items); err != nil {
		return nil, fmt.Errorf("%s must be an array, not %s", name, limit.Clip(string(v)))
	}
	return items, nil
}

// split returns the parts of s between commas as JSON strings.
func split(s string) (items []json.RawMessage) {
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			items = append(items, json.RawMessage(encode(part)))
		}
	}
	return items
}

// readTexts is like readList, for items that are strings. Empty ones are left out.
func readTexts(name string, v json.RawMessage) (out []string, err error) {
	items, err := readList(name, v)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		var s string
		if err := json.Unmarshal(item, &s); err != nil || string(item) == "null" { // which stands for no string
			return nil, fmt.Errorf("%s must hold strings, not %s", name, limit.Clip(string(item)))
		}
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// encode returns v as compact JSON. Its type is ours, and can always be encoded.
func encode(v any) string { return string(mcp.Encode(v)) }
