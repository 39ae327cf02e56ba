package market

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"wick/limit"
)

// Resolver is a source that has its own names for markets. All sources of this
// package are.
type Resolver interface {
	// Resolve returns the canonical symbol of the market that text means, without
	// asking a service whether it exists. Resolving the result returns it again.
	Resolve(text string) (string, error)
}

// Resolve returns the one symbol under which everything about a market of source
// is kept, for any usual spelling of it: BTC/USDT, btc-usdt and BINANCE:BTCUSDT
// are BTCUSDT at Binance, and BTCUSD, BTC-USD and XBTUSD are XBTUSD at Kraken. It
// refuses what [ParseSymbol] refuses, an exchange that source does not ask, and
// a text that could mean two markets. It makes no request. A source that is no
// [Resolver] has the names of [Sample].
func Resolve(source Source, text string) (string, error) {
	if r, ok := source.(Resolver); ok {
		return r.Resolve(text)
	}
	return Sample{}.Resolve(text)
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
		_, err = ParseSymbol(text) // quotes all of it
		if err == nil {
			err = fmt.Errorf("%w %q", ErrSymbol, limit.Clip(text))
		}
		return "", "", err
	}
	return strings.ToUpper(strings.TrimSpace(venue)), symbol, nil
}

// isAlphanumeric reports whether text is made of letters and digits of ASCII, at
// least one: a slash is a separator between two such texts only, never a path.
func isAlphanumeric(text string) bool {
	other := func(c rune) bool { return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') }
	return text != "" && strings.IndexFunc(text, other) < 0
}

// Resolve returns the canonical symbol at p: see [Resolve].
func (p *provider) Resolve(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if venue != "" && !p.serves(venue) {
		return "", fmt.Errorf("%w %q: the source is %s; %s", ErrSymbol, limit.Clip(text), p.name, elsewhere(venue))
	}
	return p.spelled(symbol)
}

// spelled returns the spelling of p for a symbol. Odd texts, such as _0USD, may
// need more than one turn until the spelling stays the same; some never do and
// are refused.
func (p *provider) spelled(symbol string) (string, error) {
	last := symbol
	for range 4 {
		next, err := ParseSymbol(p.spell(last))
		if err != nil || next == last {
			return next, err
		}
		last = next
	}
	return "", fmt.Errorf("%w %q: write it as %s does, such as %s", ErrSymbol, symbol, p.name, p.example)
}

// serves reports whether the prefix of a symbol, such as NASDAQ, means p.
func (p *provider) serves(venue string) bool {
	return venue == strings.ToUpper(p.name) || slices.Contains(p.venues, venue)
}

// elsewhere says which source a venue needs.
func elsewhere(venue string) string {
	for _, p := range providers {
		if p.serves(venue) {
			return "for " + limit.Clip(venue) + " start wick with --source " + p.name
		}
	}
	return limit.Clip(venue) + " is not an exchange that wick knows: write the symbol alone, as the source spells it"
}

// Resolve returns the canonical symbol at the service that text belongs to. A
// name of a coin alone is refused: it would go to Yahoo, where it means a stock.
// So is an exchange whose market auto would not choose by the symbol, because
// the symbol alone is kept.
func (a *auto) Resolve(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if coins[symbol] {
		return "", fmt.Errorf("%w %q: a coin has a price in a currency; write %s at Binance or %s at Coinbase (a stock of that name needs --source yahoo)",
			ErrSymbol, limit.Clip(text), spellBinance(symbol+"-USDT"), spellCoinbase(symbol+"-USD"))
	}
	if venue == "" {
		name, _ := route(symbol)
		return a.services[name].spelled(symbol)
	}
	// With an exchange named, the symbol must lead back to that exchange by itself, or
	// it would mean another market the next time.
	for _, p := range providers {
		if !p.serves(venue) {
			continue
		}
		canonical, err := p.spelled(symbol)
		if name, _ := route(canonical); err != nil || name == p.name {
			return canonical, err
		}
	}
	return "", fmt.Errorf("%w %q: auto chooses by the symbol alone; %s", ErrSymbol, limit.Clip(text), elsewhere(venue))
}

// Resolve returns the canonical symbol among invented markets, which is a pair
// without separator. It ignores the exchange.
func (Sample) Resolve(text string) (string, error) {
	_, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if six, ok := strings.CutSuffix(symbol, "=X"); ok && len(six) == 6 && fiat[six[:3]] && fiat[six[3:]] {
		symbol = six
	}
	if base, quote, ok := splitPair(symbol); ok {
		symbol = coin(base) + coin(quote)
	}
	return symbol, nil
}

// Resolve returns the symbol of the file that text means: the one of that name,
// or else the first that is the same pair in another spelling. If there is none
// it returns the symbol as it was written.
func (c *CSV) Resolve(text string) (string, error) {
	_, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	pair, err := Sample{}.Resolve(text)
	if err != nil {
		return "", err
	}
	names, err := c.names()
	if err != nil {
		return "", err
	}
	// Backwards, so that of several other spellings the first in order remains.
	found := symbol
	for _, name := range slices.Backward(names) {
		has, _, ok := parseName(name)
		if ok && has == symbol {
			return symbol, nil
		}
		if same, err := (Sample{}).Resolve(has); ok && err == nil && same == pair {
			found = has
		}
	}
	return found, nil
}

// Resolve asks the source behind the cache.
func (c *cached) Resolve(text string) (string, error) { return Resolve(c.source, text) }

// Currency returns what the price of a symbol is counted in, as far as its form
// says: USDT for BTCUSDT, USD for XBTUSD; "" for a stock.
func Currency(symbol string) string {
	if six, ok := strings.CutSuffix(symbol, "=X"); ok && len(six) == 6 {
		symbol = six
	}
	_, quote, _ := splitPair(symbol)
	return quote
}

// coin returns the usual name of a coin that Kraken names differently.
func coin(name string) string {
	switch name {
	case "XBT":
		return "BTC"
	case "XDG":
		return "DOGE"
	}
	return name
}

// cryptoPair is splitPair for a service that has pairs of coins only, where a
// symbol that ends like a currency must be one: PEPEUSD is PEPE in USD.
func cryptoPair(symbol string) (base, quote string, ok bool) {
	if base, quote, ok = splitPair(symbol); ok {
		return base, quote, true
	}
	// Here any dash separates a pair, and any base has a price in money.
	if i := strings.IndexAny(symbol, "-_"); i > 0 && i < len(symbol)-1 {
		return symbol[:i], symbol[i+1:], true
	}
	if n := len(symbol) - 3; n >= 2 && fiat[symbol[n:]] {
		return symbol[:n], symbol[n:], true
	}
	return "", "", false
}

// suggest adds to the error for an unknown symbol what it may have meant: the
// same coin in the currency that the service has most pairs in.
func (p *provider) suggest(symbol string, err error) {
	var e *Error
	if !errors.As(err, &e) || !e.unknown {
		return
	}
	base, _, ok := splitPair(symbol)
	if !ok {
		base = symbol
	}
	base = coin(base)
	if meant := p.spell(base + "-" + p.quote); coins[base] && meant != symbol {
		e.Advice = "did you mean " + meant + "?"
	} else if e.Advice == "" {
		e.Advice = "check the spelling, such as " + p.example
	}
}
