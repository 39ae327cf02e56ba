package market

import (
	"fmt"
	"slices"
	"strings"

	"wick/limit"
)

// written splits a symbol as somebody wrote it into an exchange, "" if there is
// none, and a symbol in which a slash has become a dash.
func written(text string) (venue, symbol string, err error) {
	venue, rest, found := strings.Cut(text, ":")
	if !found {
		venue, rest = "", text
	}
	if base, quote, ok := strings.Cut(rest, "/"); ok && isAlphanumeric(base) && isAlphanumeric(quote) {
		rest = base + "-" + quote
	}
	if symbol, err = ParseSymbol(rest); err != nil {
		_, err = ParseSymbol(text) // fails too, for a colon or a slash is no part of a symbol, and quotes all of it
		return "", "", err
	}
	venue = strings.ToUpper(strings.TrimSpace(venue))
	if found && !isVenue(venue, symbol) {
		return "", "", fmt.Errorf("%w %q: before a colon stands an exchange, as in BINANCE:BTCUSDT, and here is none; write the pair alone, such as BTC/USDT: perpetuals and other futures in this notation are not among the markets",
			errSymbol, limit.Clip(text))
	}
	return venue, symbol, nil
}

// isVenue reports whether the text before a colon can be an exchange: BTC/USDT:USDT is
// a perpetual of BTC/USDT and no market USDT, and BTC:USDT a pair. A source that
// ignores the exchange would read them as the symbol after the colon, which is another
// market. An exchange that a source has may list anything, a fund named BTC too.
func isVenue(venue, symbol string) bool {
	if slices.ContainsFunc(providers, func(p *provider) bool { return p.serves(venue) }) {
		return true
	}
	_, _, pair := splitPair(venue)
	return !pair && !strings.Contains(venue, "/") && !coins[venue] && !isMoney(venue) && !isMoney(symbol)
}

// isAlphanumeric reports whether text is made of letters and digits of ASCII, at
// least one: a slash is a separator between two such texts only, never a path.
func isAlphanumeric(text string) bool {
	other := func(c rune) bool { return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') }
	return text != "" && strings.IndexFunc(text, other) < 0
}
