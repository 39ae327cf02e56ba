package market

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSymbol reports a text that cannot be a symbol.
var ErrSymbol = errors.New("bad symbol")

// ParseSymbol returns the one spelling of a symbol: upper case, 1 to 20 of
// A-Z, 0-9 and . ^ = _ -, without surrounding blanks. It refuses all else, so
// that a symbol can go into an address, a file name or a log line; "." and
// ".." are refused because they mean directories.
func ParseSymbol(text string) (string, error) {
	s := strings.ToUpper(strings.TrimSpace(text))
	if len(s) < 1 || len(s) > 20 {
		return "", fmt.Errorf("%w %q: 1 to 20 characters, such as BTCUSDT, AAPL or EURUSD=X", ErrSymbol, clip(text))
	}
	for _, c := range []byte(s) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte(".^=_-", c) < 0 {
			return "", fmt.Errorf("%w %q: letters, digits and . ^ = _ - only, such as BTCUSDT, AAPL or EURUSD=X", ErrSymbol, clip(text))
		}
	}
	if strings.Trim(s, ".") == "" {
		return "", fmt.Errorf("%w %q: no letter or digit in it", ErrSymbol, s)
	}
	return s, nil
}

// clip shortens what a stranger sent before it is quoted back.
func clip(text string) string {
	if len(text) > 40 {
		return text[:40] + "…"
	}
	return text
}
