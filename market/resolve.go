package market

import (
	"fmt"

	"wick/internal/limit"
)

// resolve returns the canonical symbol at p: see [Resolve].
func (p *provider) resolve(text string) (string, error) {
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

// resolvePlain returns the canonical symbol among markets that have no spelling of their own, which
// is a pair without separator. It ignores the exchange.
func resolvePlain(text string) (string, error) {
	_, symbol, err := written(text)
	return spellPlain(symbol), err
}

// resolveAuto returns the canonical symbol at the service that text belongs to. It refuses
// the name of a coin alone: that would go to Yahoo, where it means a stock. It also
// refuses an exchange that auto would not choose by the symbol, because only the symbol
// is kept.
func resolveAuto(text string) (string, error) {
	venue, symbol, err := written(text)
	if err != nil {
		return "", err
	}
	if coins[symbol] {
		return "", fmt.Errorf("%w %q: a coin has a price in a currency; write %s at Binance or %s at Coinbase (a stock of that name needs --source yahoo)",
			errSymbol, limit.Clip(text), spellBinance(symbol+"-USDT"), spellCoinbase(symbol+"-USD"))
	}
	if venue == "" {
		p, _ := route(symbol)
		canonical, err := p.spelled(symbol)
		if again, _ := route(canonical); err == nil && again != p { // XB_TUSD becomes BTCUSD, which means another service
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
		if chosen, _ := route(canonical); err != nil || chosen == p {
			return canonical, err
		}
	}
	return "", fmt.Errorf("%w %q: auto chooses by the symbol alone; %s", errSymbol, limit.Clip(text), elsewhere(venue))
}
