package market

import (
	"fmt"
	"slices"
	"strings"

	"wick/limit"
)

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
		_, err = ParseSymbol(text) // this fails too, and its error quotes the whole text
		return "", "", err
	}
	venue = strings.ToUpper(strings.TrimSpace(venue))
	if found && !isVenue(venue, symbol) {
		return "", "", fmt.Errorf("%w %q: before a colon stands an exchange, as in BINANCE:BTCUSDT, and here is none; write the pair alone, such as BTC/USDT: perpetuals and other futures in this notation are not among the markets",
			errSymbol, limit.Clip(text))
	}
	return venue, symbol, nil
}

// isVenue reports whether venue, the text before a colon, can be an exchange. It is none
// in BTC/USDT:USDT, which is a perpetual of BTC/USDT, nor in BTC:USDT, which is a pair: a
// source that ignores the exchange would read both as USDT, another market. After an
// exchange that one of our services answers for, any symbol may follow: a fund may be
// named BTC.
func isVenue(venue, symbol string) bool {
	if slices.ContainsFunc(providers, func(p *provider) bool { return p.serves(venue) }) {
		return true
	}
	_, _, pair := splitPair(venue)
	return !pair && !strings.Contains(venue, "/") && !coins[venue] && !isMoney(venue) && !isMoney(symbol)
}
