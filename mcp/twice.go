package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Twice returns the first name that occurs twice in one object of text, at any depth,
// and whether there is one. Text must be valid JSON. Handlers call it on their arguments:
// encoding/json silently takes the last of two values, and an order must not depend on
// that.
func Twice(text []byte) (name string, found bool) {
	written, _, _ := misnamed(text, nil, false)
	return string(plain(written)), written != nil
}

// misnamed looks for names in text, which must be valid JSON, that other programs may read
// in another way than encoding/json does. It returns, as the text spells them, the first
// name that occurs twice in one object, or else the first that differs only in case from
// a name that s reads there, and that right name. A message that can place an order must
// not have two readings: encoding/json takes the last of two values, and a proxy on the
// way may take the first; it takes names in any case, and would read members that a proxy
// does not see.
//
// If text is the call of a tool, what is inside "arguments" is skipped: the tool checks it
// with [Twice] and refuses it in words for a model.
func misnamed(text []byte, s shape, call bool) (twice, miscased []byte, right string) {
	// Both slices stay on the stack unless a text outgrows them. Passing them to methods
	// that append would move them to the heap, so the appends are all here.
	names := make([][]byte, 0, 2*maxFew) // of the open objects, the innermost last
	levels := make([]level, 0, maxFew)   // the open objects and arrays, the innermost last
	arguments := 0                       // how many levels are open, counted from "arguments"; 0 outside of them
	value := s                           // the shape of the value that comes next
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			levels, value = append(levels, level{first: len(names), shape: value}), nil // we read no names inside arrays
			if arguments > 0 {
				arguments++
			}
		case '}', ']':
			last := len(levels) - 1
			names, levels, value = names[:levels[last].first], levels[:last], nil
			arguments = max(0, arguments-1)
		case '"':
			written := quoted(text[i:])
			i += len(written) + 1
			next := blanks(text, i+1)
			if arguments > 0 || next == len(text) || text[next] != ':' { // skipped, or a value
				continue
			}
			object, name := &levels[len(levels)-1], plain(written)
			if object.has(names[object.first:], name) {
				return written, nil, ""
			}
			if object.many == nil {
				names = append(names, name)
			}
			var known string
			if value, known = object.shape.find(string(name)); known != "" && miscased == nil {
				miscased, right = written, known
			}
			next = blanks(text, next+1)
			// The two open levels are the message and its params.
			if call && len(levels) == 2 && (text[next] == '{' || text[next] == '[') && string(written) == "arguments" {
				levels = append(levels, level{first: len(names)})
				arguments, i = 1, next
			}
		}
	}
	return nil, miscased, right
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

// maxFew is how many names of an object are compared one by one, without the memory of
// a map. The objects of an ordinary message have fewer.
const maxFew = 16

// level is an object or array whose end has not been reached; an array has no names.
type level struct {
	first int             // the index of its first name among the names of all open levels
	shape shape           // the names that we read in it
	many  map[string]bool // its names, once there are more than maxFew; nil before
}

// has reports whether the level already has a name. Few holds its first names, at most
// maxFew; after that all names are in the map, and has adds the new one to it.
func (l *level) has(few [][]byte, name []byte) bool {
	if len(few) < maxFew {
		return slices.ContainsFunc(few, func(other []byte) bool { return bytes.Equal(other, name) })
	}
	if l.many == nil {
		l.many = make(map[string]bool)
		for _, other := range few {
			l.many[string(other)] = true
		}
	}
	known := l.many[string(name)]
	l.many[string(name)] = true
	return known
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
