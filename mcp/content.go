package mcp

import (
	"encoding/base64"
	"unicode/utf8"
)

// appendResult appends the result of a tool as JSON. Texts are escaped and
// images turned to base64 on their way into b: a chart of 100 KB is copied
// once, and no encoder scans it again.
func appendResult(b []byte, r *Result) []byte {
	b = append(b, `{"content":[`...)
	for i, c := range r.Content {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendContent(b, c)
	}
	b = append(b, ']')
	if r.IsError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}')
}

func appendContent(b []byte, c Content) []byte {
	if c.MIME == "" {
		b = append(b, `{"type":"text","text":`...)
		b = appendText(b, c.Text)
		return append(b, '}')
	}
	b = append(b, `{"type":"image","data":"`...)
	b = base64.StdEncoding.AppendEncode(b, c.Data)
	b = append(b, `","mimeType":`...)
	b = appendText(b, c.MIME)
	return append(b, '}')
}

// plain marks the ASCII bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendText appends s as a JSON string. What is not UTF-8 becomes U+FFFD, so
// that a tool's text can be wrong but never make a reply that is no JSON.
func appendText[T string | []byte](b []byte, s T) []byte {
	b = append(b, '"')
	start := 0 // of the run that can be copied as it is
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := decodeRune(s[i:min(i+utf8.UTFMax, len(s))])
			if r == utf8.RuneError && size == 1 {
				b = append(append(b, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		b = appendEscape(append(b, s[start:i]...), c)
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func decodeRune[T string | []byte](s T) (rune, int) {
	return utf8.DecodeRuneInString(string(s)) // at most four bytes: no allocation
}

// appendEscape appends a control character, a quote or a backslash.
func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
