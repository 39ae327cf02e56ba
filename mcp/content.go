package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Result is what a tool returns: its contents, and whether they describe an error.
type Result struct {
	Content []Content
	IsError bool
}

// Content is one item of a result: a text, or an image when MIME is set.
type Content struct {
	Text []byte // UTF-8
	json []byte // Text as a JSON string, if [Fixed] made it

	Data []byte // the raw bytes of an image; base64 is the encoder's work
	MIME string // such as image/png; empty for a text
}

// Text returns a result of one text.
func Text(text string) *Result { return &Result{Content: []Content{{Text: []byte(text)}}} }

// Fixed returns a text that is sent again and again: it is escaped here, once,
// and not for every reply. Do not change the text afterwards.
func Fixed(text []byte) Content { return Content{Text: text, json: appendText(nil, text)} }

// JSON returns a result of one text that holds v as [Encode] writes it.
func JSON(v any) *Result {
	return &Result{Content: []Content{{Text: Encode(v)}}}
}

// Encode returns v as compact JSON without HTML escaping: with it, a "<" would
// cost a language model six characters. It panics if v cannot be encoded:
// payload types are ours and always can.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("mcp: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// appendResult appends the members of a tool's result and its end; [Server.open]
// has begun it. Texts are escaped and images turned to base64 on their way into
// b: a chart of 100 KB is copied once, and no encoder scans it again.
func appendResult(b []byte, r *Result) []byte {
	b = append(b, `"content":[`...)
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

// appendContent appends one content of a tool's result: an image if it has a MIME type,
// else a text. A text that [Fixed] has encoded is copied as it is.
func appendContent(b []byte, c Content) []byte {
	if c.MIME == "" {
		b = append(b, `{"type":"text","text":`...)
		if c.json != nil {
			b = append(b, c.json...)
		} else {
			b = appendText(b, c.Text)
		}
		return append(b, '}')
	}
	b = append(b, `{"type":"image","data":"`...)
	b = base64.StdEncoding.AppendEncode(b, c.Data)
	b = append(b, `","mimeType":`...)
	b = appendText(b, []byte(c.MIME))
	return append(b, '}')
}

// appendText appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD, so
// that no text of a tool can make a reply invalid JSON.
func appendText(b, s []byte) []byte {
	b = slices.Grow(append(b, '"'), len(s)+len(s)/8)
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			b = append(b, c)
			i++
			continue
		}
		var n int
		b, n = appendSpecial(b, s[i:])
		i += n
	}
	return append(b, '"')
}

// appendSpecial appends the first character of s, which may not stand in a JSON string as
// it is or is not ASCII, and returns how many bytes of s it takes.
func appendSpecial(b, s []byte) ([]byte, int) {
	const hex = "0123456789abcdef"
	switch c := s[0]; {
	case c == '"' || c == '\\':
		return append(b, '\\', c), 1
	case c == '\n':
		return append(b, `\n`...), 1
	case c < ' ':
		return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15]), 1
	}
	r, size := utf8.DecodeRune(s) // U+FFFD where it is not UTF-8
	return utf8.AppendRune(b, r), size
}
