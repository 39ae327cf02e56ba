package indicators

import "strings"

// maxName bounds the names of indicators and parameters that are searched for, in bytes: each
// is spelled in several ways and matched, which of a megabyte takes half a second.
const maxName = 200

// snake returns a name in lower case with underscores between its words: blanks,
// hyphens, dots and slashes divide words, and so does a capital after a small
// letter.
func snake(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range strings.TrimSpace(name) {
		switch {
		// stochRSI is two words, MACD is one: only a capital after a small letter
		// divides.
		case r >= 'A' && r <= 'Z':
			if before >= 'a' && before <= 'z' {
				b.WriteByte('_')
			}
			b.WriteRune(r - 'A' + 'a')
		// Left out: %K, Elder's.
		case r == '%' || r == '\'' || r == '’':
		case strings.ContainsRune(" -./&+_", r):
			b.WriteByte('_')
		default:
			b.WriteRune(r)
		}
		before = r
	}
	// Several dividers in a row are one, and those at the ends are none.
	words := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '_' })
	return strings.Join(words, "_")
}
