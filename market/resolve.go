package market

import (
	"fmt"
	"slices"

	"wick/internal/limit"
)

// Resolve returns the canonical symbol of a market, under which everything about it
// is kept, for any usual spelling: BTC/USDT, btc-usdt and BINANCE:BTCUSDT
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

// Resolve returns the canonical symbol at p: see [Resolve].
func (p *provider) Resolve(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if venue != "" && !p.serves(venue) {
		return "", fmt.Errorf("%w %q: the source is %s; %s", errSymbol, limit.Clip(text), p.name, elsewhere(venue))
	}
	return p.spelled(symbol)
}

// spelled returns the spelling of p for a symbol. It applies spell until the result
// stays the same, since for odd texts, such as _0USD, once is not enough. A text that
// still changes after four times is refused.
func (p *provider) spelled(symbol string) (string, error) {
	last := symbol
	for range 4 {
		next, err := ParseSymbol(p.spell(last))
		if err != nil || next == last {
			return next, err
		}
		last = next
	}
	return "", fmt.Errorf("%w %q: write it as %s does, such as %s", errSymbol, symbol, p.name, p.example)
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

// Resolve returns the canonical symbol at the service that text belongs to. It refuses
// the name of a coin alone: that would go to Yahoo, where it means a stock. It also
// refuses an exchange that auto would not choose by the symbol, because only the symbol
// is kept.
func (a *auto) Resolve(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if coins[symbol] {
		return "", fmt.Errorf("%w %q: a coin has a price in a currency; write %s at Binance or %s at Coinbase (a stock of that name needs --source yahoo)",
			errSymbol, limit.Clip(text), spellBinance(symbol+"-USDT"), spellCoinbase(symbol+"-USD"))
	}
	if venue == "" {
		name, _ := route(symbol)
		p := a.services[name]
		canonical, err := p.spelled(symbol)
		if again, _ := route(canonical); err == nil && again != name { // XB_TUSD becomes BTCUSD, which means another service
			return "", fmt.Errorf("%w %q: write it as %s does, such as %s", errSymbol, limit.Clip(text), p.name, p.example)
		}
		return canonical, err
	}
	// If text names an exchange, the symbol without it must lead to the same one.
	// Otherwise it would mean another market the next time.
	for _, p := range providers {
		if !p.serves(venue) {
			continue
		}
		canonical, err := p.spelled(symbol)
		if name, _ := route(canonical); err != nil || name == p.name {
			return canonical, err
		}
	}
	return "", fmt.Errorf("%w %q: auto chooses by the symbol alone; %s", errSymbol, limit.Clip(text), elsewhere(venue))
}

// Resolve returns the symbol of the file that text means: the file of that name, or
// else the first file whose name is the same pair in another spelling. If there is none
// it returns the symbol as it was written.
func (c *CSV) Resolve(text string) (string, error) {
	_, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	names, err := c.names()
	if err != nil {
		return "", err
	}
	// Backwards, so that of several files with another spelling the first remains.
	found := symbol
	for _, name := range slices.Backward(names) {
		has, _, ok := parseName(name)
		if ok && has == symbol {
			return symbol, nil
		}
		if ok && spellPlain(has) == spellPlain(symbol) {
			found = has
		}
	}
	return found, nil
}

// Resolve asks the source behind the cache.
func (c *cached) Resolve(text string) (string, error) { return Resolve(c.source, text) }
