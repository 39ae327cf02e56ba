package mcp

import (
	"bytes"
	"encoding/json"
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
	var levels []level // the open objects and arrays, the innermost last
	arguments := 0     // how many levels are open, counted from "arguments"; 0 outside of them
	value := s         // the shape of the value that comes next
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			levels, value = append(levels, level{shape: value}), nil // we read no names inside arrays
			if arguments > 0 {
				arguments++
			}
		case '}', ']':
			levels, value = levels[:len(levels)-1], nil
			arguments = max(0, arguments-1)
		case '"':
			written := quoted(text[i:])
			i += len(written) + 1
			next := blanks(text, i+1)
			if arguments > 0 || next == len(text) || text[next] != ':' { // skipped, or a value
				continue
			}
			object, name := &levels[len(levels)-1], string(plain(written))
			if object.names[name] {
				return written, nil, ""
			}
			if object.names == nil {
				object.names = make(map[string]bool)
			}
			object.names[name] = true
			var known string
			if value, known = object.shape.find(name); known != "" && miscased == nil {
				miscased, right = written, known
			}
			next = blanks(text, next+1)
			// The two open levels are the message and its params.
			if call && len(levels) == 2 && (text[next] == '{' || text[next] == '[') && string(written) == "arguments" {
				levels = append(levels, level{})
				arguments, i = 1, next
			}
		}
	}
	return nil, miscased, right
}

// level is an object or array whose end has not been reached.
type level struct {
	shape shape           // the names that we read in it
	names map[string]bool // those that have come so far; an array has none
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
