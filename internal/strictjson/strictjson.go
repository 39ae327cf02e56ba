// Package strictjson reads JSON of strangers so that it can be read in one way only. A
// message that can place an order or register a client must not mean one thing to us and
// another to a proxy that has checked it: encoding/json takes the last of two members with
// the same name, and names in any case.
//
// [Unmarshal] does what encoding/json's does, but takes names as they are written, and
// refuses a name that occurs twice in one object at any depth, a name that differs from the
// right one only in case, text that is not UTF-8, and more than 10,000 levels. [Check] is for text
// that was decoded before.
//
// # Security considerations
//
// All of it is linear in the text. Of names, Check holds those of the open objects.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"wick/internal/limit"
)

// Kind says what is wrong with a text.
type Kind int

const (
	Syntax   Kind = iota + 1 // it is not JSON
	Encoding                 // it is not UTF-8
	Deep                     // objects and arrays are inside one another more than 10,000 times
	Twice                    // an object has a name twice
	Case                     // a name differs only in case from the right one
	Many                     // an object has too many names
	Type                     // a value has a wrong type: all others were read
)

// Error says why a text is refused.
type Error struct {
	Kind  Kind
	Name  string // of Twice and Case: the name, without escapes; of Type with those of the objects around it, as in "params.name"
	Right string // of Case: what it should have been
}

func (e *Error) Error() string {
	switch e.Kind {
	case Encoding:
		return "not valid UTF-8"
	case Deep:
		return "nested too deeply: at most 10000 objects and arrays may be inside one another"
	case Twice:
		return limit.Clip(e.Name) + " is there twice: nobody can know which one was meant"
	case Case:
		return fmt.Sprintf("%q is there where %q would be right: names are case-sensitive", limit.Clip(e.Name), e.Right)
	case Many:
		return "an object has too many names"
	case Type:
		return limit.Clip(e.Name) + " has a wrong type"
	}
	return "not valid JSON"
}

// Lenient is a value that may have a wrong type: then Wrong is set, and Value holds as much
// as could be read.
type Lenient[T any] struct {
	Value T
	Wrong bool
}

func (l *Lenient[T]) read(value []byte) *Error {
	wrong := fill(value, reflect.ValueOf(&l.Value).Elem())
	if l.Wrong = wrong != nil; l.Wrong && wrong.Kind == Type {
		return nil
	}
	return wrong
}

// Unmarshal decodes text into v, a pointer to a struct or a map, and checks it as [Check] does. It
// returns nil or why the text is refused. A value of another type than its field is left out, and
// Unmarshal returns [Type] for the first of these. Raw values in v are parts of text.
func Unmarshal(text []byte, v any, skip string) *Error {
	switch {
	case !utf8.Valid(text):
		return &Error{Kind: Encoding}
	case !json.Valid(text):
		return Fault(json.Unmarshal(text, new(json.RawMessage)))
	}
	wrong := fill(bytes.Trim(text, " \t\r\n"), reflect.ValueOf(v).Elem())
	if twice := Check(text, skip, 0); twice != nil {
		return twice
	}
	return wrong
}

// fill decodes a value into to. Structs, maps, raw values and texts without escapes, which are
// nearly all of a message, it reads by itself: in a quarter of the time that encoding/json takes,
// and names as they are written.
func fill(value []byte, to reflect.Value) *Error {
	field := to.Addr().Interface()
	lenient, isLenient := field.(interface{ read([]byte) *Error })
	raw, isRaw := field.(*json.RawMessage)
	switch kind := to.Kind(); {
	case isRaw:
		*raw = value
	case isLenient:
		return lenient.read(value)
	case value[0] == '{' && (kind == reflect.Struct || kind == reflect.Map):
		return fillMembers(value, to)
	case kind == reflect.String && value[0] == '"' && bytes.IndexByte(value, '\\') < 0:
		to.SetString(string(value[1 : len(value)-1]))
	case json.Unmarshal(value, field) != nil:
		return &Error{Kind: Type}
	}
	return nil
}

// fillMembers decodes the members of an object into the fields of a struct or into a map. It
// returns the error for the first name in another case, or else for the first value of a wrong type.
func fillMembers(object []byte, to reflect.Value) (wrong *Error) {
	var fields map[string]int
	isMap := to.Kind() == reflect.Map
	if isMap {
		to.Set(reflect.MakeMap(to.Type()))
	} else {
		fields = fieldsOf(to.Type())
	}
	for name, value := range Each(object) {
		var bad *Error
		if isMap {
			member := reflect.New(to.Type().Elem()).Elem()
			bad = fill(value, member)
			to.SetMapIndex(reflect.ValueOf(string(name)), member)
		} else if i, known := fields[string(name)]; known {
			bad = fill(value, to.Field(i))
		} else {
			for right := range fields {
				if strings.EqualFold(right, string(name)) {
					bad = &Error{Kind: Case, Name: string(name), Right: right}
				}
			}
		}
		if bad != nil && bad.Kind == Type {
			bad.Name = strings.TrimSuffix(string(name)+"."+bad.Name, ".")
		}
		if wrong == nil || bad != nil && bad.Kind < wrong.Kind {
			wrong = bad
		}
	}
	return wrong
}

// fieldsOf returns the indexes of a struct's fields by the names in their tags.
func fieldsOf(t reflect.Type) map[string]int {
	if fields, done := structs.Load(t); done {
		return fields.(map[string]int)
	}
	fields := make(map[string]int)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = i
	}
	delete(fields, "")
	structs.Store(t, fields)
	return fields
}

var structs sync.Map // what fieldsOf found, by type

// Each yields the names and values of an object's members. The object must be valid JSON and
// begin with its brace.
func Each(object []byte) iter.Seq2[[]byte, json.RawMessage] {
	return func(yield func(name []byte, value json.RawMessage) bool) {
		for i := blanks(object, 1); object[i] != '}'; {
			written := quoted(object[i:])
			colon := blanks(object, i+len(written)+len(`""`))
			start := blanks(object, colon+1)
			end := start + length(object[start:])
			if !yield(plain(written), object[start:end]) {
				return
			}
			if i = blanks(object, end); object[i] == ',' {
				i = blanks(object, i+1)
			}
		}
	}
}

// length returns the length of the value that text, the rest of a valid object, begins with.
func length(text []byte) int {
	open := 0 // objects and arrays
	for i := 0; ; i++ {
		switch text[i] {
		case '"':
			i += len(quoted(text[i:])) + 1
		case '{', '[':
			open++
			continue
		case '}', ']':
			if open == 0 {
				return i
			}
			open--
		case ',', ' ', '\t', '\r', '\n':
			if open == 0 {
				return i
			}
		}
	}
}

// Fault returns what an error of encoding/json says of a text that is not JSON, or is nested
// too deeply, and nil for any other error.
func Fault(err error) *Error {
	if _, typed := errors.AsType[*json.UnmarshalTypeError](err); err == nil || typed {
		return nil
	}
	if strings.HasSuffix(err.Error(), "exceeded max depth") { // it has no error of its own
		return &Error{Kind: Deep}
	}
	return &Error{Kind: Syntax}
}

// Check returns an error for an object in text, which must be valid JSON, that has a name
// twice or, if most is above zero, more than most names; else nil. It does not look at values of
// the name skip, unless that is empty, in an object that is a member of the outermost one: their
// reader checks them.
func Check(text []byte, skip string, most int) *Error {
	// Both slices stay on the stack unless a text outgrows them. Passing them to methods
	// that append would move them to the heap, so the appends are all here.
	open := make([][]byte, 0, 16) // names of the open objects, the innermost last
	levels := make([]int, 0, 8)   // where the names of the open objects and arrays begin, the innermost last
	skipped := 0                  // how many levels are open inside a value that is skipped, itself included
	skips := false                // the value that comes next is skipped
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if skips {
				skipped++
				continue
			}
			levels = append(levels, len(open))
		case '}', ']':
			if skips = skipped > 1; skipped > 0 {
				skipped--
				continue
			}
			first := levels[len(levels)-1]
			own := open[first:]
			if most > 0 && len(own) > most {
				return &Error{Kind: Many}
			}
			slices.SortFunc(own, bytes.Compare)
			for j := 1; j < len(own); j++ {
				if bytes.Equal(own[j-1], own[j]) {
					return &Error{Kind: Twice, Name: string(own[j])}
				}
			}
			open, levels = open[:first], levels[:len(levels)-1]
		case '"':
			written := quoted(text[i:])
			i += len(written) + 1
			next := blanks(text, i+1)
			if skipped > 0 || next == len(text) || text[next] != ':' { // skipped, or a value
				continue
			}
			name := plain(written)
			open, skips, i = append(open, name), skip != "" && len(levels) == 2 && string(name) == skip, next
		}
	}
	return nil
}

// quoted returns the inside of the JSON string that text begins with, escapes included.
func quoted(text []byte) []byte {
	end := 1
	for ; text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	return text[1:end]
}

// blanks returns the index of the first byte from text[i] on that is not a blank.
func blanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// plain returns a name without its escapes, as encoding/json reads it. The name must be
// the inside of a valid JSON string.
func plain(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) {
		return name
	}
	var text string
	_ = json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &text) // does not fail: it is a JSON string
	return []byte(text)
}
