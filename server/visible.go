package server

import (
	"fmt"
	"io"
	"slices"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns a writer that passes text on to w, for a terminal. Each character that a
// terminal would obey or hide is written as in JSON, \u009b: controls other than tab and line
// feed, characters that turn the direction of writing or have no width, and the separators
// of lines and paragraphs. JSON stays valid, because such characters are only inside its
// strings. What is no UTF-8 becomes U+FFFD. A character may be split between two writes.
//
// The names of clients, the notes of alerts and the errors of services are strangers' words.
// Printed as they are, they could delete the line above, or read otherwise than they are.
func Visible(w io.Writer) io.Writer { return &visible{w: w} }

// visible is the writer that Visible returns.
type visible struct {
	w    io.Writer
	rest []byte // the first bytes of a character, whose others come with the next Write
}

// Write writes p with the escapes. If a text with escapes cannot be written, it counts as
// not written at all.
func (v *visible) Write(p []byte) (int, error) {
	if len(v.rest) == 0 && !slices.ContainsFunc(p, unusual) { // nearly every line of a log
		return v.w.Write(p)
	}
	text := p
	if len(v.rest) > 0 {
		text, v.rest = append(v.rest, p...), nil
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			v.rest = append(v.rest, text...)
			break
		}
		r, size := utf8.DecodeRune(text)
		out, text = appendVisible(out, r), text[size:]
	}
	if _, err := v.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unusual reports whether a byte is part of a character beyond ASCII, or a control other
// than tab and line feed.
func unusual(b byte) bool { return b >= 0x7f || b < ' ' && b != '\n' && b != '\t' }

// appendVisible appends a character, or its escape.
func appendVisible(out []byte, r rune) []byte {
	switch {
	case r < 0x80 && !unusual(byte(r)), !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return utf8.AppendRune(out, r)
	case r > 0xffff: // \u has four digits, so JSON writes the two halves of UTF-16
		high, low := utf16.EncodeRune(r)
		return fmt.Appendf(out, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(out, `\u%04x`, r)
}
