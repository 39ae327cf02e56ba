package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Twice returns the first name that an object of text, or one within it, has more
// than once, and whether there is one. Text must be valid JSON. It is for handlers:
// encoding/json takes the last of two values without a word, and an order must not
// depend on that.
func Twice(text []byte) (name string, found bool) {
	written := repeated(text, false)
	return string(plain(written)), written != nil
}

// twice returns a name that an object of a message has more than once, as it is
// written, or nil. Text must be valid JSON. What lies within the arguments of a call
// is left to the tool, which answers in words that a model reads.
//
// encoding/json takes the last of several, so an object with two says one thing to
// whoever looks at it on the way and another to us. A message from which an order may
// follow must not be read in two ways. Names in another case are miscased's.
func twice(text []byte) []byte { return repeated(text, true) }

// repeated returns the first name that an object of text has more than once, as it is
// written, or nil. In a message what lies within the arguments is passed over.
func repeated(text []byte, message bool) []byte {
	// Both stay on the stack unless a text has more, which is why they are appended to
	// here and not by methods.
	names := make([][]byte, 0, 2*maxFew) // of the objects that are open, the innermost last
	levels := make([]level, 0, maxFew)
	arguments := 0 // how many levels are open from the arguments on, 0 outside of them
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			levels = append(levels, level{first: len(names)})
			if arguments > 0 {
				arguments++
			}
		case '}', ']':
			last := len(levels) - 1
			names, levels = names[:levels[last].first], levels[:last]
			arguments = max(0, arguments-1)
		case '"':
			written := quoted(text[i:])
			i += len(written) + 1
			next := blanks(text, i+1)
			if arguments > 0 || next == len(text) || text[next] != ':' { // none of ours, or not a name
				continue
			}
			of, name := &levels[len(levels)-1], plain(written)
			if of.has(names[of.first:], name) {
				return written
			}
			if of.many == nil {
				names = append(names, name)
			}
			next = blanks(text, next+1)
			if message && (text[next] == '{' || text[next] == '[') && string(written) == "arguments" {
				levels = append(levels, level{first: len(names)})
				arguments, i = 1, next
			}
		}
	}
	return nil
}

// quoted returns what stands between the quote that text begins with and the next.
func quoted(text []byte) []byte {
	end := 1
	for ; text[end] != '"'; end++ {
		if text[end] == '\\' {
			end++
		}
	}
	return text[1:end]
}

// blanks returns where the blanks end that may begin at text[i].
func blanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// maxFew is how many names of an object are compared one by one, which takes no memory
// for a map. A message has no more.
const maxFew = 16

// level is an object or an array that is open; an array has no names.
type level struct {
	first int             // where its names begin among those of all that are open
	many  map[string]bool // its names, once there are more than a few
}

// has reports whether a name is one of the level's, which are few unless they are kept
// in the map. There it adds the name.
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

// plain returns a name as encoding/json reads it. It is valid as it is written.
func plain(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) {
		return name
	}
	var text string
	if json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &text) != nil { // it does, in valid JSON
		return name
	}
	return []byte(text)
}
