package mcp

import (
	"bytes"
	"encoding/json"
	"iter"
)

// The functions here take JSON that json.Valid has passed, and index it without
// further checks. What they yield are parts of the text, not copies. Decoding
// into structs finds the same parts, at four times the cost.

// members yields the keys and values of an object in order. A key may come
// more than once.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for b := skip(object[1:]); b[0] != '}'; {
			key, rest := cut(b)
			value, rest := cut(skip(rest[1:])) // past the colon
			if !yield(unquote(key), value) {
				return
			}
			b = next(rest)
		}
	}
}

// elements yields the members of an array in order.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for b := skip(array[1:]); b[0] != ']'; {
			value, rest := cut(b)
			if !yield(value) {
				return
			}
			b = next(rest)
		}
	}
}

// next goes past the comma after a value, if there is one.
func next(b []byte) []byte {
	if b[0] == ',' {
		b = skip(b[1:])
	}
	return b
}

// skip goes past blanks.
func skip(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\n' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// cut splits what begins with a value into that and the rest, blanks between
// them left out.
func cut(b []byte) (value, rest []byte) {
	n := extent(b)
	return b[:n], skip(b[n:])
}

// extent returns the length of the value that b begins with.
func extent(b []byte) int {
	switch b[0] {
	case '"':
		return quoted(b)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch b[i] {
			case '"':
				i += quoted(b[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if n := bytes.IndexAny(b, ",]} \n\t\r"); n >= 0 { // a number or a word
		return n
	}
	return len(b)
}

// quoted returns the length of the string that b begins with.
func quoted(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// unquote returns the text of a string.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		panic("mcp: " + err.Error()) // it was valid
	}
	return []byte(s)
}

// named returns the one of names that key spells, or "". Case is ignored, as
// by encoding/json, which decodes the arguments of tools.
func named(key []byte, names ...string) string {
	for _, name := range names {
		if string(key) == name {
			return name
		}
	}
	for _, name := range names {
		if bytes.EqualFold(key, []byte(name)) {
			return name
		}
	}
	return ""
}

// readString sets *s to the text of raw and reports whether raw is a string.
// Null is one too, which leaves *s as it is.
func readString(raw []byte, s *string) bool {
	switch {
	case string(raw) == "null":
		return true
	case raw[0] != '"':
		return false
	}
	*s = string(unquote(raw))
	return true
}
