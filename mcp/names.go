package mcp

import (
	"reflect"
	"strings"
)

// shape is the names that we read in an object of a message, each with the shape of the
// object that may stand there; nil for what is not looked into. The name "" stands for any.
type shape map[string]shape

// messageShape is the shape of a message: what encoding/json finds in it.
var messageShape = shapeOf(reflect.TypeFor[request]())

// shapeOf returns the shape of what is decoded into a type.
func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.Map:
		return shape{"": shapeOf(t.Elem())}
	case reflect.Struct:
		s := make(shape)
		for field := range t.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				s[name] = shapeOf(field.Type)
			}
		}
		return s
	}
	return nil
}

// miscased returns a name of a message that is one we read but for its case, as it is
// written, and the right one; nil if there is none. Text must be valid JSON. Names are
// case-sensitive, and encoding/json takes them in any case: what it would read is another
// thing than what whoever looks at the message on the way does.
func miscased(text []byte) (written []byte, right string) {
	open := make([]shape, 0, maxFew) // of the objects and arrays that are open, the innermost last
	next := messageShape
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			open, next = append(open, next), nil // nothing that we read is within an array
		case '}', ']':
			open, next = open[:len(open)-1], nil
		case '"':
			name := quoted(text[i:])
			i += len(name) + 1
			if end := blanks(text, i+1); end == len(text) || text[end] != ':' {
				continue // a value
			}
			of := open[len(open)-1]
			if next, right = of.find(string(plain(name))); right != "" {
				return name, right
			}
		}
	}
	return nil, ""
}

// find returns the shape of what stands under a name, or the right name if that differs
// from it in case alone.
func (s shape) find(name string) (next shape, right string) {
	if next, known := s[name]; known {
		return next, ""
	}
	if next, known := s[""]; known {
		return next, ""
	}
	for right := range s {
		if strings.EqualFold(right, name) {
			return nil, right
		}
	}
	return nil, ""
}
