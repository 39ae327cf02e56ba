package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// eachMember calls do for each member of body, in order, and returns the first error.
// body must be one JSON object in valid UTF-8.
//
// Objects of strangers are read with it and not decoded into structs or maps:
// encoding/json matches names in upper or lower case, and of two members with the same
// name it takes the last. A proxy that checked the object may have read it differently.
func eachMember(body []byte, do func(name string, value json.RawMessage) error) error {
	if !utf8.Valid(body) {
		return errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("not an object")
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		if err := do(name.(string), value); err != nil { // keys of an object are strings, or Token fails
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("data after the object")
	}
	return nil
}

// twiceError says that an object has two members of the same name, one that is read.
type twiceError struct{ name string }

func (e *twiceError) Error() string {
	return e.name + " is there twice: nobody can know which one was meant"
}

// readMembers decodes the members of an object whose names are keys of into, each into
// the pointer under its name. It ignores all others, and returns a [twiceError] if one of
// those that it reads is there twice.
func readMembers(body []byte, into map[string]any) error {
	seen := make(map[string]bool)
	return eachMember(body, func(name string, value json.RawMessage) error {
		to, known := into[name]
		switch {
		case !known:
			return nil
		case seen[name]:
			return &twiceError{name}
		}
		seen[name] = true
		return json.Unmarshal(value, to)
	})
}
