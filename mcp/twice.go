package mcp

import (
	"bytes"
	"encoding/json"
	"unicode"
)

// twice returns a name that an object of a message has more than once, or nil. Text
// must be valid JSON. What lies within the arguments of a call is left to the tool,
// which answers in words that a model reads.
//
// encoding/json takes names in any case and the last of several, so an object with
// "name" and "NAME" says one thing to whoever looks at it on the way and another to
// us. A message from which an order may follow must not be read in two ways: names
// that differ in case alone count as one.
func twice(text []byte) []byte {
	var levels []nameSet // of the objects and arrays that are open; an array has no names
	arguments := 0       // how many are open from the arguments on, 0 outside of them
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			levels = append(levels, nameSet{})
			if arguments > 0 {
				arguments++
			}
		case '}', ']':
			levels = levels[:len(levels)-1]
			arguments = max(0, arguments-1)
		case '"':
			end := i + 1
			for ; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			name, value := text[i+1:end], bytes.TrimLeft(text[end+1:], " \t\r\n")
			i = end
			if arguments > 0 || len(value) == 0 || value[0] != ':' { // not a name, or none of ours
				continue
			}
			if !levels[len(levels)-1].add(name) {
				return name
			}
			value = bytes.TrimLeft(value[1:], " \t\r\n")
			if bytes.EqualFold(name, []byte("arguments")) && (value[0] == '{' || value[0] == '[') {
				arguments = 1
				levels = append(levels, nameSet{})
				i = len(text) - len(value)
			}
		}
	}
	return nil
}

// nameSet is a set of names without regard to case. The first few are compared one
// by one, which takes no memory for a map; a message has no more.
type nameSet struct {
	few  [][]byte
	many map[string]bool
}

// maxFew is how many names are compared one by one.
const maxFew = 16

// add adds a name as it stands in the text and reports whether it was new.
func (s *nameSet) add(name []byte) bool {
	if bytes.IndexByte(name, '\\') >= 0 {
		var plain string
		if json.Unmarshal(append(append([]byte{'"'}, name...), '"'), &plain) == nil { // it is, in valid JSON
			name = []byte(plain)
		}
	}
	if len(s.few) < maxFew {
		for _, other := range s.few {
			if bytes.EqualFold(other, name) {
				return false
			}
		}
		s.few = append(s.few, name)
		return true
	}
	if s.many == nil {
		s.many = make(map[string]bool)
		for _, other := range s.few {
			s.many[folded(other)] = true
		}
	}
	key := folded(name)
	known := s.many[key]
	s.many[key] = true
	return !known
}

// folded returns one spelling for all that differ in case alone.
func folded(name []byte) string {
	return string(bytes.Map(func(r rune) rune {
		for { // to the smallest of the letters that are the same one
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, name))
}
