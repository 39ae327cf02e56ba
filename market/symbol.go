package market

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"wick/limit"
)

// errSymbol reports a text that cannot be a symbol.
var errSymbol = errors.New("bad symbol")

// ParseSymbol returns a symbol in upper case and without surrounding blanks. It
// must have 1 to 20 of A-Z, 0-9 and . ^ = _ -, at least one of them a letter or
// digit. All else is refused, so that a symbol can be put into a URL, a file
// name or a log line, and cannot mean a directory.
func ParseSymbol(text string) (string, error) {
	const example = "such as BTCUSDT, AAPL or EURUSD=X"
	s := strings.TrimSpace(text)
	if n := utf8.RuneCountInString(s); n < 1 || n > 20 {
		return "", fmt.Errorf("%w %q: 1 to 20 characters, %s", errSymbol, limit.Clip(text), example)
	}
	named := false
	for _, c := range []byte(s) { // before ToUpper, which would turn the letter ſ into an S
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			named = true
		case strings.IndexByte(".^=_-", c) < 0:
			return "", fmt.Errorf("%w %q: letters, digits and . ^ = _ - only, %s", errSymbol, limit.Clip(text), example)
		}
	}
	if !named {
		return "", fmt.Errorf("%w %q: it has no letter or digit, %s", errSymbol, limit.Clip(text), example)
	}
	return strings.ToUpper(s), nil
}

// isAlphanumeric reports whether text is made of letters and digits of ASCII, at
// least one: a slash is a separator between two such texts only, never a path.
func isAlphanumeric(text string) bool {
	other := func(c rune) bool { return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') }
	return text != "" && strings.IndexFunc(text, other) < 0
}
