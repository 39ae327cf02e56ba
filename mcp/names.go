package mcp

import (
	"reflect"
	"strings"
)

// shape holds the names that we read in an object of a message. Each name has the shape
// of its value if that is an object that we look into, else nil. The name "" stands for
// every name.
type shape map[string]shape

// messageShape is the shape of a message: the names that encoding/json looks for in it.
var messageShape = shapeOf(reflect.TypeFor[request]())

// shapeOf returns the shape of the JSON that is decoded into values of type t.
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

// find returns the shape of the value that has this name. If the shape s has no such name
// but one that differs only in case, find returns that as the right one.
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
