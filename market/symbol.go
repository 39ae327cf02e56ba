package market

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"wick/internal/limit"
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
	if !plain(s, ".^=_-") {
		return "", fmt.Errorf("%w %q: letters, digits and . ^ = _ - only, %s", errSymbol, limit.Clip(text), example)
	}
	if strings.Trim(s, ".^=_-") == "" {
		return "", fmt.Errorf("%w %q: it has no letter or digit, %s", errSymbol, limit.Clip(text), example)
	}
	return strings.ToUpper(s), nil
}

// Written returns a symbol as somebody wrote it in one form that every source's
// [Resolve] takes: in upper case, with a dash for a slash and the exchange before it if
// one is named. It is for who must check a symbol before it is known which source is
// asked. It refuses what no source takes.
func Written(text string) (string, error) {
	venue, symbol, err := written(text)
	if venue != "" {
		symbol = venue + ":" + symbol
	}
	return symbol, err
}

// written splits a symbol as somebody wrote it into an exchange, "" if there is
// none, and a symbol in which a slash has become a dash. Every source reads symbols
// with it. Both parts are read: some sources ignore the exchange, and a text that is
// none would leave them another symbol than the one that was written.
func written(text string) (venue, symbol string, err error) {
	venue, rest, found := strings.Cut(text, ":")
	if !found {
		venue, rest = "", text
	}
	if base, quote, ok := strings.Cut(rest, "/"); ok && base != "" && quote != "" && plain(base, "") && plain(quote, "") {
		rest = base + "-" + quote
	}
	if symbol, err = ParseSymbol(rest); err != nil {
		_, err = ParseSymbol(text) // this fails too, and its error quotes the whole text
		return "", "", err
	}
	venue = strings.Trim(venue, " ")
	if found && !isVenue(venue, symbol) {
		return "", "", fmt.Errorf("%w %q: before a colon stands an exchange, as in BINANCE:BTCUSDT, and here is none; write the pair alone, such as BTC/USDT: perpetuals and other futures in this notation are not among the markets",
			errSymbol, limit.Clip(text))
	}
	return strings.ToUpper(venue), symbol, nil
}

// isVenue reports whether venue, the text before a colon, can be an exchange: 2 to 20
// letters, digits and _, beginning with a letter. It is none in BTC/USDT:USDT, which is a
// perpetual of BTC/USDT, nor in BTC:USDT, which is a pair: a source that ignores the
// exchange would read both as USDT, another market. After an exchange that one of our
// services answers for, any symbol may follow: a fund may be named BTC.
func isVenue(venue, symbol string) bool {
	if len(venue) < 2 || len(venue) > 20 || !plain(venue, "_") || strings.Contains("0123456789_", venue[:1]) {
		return false
	}
	venue = strings.ToUpper(venue)
	if slices.ContainsFunc(providers, func(p *provider) bool { return p.serves(venue) }) {
		return true
	}
	_, _, pair := splitPair(venue)
	return !pair && !coins[venue] && !isMoney(venue) && !isMoney(symbol)
}

// plain reports whether text has only letters and digits of ASCII and others. It looks at
// the text as it was sent: in upper case the letter ſ would be an S.
func plain(text, others string) bool {
	for _, c := range []byte(text) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(others, c) < 0 {
			return false
		}
	}
	return true
}
